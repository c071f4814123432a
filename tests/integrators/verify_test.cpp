// The closed forms of VERIFY.md for contact, friction and impacts, by time stepping.
#include <map>
#include <numbers>
#include <random>

#include "saltus/lie/so3.h"
#include "tests/support/simulate.h"

namespace saltus::test {
namespace {

constexpr double g = 9.81;

Simulation ball_over_floor(double height, double restitution, double dt) {
  ModelBuilder b;
  b.body("ball", ball_inertia(1, 0.1), joint(Floating{}));
  b.shape("ball", "ball", SE3{}, Sphere{0.1}).shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "ball", {0, 0, restitution, FrictionAxes::b});
  Simulation s(b, dt);
  s.state.q[2] = 0.1 + height;
  return s;
}

// h_n = e^(2n) h: the peaks between bounces, each found by the parabola through the top samples.
TEST(BouncingBall, PeaksFollowTheRestitution) {
  for (const double e : {0.5, 0.75, 0.9}) {
    const double dt = 1e-5;
    Simulation s = ball_over_floor(1.0, e, dt);
    std::vector<double> peaks;
    double a = 1, b = 1, low = 1;
    const int bounces = e == 0.5 ? 5 : 15;
    while (static_cast<int>(peaks.size()) < bounces && s.state.t < 8) {
      (void)s.step();
      const double h = s.state.q[2] - 0.1;
      if (b > a && b >= h && s.state.step > 2 && low < 0.5 * b) {
        peaks.push_back(b);
        low = 1;
      }
      low = std::min(low, h);
      a = b;
      b = h;
    }
    ASSERT_EQ(static_cast<int>(peaks.size()), bounces);
    // Each landing is late by up to dt: the correction then lifts the ball by up to v dt, and the
    // speed is off by g dt; v = 4.43 m/s at first, and every bounce shrinks what came before.
    for (const int n : {1, bounces / 2, bounces}) {
      const double exact = std::pow(e, 2 * n);
      expect_figure(fmt::format("e = {}: height after bounce {}", e, n), peaks[n - 1], exact,
                    5 * dt);
    }
    const double measured = std::pow(peaks.back(), 0.5 / bounces);
    expect_figure(fmt::format("e = {}: restitution over {} bounces", e, bounces), measured, e,
                  10 * dt);
  }
}

TEST(BouncingBall, RestTimeConvergesWithFirstOrder) {
  const double exact = std::sqrt(2 / g) * (1 + 0.5) / (1 - 0.5);
  EXPECT_NEAR(exact, 1.354570923, 1e-9);
  double last = 0;
  for (const double dt : {4e-4, 2e-4, 1e-4, 5e-5}) {
    Simulation s = ball_over_floor(1.0, 0.5, dt);
    double rest = 0;
    s.run_until(1.6, [&] {
      if (std::abs(s.state.v[2]) > 2 * g * dt || s.state.q[2] > 0.1 + 1e-9) rest = s.state.t;
    });
    // The last bounces last about a step; the sum of the errors of all landings is O(dt).
    expect_figure(fmt::format("dt = {}: time of rest", dt), rest, exact, 40 * dt);
    last = rest;
    // Positions are corrected to closed_gap; smaller gaps are rounding and left as they are.
    expect_figure("height at rest", s.state.q[2], 0.1, closed_gap);
  }
  EXPECT_NEAR(last, exact, 2e-3);
}

TEST(Incline, SticksIffTangentIsBelowMu) {
  for (const double degrees : {10.0, 21.0, 22.5, 35.0}) {
    const double a = degrees * std::numbers::pi / 180, mu = 0.4;
    ModelBuilder b;
    const Vec3 size(0.2, 0.2, 0.1);
    b.gravity({g * std::sin(a), 0, -g * std::cos(a)});
    b.body("block", box_inertia(2, size), joint(Floating{}));
    b.shape("block", "block", SE3{}, Box{0.5 * size}).shape("plane", "world", SE3{}, HalfSpace{});
    b.contact("plane", "block", {mu, mu, 0, FrictionAxes::b});
    Simulation s(b);
    s.options.solver = [] {
      ProxGaussSeidel o;
      o.tolerance = 1e-12;
      return o;
    }();
    s.state.q[2] = 0.05;
    s.run_until(1.0);
    const double x1 = s.state.q[0];
    s.run_until(2.0);
    if (std::tan(a) < mu) {
      // Creep is bounded by the solver's tolerance [m/s].
      expect_figure(fmt::format("{} deg: creep [m/s]", degrees), s.state.q[0] - x1, 0, 1e-12);
    } else {
      const double slide = g * (std::sin(a) - mu * std::cos(a));
      // Constant acceleration: the mid-point rule is exact, what is left is the solver's.
      expect_figure(fmt::format("{} deg: sliding speed at 2 s", degrees), s.state.v[0], 2 * slide,
                    1e-9);
      expect_figure(fmt::format("{} deg: distance at 2 s", degrees), s.state.q[0], 2 * slide, 1e-9);
    }
    expect_figure("height", s.state.q[2], 0.05, 1e-9);
  }
}

// One contact in closed form: with G = W' M^-1 W and c the free rates, stick is Lambda = -G^-1 c
// where that lies in the cone. Else it slips along d(a) = (cos a, sin a): the normal rate vanishes
// for
//   Lambda_N(a) = -c_N / (G_NN - mu G_NT d),   and   gamma_T(a) x d(a) = 0, gamma_T . d > 0
// is one scalar equation for a, solved by bisection.
Vec3 one_contact(const Mat3& G, const Vec3& c, double mu, std::string& kind) {
  if (c[0] >= 0) {
    kind = "separation";
    return Vec3::Zero();
  }
  const Vec3 stick = -G.ldlt().solve(c);
  if (stick[0] >= 0 && stick.tail<2>().norm() <= mu * stick[0]) {
    kind = "stick";
    return stick;
  }
  kind = "slip";
  const auto impulse = [&](double a) {
    const Eigen::Vector2d d(std::cos(a), std::sin(a));
    const double N = -c[0] / (G(0, 0) - mu * (G(0, 1) * d[0] + G(0, 2) * d[1]));
    return Vec3(N, -mu * N * d[0], -mu * N * d[1]);
  };
  const auto across = [&](double a) {
    const Vec3 gamma = c + G * impulse(a);
    return gamma[1] * std::sin(a) - gamma[2] * std::cos(a);
  };
  const int pieces = 720;
  for (int k = 0; k < pieces; ++k) {
    double low = 2 * std::numbers::pi * k / pieces, high = 2 * std::numbers::pi * (k + 1) / pieces;
    if (!(across(low) * across(high) <= 0)) continue;
    const Vec3 gamma = c + G * impulse(0.5 * (low + high));
    if (gamma[1] * std::cos(low) + gamma[2] * std::sin(low) < 0) continue;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (across(low) * across(middle) <= 0 ? high : low) = middle;
    }
    return impulse(0.5 * (low + high));
  }
  ADD_FAILURE() << "no slip direction";
  return Vec3::Zero();
}

