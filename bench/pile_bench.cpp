// Time of a step of 1000 settled spheres in an open box, converged to 1e-6 m/s.
#include <fmt/format.h>

#include "bench/peer_scenes.h"
#include "bench/register.h"
#include "saltus/integrators/moreau.h"
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

// Settled once: every repetition goes on from there.
struct Settled {
  PileScene scene{1000};
  StepWorkspace work{scene.model};
  MoreauMidpoint options;
  Actuation none;
  Settled() {
    AutoSolver solver;
    solver.tolerance = 1e-6;
    options.solver = solver;
    options.dt = Pile::dt;
    for (int i = 0; i < 2000; ++i) (void)step(scene.model, none, scene.state, work, options);
  }
};

void run(benchmark::State& timer) {
  static Settled pile;
  int missed = 0, steps = 0;
  double iterations = 0, contacts = 0;
  for (auto _ : timer) {
    const StepReport r =
        step(pile.scene.model, pile.none, pile.scene.state, pile.work, pile.options);
    missed += !r.solve().converged;
    iterations += r.solve().iterations;
    contacts += r.contacts;
    ++steps;
  }
  timer.counters["unconverged"] = missed;
  timer.counters["iterations"] = iterations / steps;
  timer.counters["contacts"] = contacts / steps;
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  add("pile/1000 spheres/saltus", run);
  return run_registered(argc, argv);
}
