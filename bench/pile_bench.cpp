// Time of a step of 1000 spheres in an open box, to 1e-6 m/s: while they settle and at rest, with
// all the sweeps it takes (up to the solver's default) and with as many as fit a few milliseconds.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "bench/peer_scenes.h"
#include "bench/register.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/model/builder.h"

namespace saltus::bench {
namespace {

struct PileScene {
  Model model;
  State state;

  explicit PileScene(int spheres) : model(build(spheres)), state(make_state(model)) {
    const Pile pile(spheres);
    for (int i = 0; i < spheres; ++i)
      for (int k = 0; k < 3; ++k) state.q[model.bodies[i].q0 + k] = pile.centres[i][k];
  }

 private:
  static Model build(int spheres) {
    ModelBuilder builder;
    std::vector<std::string> balls, walls;
    JointSpec joint;
    joint.kind = Floating{};
    for (int i = 0; i < spheres; ++i) {
      balls.push_back(fmt::format("ball{}", i));
      builder.body(balls.back(),
                   {Pile::mass(), Vec3::Zero(), solid_sphere(Pile::mass(), Pile::radius)}, joint);
      builder.shape(balls.back(), balls.back(), SE3{}, Sphere{Pile::radius});
    }
    const auto wall = [&](const Vec3& normal, const Vec3& at) {
      SE3 frame;
      frame.R = Quat::FromTwoVectors(Vec3::UnitZ(), normal).toRotationMatrix();
      frame.r = at;
      walls.push_back(fmt::format("wall{}", walls.size()));
      builder.shape(walls.back(), "world", frame, HalfSpace{});
    };
    wall(Vec3::UnitZ(), Vec3::Zero());
    for (int axis = 0; axis < 2; ++axis)
      for (const int sign : {-1, 1})
        wall(-sign * Vec3::Unit(axis), sign * Pile::half_width * Vec3::Unit(axis));
    ContactLaw law;
    law.mu1 = law.mu2 = Pile::mu;
    builder.contact(balls, walls, law);
    builder.contact(balls, balls, law);
    return builder.build();
  }
};

constexpr int few_sweeps = 30;

MoreauMidpoint options(int most_sweeps) {
  AutoSolver solver;
  solver.tolerance = 1e-6;
  if (most_sweeps > 0) solver.max_iterations = most_sweeps;
  MoreauMidpoint o;
  o.solver = solver;
  o.dt = Pile::dt;
  return o;
}

// Brought to its time once by few sweeps a step; every repetition goes on from there.
struct Prepared {
  PileScene scene{1000};
  StepWorkspace work{scene.model};
  Actuation none;
  explicit Prepared(int steps) {
    const MoreauMidpoint o = options(few_sweeps);
    for (int i = 0; i < steps; ++i) (void)step(scene.model, none, scene.state, work, o);
  }
};

void run(benchmark::State& timer, Prepared& pile, int most_sweeps) {
  const MoreauMidpoint o = options(most_sweeps);
  int missed = 0, steps = 0;
  double sweeps = 0, contacts = 0, worst = 0;
  for (auto _ : timer) {
    const StepReport r = step(pile.scene.model, pile.none, pile.scene.state, pile.work, o);
    missed += !r.solve().converged;
    sweeps += r.solve().iterations;
    contacts += r.contacts;
    worst = std::max(worst, r.solve().residual);
    ++steps;
  }
  timer.counters["problems"] = steps;
  timer.counters["unconverged"] = missed;
  timer.counters["sweeps"] = sweeps / steps;
  timer.counters["contacts"] = contacts / steps;
  timer.counters["residual"] = worst;
}

void add_pile(const std::string& name, Prepared& (*pile)(), int most_sweeps, int steps) {
  add(name, [=](benchmark::State& t) { run(t, pile(), most_sweeps); })
      ->Iterations(steps)
      ->Unit(benchmark::kMillisecond);
}

Prepared& settling() {  // layers have met, spheres still roll and fall into gaps
  static Prepared pile(400);
  return pile;
}
Prepared& at_rest() {
  static Prepared pile(1000);
  return pile;
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  const std::string few = fmt::format(", {} sweeps", few_sweeps);
  add_pile("pile/1000 spheres" + few + "/saltus", at_rest, few_sweeps, 50);
  add_pile("pile/1000 spheres settling" + few + "/saltus", settling, few_sweeps, 50);
  add_pile("pile/1000 spheres/saltus", at_rest, 0, 2);
  add_pile("pile/1000 spheres settling/saltus", settling, 0, 2);
  return run_registered(argc, argv);
}
