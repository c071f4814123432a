// The same mechanisms in Simbody: its articulated-body forward dynamics, inverse dynamics and mass
// matrix, each with the kinematics it needs. (Its contact is compliant: no snake and no pile.)
#include <memory>

#include "bench/dynamics_peers.h"
#include "bench/models.h"
#include "bench/register.h"
#include "bench/simbody_case.h"

namespace saltus::bench {
namespace {

std::shared_ptr<SimbodyCase> convert(const Model& model) {
  const State state = some_state(model);
  std::vector<SimbodyBody> bodies;
  Vec angles = Vec::Zero(model.nv);
  for (const Body& body : model.bodies) {
    SimbodyBody b;
    b.parent = body.parent;
    b.floating = std::holds_alternative<Floating>(body.joint);
    b.at = body.placement.r;
    if (!b.floating) {
      b.axis = std::get<Revolute>(body.joint).axis;
      angles[body.v0] = state.q[body.q0];
    }
    b.mass = body.rigid.mass;
    b.com = body.rigid.com;
    b.about_com = body.rigid.about_com;
    bodies.push_back(b);
  }
  return std::make_shared<SimbodyCase>(bodies, model.gravity, angles, state.v);
}

void check(const Model& model, SimbodyCase& c) {
  c.inverse();
  check_same("Simbody", inverse_dynamics(model, c.in()), c.out(), rounding);
  c.forward();
  check_same("Simbody", inverse_dynamics(model, c.out()), c.in(), rounding_there_and_back);
}

void add_case(const std::string& name, const std::shared_ptr<SimbodyCase>& c,
              void (SimbodyCase::*run)()) {
  add("dynamics/" + name + "/simbody", [c, run](benchmark::State& timer) {
    for (auto _ : timer) {
      ((*c).*run)();
      benchmark::ClobberMemory();
    }
  });
}

void add_model(const std::string& name, const Model& model) {
  const auto c = convert(model);
  check(model, *c);
  add_case(name + " FK", c, &SimbodyCase::kinematics);
  add_case(name + " RNEA", c, &SimbodyCase::inverse);
  if (model.nv <= 200) add_case(name + " CRBA", c, &SimbodyCase::mass_matrix);
  add_case(name + " ABA", c, &SimbodyCase::forward);
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  for (const auto& [name, model] : dynamics_models()) add_model(name, model);
  return run_registered(argc, argv);
}
