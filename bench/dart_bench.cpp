// DART: dynamics, and the snake as one articulated tree with its boxed LCP (Dantzig, then projected
// Gauss-Seidel) and its own collision detector. The LCP is dense and assembled by unit impulses,
// one by one, so long snakes and the pile (7000 rows) are out of its reach.
#include <dart/collision/dart/DARTCollisionDetector.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>

#include "bench/dart_dynamics.h"
#include "bench/peer_world.h"

namespace saltus::bench {
namespace {

namespace dd = dart::dynamics;

class World {
 public:
  explicit World(double mu) : mu_(mu) {
    world_->setGravity({0, 0, -9.81});
    world_->getConstraintSolver()->setCollisionDetector(
        dart::collision::DARTCollisionDetector::create());
  }
  // Its own detector knows boxes and balls: a plane is the face of a large box.
  void plane(const Point& normal, double offset) {
    constexpr double size = 1e3;
    auto skeleton = dd::Skeleton::create("plane");
    auto [joint, node] = skeleton->createJointAndBodyNodePair<dd::WeldJoint>();
    add_shape(*node, std::make_shared<dd::BoxShape>(Eigen::Vector3d::Constant(size)));
    Eigen::Isometry3d at = Eigen::Isometry3d::Identity();
    at.translation() = (offset - 0.5 * size) * Eigen::Vector3d(normal.data());
    joint->setTransformFromParentBodyNode(at);
    world_->addSkeleton(skeleton);
  }
  void sphere(const Point& at, double radius, double mass) {
    dd::BodyNode::Properties properties;
    properties.mInertia =
        dd::Inertia(mass, Eigen::Vector3d::Zero(), dd::SphereShape(radius).computeInertia(mass));
    if (links_.empty()) {
      skeleton_ = dd::Skeleton::create("snake");
      auto [joint, node] = skeleton_->createJointAndBodyNodePair<dd::FreeJoint>(
          nullptr, dd::FreeJoint::Properties(), properties);
      joint->setTransformFromParentBodyNode(
          Eigen::Isometry3d(Eigen::Translation3d(Eigen::Vector3d(at.data()))));
      links_.push_back(node);
      hinges_.push_back(nullptr);
    } else {
      dd::RevoluteJoint::Properties joint;
      joint.mName = "hinge" + std::to_string(links_.size());
      joint.mAxis = Eigen::Vector3d::UnitZ();
      auto [hinge, node] = skeleton_->createJointAndBodyNodePair<dd::RevoluteJoint>(
          links_.back(), joint, properties);
      links_.push_back(node);
      hinges_.push_back(hinge);
    }
    centres_.emplace_back(at.data());
    add_shape(*links_.back(), std::make_shared<dd::SphereShape>(radius));
  }
  void hinge(int i, const Point& at) {
    const Eigen::Vector3d anchor(at.data());
    dd::RevoluteJoint& hinge = *hinges_[i + 1];
    hinge.setTransformFromParentBodyNode(
        Eigen::Isometry3d(Eigen::Translation3d(anchor - centres_[i])));
    hinge.setTransformFromChildBodyNode(
        Eigen::Isometry3d(Eigen::Translation3d(anchor - centres_[i + 1])));
    hinge.setSpringStiffness(0, SnakeNumbers::kp);  // implicit, as ours
    hinge.setDampingCoefficient(0, SnakeNumbers::kd);
  }
  void drive(int j, double reference) { hinges_[j + 1]->setRestPosition(0, reference); }
  void step(double dt) {
    if (!added_) {
      world_->addSkeleton(skeleton_);
      world_->setTimeStep(dt);
      added_ = true;
    }
    world_->step();
  }

 private:
  void add_shape(dd::BodyNode& node, const dd::ShapePtr& shape) {
    auto* placed = node.createShapeNodeWith<dd::CollisionAspect, dd::DynamicsAspect>(shape);
    placed->getDynamicsAspect()->setFrictionCoeff(mu_);  // the smaller of two counts
  }
  double mu_;
  bool added_ = false;
  dart::simulation::WorldPtr world_ = dart::simulation::World::create();
  dd::SkeletonPtr skeleton_;
  std::vector<dd::BodyNode*> links_;
  std::vector<dd::RevoluteJoint*> hinges_;
  std::vector<Eigen::Vector3d> centres_;
};

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  add_dart_dynamics();
  add_snakes<World>("dart", {11, 50, 200});
  return run_registered(argc, argv);
}
