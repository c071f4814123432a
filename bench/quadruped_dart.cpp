// DART: one articulated tree, springs and dampers of its joints are the PD (implicit), boxed LCP
// (Dantzig), its own collision detector. All as it comes.
#include <dart/collision/dart/DARTCollisionDetector.hpp>
#include <dart/config.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

#include "bench/quadruped.h"

namespace saltus::bench {
namespace {

namespace dd = dart::dynamics;

Eigen::Isometry3d shifted(const Vec3& r) { return Eigen::Isometry3d(Eigen::Translation3d(r)); }

class Engine {
 public:
  Engine(const Robot& robot, const Trial& trial) {
    world_->setGravity(trial.gravity);
    world_->setTimeStep(trial.dt);
    world_->getConstraintSolver()->setCollisionDetector(
        dart::collision::DARTCollisionDetector::create());
    ground(robot.mu);
    skeleton_ = dd::Skeleton::create("robot");
    for (int i = 0; i <= joints; ++i) add_body(robot, i);
    for (const Foot& foot : robot.feet) {
      auto* node =
          add_shape(*nodes_[foot.body], std::make_shared<dd::SphereShape>(foot.radius), robot.mu);
      node->setRelativeTranslation(foot.at);
    }
    world_->addSkeleton(skeleton_);
  }
  void step(const References&, const References& to) {  // its springs are implicit
    for (int i = 0; i < joints; ++i) hinges_[i]->setRestPosition(0, to[i]);
    world_->step();
  }
  void look(Seen& seen) const {
    seen.X.resize(joints + 1);
    seen.v.resize(joints + 1);
    seen.omega.resize(joints + 1);
    for (int i = 0; i <= joints; ++i) {
      const Eigen::Isometry3d& at = nodes_[i]->getTransform();
      seen.X[i] = {at.linear(), at.translation()};
      seen.v[i] = nodes_[i]->getCOMLinearVelocity();
      seen.omega[i] = nodes_[i]->getAngularVelocity();
      if (i > 0) seen.q[i - 1] = hinges_[i - 1]->getPosition(0);
    }
  }

 private:
  // Its own detector knows boxes and balls: a plane is the face of a large box.
  void ground(double mu) {
    constexpr double size = 1e2;
    auto skeleton = dd::Skeleton::create("ground");
    auto [joint, node] = skeleton->createJointAndBodyNodePair<dd::WeldJoint>();
    add_shape(*node, std::make_shared<dd::BoxShape>(Eigen::Vector3d::Constant(size)), mu);
    joint->setTransformFromParentBodyNode(shifted({0, 0, -0.5 * size}));
    world_->addSkeleton(skeleton);
  }
  void add_body(const Robot& robot, int i) {
    const Body& b = robot.system.model.bodies[i];
    dd::BodyNode::Properties properties;
    properties.mName = b.name;
    properties.mInertia = dd::Inertia(b.rigid.mass, b.rigid.com, b.rigid.about_com);
    if (i == 0) {
      auto [joint, node] = skeleton_->createJointAndBodyNodePair<dd::FreeJoint>(
          nullptr, dd::FreeJoint::Properties(), properties);
      joint->setPositions(dd::FreeJoint::convertToPositions(shifted(robot.start[0].r)));
      nodes_.push_back(node);
      return;
    }
    dd::RevoluteJoint::Properties joint;
    joint.mName = "joint of " + b.name;
    joint.mAxis = robot.axis(i);
    joint.mT_ParentBodyToJoint = shifted(b.placement.r);
    auto [hinge, node] = skeleton_->createJointAndBodyNodePair<dd::RevoluteJoint>(
        nodes_[b.parent], joint, properties);
    hinge->setPosition(0, robot.q_start[i - 1]);
    hinge->setSpringStiffness(0, robot.kp);
    hinge->setDampingCoefficient(0, robot.kd);
    nodes_.push_back(node);
    hinges_.push_back(hinge);
  }
  static dd::ShapeNode* add_shape(dd::BodyNode& node, const dd::ShapePtr& shape, double mu) {
    auto* placed = node.createShapeNodeWith<dd::CollisionAspect, dd::DynamicsAspect>(shape);
    placed->getDynamicsAspect()->setFrictionCoeff(mu);  // the smaller of two counts
    return placed;
  }
  dart::simulation::WorldPtr world_ = dart::simulation::World::create();
  dd::SkeletonPtr skeleton_;
  std::vector<dd::BodyNode*> nodes_;
  std::vector<dd::RevoluteJoint*> hinges_;
};

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  return run_contenders(argc, argv, DART_VERSION, {contender<Engine>("dart", "defaults")});
}
