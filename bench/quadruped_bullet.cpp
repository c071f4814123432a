// Bullet: a multibody (Featherstone), contacts by sequential impulses (10 iterations, its default),
// torques of the PD from the start of the step. Its damping of all velocities is off.
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <btBulletDynamicsCommon.h>

#include <memory>

#include "bench/quadruped.h"

namespace saltus::bench {
namespace {

btVector3 vector(const Vec3& p) { return {p[0], p[1], p[2]}; }
Vec3 vector(const btVector3& p) { return {p.x(), p.y(), p.z()}; }

class Engine {
 public:
  Engine(const Robot& robot, const Trial& trial) : robot_(robot), dt_(trial.dt) {
    world_.setGravity(vector(trial.gravity));
    const Body& trunk = body(0);
    robot_body_ = std::make_unique<btMultiBody>(
        joints, trunk.rigid.mass, vector(trunk.rigid.about_com.diagonal()), false, false);
    for (int i = 1; i <= joints; ++i) {
      const Body& b = body(i);
      robot_body_->setupRevolute(i - 1, b.rigid.mass, vector(b.rigid.about_com.diagonal()),
                                 b.parent - 1, btQuaternion::getIdentity(), vector(robot.axis(i)),
                                 vector(Vec3(b.placement.r - body(b.parent).rigid.com)),
                                 vector(b.rigid.com), true);
    }
    robot_body_->finalizeMultiDof();
    robot_body_->setBasePos(vector(robot.start[0].r));
    robot_body_->setLinearDamping(0);
    robot_body_->setAngularDamping(0);
    robot_body_->setHasSelfCollision(false);
    for (int i = 0; i < joints; ++i) robot_body_->setJointPos(i, robot.q_start[i]);
    world_.addMultiBody(robot_body_.get());
    add_ground();
    for (const Foot& foot : robot.feet) add_foot(foot);
    btAlignedObjectArray<btQuaternion> rotations;
    btAlignedObjectArray<btVector3> places;
    robot_body_->forwardKinematics(rotations, places);
    robot_body_->updateCollisionObjectWorldTransforms(rotations, places);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() {
    for (auto& foot : feet_) world_.removeCollisionObject(foot.get());
    world_.removeMultiBody(robot_body_.get());
    world_.removeRigidBody(ground_.get());
  }
  void step(const References& from, const References&) {
    for (int i = 0; i < joints; ++i)
      robot_body_->addJointTorque(i, robot_.kp * (from[i] - robot_body_->getJointPos(i)) -
                                         robot_.kd * robot_body_->getJointVel(i));
    world_.stepSimulation(dt_, 0);
  }
  void look(Seen& seen) {
    seen.X.resize(joints + 1);
    seen.v.resize(joints + 1);
    seen.omega.resize(joints + 1);
    btAlignedObjectArray<btQuaternion> rotations;
    btAlignedObjectArray<btVector3> places;
    robot_body_->forwardKinematics(rotations, places);
    std::array<btVector3, joints + 1> omega, v;  // in the bodies' frames
    robot_body_->compTreeLinkVelocities(omega.data(), v.data());
    for (int i = 0; i <= joints; ++i) {
      const btTransform at = i == 0 ? robot_body_->getBaseWorldTransform()
                                    : robot_body_->getLink(i - 1).m_cachedWorldTransform;
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) seen.X[i].R(r, c) = at.getBasis()[r][c];
      seen.X[i].r = vector(at.getOrigin()) - seen.X[i].R * body(i).rigid.com;
      seen.v[i] = seen.X[i].R * vector(v[i]);
      seen.omega[i] = seen.X[i].R * vector(omega[i]);
      if (i > 0) seen.q[i - 1] = robot_body_->getJointPos(i - 1);
    }
  }

 private:
  [[nodiscard]] const Body& body(int i) const { return robot_.system.model.bodies[i]; }
  void add_ground() {
    plane_ = std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), 0);
    btRigidBody::btRigidBodyConstructionInfo info(0, nullptr, plane_.get());
    info.m_friction = 1;  // the two of a contact are multiplied
    ground_ = std::make_unique<btRigidBody>(info);
    world_.addRigidBody(ground_.get());
  }
  void add_foot(const Foot& foot) {
    const btVector3 at = vector(Vec3(foot.at - body(foot.body).rigid.com));
    const btScalar radius = foot.radius;
    balls_.push_back(std::make_unique<btMultiSphereShape>(&at, &radius, 1));
    auto collider = std::make_unique<btMultiBodyLinkCollider>(robot_body_.get(), foot.body - 1);
    collider->setCollisionShape(balls_.back().get());
    collider->setFriction(robot_.mu);
    collider->setRestitution(0);
    world_.addCollisionObject(collider.get(), btBroadphaseProxy::DefaultFilter,
                              btBroadphaseProxy::StaticFilter);
    robot_body_->getLink(foot.body - 1).m_collider = collider.get();
    feet_.push_back(std::move(collider));
  }

  const Robot& robot_;
  double dt_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_{&configuration_};
  btDbvtBroadphase broadphase_;
  btMultiBodyConstraintSolver solver_;
  btMultiBodyDynamicsWorld world_{&dispatcher_, &broadphase_, &solver_, &configuration_};
  std::unique_ptr<btMultiBody> robot_body_;
  std::unique_ptr<btStaticPlaneShape> plane_;
  std::unique_ptr<btRigidBody> ground_;
  std::vector<std::unique_ptr<btMultiSphereShape>> balls_;
  std::vector<std::unique_ptr<btMultiBodyLinkCollider>> feet_;
};

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  return run_contenders(argc, argv, PEER_VERSION,
                        {contender<Engine>("bullet", "multibody, 10 iterations")});
}