TEST(OneContact, StepEqualsTheClosedForm) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::map<std::string, int> count;
  std::map<std::string, double> worst;
  const double dt = 1e-3, r = 0.05;
  for (int i = 0; i < 300; ++i) {
    const double mass = std::exp(2 * unit(random)), mu = 0.4 + 0.3 * unit(random);
    const Vec3 size = Vec3(0.3, 0.3, 0.3) + 0.2 * Vec3(unit(random), unit(random), unit(random));
    const Vec3 foot = 0.15 * Vec3(unit(random), unit(random), unit(random));
    const Mat3 R = exp_so3(2 * Vec3(unit(random), unit(random), unit(random)));
    ModelBuilder b;
    // A cube has no gyroscopic terms: the step is the closed form to rounding. Of other boxes they
    // are those of the mean velocity, impulses included, found until
    // the mean misses by 1e-6 of the velocities: twice that of v_E, and what the contact makes of
    // it.
    const bool cube = i % 2 == 0;
    const RigidInertia inertia = box_inertia(mass, cube ? Vec3::Constant(size.x()) : size);
    SE3 at;
    at.r = foot;
    b.body("body", inertia, joint(Floating{}));
    b.shape("foot", "body", at, Sphere{r}).shape("floor", "world", SE3{}, HalfSpace{});
    b.contact("floor", "foot", {mu, mu, 0, FrictionAxes::b});
    Simulation s(b, dt);
    s.options.solver = [] {
      AutoSolver o;
      o.tolerance = 1e-14;
      return o;
    }();
    const Vec3 v_S(unit(random), unit(random), i % 5 ? -std::abs(unit(random)) : 0.5);
    const Eigen::Quaterniond Q(R);
    s.state.q << 0, 0, r - (R * foot).z() - 0.5 * dt * v_S.z() - 1e-6, Q.w(), Q.x(), Q.y(), Q.z();
    s.state.v.head<3>() = v_S;

    const Vec3 arm = R * foot - Vec3(0, 0, r);
    const Mat3 inverse = R * inertia.about_com.inverse() * R.transpose();
    const Vec3 v_free = v_S + dt * Vec3(0, 0, -g);
    Mat3 cross;
    cross << 0, -arm.z(), arm.y(), arm.z(), 0, -arm.x(), -arm.y(), arm.x(), 0;
    const Mat3 G = Mat3::Identity() / mass - cross * inverse * cross;  // axes x, y, z
    Mat3 axes;                                                         // rows: normal, T1, T2
    axes << 0, 0, 1, 1, 0, 0, 0, 1, 0;
    std::string kind;
    Vec3 P, v_E, w_E = Vec3::Zero();
    for (int round = 0; round < 40; ++round) {
      const Vec3 w_mean = 0.5 * w_E;  // it starts without spin
      const Vec3 w_free =
          -dt * inertia.about_com.inverse() * w_mean.cross(inertia.about_com * w_mean);
      P = axes.transpose() * one_contact(axes * G * axes.transpose(),
                                         axes * (v_free + (R * w_free).cross(arm)), mu, kind);
      v_E = v_free + P / mass;
      w_E = w_free + R.transpose() * (inverse * arm.cross(P));
    }
    (void)s.step();
    const double error = std::max((s.state.v.head<3>() - v_E).lpNorm<Eigen::Infinity>(),
                                  (s.state.v.tail<3>() - w_E).lpNorm<Eigen::Infinity>());
    const double allowed = cube ? 1e-12 : 4e-6 * (1 + s.state.v.lpNorm<Eigen::Infinity>());
    EXPECT_LE(error, allowed) << kind << ", case " << i << ", mu " << mu;
    ++count[kind];
    if (cube) worst[kind] = std::max(worst[kind], error);
  }
  for (const auto& [kind, n] : count)
    expect_figure(fmt::format("{}: worst velocity of {} cases", kind, n), worst[kind], 0, 1e-12);
  EXPECT_EQ(count.size(), 3U);
}

