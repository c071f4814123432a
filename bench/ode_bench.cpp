// ODE QuickStep, 20 iterations: the snake with a sphere contact a link, and the sphere pile.
#include <fmt/format.h>
#include <ode/ode.h>

#include "bench/peer_scenes.h"
#include "bench/register.h"

namespace saltus::bench {
namespace {

struct World {
  dWorldID world = dWorldCreate();
  dSpaceID space = dSweepAndPruneSpaceCreate(nullptr, dSAP_AXES_XYZ);
  dJointGroupID contacts = dJointGroupCreate(0);
  double mu = 0;
  std::vector<dBodyID> bodies;
  std::vector<dJointID> hinges;

  World() {
    dWorldSetGravity(world, 0, 0, -9.81);
    dWorldSetQuickStepNumIterations(world, 20);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    dJointGroupDestroy(contacts);
    dSpaceDestroy(space);
    dWorldDestroy(world);
  }
  dBodyID sphere(double x, double y, double z, double radius, double mass) {
    dBodyID body = dBodyCreate(world);
    dMass m;
    dMassSetSphereTotal(&m, mass, radius);
    dBodySetMass(body, &m);
    dBodySetPosition(body, x, y, z);
    dGeomSetBody(dCreateSphere(space, radius), body);
    bodies.push_back(body);
    return body;
  }
  static void near(void* data, dGeomID a, dGeomID b) {
    auto& self = *static_cast<World*>(data);
    dBodyID p = dGeomGetBody(a), q = dGeomGetBody(b);
    if (p == nullptr && q == nullptr) return;
    if (p != nullptr && q != nullptr && dAreConnected(p, q) != 0) return;
    dContact contact{};
    contact.surface.mode = dContactApprox1;
    contact.surface.mu = self.mu;
    if (dCollide(a, b, 1, &contact.geom, sizeof(dContact)) == 0) return;
    dJointAttach(dJointCreateContact(self.world, self.contacts, &contact), p, q);
  }
  void step(double dt) {
    dSpaceCollide(space, this, &World::near);
    dWorldQuickStep(world, dt);
    dJointGroupEmpty(contacts);
  }
};

void snake(benchmark::State& timer, int links) {
  using Snake = SnakeNumbers;
  World w;
  w.mu = Snake::mu;
  dCreatePlane(w.space, 0, 0, 1, 0);
  for (int i = 0; i < links; ++i) {
    dBodyID body = w.sphere(i * Snake::length, 0, Snake::radius, Snake::radius, Snake::mass);
    if (i == 0) continue;
    dJointID hinge = dJointCreateHinge(w.world, nullptr);
    dJointAttach(hinge, body, w.bodies[i - 1]);
    dJointSetHingeAnchor(hinge, (i - 0.5) * Snake::length, 0, Snake::radius);
    dJointSetHingeAxis(hinge, 0, 0, 1);
    w.hinges.push_back(hinge);
  }
  double t = 0;
  const auto step = [&] {
    for (std::size_t i = 0; i < w.hinges.size(); ++i) {
      const double error =
          Snake::reference(static_cast<int>(i) + 1, t) - dJointGetHingeAngle(w.hinges[i]);
      const double torque =
          Snake::kp * error * 1e-3 - Snake::kd * dJointGetHingeAngleRate(w.hinges[i]) * 1e-3;
      dJointAddHingeTorque(w.hinges[i], torque);
    }
    w.step(1e-3);
    t += 1e-3;
  };
  for (int i = 0; i < 20; ++i) step();
  for (auto _ : timer) step();
}

void pile(benchmark::State& timer, int spheres) {
  World w;
  w.mu = Pile::mu;
  dCreatePlane(w.space, 0, 0, 1, 0);
  const double d = -Pile::half_width;
  dCreatePlane(w.space, 1, 0, 0, d);
  dCreatePlane(w.space, -1, 0, 0, d);
  dCreatePlane(w.space, 0, 1, 0, d);
  dCreatePlane(w.space, 0, -1, 0, d);
  for (const auto& c : Pile(spheres).centres)
    w.sphere(c[0], c[1], c[2], Pile::radius, Pile::mass());
  for (int i = 0; i < 1000; ++i) w.step(Pile::dt);  // one second: the pile has settled
  for (auto _ : timer) w.step(Pile::dt);
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  dInitODE2(0);
  for (const int links : {11, 50, 200, 1000})
    add(fmt::format("snake/N={}/ode", links), [links](benchmark::State& t) { snake(t, links); });
  add("pile/1000 spheres/ode", [](benchmark::State& t) { pile(t, 1000); })->Iterations(100);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
