// The key `robots` of a scene: which file, and how the scene takes it. The files themselves are
// read by robots/, above this room.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "saltus/lie/se3.h"

namespace saltus {

class Fields;
struct Scene;

enum class RobotBase {
  from_file,
  fixed,
  floating
};  // from_file: URDF floating unless the root is
    // called world; MJCF as its joints say
struct RobotOptions {
  RobotBase base = RobotBase::from_file;
  bool strict = false;                          // refuse what would be mended and reported
  std::vector<std::string> package_paths = {};  // folders that its files may be in, too
};

// How a scene takes a robot.
struct RobotUse {
  std::string name;  // put before every name, with '/'; empty: names of the file
  SE3 pose;          // of its base
  std::optional<std::string> keyframe;
  bool motors = true, contacts = true;
  std::optional<bool> self_contact;  // default: URDF no, MJCF as the file's laws say
};
struct RobotScene {        // an entry of `robots`
  std::string file, path;  // path: of the entry
  RobotOptions options;
  RobotUse use;
};
void read_robot_key(Fields& f, RobotScene& robot);
void add_robots(const std::vector<RobotScene>& robots, Scene& scene);  // read their files

}  // namespace saltus