Simulation row_of_balls(double restitution, const std::vector<double>& x, double v0, double radius,
                        bool wall) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::string name = fmt::format("b{}", i);
    b.body(name, ball_inertia(1, radius), joint(Prismatic{Vec3::UnitX()}));
    b.shape(name, name, SE3{}, Sphere{radius});
    if (i > 0) b.contact(fmt::format("b{}", i - 1), name, {0, 0, restitution, FrictionAxes::b});
  }
  if (wall) {
    SE3 frame;  // the solid is x > 1.1: outward normal -x
    frame.R.col(0) = Vec3::UnitY();
    frame.R.col(1) = -Vec3::UnitZ();
    frame.R.col(2) = -Vec3::UnitX();
    frame.r = Vec3(1.1, 0, 0);
    b.shape("wall", "world", frame, HalfSpace{});
    b.contact("wall", fmt::format("b{}", x.size() - 1), {0, 0, restitution, FrictionAxes::b});
  }
  Simulation s(b);
  for (std::size_t i = 0; i < x.size(); ++i) s.state.q[static_cast<int>(i)] = x[i];
  s.state.v[0] = v0;
  return s;
}

TEST(ThreeBalls, SimultaneousNewtonLaw) {
  const struct {
    double e, v[3];
  } cases[] = {
      {1, {-1.0 / 3, 2.0 / 3, 2.0 / 3}}, {0.5, {0, 0.5, 0.5}}, {0, {1.0 / 3, 1.0 / 3, 1.0 / 3}}};
  for (const auto& c : cases) {
    // The first ball is closed with the second in the same step as the second with the third.
    Simulation s = row_of_balls(c.e, {-1.0004, 0, 1}, 1, 0.5, false);
    s.run_until(0.01);
    for (int i = 0; i < 3; ++i)  // the law is linear: solver tolerance only
      expect_figure(fmt::format("e = {}: ball {}", c.e, i + 1), s.state.v[i], c.v[i], 1e-9);
  }
}

