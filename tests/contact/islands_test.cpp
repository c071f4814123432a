// The forest against the dense mass matrix, and the routes of an island against each other.
#include "saltus/contact/islands.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <numbers>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/mass.h"
#include "saltus/model/snake.h"
#include "tests/support/check.h"
#include "tests/support/random.h"
#include "tests/support/random_model.h"
#include "tests/support/simulate.h"

namespace saltus {
namespace {

using namespace test;

struct Pair {
  Model model;
  Workspace work;
  Forest forest;
  Mat M;
  State state;
  Pair(Random& random, bool planar)
      : model(build(random, planar)), work(model), state(random_state(random, model)) {
    forward_kinematics(model, state.q, state.v, work);
    crba(model, work);
    M = work.M;
    forest.resize(forest_shape(model));
    load_mass(work, Vec::Zero(model.nv), forest);
  }
  static Model build(Random& random, bool planar) {
    ForestOptions options;
    options.least_bodies = 2;
    options.most_bodies = 12;
    if (planar) options.kinds = Kinds::planar;
    return random_forest(random, options).build();
  }
};

// Rounding grows with the condition of M: every figure is relative to it.
TEST(Forest, IsTheMassMatrix) {
  Worst product("M x", 1e-12), inverse("M^-1 x / condition", 1e-13), own("(M^-1)_kk", 1e-9);
  for (const bool planar : {false, true})
    for (const auto seed : seeds(1, 200)) {
      Random random(seed);
      Pair p(random, planar);
      if (p.model.nv == 0) continue;
      const Eigen::SelfAdjointEigenSolver<Mat> spectrum(p.M);
      const double least = spectrum.eigenvalues()[0], most = spectrum.eigenvalues().tail<1>()[0];
      if (!(least > 1e-9 * most)) continue;  // no mass on some joint
      ASSERT_TRUE(p.forest.factor()) << "seed " << seed;
      const Vec x = random.vector(p.model.nv);
      Vec y(p.model.nv);
      p.forest.multiply(x, y);
      product.add((y - p.M * x).norm() / (most * x.norm()), seed);
      p.forest.solve(-1, x.data(), nullptr, y.data(), nullptr);
      const Mat inverse_M = p.M.inverse();
      inverse.add((y - inverse_M * x).norm() * least * least / (most * x.norm()), seed);
      p.forest.compliance();
      for (int k = 0; k < p.model.nv; ++k)
        own.add(std::abs(p.forest.compliance_of(k) - inverse_M(k, k)) * least, seed);
    }
}

// (M + sum J' w K w' J + diag(d))^-1 b, K symmetric or not, by the residual of the dense matrix.
TEST(Forest, SolvesWithAnExtra) {
  Worst residual("(M + extra) x - b, of its terms", 1e-11);
  for (const bool planar : {true, false})
    for (const bool symmetric : {true, false})
      for (const auto seed : seeds(1, 100)) {
        Random random(seed);
        Pair p(random, planar);
        const int nv = p.model.nv, bodies = p.model.body_count();
        if (nv == 0) continue;
        Mat H = p.M;
        Forest::Extra extra = p.forest.make_extra();
        for (int i = 0; i < bodies; ++i) {
          const int n = 1 + static_cast<int>(seed + i) % 3;
          Mat6X W(6, 4);
          for (int c = 0; c < 4; ++c) W.col(c) = random.vector(6);
          Mat6 K = Mat6::Zero();
          const Mat A = random.vector(n * n).reshaped(n, n);
          // Positive in its symmetric part, as a Newton step's is.
          K.topLeftCorner(n, n) = A * A.transpose() + 0.1 * Mat::Identity(n, n);
          if (!symmetric && n > 1) {
            K(0, 1) += 0.1;
            K(1, 0) -= 0.1;
          }
          extra.add(i, K, n, W, 1);
          Mat J(nv, n);
          J.setZero();
          const int tree = p.model.tree[i];
          for (int c = 0; c < n; ++c)
            p.forest.row(i, W.col(1 + c), J.col(c).data() + p.model.tree_v[tree]);
          H += J * K.topLeftCorner(n, n) * J.transpose();
        }
        extra.d = random.vector(nv).cwiseAbs();
        H.diagonal() += extra.d;
        ASSERT_TRUE(p.forest.factor(&extra)) << "seed " << seed;
        const Vec b = random.vector(nv);
        Vec x(nv);
        p.forest.solve(-1, b.data(), nullptr, x.data(), nullptr, true);
        residual.add((H * x - b).norm() / (H.norm() * x.norm() + b.norm()), seed);
      }
}

constexpr double degree = std::numbers::pi / 180;
constexpr SerpenoidGait gait{40 * degree, 80 * degree, -50 * degree};

SnakeSpec spec_of(int links) {
  SnakeSpec spec;
  spec.links = links;
  spec.mu_along = 0.1;
  spec.mu_across = 0.3;
  return spec;
}

void lay(const SnakeSpec& spec, Simulation& s) {
  const SnakePose pose = serpenoid_pose(spec, gait.amplitude, gait.delta);
  Posture p = zero_posture(s.model);
  p.q[0] << pose.x, pose.y, pose.theta;
  for (int i = 1; i < spec.links; ++i) p.q[i][0] = pose.phi[i - 1];
  set_posture(s.model, p, s.state);
}

// P0's snake, longer, with small pegs 2 mm beside every eighth link.
Simulation long_snake(int links, const Solver& solver) {
  const SnakeSpec spec = spec_of(links);
  ModelBuilder b;
  b.planar(true);
  add_snake(b, spec);
  Simulation bare(b, 1e-3);
  lay(spec, bare);
  forward_kinematics(bare.model, bare.state.q, bare.state.v, bare.work.result.work);
  std::vector<std::string> pegs, bodies;
  for (int i = 1; i <= links; ++i) {
    bodies.push_back(fmt::format("link{}", i));
    if (i % 8 != 4) continue;
    const SE3 X = bare.pose(bodies.back());
    pegs.push_back(fmt::format("peg{}", i));
    const double side = i % 16 == 4 ? 1 : -1;
    b.shape(pegs.back(), "world",
            SE3::translation(X.r + side * (spec.radius + 0.03 + 0.002) * X.R.col(1)), Peg{0.03});
  }
  ContactLaw law;
  law.mu1 = law.mu2 = 0.3;
  b.contact(pegs, bodies, law);
  Simulation s(b, 1e-3);
  s.options.solver = solver;
  lay(spec, s);
  for (int i = 1; i < links; ++i) {
    Motor m;
    m.coordinate = s.model.coordinate(fmt::format("joint{}", i));
    m.kp = 800;
    m.kd = 2;
    if (i % 5 == 0) m.limit = 4;  // bounded motors are blocks on one velocity
    m.reference = serpenoid(gait, i);
    s.actuation.motors.push_back(m);
  }
  return s;
}

template <class S>
S tight(double tolerance = 1e-11) {
  S s;
  s.tolerance = tolerance;
  return s;
}

TEST(Routes, TreeAgreesWithDense) {
  Simulation tree = long_snake(40, tight<AutoSolver>());
  Simulation dense = long_snake(40, tight<ProxGaussSeidel>());
  double loads = 0;
  for (int i = 0; i < 200; ++i) {
    (void)tree.step();
    (void)dense.step();
    loads += static_cast<double>(tree.state.contacts.size());
  }
  ASSERT_EQ(tree.work.result.problems.front().route, Route::tree);
  ASSERT_EQ(dense.work.result.problems.front().route, Route::dense);
  EXPECT_GT(loads, 0) << "no peg was touched";
  // Each step is off by the tolerance of either solver; the flow is not chaotic over 0.2 s.
  expect_figure("velocities, tree - dense", (tree.state.v - dense.state.v).norm(), 0, 1e-7);
  expect_figure("positions, tree - dense", (tree.state.q - dense.state.q).norm(), 0, 1e-8);
}

ModelBuilder heap(int count, int high, double mu) {
  ModelBuilder b;
  std::vector<std::string> balls;
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < high; ++k) {
      const std::string name = fmt::format("ball{}-{}", i, k);
      b.body(name, ball_inertia(1 + 0.1 * k, 0.05), joint(Floating{}));
      b.shape(name, name, {}, Sphere{0.05});
      balls.push_back(name);
    }
  b.shape("ground", "world", {}, HalfSpace{});
  ContactLaw law;
  law.mu1 = law.mu2 = mu;
  b.contact(balls, std::vector<std::string>{"ground"}, law);
  b.contact(balls, balls, law);
  return b;
}

Simulation columns(int count, int high, double apart, const Solver& solver, double mu,
                   int threads = 1) {
  Simulation s(heap(count, high, mu), 1e-3);
  s.options.solver = solver;
  s.options.threads = threads;
  Random random(7);
  for (int i = 0; i < s.model.body_count(); ++i) {
    const int q = s.model.bodies[i].q0;
    s.state.q[q] = apart * (i / high) + random.uniform(-0.001, 0.001);
    s.state.q[q + 1] = random.uniform(-0.001, 0.001);
    s.state.q[q + 2] = 0.0499 + 0.0998 * (i % high);
  }
  return s;
}

// 45 balls in columns that lean on each other: 270 velocities in one island.
TEST(Routes, SparseAgreesWithDense) {
  // Without friction the velocity is unique. Every step of both starts from the same state, and the
  // velocities are those before the correction: large heaps are corrected in another way, and what
  // it gives is paid by velocities. Sweeps that leave a residual of 1e-9 may be thousands of
  // times that from the solution.
  Simulation sparse = columns(15, 3, 0.098, tight<AutoSolver>(1e-9), 0);
  Simulation dense = columns(15, 3, 0.098, tight<Newton>(1e-10), 0);
  Worst worst("velocities, sparse - dense [m/s]", 1e-5);
  bool swept = false;
  for (int i = 0; i < 10; ++i) {
    dense.state = sparse.state;
    (void)sparse.step();
    (void)dense.step();
    for (int k = 0; k < sparse.work.result.islands.count(); ++k)
      swept = swept || sparse.work.result.problems[k].route == Route::sparse;
    worst.add((sparse.work.scratch.v_E - dense.work.scratch.v_E).norm(), fmt::format("step {}", i));
  }
  EXPECT_TRUE(swept);
}

TEST(Routes, SparseConvergesWithFriction) {
  Simulation s = columns(15, 3, 0.098, tight<AutoSolver>(1e-6), 0.4);
  for (int i = 0; i < 10; ++i) (void)s.step();  // judged by the natural map of the whole island
  bool swept = false;
  for (int k = 0; k < s.work.result.islands.count(); ++k)
    swept = swept || s.work.result.problems[k].route == Route::sparse;
  EXPECT_TRUE(swept);
}

TEST(Islands, ApartAndTheSameBitsOnAnyThreads) {
  Simulation one = columns(12, 3, 0.3, AutoSolver{}, 0.4, 1),
             many = columns(12, 3, 0.3, AutoSolver{}, 0.4, 4);
  int islands = 0;
  for (int i = 0; i < 100; ++i) {
    islands = std::max(islands, one.step().islands);
    (void)many.step();
    ASSERT_EQ(one.state, many.state) << "step " << i;
  }
  EXPECT_GE(islands, 12);
}

TEST(Rolling, ABallComesToRestAfterItsLength) {
  // Rolling without slip under a moment mu_r N: (I + m r^2) w' = -mu_r m g, so that a ball of
  // v0 stops after v0^2 (1 + 2/5) / (2 mu_r g / r).
  ModelBuilder b;
  b.body("ball", ball_inertia(1, 0.1), joint(Floating{}));
  b.shape("ball", "ball", {}, Sphere{0.1}).shape("ground", "world", {}, HalfSpace{});
  ContactLaw law;
  law.mu1 = law.mu2 = 0.8;
  law.rolling = 0.002;
  b.contact("ground", "ball", law);
  Simulation s(b, 1e-3);
  s.state.q.head<3>() << 0, 0, 0.1;
  s.state.v << 0.5, 0, 0, 0, 5, 0;
  for (int i = 0; i < 5000; ++i) (void)s.step();
  const double exact = 0.5 * 0.5 * 1.4 / (2 * 0.002 * 9.81 / 0.1);
  // First order: the last step overshoots by at most v0 dt.
  expect_figure("distance [m]", s.state.q[0], exact, 1e-3);
  expect_figure("speed at the end [m/s]", s.state.v.norm(), 0, 1e-9);
}

}  // namespace
}  // namespace saltus
