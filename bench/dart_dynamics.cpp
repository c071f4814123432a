// The same mechanisms in DART. It keeps what follows from the state until the state changes, so
// two states take turns.
#include "bench/dart_dynamics.h"

#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <memory>

#include "bench/dynamics_peers.h"
#include "bench/models.h"
#include "bench/register.h"

namespace saltus::bench {
namespace {

namespace dd = dart::dynamics;

dd::Inertia inertia(const RigidInertia& body) { return {body.mass, body.com, body.about_com}; }

dd::SkeletonPtr convert(const Model& model) {
  auto skeleton = dd::Skeleton::create();
  skeleton->setGravity(model.gravity);
  std::vector<dd::BodyNode*> nodes;
  for (const Body& body : model.bodies) {
    dd::BodyNode* parent = body.parent >= 0 ? nodes[body.parent] : nullptr;
    const dd::BodyNode::Properties properties(
        dd::BodyNode::AspectProperties(body.name, inertia(body.rigid)));
    if (std::holds_alternative<Floating>(body.joint)) {
      nodes.push_back(skeleton
                          ->createJointAndBodyNodePair<dd::FreeJoint>(
                              parent, dd::FreeJoint::Properties(), properties)
                          .second);
      continue;
    }
    dd::RevoluteJoint::Properties joint;
    joint.mName = body.name;
    joint.mAxis = std::get<Revolute>(body.joint).axis;
    joint.mT_ParentBodyToJoint.translation() = body.placement.r;
    nodes.push_back(
        skeleton->createJointAndBodyNodePair<dd::RevoluteJoint>(parent, joint, properties).second);
  }
  return skeleton;
}

class Case {
 public:
  explicit Case(const Model& model) : skeleton_(convert(model)), q_(Vec::Zero(model.nv)) {
    const State state = some_state(model);
    floating_ = model.nq != model.nv;
    for (const Body& body : model.bodies)
      if (has_scalar_coordinates(body.joint)) q_[body.v0] = state.q[body.q0];
    v_ = swapped(state.v);
    in_ = Vec::LinSpaced(model.nv, -1, 1);
    out_ = Vec::Zero(model.nv);
  }

  void kinematics() {
    change_state();
    for (std::size_t i = 0; i < skeleton_->getNumBodyNodes(); ++i) {  // it is lazy
      benchmark::DoNotOptimize(skeleton_->getBodyNode(i)->getWorldTransform().data());
      benchmark::DoNotOptimize(skeleton_->getBodyNode(i)->getSpatialVelocity().data());
    }
  }
  void inverse() {
    change_state();
    skeleton_->setAccelerations(in_);
    skeleton_->computeInverseDynamics();
    out_ = skeleton_->getForces();
  }
  void forward() {
    change_state();
    skeleton_->setForces(in_);
    skeleton_->computeForwardDynamics();
    out_ = skeleton_->getAccelerations();
  }
  void mass_matrix() {
    change_state();
    benchmark::DoNotOptimize(skeleton_->getMassMatrix().data());
  }
  // From now on every call sees a new state, if by little.
  void take_turns() { change_ = 1e-12; }
  [[nodiscard]] Vec in() const { return swapped(in_); }
  [[nodiscard]] Vec out() const { return swapped(out_); }
  // Theirs is the rate of the body's components of the velocity, ours of the inertial ones.
  [[nodiscard]] Vec our_acceleration(Vec a) const {
    if (floating_) {
      const Vec v = swapped(v_);
      a.head<3>() += Vec3(v.segment<3>(3)).cross(Vec3(v.head<3>()));
    }
    return a;
  }

 private:
  void change_state() {
    change_ = -change_;
    skeleton_->setPositions(q_ + Vec::Constant(q_.size(), change_));
    skeleton_->setVelocities(v_ + Vec::Constant(v_.size(), change_));
  }
  // A floating body's order is (angular, linear).
  [[nodiscard]] Vec swapped(Vec x) const {
    if (floating_) x.head<3>().swap(x.segment<3>(3));
    return x;
  }
  dd::SkeletonPtr skeleton_;
  bool floating_ = false;
  double change_ = 0;
  Vec q_, v_, in_, out_;
};

void check(const Model& model, Case& c) {
  c.inverse();
  check_same("DART", inverse_dynamics(model, c.our_acceleration(c.in())), c.out(), rounding);
  c.forward();
  check_same("DART", inverse_dynamics(model, c.our_acceleration(c.out())), c.in(),
             rounding_there_and_back);
}

void add_case(const std::string& name, const std::shared_ptr<Case>& c, void (Case::*run)()) {
  add("dynamics/" + name + "/dart", [c, run](benchmark::State& timer) {
    for (auto _ : timer) {
      ((*c).*run)();
      benchmark::ClobberMemory();
    }
  });
}

}  // namespace

void add_dart_dynamics() {
  for (const auto& [name, model] : dynamics_models()) {
    const auto c = std::make_shared<Case>(model);
    check(model, *c);
    c->take_turns();
    add_case(std::string(name) + " FK", c, &Case::kinematics);
    add_case(std::string(name) + " RNEA", c, &Case::inverse);
    if (model.nv <= 200) add_case(std::string(name) + " CRBA", c, &Case::mass_matrix);
    add_case(std::string(name) + " ABA", c, &Case::forward);
  }
}

}  // namespace saltus::bench