// Complaint 2: total energy doubled elsewhere. Here it never rises.
TEST(BallsAndWall, EnergyNeverRises) {
  for (const double e : {1.0, 0.9, 0.5}) {
    Simulation s = row_of_balls(e, {0.78, 0.99}, 2, 0.1, true);
    double energy = 2, worst = 0;
    s.run_until(2, [&] {
      const double now = 0.5 * s.state.v.squaredNorm();
      worst = std::max(worst, now - energy);
      energy = now;
    });
    expect_figure(fmt::format("e = {}: largest rise of energy [J]", e), worst, 0, 1e-12);
    if (e == 1) expect_figure("e = 1: energy at the end [J]", energy, 2, 1e-9);
  }
}

// A slender rod at `tilt` from the level, thrown with horizontal speed u at a rough floor.
double rod_energy_change(const ImpactLaw& law, double tilt, double u, double mu, double* share) {
  ModelBuilder b;
  b.gravity(Vec3::Zero());
  const RigidInertia rod{1, Vec3::Zero(), Vec3(1e-4, 1.0 / 12, 1.0 / 12).asDiagonal()};
  b.body("rod", rod, joint(Floating{}));
  b.shape("tip", "rod", SE3::translation({-0.5, 0, 0}), Sphere{1e-3});
  b.shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "tip", {mu, mu, 0.9, FrictionAxes::b});
  Simulation s(b, 1e-4);
  s.options.impact = law;
  const Quat p(exp_so3(-tilt * Vec3::UnitY()));  // tip down
  s.state.q << 0, 0, 0.5 * std::sin(tilt) + 1e-3 + 1e-5, p.w(), p.x(), p.y(), p.z();
  s.state.v << u, 0, -1, 0, 0, 0;
  *share = 1;
  for (int i = 0; i < 3; ++i) *share = std::min(*share, s.step().impact.s);
  return s.ledger.kinetic - 0.5 * (u * u + 1);
}

// Newton's law with friction may gain energy (Kane's paradox); the capped default never does.
TEST(ImpactLaw, CappedNeverGainsWhereNewtonDoes) {
  double most_newton = -1, most_capped = -1;
  int capped_impacts = 0;
  for (const double tilt : {0.4, 0.7, 1.0, 1.3})
    for (const double u : {-3.0, -1.0, -0.3, 0.1, 0.3, 1.0, 3.0})
      for (const double mu : {0.2, 0.6, 1.2}) {
        double share = 1;
        most_newton = std::max(most_newton, rod_energy_change(NewtonImpact{}, tilt, u, mu, &share));
        most_capped = std::max(most_capped, rod_energy_change(CappedImpact{}, tilt, u, mu, &share));
        capped_impacts += share < 1;
      }
  fmt::print(
      "    largest change of energy over 84 impacts: newton {:+.6f} J, capped {:+.2e} J; {} "
      "impacts were capped\n",
      most_newton, most_capped, capped_impacts);
  EXPECT_GT(most_newton, 1e-3) << "no impact of the set gains energy under Newton's law";
  EXPECT_LE(most_capped, 1e-10);  // solver tolerance times impulse
  EXPECT_GT(capped_impacts, 0);
}

