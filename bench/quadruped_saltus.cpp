// Saltus: Moreau, the scene as it is; the gait is evaluated by the step itself.
#include <fmt/format.h>

#include "bench/quadruped.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/version.h"

namespace saltus::bench {
namespace {

class Engine {
 public:
  Engine(const Robot& robot, const Trial& trial)
      : system_(robot.system), options_(robot.scene.stepping) {
    system_.model.gravity = trial.gravity;
    options_.dt = trial.dt;
    options_.poses = false;  // look() has its own
    if (!trial.trot)
      for (Motor& motor : system_.actuation.motors)
        motor.reference = Constant{value(motor.reference, 0)};
    work_ = std::make_unique<StepWorkspace>(system_.model);
    kinematics_ = std::make_unique<Workspace>(system_.model);
  }
  void step(const References&, const References&) {
    const StepReport r =
        saltus::step(system_.model, system_.actuation, system_.start, *work_, options_);
    if (r.diverged || r.singular || !r.solve().converged)
      throw std::runtime_error("a step was not solved");
  }
  void look(Seen& seen) {
    const State& s = system_.start;
    forward_kinematics(system_.model, s.q, s.v, *kinematics_);
    const int n = system_.model.body_count();
    seen.X = kinematics_->X;
    seen.v.resize(n);
    seen.omega.resize(n);
    for (int i = 0; i < n; ++i) {
      const Body& body = system_.model.bodies[i];
      const Vec6& V = kinematics_->V[i];
      const Mat3& R = seen.X[i].R;
      seen.v[i] = R * (V.head<3>() + V.tail<3>().cross(body.rigid.com));
      seen.omega[i] = R * V.tail<3>();
      if (i > 0) seen.q[i - 1] = s.q[body.q0];
    }
  }

 private:
  System system_;
  MoreauMidpoint options_;
  std::unique_ptr<StepWorkspace> work_;
  std::unique_ptr<Workspace> kinematics_;
};

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
#if defined(__AVX512F__)
  constexpr const char* instructions = "AVX-512";
#elif defined(__AVX2__)
  constexpr const char* instructions = "AVX2";
#elif defined(__AVX__)
  constexpr const char* instructions = "AVX";
#elif defined(__x86_64__)
  constexpr const char* instructions =
      "x86-64 (SSE2), loops of dynamics/packed_ops.h for AVX2 too,";
#else
  constexpr const char* instructions = "the compiler's default instructions";
#endif
  return run_contenders(
      argc, argv, saltus::version,
      {contender<Engine>("saltus",
                         fmt::format("Moreau, defaults of the scene; compiled for {} by {}",
                                     instructions, __VERSION__))});
}
