// ODE: bodies and hinges (maximal coordinates), torques of the PD from the start of the step.
// dWorldStep (Dantzig's pivoting) and QuickStep (20 iterations, its default).
#include <ode/ode.h>

#include "bench/quadruped.h"

namespace saltus::bench {
namespace {

Vec3 vector(const dReal* p) { return {p[0], p[1], p[2]}; }

class Base {
 public:
  Base(const Robot& robot, const Trial& trial, bool quick)
      : robot_(robot), dt_(trial.dt), quick_(quick) {
    dWorldSetGravity(world_, trial.gravity[0], trial.gravity[1], trial.gravity[2]);
    dCreatePlane(space_, 0, 0, 1, 0);
    for (int i = 0; i <= joints; ++i) add_body(i);
    for (const Foot& foot : robot.feet) {
      const Vec3 at = foot.at - body(foot.body).rigid.com;
      dGeomID ball = dCreateSphere(space_, foot.radius);
      dGeomSetBody(ball, bodies_[foot.body]);
      dGeomSetOffsetPosition(ball, at[0], at[1], at[2]);
    }
  }
  Base(const Base&) = delete;
  Base& operator=(const Base&) = delete;
  ~Base() {
    dJointGroupDestroy(contacts_);
    dSpaceDestroy(space_);
    dWorldDestroy(world_);
  }
  void step(const References& from, const References&) {
    for (int i = 0; i < joints; ++i)
      dJointAddHingeTorque(hinges_[i], robot_.kp * (from[i] - angle(i)) -
                                           robot_.kd * dJointGetHingeAngleRate(hinges_[i]));
    dSpaceCollide(space_, this, &Base::near);
    if (quick_)
      dWorldQuickStep(world_, dt_);
    else
      dWorldStep(world_, dt_);
    dJointGroupEmpty(contacts_);
  }
  void look(Seen& seen) const {
    seen.X.resize(joints + 1);
    seen.v.resize(joints + 1);
    seen.omega.resize(joints + 1);
    for (int i = 0; i <= joints; ++i) {
      const dReal* R = dBodyGetRotation(bodies_[i]);
      for (int r = 0; r < 3; ++r) seen.X[i].R.row(r) = vector(R + 4 * r).transpose();
      seen.X[i].r = vector(dBodyGetPosition(bodies_[i])) - seen.X[i].R * body(i).rigid.com;
      seen.v[i] = vector(dBodyGetLinearVel(bodies_[i]));
      seen.omega[i] = vector(dBodyGetAngularVel(bodies_[i]));
      if (i > 0) seen.q[i - 1] = angle(i - 1);
    }
  }

 private:
  [[nodiscard]] const Body& body(int i) const { return robot_.system.model.bodies[i]; }
  [[nodiscard]] double angle(int i) const {  // hinges begin at zero
    return robot_.q_start[i] + dJointGetHingeAngle(hinges_[i]);
  }
  void add_body(int i) {
    const RigidInertia& rigid = body(i).rigid;
    const SE3& X = robot_.start[i];
    const Mat3& I = rigid.about_com;
    dBodyID b = dBodyCreate(world_);
    dMass m;
    dMassSetParameters(&m, rigid.mass, 0, 0, 0, I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2),
                       I(1, 2));
    dBodySetMass(b, &m);
    const Vec3 c = X * rigid.com;
    dBodySetPosition(b, c[0], c[1], c[2]);
    dMatrix3 R{};
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 3; ++k) R[4 * r + k] = X.R(r, k);
    dBodySetRotation(b, R);
    bodies_.push_back(b);
    if (i == 0) return;
    dJointID hinge = dJointCreateHinge(world_, nullptr);
    dJointAttach(hinge, b, bodies_[body(i).parent]);
    dJointSetHingeAnchor(hinge, X.r[0], X.r[1], X.r[2]);
    const Vec3 axis = X.R * robot_.axis(i);
    dJointSetHingeAxis(hinge, axis[0], axis[1], axis[2]);
    hinges_.push_back(hinge);
  }
  static void near(void* data, dGeomID a, dGeomID b) {
    auto& self = *static_cast<Base*>(data);
    dBodyID p = dGeomGetBody(a), q = dGeomGetBody(b);
    if ((p == nullptr) == (q == nullptr)) return;  // feet on the ground only
    dContact contact{};
    contact.surface.mode = dContactApprox1;
    contact.surface.mu = self.robot_.mu;
    if (dCollide(a, b, 1, &contact.geom, sizeof(dContact)) == 0) return;
    dJointAttach(dJointCreateContact(self.world_, self.contacts_, &contact), p, q);
  }

  const Robot& robot_;
  double dt_;
  bool quick_;
  dWorldID world_ = dWorldCreate();
  dSpaceID space_ = dSimpleSpaceCreate(nullptr);
  dJointGroupID contacts_ = dJointGroupCreate(0);
  std::vector<dBodyID> bodies_;
  std::vector<dJointID> hinges_;
};

struct Exact : Base {
  Exact(const Robot& robot, const Trial& trial) : Base(robot, trial, false) {}
};
struct Quick : Base {
  Quick(const Robot& robot, const Trial& trial) : Base(robot, trial, true) {}
};

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  dInitODE2(0);
  return run_contenders(argc, argv, PEER_VERSION,
                        {contender<Exact>("ode", "dWorldStep"),
                         contender<Quick>("ode-quick", "QuickStep, 20 iterations")});
}
