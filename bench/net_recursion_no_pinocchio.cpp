#include "bench/net_recursion_peer.h"

namespace saltus::bench {

std::function<void()> pinocchio_rnea(const Model&, const Vec&, const Vec&, const Vec&, const Vec&) {
  return {};
}

}  // namespace saltus::bench
