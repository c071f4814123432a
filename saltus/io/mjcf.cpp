#include "saltus/io/robot.h"

namespace saltus {

Robot read_mjcf(const std::string& /*text*/, const std::string& name, const std::string& /*folder*/,
                const RobotOptions& /*options*/) {
  throw InputError(name + ": MJCF is not read yet");
}

}  // namespace saltus