TEST(Sphere, SkidsUntilItRolls) {
  const double v0 = 3, mu = 0.3, r = 0.1;
  ModelBuilder b;
  b.body("ball", ball_inertia(1, r), joint(Floating{}));
  b.shape("ball", "ball", SE3{}, Sphere{r}).shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "ball", {mu, mu, 0, FrictionAxes::b});
  Simulation s(b);
  s.state.q[2] = r;
  s.state.v[0] = v0;
  const double t_roll = 2 * v0 / (7 * mu * g);
  double rolling_since = 0, x_roll = 0;
  s.run_until(1.5, [&] {
    const double slip = s.state.v[0] - (s.work.result.work.X[0].R * s.state.v.tail<3>()).y() * r;
    if (std::abs(slip) > 1e-9) rolling_since = s.state.t, x_roll = s.state.q[0];
  });
  // Speeds are exact (constant forces); the switch to rolling falls inside one step.
  expect_figure("final speed", s.state.v[0], 5.0 / 7 * v0, 1e-9);
  expect_figure("rolls from", rolling_since, t_roll, 1e-3);
  expect_figure("distance until it rolls", x_roll, 12 * v0 * v0 / (49 * mu * g), 3e-3);
}

TEST(SlidingCube, LiftsNothing) {
  const double size = 0.1, v0 = 6, mu = 0.5;
  ModelBuilder b;
  b.body("cube", box_inertia(1, Vec3::Constant(size)), joint(Floating{}));
  b.shape("cube", "cube", SE3{}, Box{Vec3::Constant(0.5 * size)});
  b.shape("floor", "world", SE3{}, HalfSpace{});
  b.contact("floor", "cube", {mu, mu, 0, FrictionAxes::b});
  Simulation s(b);
  s.state.q[2] = 0.5 * size;
  s.state.v[0] = v0;
  double lift = 0, tilt = 0;
  s.run_until(1.5, [&] {
    lift = std::max(lift, std::abs(s.state.q[2] - 0.5 * size));
    tilt = std::max(tilt, s.state.q.tail<3>().norm());
  });
  expect_figure("largest lift [m]", lift, 0, 1e-9);
  expect_figure("largest tilt [-]", tilt, 0, 1e-9);
  // Stops inside a step: the distance is off by at most v dt of that step.
  expect_figure("distance [m]", s.state.q[0], v0 * v0 / (2 * mu * g), 1e-5);
  expect_figure("speed at the end [m/s]", s.state.v[0], 0, 1e-9);
}

// Complaint 3: a capsule pinched between two vertical plates creeps elsewhere.
TEST(PinchedCapsule, Sticks) {
  for (const double force : {12.0, 60.0}) {
    ModelBuilder b;
    const double m = 0.045, r = 0.004, half = 0.016;
    b.body("capsule", {m, Vec3::Zero(), solid_cylinder(m, r, 0.04)}, joint(Floating{}));
    b.shape("capsule", "capsule", SE3{}, Capsule{r, half});
    for (const int side : {-1, 1}) {
      // Plates slide along y; the capsule's axis is x; each face looks at the capsule.
      const std::string name = side < 0 ? "left" : "right";
      JointSpec j = joint(Prismatic{Vec3(0, -side, 0)});
      b.body(name, box_inertia(0.2, Vec3(0.1, 0.01, 0.1)), j);
      SE3 face;
      face.R.col(2) = Vec3(0, -side, 0);
      face.R.col(0) = Vec3::UnitX();
      face.R.col(1) = face.R.col(2).cross(face.R.col(0));
      face.r = Vec3(0, side * r, 0);
      b.shape(name, name, face, HalfSpace{});
      b.contact(name, "capsule", {0.7, 0.7, 0, FrictionAxes::b});
    }
    Simulation s(b);
    ProxGaussSeidel solver;
    solver.tolerance = 1e-12;
    s.options.solver = solver;
    for (const char* name : {"left", "right"}) {
      Motor push;
      push.coordinate = s.model.coordinate(name);
      push.torque = Constant{force};
      s.actuation.motors.push_back(push);
    }
    s.run_until(0.5);
    const Vec3 before = s.pose("capsule").r;
    s.run_until(1.5);
    const Vec3 creep = s.pose("capsule").r - before;
    fmt::print("    {} N: static margin {:.0f}\n", force, 2 * 0.7 * force / (m * g));
    expect_figure(fmt::format("{} N: creep over 1 s [m]", force), creep.norm(), 0, 1e-11);
    expect_figure(fmt::format("{} N: sag since the start [m]", force), s.pose("capsule").r.z(), 0,
                  1e-10);
  }
}

