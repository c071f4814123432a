#include <stdexcept>

#include "bench/dynamics_peers.h"
#include "bench/models.h"
#include "saltus/dynamics/algorithms.h"

namespace saltus::bench {

Vec inverse_dynamics(const Model& model, const Vec& a) {
  const State state = some_state(model);
  Workspace work(model);
  Vec tau = Vec::Zero(model.nv);
  rnea(model, state.q, state.v, a, work, tau);
  return tau;
}

void check_same(const char* peer, const Vec& ours, const Vec& theirs, double tolerance) {
  const double difference = (ours - theirs).norm() / theirs.norm();
  if (!(difference < tolerance))
    throw std::runtime_error(fmt::format(
        "bench: {} and Saltus differ by {:.1e}: not the same mechanism", peer, difference));
}

}  // namespace saltus::bench
