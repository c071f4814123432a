// Cost of a prescribed shape: one evaluation of Fig. 8 (net acceleration and all torques) and one
// whole time step beside one RNEA on the same chain, from 10 to 10,000 bodies, with the exponent of
// the growth from each size to the next.
//   build/release/bench/net_recursion
#include "saltus/analysis/net_recursion.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "saltus/dynamics/algorithms.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/model/builder.h"

namespace saltus {
namespace {

Model floating_chain(int bodies) {
  ModelBuilder builder;
  builder.gravity(Vec3::Zero());
  JointDof given;
  given.prescribed = true;
  for (int j = 0; j < bodies; ++j) {
    JointSpec joint;
    joint.kind = Floating{};
    if (j > 0) {
      joint.parent = fmt::format("body{}", j - 1);
      joint.placement = SE3::translation({0.1, 0, 0});
      joint.kind = Revolute{j % 2 ? Vec3::UnitZ() : Vec3::UnitY()};
      joint.dofs = {given};
    }
    builder.body(fmt::format("body{}", j), {0.1, {0.05, 0, 0}, solid_cylinder(0.1, 0.01, 0.1)},
                 joint);
  }
  return builder.build();
}

// Seconds a call, over at least a tenth of a second.
template <class F>
double seconds(const F& f) {
  using Clock = std::chrono::steady_clock;
  for (int calls = 1;; calls *= 2) {
    const auto began = Clock::now();
    for (int i = 0; i < calls; ++i) f();
    const double s = std::chrono::duration<double>(Clock::now() - began).count();
    if (s > 0.1) return s / calls;
  }
}

struct Cost {
  double rnea, recursion, step;
};

Cost cost_of(int bodies) {
  const Model model = floating_chain(bodies);
  Actuation drives;
  for (std::size_t c = 0; c < model.coordinates.size(); ++c)
    drives.prescribed.push_back(
        {CoordinateIndex(static_cast<int>(c)), Sine{0.3, 1, 0.5 * static_cast<double>(c), 0}});
  State state = make_state(model);
  impose_prescribed(model, drives, state);
  Vec a = Vec::Zero(model.nv), tau = Vec::Zero(model.nv);
  prescribe_accelerations(model, drives, 0, a);
  Workspace work(model);
  NetRecursion recursion(model);
  Cost cost{};
  cost.rnea = seconds([&] { rnea(model, state.q, state.v, a, work, tau); });
  cost.recursion = seconds([&] { (void)recursion.solve(state.q, state.v, a, work, tau); });
  StepWorkspace step_work(model);
  MoreauMidpoint options;
  options.dt = 1e-4;
  options.poses = false;
  cost.step = seconds([&] { (void)step(model, drives, state, step_work, options); });
  return cost;
}

}  // namespace
}  // namespace saltus

int main() {
  fmt::print("{:>7} {:>12} {:>12} {:>7} {:>9} {:>12} {:>7} {:>9}\n", "bodies", "RNEA [us]",
             "Fig. 8 [us]", "RNEAs", "exponent", "step [us]", "RNEAs", "exponent");
  saltus::Cost last{};
  int before = 0;
  for (const int n : {10, 30, 100, 300, 1000, 3000, 10000}) {
    const saltus::Cost c = saltus::cost_of(n);
    const auto exponent = [&](double now, double then) {
      return before ? std::log(now / then) / std::log(static_cast<double>(n) / before) : NAN;
    };
    fmt::print("{:>7} {:>12.2f} {:>12.2f} {:>7.2f} {:>9.2f} {:>12.2f} {:>7.2f} {:>9.2f}\n", n,
               1e6 * c.rnea, 1e6 * c.recursion, c.recursion / c.rnea,
               exponent(c.recursion, last.recursion), 1e6 * c.step, c.step / c.rnea,
               exponent(c.step, last.step));
    last = c;
    before = n;
  }
}
