// Many copies of one model, stepped side by side. Each copy has a workspace of its own and nothing
// is shared but what is constant, so a copy takes the same bits as if it were stepped alone,
// whatever the number of threads.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "saltus/integrators/moreau/moreau.h"

namespace saltus {

struct RolloutPlan {
  std::int64_t steps = 1;
  std::int64_t every = 1;  // a row is kept at the start and after each so many steps
  int threads = 1;
  // Joint forces besides the actuation's, of each copy and step: copies x steps x nv [N m, N];
  // null: none.
  const double* forces = nullptr;
  // Asked now and then, by the calling thread only; false stops all copies.
  std::function<bool()> go_on;
  [[nodiscard]] std::int64_t rows() const { return steps / every + 1; }
};

// What became of one copy.
struct RolloutReport {
  std::int64_t steps = 0;  // taken; fewer than planned where it diverged
  std::int64_t unconverged = 0;
  double residual = 0;     // the worst [m/s]
  double penetration = 0;  // the deepest after correction [m]
  bool diverged = false;
};

// Steps all states; their q and v at the kept rows go to q (copies x rows x nq) and v (copies x
// rows x nv). Rows that a copy does not reach are left as they are. Throws InputError where the
// actuation has a force of the user: it may remember things.
[[nodiscard]] std::vector<RolloutReport> rollout(const Model& model, const Actuation& actuation,
                                                 std::vector<State>& states,
                                                 const MoreauMidpoint& options,
                                                 const RolloutPlan& plan, double* q, double* v);

}  // namespace saltus