// Complaint 5: friction must not depend on the heading.
TEST(Friction, IsIsotropicUnderRotation) {
  Vec3 reference = Vec3::Zero();
  for (int k = 0; k < 12; ++k) {
    const double heading = 0.1 + k * std::numbers::pi / 6;
    const Mat3 R = exp_so3(heading * Vec3::UnitZ());
    ModelBuilder b;
    const Vec3 size(0.2, 0.1, 0.05);
    b.body("block", box_inertia(1, size), joint(Floating{}));
    b.shape("block", "block", SE3{}, Box{0.5 * size}).shape("floor", "world", SE3{}, HalfSpace{});
    b.contact("floor", "block", {0.3, 0.3, 0, FrictionAxes::a});  // axes fixed in the world
    Simulation s(b);
    ProxGaussSeidel solver;
    solver.tolerance = 1e-13;
    solver.max_iterations = 100000;
    s.options.solver = solver;
    const Quat p(R);
    s.state.q << 0, 0, 0.025, p.w(), p.x(), p.y(), p.z();
    s.state.v << R * Vec3(2, 0.5, 0), 0, 0, 4;
    s.run_until(0.8);
    const Vec3 back = R.transpose() * s.state.q.head<3>();
    if (k == 0) reference = back;
    // The motion is a continuous function of the data; the solver's tolerance, 800 steps long.
    EXPECT_LT((back - reference).norm(), 1e-9) << "heading " << heading;
    if (k % 4 == 0)
      expect_figure(fmt::format("heading {:.3f}: distance", heading), back.norm(), reference.norm(),
                    1e-9);
  }
}

// Complaint 7: friction axes in the body's or in the material's frame, as asked.
TEST(Friction, EllipseAxesAreTheBodysOrTheMaterials) {
  for (const auto axes : {FrictionAxes::a, FrictionAxes::b}) {
    ModelBuilder b;
    const Vec3 size(0.2, 0.2, 0.02);
    b.body("block", box_inertia(1, size), joint(Floating{}));
    b.shape("block", "block", SE3{}, Box{0.5 * size}).shape("floor", "world", SE3{}, HalfSpace{});
    b.contact("floor", "block", {0.1, 0.3, 0, axes});
    Simulation s(b);
    // The block has turned by 90 degrees: along the world's x it slides along its own y.
    const Quat p(exp_so3(0.5 * std::numbers::pi * Vec3::UnitZ()));
    s.state.q << 0, 0, 0.01, p.w(), p.x(), p.y(), p.z();
    s.state.v[0] = 3;
    s.run_until(0.5);
    const double mu = axes == FrictionAxes::a ? 0.1 : 0.3;
    expect_figure(axes == FrictionAxes::a ? "axes of the floor: speed" : "axes of the block: speed",
                  s.state.v[0], 3 - mu * g * 0.5, 1e-9);
    expect_figure("sideways", s.state.v[1], 0, 1e-9);
  }
}

}  // namespace
}  // namespace saltus::test
