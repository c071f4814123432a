// The same mechanisms in Pinocchio, its templates compiled with our compiler and flags.
#include <memory>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/kinematics.hpp>

#include "bench/dynamics_peers.h"
#include "bench/models.h"
#include "bench/pinocchio_model.h"
#include "bench/register.h"

namespace saltus::bench {
namespace {

struct Case {
  pinocchio::Model model;
  pinocchio::Data data;
  Vec q, v, in;
  explicit Case(const Model& ours) : model(pinocchio_model(ours)), data(model) {
    const State state = some_state(ours);
    q = state.q;
    v = state.v;
    if (ours.nq != ours.nv) q.segment<4>(3) << 0, 0, 0, 1;  // Pinocchio's order is x, y, z, w
    in = Vec::LinSpaced(ours.nv, -1, 1);
  }
};

// Ours and theirs must be the same mechanism, or times mean nothing.
void check(const Model& model, Case& c) {
  Vec a = c.in;
  // Ours is the rate of the velocity's inertial components, Pinocchio's of the body's.
  if (model.nq != model.nv) a.head<3>() += Vec3(c.v.segment<3>(3)).cross(Vec3(c.v.head<3>()));
  const Vec theirs = pinocchio::rnea(c.model, c.data, c.q, c.v, c.in);
  check_same("Pinocchio", inverse_dynamics(model, a), theirs, rounding);
}

template <class F>
void add_case(const std::string& name, const std::shared_ptr<Case>& c, F run) {
  add("dynamics/" + name + "/pinocchio", [c, run](benchmark::State& timer) {
    for (auto _ : timer) {
      run(*c);
      benchmark::ClobberMemory();
    }
  });
}

}  // namespace

void add_pinocchio(const std::string& name, const Model& model) {
  const auto c = std::make_shared<Case>(model);
  check(model, *c);
  add_case(name + " FK", c,
           [](Case& x) { pinocchio::forwardKinematics(x.model, x.data, x.q, x.v); });
  add_case(name + " RNEA", c, [](Case& x) { pinocchio::rnea(x.model, x.data, x.q, x.v, x.in); });
  // Both conventions: the table takes the faster one.
  using pinocchio::Convention;
  for (const auto& [label, convention] :
       {std::pair("", Convention::LOCAL), std::pair("-world", Convention::WORLD)}) {
    if (model.nv <= 200)
      add("dynamics/" + name + " CRBA/pinocchio" + label, [c, convention](benchmark::State& timer) {
        for (auto _ : timer) {
          pinocchio::crba(c->model, c->data, c->q, convention);
          benchmark::ClobberMemory();
        }
      });
    add("dynamics/" + name + " ABA/pinocchio" + label, [c, convention](benchmark::State& timer) {
      for (auto _ : timer) {
        pinocchio::aba(c->model, c->data, c->q, c->v, c->in, convention);
        benchmark::ClobberMemory();
      }
    });
  }
}

}  // namespace saltus::bench
