// A ball that skids at 7 m/s on a rough floor ends up rolling at 5/7 of its speed.
#include <cstdio>

#include "saltus/integrators/moreau/moreau.h"
#include "saltus/model/builder.h"

using namespace saltus;

int main() {
  ModelBuilder builder;
  JointSpec free;
  free.kind = Floating{};
  builder.body("ball", {5, Vec3::Zero(), solid_sphere(5, 0.1)}, free)
      .shape("ball", "ball", SE3{}, Sphere{0.1})
      .shape("floor", "world", SE3{}, HalfSpace{})
      .contact("floor", "ball", {.mu1 = 0.2, .mu2 = 0.2});
  const Model model = builder.build();
  State state = make_state(model);
  state.q[2] = 0.1;  // q: position and quaternion
  state.v[0] = 7;    // v: velocity and angular velocity
  StepWorkspace work(model);
  const MoreauMidpoint options{.dt = 1e-3};
  while (state.t < 2)
    if (!step(model, {}, state, work, options).solve().converged) return 1;
  std::printf("rolls at %.9f m/s, exactly 5/7 of 7: 5\n", state.v[0]);
}
