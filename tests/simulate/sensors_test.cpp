// Sensors: closed forms of what they read, when they read it, and with what noise.
#include "saltus/simulate/sensors.h"

#include <numbers>

#include "saltus/base/error.h"
#include "saltus/lie/so3.h"
#include "tests/support/simulate.h"

namespace saltus::test {
namespace {

constexpr double g = 9.81;

Sensor sensor(SensorKind kind, int body = 0) {
  Sensor s;
  s.name = "s";
  s.kind = kind;
  s.body = BodyIndex(body);
  return s;
}
Sensor encoder() {
  Sensor s = sensor(SensorKind::encoder);
  s.joints = {CoordinateIndex(0)};
  return s;
}

// A simulation with sensors that are read after every step.
struct Sensed : Simulation {
  SensorBank bank;

  Sensed(const ModelBuilder& b, std::vector<Sensor> sensors, double dt = 1e-3)
      : Simulation(b, dt), bank(model, std::move(sensors), dt, 0) {}
  void start() {
    forward_kinematics(model, state.q, state.v, work.result.work);
    bank.start(work.result.work, state);
  }
  void run(double t, const std::function<void()>& each = {}) {
    run_until(t, [&] {
      bank.step(work.result, state);
      if (each) each();
    });
  }
  [[nodiscard]] const std::vector<double>& value(int i = 0) const { return bank.reading(i).value; }
};

ModelBuilder ball_on_floor() {
  ModelBuilder b;
  b.body("ball", ball_inertia(2, 0.1), joint(Floating{}));
  b.shape("ball", "ball", SE3(), Sphere{0.1});
  b.shape("floor", "world", SE3(), HalfSpace{});
  ContactLaw law;
  law.mu1 = law.mu2 = 0.5;
  b.contact("ball", "floor", law);
  return b;
}

// A point mass at l below a hinge about y.
constexpr double length = 0.5;
ModelBuilder pendulum() {
  ModelBuilder b;
  b.body("rod", {1, Vec3(0, 0, -length), 1e-6 * Mat3::Identity()}, joint(Revolute{Vec3::UnitY()}));
  return b;
}

ModelBuilder wheel() {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  b.body("wheel", {1, Vec3::Zero(), Mat3::Identity()}, joint(Revolute{Vec3::UnitZ()}));
  return b;
}

void expect_vector(const std::string& what, const double* x, const Vec3& reference, double slack) {
  for (int i = 0; i < 3; ++i)
    expect_figure(fmt::format("{}[{}]", what, i), x[i], reference[i], slack);
}

TEST(Imu, ReadsGravityAtRestAndNothingInFreeFall) {
  Sensor tilted = sensor(SensorKind::imu);
  tilted.frame.R = exp_so3(Vec3(std::numbers::pi / 2, 0, 0));  // its y is the body's z
  Sensed rest(ball_on_floor(), {sensor(SensorKind::imu), tilted});
  rest.state.q[2] = 0.1;
  rest.start();
  EXPECT_TRUE(std::isnan(rest.value()[0])) << "no step, no acceleration";
  EXPECT_EQ(rest.value()[3], 0) << "but a rate";
  rest.run(0.1);
  expect_vector("specific force at rest [m/s^2]", rest.value().data(), Vec3(0, 0, g), 1e-9);
  expect_vector("in a tilted frame", rest.value(1).data(), Vec3(0, g, 0), 1e-9);
  Sensed falls(ball_on_floor(), {sensor(SensorKind::imu)});
  falls.state.q[2] = 5;
  falls.start();
  falls.run(0.1);
  expect_vector("specific force in free fall [m/s^2]", falls.value().data(), Vec3::Zero(), 1e-9);
}

// An impact is in the mean over its step: f = (v_E - v_S)/dt + g.
TEST(Imu, HoldsImpacts) {
  Sensed sim(ball_on_floor(), {sensor(SensorKind::imu)});
  sim.state.q[2] = 0.1 + 1e-9;
  sim.state.v[2] = -1;
  sim.start();
  double most = 0;
  sim.run(0.01, [&] { most = std::max(most, sim.value()[2]); });
  expect_figure("specific force of an impact [m/s^2]", most, 1 / 1e-3 + g, 10);
}

// x'' = -(g/l) sin x: at the bob f = (0 tangential, l x'^2 + g cos x towards the hinge).
TEST(Imu, OnAPendulum) {
  const auto worst = [](double dt) {
    Sensor s = sensor(SensorKind::imu);
    s.frame.r = Vec3(0, 0, -length);
    Sensed sim(pendulum(), {s}, dt);
    sim.state.q[0] = 1;
    sim.start();
    double off = 0;
    sim.run(1, [&] {
      const double x = sim.state.q[0], w = sim.state.v[0];
      const Vec3 f(sim.value()[0], sim.value()[1], sim.value()[2]);
      const Vec3 exact(0, 0, length * w * w + g * std::cos(x));
      off = std::max(off, (f - exact).norm());
      EXPECT_NEAR(sim.value()[4], w, 1e-12);
    });
    return off;
  };
  const double coarse = worst(2e-3), fine = worst(1e-3);
  // The mean over a step belongs to its middle: an error of dt/2 times the jerk, 0.6 dt m/s^2 ...
  expect_figure("IMU on a pendulum, dt = 1 ms [m/s^2]", fine, 0, 5e-2);
  expect_figure("its order", std::log2(coarse / fine), 1, 0.1);
}

TEST(Wrench, IsTheWeightAtRest) {
  Sensor s = sensor(SensorKind::wrench);
  s.frame.r = Vec3(0.3, 0, 0);
  Sensor flag = sensor(SensorKind::contact), other = sensor(SensorKind::contact);
  other.shape = ShapeIndex(0);
  Sensed sim(ball_on_floor(), {sensor(SensorKind::wrench), s, flag, other});
  sim.state.q[2] = 0.1;
  sim.start();
  EXPECT_TRUE(std::isnan(sim.value(2)[0]));
  sim.run(0.1);
  expect_vector("force [N]", sim.value().data(), Vec3(0, 0, 2 * g), 1e-8);
  expect_vector("moment about the centre [N m]", sim.value().data() + 3, Vec3::Zero(), 1e-8);
  // About (0.3, 0, 0) of the body: r = (-0.3, 0, ..), r x F = (0, 0.3 F, 0).
  expect_vector("about another point [N m]", sim.value(1).data() + 3, Vec3(0, 0.6 * g, 0), 1e-8);
  EXPECT_EQ(sim.value(2)[0], 1);
  EXPECT_EQ(sim.value(3)[0], 1);
  sim.state.q[2] = 1;
  sim.run(0.11);
  EXPECT_EQ(sim.value(2)[0], 0);
  expect_vector("in the air [N]", sim.value().data(), Vec3::Zero(), 0);
}

TEST(Pose, AndCentreOfMass) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  b.body("a", {1, Vec3(0.1, 0, 0), Mat3::Identity()}, joint(Floating{}));
  b.body("b", {3, Vec3::Zero(), Mat3::Identity()}, joint(Floating{}));
  Sensor s = sensor(SensorKind::pose);
  s.frame.r = Vec3(0, 0.2, 0);
  Sensed sim(b, {s, sensor(SensorKind::com)});
  sim.state.q[0] = 1;
  sim.state.v[5] = 2;  // a turns about z, about its origin at this instant
  sim.start();
  const auto& p = sim.value();
  expect_vector("position [m]", p.data(), Vec3(1, 0.2, 0), 1e-15);
  EXPECT_EQ(p[3], 1);
  expect_vector("velocity [m/s]", p.data() + 7, Vec3(-0.4, 0, 0), 1e-15);
  expect_vector("angular velocity [rad/s]", p.data() + 10, Vec3(0, 0, 2), 1e-15);
  expect_vector("centre of mass [m]", sim.value(1).data(), Vec3(1.1 / 4, 0, 0), 1e-15);
  expect_vector("its velocity [m/s]", sim.value(1).data() + 3, Vec3(0, 0.2 / 4, 0), 1e-15);
}

TEST(Torque, IsTheMotors) {
  Sensor s = sensor(SensorKind::torque);
  s.joints = {CoordinateIndex(0)};
  Sensed sim(wheel(), {s});
  Motor m;
  m.coordinate = CoordinateIndex(0);
  m.torque = Constant{0.7};
  m.gear = 3;
  sim.actuation.motors = {m};
  sim.start();
  sim.run(0.01);
  EXPECT_DOUBLE_EQ(sim.value()[0], 2.1);
}

// --- time ---------------------------------------------------------------------------------------

// A wheel at 1 rad/s: its angle is the time, so a reading tells when it was taken.
TEST(Encoder, SamplesAtItsRateAndArrivesLate) {
  Sensor s = encoder();
  s.rate = 100;
  s.delay = 0.025;
  Sensed sim(wheel(), {s});
  sim.state.v[0] = 1;
  sim.start();
  EXPECT_FALSE(sim.bank.reading(0).there) << "on its way";
  EXPECT_TRUE(std::isnan(sim.value()[0]));
  int readings = 0;
  sim.run(1, [&] {
    const SensorBank::Reading& r = sim.bank.reading(0);
    // Of the readings every 10 steps the last that is 25 steps old: at steps 25, 35, ...
    const auto step = sim.state.step;
    const std::int64_t taken = step < 25 ? -1 : (step - 25) / 10 * 10;
    ASSERT_EQ(r.there, taken >= 0);
    if (!r.there) return;
    ASSERT_NEAR(r.taken, 1e-3 * static_cast<double>(taken), 1e-15);
    ASSERT_EQ(r.arrived, taken + 25);
    ASSERT_NEAR(r.value[0], r.taken, 1e-12);
    ASSERT_EQ(r.value[1], 1);
    ASSERT_EQ(!sim.bank.arrived().empty(), step == r.arrived);
    readings += !sim.bank.arrived().empty();
  });
  EXPECT_EQ(readings, 98);  // taken at 0, 10, ..., 970
}

TEST(Encoder, ARateBetweenStepsTakesTheNextStep) {
  Sensor s = encoder();
  s.rate = 400;  // every 2.5 steps
  Sensed sim(wheel(), {s});
  sim.start();
  std::vector<std::int64_t> taken;
  sim.run(0.02, [&] {
    if (!sim.bank.arrived().empty()) taken.push_back(sim.state.step);
  });
  EXPECT_EQ(taken, (std::vector<std::int64_t>{3, 5, 8, 10, 13, 15, 18, 20}));
}

TEST(Encoder, ComesInMultiplesOfItsResolution) {
  Sensor s = encoder();
  s.resolution = 0.01;
  Sensed sim(wheel(), {s});
  sim.state.v[0] = 1;
  sim.start();
  sim.run(0.1, [&] {
    EXPECT_NEAR(sim.value()[0], sim.state.q[0], 0.005 + 1e-12);
    const double count = sim.value()[0] / 0.01;
    EXPECT_NEAR(count, std::round(count), 1e-9);
  });
}

// --- noise --------------------------------------------------------------------------------------

// Computed with Python's integers: the same bits on every machine.
TEST(Noise, IsTheSameOnEveryMachine) {
  EXPECT_EQ(normal_number(1, 0), -0x1.518a9ac109ed3p-7);
  EXPECT_EQ(normal_number(1, 1), -0x1.539dc8cbdd104p-1);
  EXPECT_EQ(normal_number(2, 0), -0x1.422eae28636a4p+0);
  EXPECT_EQ(normal_number(123456789, 987654321), -0x1.3d591e9535f08p-4);
}

TEST(Noise, HasTheMomentsOfANormalNumber) {
  constexpr int n = 100000;
  double sum = 0, squares = 0, fourth = 0, neighbours = 0, last = 0;
  for (int i = 0; i < n; ++i) {
    const double x = normal_number(42, i);
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    neighbours += x * last;
    last = x;
  }
  // Four standard errors: 1, sqrt(2), sqrt(96), 1 over sqrt(n). The sum of 24 has kurtosis 2.95.
  const double se = 4 / std::sqrt(n);
  expect_figure("mean", sum / n, 0, se);
  expect_figure("variance", squares / n, 1, se * std::sqrt(2));
  expect_figure("fourth moment", fourth / n, 3 - 1.2 / 24, se * std::sqrt(96));
  expect_figure("correlation of neighbours", neighbours / n, 0, se);
}

TEST(Noise, HasTheDeviationAskedForAndABias) {
  Sensor s = encoder();
  s.noise = {0.02, 0.5};
  s.bias = {0.1, 0};
  s.seed = 3;
  Sensor other = s;
  other.name = "another";
  Sensed sim(wheel(), {s, other});
  sim.start();
  double sum = 0, squares = 0, both = 0, rates = 0;
  sim.run(20, [&] {
    const double e = sim.value()[0];
    sum += e;
    squares += (e - 0.1) * (e - 0.1);
    rates += sim.value()[1] * sim.value()[1];
    both += (e - 0.1) * (sim.value(1)[0] - 0.1);
  });
  constexpr double n = 20000;
  const double se = 4 / std::sqrt(n);
  expect_figure("mean [rad]", sum / n, 0.1, 0.02 * se);
  expect_figure("variance [rad^2]", squares / n, 4e-4, 4e-4 * se * std::sqrt(2));
  expect_figure("variance of the rate", rates / n, 0.25, 0.25 * se * std::sqrt(2));
  expect_figure("covariance of two sensors of one seed", both / n, 0, 4e-4 * se);
}

TEST(Noise, TurnsAPoseAndKeepsItsQuaternion) {
  Sensor s = sensor(SensorKind::pose);
  s.noise = {0, 0.1, 0, 0};
  Sensed sim(wheel(), {s});
  sim.start();
  double squares = 0;
  sim.run(5, [&] {
    const auto& v = sim.value();
    const Quat p(v[3], v[4], v[5], v[6]);
    ASSERT_NEAR(p.norm(), 1, 1e-14);
    squares += log_so3(p.toRotationMatrix()).squaredNorm();
  });
  expect_figure("variance of the rotation", squares / 5000, 3 * 0.01,
                3 * 0.01 * 4 * std::sqrt(2.0 / 15000));
}

// --- restart ------------------------------------------------------------------------------------

TEST(Sensors, ACheckpointResumesBitByBit) {
  std::vector<Sensor> sensors;
  Sensor s = encoder();
  s.rate = 130;
  s.delay = 0.043;
  s.noise = {0.01, 0.1};
  sensors.push_back(s);
  s = sensor(SensorKind::imu);
  s.name = "imu";
  s.rate = 300;
  s.delay = 0.002;
  s.noise = {0.1, 0.1};
  sensors.push_back(s);
  const auto make = [&] {
    auto sim = std::make_unique<Sensed>(pendulum(), sensors);
    sim->state.q[0] = 1;
    return sim;
  };
  const auto whole = make(), first = make(), second = make();
  whole->start();
  whole->run(1);
  first->start();
  first->run(0.537);
  const auto bytes = to_bytes(first->state);
  second->state = from_bytes(second->model, bytes.data(), bytes.size());
  second->start();
  EXPECT_EQ(second->value(), first->value()) << "the latest reading is known at once";
  second->run(1);
  EXPECT_TRUE(whole->state == second->state);
  EXPECT_EQ(whole->value(1), second->value(1));
}

TEST(Sensors, FaultsAreNamed) {
  const Model model = wheel().build();
  const auto refused = [&](const std::function<void(Sensor&)>& spoil, const std::string& what) {
    Sensor s = encoder();
    s.path = "sensors[0]";
    spoil(s);
    try {
      const SensorBank bank(model, {s}, 1e-3, 0);
      ADD_FAILURE() << "accepted: " << what;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(what), std::string::npos) << e.what();
      EXPECT_EQ(e.path().rfind("sensors[0].", 0), 0U) << e.path();
    }
  };
  refused([](Sensor& s) { s.rate = -1; }, "rate: expected at most one reading a step");
  refused([](Sensor& s) { s.rate = 1001; }, "up to 1000 Hz");
  refused([](Sensor& s) { s.delay = 0.1; }, "delay: expected a rate, too");
  refused([](Sensor& s) { s.rate = 10, s.delay = -1; }, "a delay >= 0");
  refused([](Sensor& s) { s.rate = 1000, s.delay = 1e9; }, "readings on their way");
  refused([](Sensor& s) { s.noise = {1, 2, 3}; }, "noise.std: expected 2 numbers, got 3");
  refused([](Sensor& s) { s.noise = {1, -2}; }, "numbers >= 0");
  refused([](Sensor& s) { s.bias = {1}; }, "each of 2 values, got 1");
  refused([](Sensor& s) { s.resolution = -1; }, "resolution");
}

}  // namespace
}  // namespace saltus::test
