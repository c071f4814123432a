// Cost of a prescribed shape: one evaluation of Fig. 8 (net acceleration and all torques) and one
// whole time step beside one RNEA on the same chain, ours and Pinocchio's, from 10 to 10,000 bodies
// in one run; with the exponents of their growth. All four take turns, and of each the shortest
// time counts: another's load spoils all of them or none.
//   build/release/bench/net_recursion [most bodies]
#include "saltus/analysis/net_recursion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "bench/net_recursion_peer.h"
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

double seconds_of(const std::function<void()>& f, int calls) {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  for (int i = 0; i < calls; ++i) f();
  return std::chrono::duration<double>(Clock::now() - began).count() / calls;
}

// The shortest of some rounds, of all in turns; each call of a round takes a hundredth of a second
// together.
template <std::size_t n>
std::array<double, n> shortest(const std::array<std::function<void()>, n>& all) {
  constexpr int rounds = 15;
  std::array<double, n> least{};
  std::array<int, n> calls{};
  for (std::size_t k = 0; k < n; ++k) {
    if (!all[k]) continue;
    least[k] = infinity;
    calls[k] = std::max(1, static_cast<int>(0.01 / std::max(seconds_of(all[k], 1), 1e-7)));
  }
  for (int r = 0; r < rounds; ++r)
    for (std::size_t k = 0; k < n; ++k)
      if (all[k]) least[k] = std::min(least[k], seconds_of(all[k], calls[k]));
  return least;
}

struct Cost {
  double rnea, recursion, step, pinocchio;  // the last zero where it is not installed
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
  StepWorkspace step_work(model);
  MoreauMidpoint options;
  options.dt = 1e-4;
  options.poses = false;
  rnea(model, state.q, state.v, a, work, tau);
  const State start = state;
  const auto t = shortest<4>({[&] { rnea(model, start.q, start.v, a, work, tau); },
                              [&] { (void)recursion.solve(start.q, start.v, a, work, tau); },
                              [&] { (void)step(model, drives, state, step_work, options); },
                              bench::pinocchio_rnea(model, start.q, start.v, a, tau)});
  return {t[0], t[1], t[2], t[3]};
}

}  // namespace
}  // namespace saltus

int main(int count, char** arguments) {
  const int most = count > 1 ? std::atoi(arguments[1]) : 10000;
  fmt::print("{:>7} {:>10} {:>10} {:>10} {:>10} | {:>7} {:>7} {:>9} | {:>7} {:>7} {:>9}\n",
             "bodies", "RNEA [us]", "Pinocchio", "Fig. 8", "step", "Fig. 8:", "RNEAs", "exponent",
             "step:", "RNEAs", "exponent");
  fmt::print("{:>51} | {:>7} {:>7} {:>9} | {:>7} {:>7}\n", "", "ours", "peer's", "", "ours",
             "peer's");
  saltus::Cost first{}, last{};
  int begin = 0, before = 0;
  const auto exponent = [](double now, double then, int n, int m) {
    return m ? std::log(now / then) / std::log(static_cast<double>(n) / m) : NAN;
  };
  for (const int n : {10, 30, 100, 300, 1000, 3000, 10000}) {
    if (n > most) break;
    const saltus::Cost c = saltus::cost_of(n);
    const double peer = c.pinocchio > 0 ? c.pinocchio : NAN;
    fmt::print(
        "{:>7} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} | {:>7.2f} {:>7.2f} {:>9.2f} | {:>7.2f} "
        "{:>7.2f} {:>9.2f}\n",
        n, 1e6 * c.rnea, 1e6 * peer, 1e6 * c.recursion, 1e6 * c.step, c.recursion / c.rnea,
        c.recursion / peer, exponent(c.recursion, last.recursion, n, before), c.step / c.rnea,
        c.step / peer, exponent(c.step, last.step, n, before));
    if (!begin) first = c, begin = n;
    last = c;
    before = n;
  }
  if (before > begin)
    fmt::print("exponents from {} to {} bodies: Fig. 8 {:.3f}, a step {:.3f}\n", begin, before,
               exponent(last.recursion, first.recursion, before, begin),
               exponent(last.step, first.step, before, begin));
}
