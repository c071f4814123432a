// Bullet, sequential impulses with 10 iterations (its default).
#include <btBulletDynamicsCommon.h>

#include <memory>

#include "bench/peer_world.h"

namespace saltus::bench {
namespace {

btVector3 vector(const Point& p) { return {p[0], p[1], p[2]}; }

class World {
 public:
  explicit World(double mu) : mu_(std::sqrt(mu)) { world_.setGravity({0, 0, -9.81}); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    for (auto& h : hinges_) world_.removeConstraint(h.get());
    for (auto& b : bodies_) world_.removeRigidBody(b.get());
  }
  void plane(const Point& normal, double offset) {
    shapes_.push_back(std::make_unique<btStaticPlaneShape>(vector(normal), offset));
    add(0, {0, 0, 0}, {0, 0, 0});
  }
  void sphere(const Point& at, double radius, double mass) {
    if (balls_.empty()) shapes_.push_back(std::make_unique<btSphereShape>(radius));
    btVector3 inertia;
    shapes_.back()->calculateLocalInertia(mass, inertia);
    balls_.push_back(add(mass, vector(at), inertia));
  }
  void hinge(int i, const Point& at) {
    btRigidBody &a = *balls_[i], &b = *balls_[i + 1];
    const btVector3 z(0, 0, 1), in_a = vector(at) - a.getWorldTransform().getOrigin(),
                                in_b = vector(at) - b.getWorldTransform().getOrigin();
    hinges_.push_back(std::make_unique<btHingeConstraint>(a, b, in_a, in_b, z, z));
    world_.addConstraint(hinges_.back().get(), true);
  }
  void drive(int j, double reference) {
    hinges_[j]->enableMotor(true);
    hinges_[j]->setMaxMotorImpulse(0.05);
    hinges_[j]->setMotorTarget(reference, 0.05);
  }
  void step(double dt) { world_.stepSimulation(dt, 0); }

 private:
  btRigidBody* add(double mass, const btVector3& at, const btVector3& inertia) {
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shapes_.back().get(), inertia);
    info.m_startWorldTransform.setOrigin(at);
    info.m_friction = mu_;
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
    world_.addRigidBody(bodies_.back().get());
    return bodies_.back().get();
  }

  double mu_;  // of one surface: the two of a contact are multiplied
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_{&configuration_};
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_{&dispatcher_, &broadphase_, &solver_, &configuration_};
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
  std::vector<btRigidBody*> balls_;
  std::vector<std::unique_ptr<btHingeConstraint>> hinges_;
};

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  add_snakes<World>("bullet", {11, 50, 200, 1000});
  add_pile<World>("bullet");
  return run_registered(argc, argv);
}
