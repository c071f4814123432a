// The same mechanisms in Pinocchio, its templates compiled with our compiler and flags.
#include <memory>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>
#include <stdexcept>

#include "bench/dynamics_peers.h"
#include "bench/models.h"
#include "bench/register.h"

namespace saltus::bench {
namespace {

pinocchio::SE3 pose(const SE3& X) { return {X.R, X.r}; }

pinocchio::Model convert(const Model& model) {
  pinocchio::Model result;
  result.gravity.linear(model.gravity);
  for (const Body& body : model.bodies) {
    const auto parent = static_cast<pinocchio::JointIndex>(body.parent + 1);
    pinocchio::JointIndex joint = 0;
    if (std::holds_alternative<Floating>(body.joint)) {
      joint = result.addJoint(parent, pinocchio::JointModelFreeFlyer(), pose(body.placement),
                              body.name);
    } else {
      const Vec3 axis = std::get<Revolute>(body.joint).axis;
      const pinocchio::SE3 at = pose(body.placement);
      if (axis == Vec3::UnitX())
        joint = result.addJoint(parent, pinocchio::JointModelRX(), at, body.name);
      else if (axis == Vec3::UnitY())
        joint = result.addJoint(parent, pinocchio::JointModelRY(), at, body.name);
      else if (axis == Vec3::UnitZ())
        joint = result.addJoint(parent, pinocchio::JointModelRZ(), at, body.name);
      else
        throw std::runtime_error("bench: no such joint in the conversion to Pinocchio");
    }
    result.appendBodyToJoint(joint, {body.rigid.mass, body.rigid.com, body.rigid.about_com});
  }
  return result;
}

struct Case {
  pinocchio::Model model;
  pinocchio::Data data;
  Vec q, v, in;
  explicit Case(const Model& ours) : model(convert(ours)), data(model) {
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
