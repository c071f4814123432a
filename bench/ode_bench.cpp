// ODE QuickStep, 20 iterations (its default).
#include <ode/ode.h>

#include "bench/peer_world.h"

namespace saltus::bench {
namespace {

class World {
 public:
  explicit World(double mu) : mu_(mu) {
    dWorldSetGravity(world_, 0, 0, -9.81);
    dWorldSetQuickStepNumIterations(world_, 20);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    dJointGroupDestroy(contacts_);
    dSpaceDestroy(space_);
    dWorldDestroy(world_);
  }
  void plane(const Point& n, double offset) { dCreatePlane(space_, n[0], n[1], n[2], offset); }
  void sphere(const Point& at, double radius, double mass) {
    dBodyID body = dBodyCreate(world_);
    dMass m;
    dMassSetSphereTotal(&m, mass, radius);
    dBodySetMass(body, &m);
    dBodySetPosition(body, at[0], at[1], at[2]);
    dGeomSetBody(dCreateSphere(space_, radius), body);
    bodies_.push_back(body);
  }
  void hinge(int i, const Point& at) {
    dJointID hinge = dJointCreateHinge(world_, nullptr);
    dJointAttach(hinge, bodies_[i + 1], bodies_[i]);
    dJointSetHingeAnchor(hinge, at[0], at[1], at[2]);
    dJointSetHingeAxis(hinge, 0, 0, 1);
    hinges_.push_back(hinge);
  }
  // P0's gains are not stable in an explicit torque at 1 ms: a thousandth of them.
  void drive(int j, double reference) {
    const double error = reference - dJointGetHingeAngle(hinges_[j]);
    const double rate = dJointGetHingeAngleRate(hinges_[j]);
    dJointAddHingeTorque(hinges_[j], 1e-3 * (SnakeNumbers::kp * error - SnakeNumbers::kd * rate));
  }
  void step(double dt) {
    dSpaceCollide(space_, this, &World::near);
    dWorldQuickStep(world_, dt);
    dJointGroupEmpty(contacts_);
  }

 private:
  static void near(void* data, dGeomID a, dGeomID b) {
    auto& self = *static_cast<World*>(data);
    dBodyID p = dGeomGetBody(a), q = dGeomGetBody(b);
    if (p == nullptr && q == nullptr) return;
    if (p != nullptr && q != nullptr && dAreConnected(p, q) != 0) return;
    dContact contact{};
    contact.surface.mode = dContactApprox1;
    contact.surface.mu = self.mu_;
    if (dCollide(a, b, 1, &contact.geom, sizeof(dContact)) == 0) return;
    dJointAttach(dJointCreateContact(self.world_, self.contacts_, &contact), p, q);
  }

  double mu_;
  dWorldID world_ = dWorldCreate();
  dSpaceID space_ = dSweepAndPruneSpaceCreate(nullptr, dSAP_AXES_XYZ);
  dJointGroupID contacts_ = dJointGroupCreate(0);
  std::vector<dBodyID> bodies_;
  std::vector<dJointID> hinges_;
};

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  dInitODE2(0);
  add_snakes<World>("ode", {11, 50, 200, 1000});
  add_pile<World>("ode");
  return run_registered(argc, argv);
}
