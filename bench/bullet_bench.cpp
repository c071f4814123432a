// Bullet, sequential impulses with 10 iterations (its default): the snake with a sphere contact a
// link (hinge constraints), and the sphere pile.
#include <btBulletDynamicsCommon.h>
#include <fmt/format.h>

#include <memory>

#include "bench/peer_scenes.h"
#include "bench/register.h"

namespace saltus::bench {
namespace {

struct World {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  std::vector<std::unique_ptr<btHingeConstraint>> hinges;

  World() { world.setGravity({0, 0, -9.81}); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    for (auto& h : hinges) world.removeConstraint(h.get());
    for (auto& b : bodies) world.removeRigidBody(b.get());
  }
  void plane(const btVector3& normal, double offset, double mu) {
    shapes.push_back(std::make_unique<btStaticPlaneShape>(normal, offset));
    add(0, {0, 0, 0}, {0, 0, 0}, mu);
  }
  void sphere(const btVector3& at, double radius, double mass, double mu) {
    if (shapes.empty() || shapes.back()->getShapeType() != SPHERE_SHAPE_PROXYTYPE)
      shapes.push_back(std::make_unique<btSphereShape>(radius));
    btVector3 inertia;
    shapes.back()->calculateLocalInertia(mass, inertia);
    add(mass, at, inertia, mu);
  }
  void add(double mass, const btVector3& at, const btVector3& inertia, double mu) {
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shapes.back().get(), inertia);
    info.m_startWorldTransform.setOrigin(at);
    info.m_friction = mu;
    bodies.push_back(std::make_unique<btRigidBody>(info));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
  }
  void step(double dt) { world.stepSimulation(dt, 0); }
};

void snake(benchmark::State& timer, int links) {
  using Snake = SnakeNumbers;
  World w;
  w.plane({0, 0, 1}, 0, 1);  // coefficients multiply
  for (int i = 0; i < links; ++i) {
    w.sphere({i * Snake::length, 0, Snake::radius}, Snake::radius, Snake::mass, Snake::mu);
    if (i == 0) continue;
    btRigidBody &a = *w.bodies[i], &b = *w.bodies[i + 1];
    const double half = 0.5 * Snake::length;
    w.hinges.push_back(std::make_unique<btHingeConstraint>(a, b, btVector3(half, 0, 0),
                                                           btVector3(-half, 0, 0),
                                                           btVector3(0, 0, 1), btVector3(0, 0, 1)));
    w.world.addConstraint(w.hinges.back().get(), true);
  }
  double t = 0;
  const auto step = [&] {
    for (std::size_t i = 0; i < w.hinges.size(); ++i) {
      w.hinges[i]->enableMotor(true);
      w.hinges[i]->setMaxMotorImpulse(0.05);
      w.hinges[i]->setMotorTarget(Snake::reference(static_cast<int>(i) + 1, t), 0.05);
    }
    w.step(1e-3);
    t += 1e-3;
  };
  for (int i = 0; i < 20; ++i) step();
  for (auto _ : timer) step();
}

void pile(benchmark::State& timer, int spheres) {
  World w;
  const double d = -Pile::half_width;
  w.plane({0, 0, 1}, 0, 1);
  w.plane({1, 0, 0}, d, 1);
  w.plane({-1, 0, 0}, d, 1);
  w.plane({0, 1, 0}, d, 1);
  w.plane({0, -1, 0}, d, 1);
  const double mu = std::sqrt(Pile::mu);  // coefficients multiply
  for (const auto& c : Pile(spheres).centres)
    w.sphere({c[0], c[1], c[2]}, Pile::radius, Pile::mass(), mu);
  for (int i = 0; i < 1000; ++i) w.step(Pile::dt);
  for (auto _ : timer) w.step(Pile::dt);
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  for (const int links : {11, 50, 200, 1000})
    add(fmt::format("snake/N={}/bullet", links), [links](benchmark::State& t) { snake(t, links); });
  add("pile/1000 spheres/bullet", [](benchmark::State& t) { pile(t, 1000); })->Iterations(100);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
