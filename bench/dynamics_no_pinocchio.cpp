#include "bench/dynamics_peers.h"

namespace saltus::bench {

void add_pinocchio(const std::string&, const Model&) {}

}  // namespace saltus::bench
