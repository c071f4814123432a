// SE(3) over other scalars and Magnus steps: against the functions for double, complex steps, and
// the observed order.
#include "saltus/lie/magnus.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>

#include "tests/support/check.h"
#include "tests/support/random.h"

namespace saltus {
namespace {

using test::eps;
using test::Random;
using test::seeds;
using test::Worst;
using Complex = std::complex<double>;
using Twist = generic::Twist<double>;
using ComplexTwist = generic::Twist<Complex>;

constexpr double tiny = 1e-30;  // of complex steps: its square is below every rounding

ComplexTwist stepped(const Vec6& x, const Vec6& along) {
  return x.cast<Complex>() + Complex(0, tiny) * along.cast<Complex>();
}

// X^-1 dX of a pose with a complex step.
Vec6 body_rate(const generic::Pose<Complex>& X) {
  const Mat3 R = X.R.real(), W = R.transpose() * X.R.imag() / tiny;
  return join(R.transpose() * X.r.imag() / tiny, Vec3(W(2, 1), W(0, 2), W(1, 0)));
}

Vec6 random_twist(Random& random) {
  return join(random.vector3(2), random.uniform(0, 3) * random.direction());
}

TEST(Generic, SeriesAndClosedFormsMeet) {
  // Each function by its series in long double, k_n = 1/(n + 2)!, 1/(n + 3)! and derivatives term
  // by term; up to s = 9 forty terms lose three digits of nineteen. The closed forms lose one digit
  // a derivative at s = 1.
  Worst zero("b, c, absolute", 4 * eps), one("db, dc, absolute", 8 * eps);
  Worst two("ddb, ddc, absolute", 32 * eps), sine("a, absolute", 4 * eps);
  for (double s = 0; s < 9; s += 0.0173) {
    using Real = long double;
    std::array<Real, 3> b{}, c{};
    Real factorial = 2, power = 1;  // (2k + 2)!, (-1)^k
    for (int k = 0; k < 40; ++k) {
      const Real x = s, fb = power / factorial, fc = fb / (2 * k + 3);
      for (int d = 0; d < 3 && d <= k; ++d) {
        const Real falling = d == 0 ? 1 : d == 1 ? k : static_cast<Real>(k) * (k - 1);
        b[d] += fb * falling * std::pow(x, static_cast<Real>(k - d));
        c[d] += fc * falling * std::pow(x, static_cast<Real>(k - d));
      }
      power = -power;
      factorial *= static_cast<Real>(2 * k + 3) * (2 * k + 4);
    }
    const auto ours = generic::rotation_series<double>(s);
    const auto where = "s = " + std::to_string(s);
    const auto error = [](double x, Real y) { return static_cast<double>(std::abs(x - y)); };
    zero.add(error(ours.b, b[0]), where), zero.add(error(ours.c, c[0]), where);
    one.add(error(ours.db, b[1]), where), one.add(error(ours.dc, c[1]), where);
    two.add(error(ours.ddb, b[2]), where), two.add(error(ours.ddc, c[2]), where);
    sine.add(error(ours.a, 1 - static_cast<Real>(s) * c[0]), where);
  }
}

TEST(Generic, IsTheGroupOfDoubles) {
  Worst worst("exp, dexp and their transposes", 32 * eps);
  for (const auto seed : seeds(1, 300)) {
    Random random(seed);
    const Vec6 V = random_twist(random), U = random.vector6();
    const generic::Exponential<double> e(V);
    const SE3 X = exp_se3(V);
    worst.add((e.pose().R - X.R).norm() + (e.pose().r - X.r).norm(), seed);
    worst.add((e.dexp(U) - dexp_se3(V) * U).norm(), seed);
    worst.add((e.dexp_transposed(U) - dexp_se3(V).transpose() * U).norm(), seed);
    worst.add((generic::bracket<double>(V, U) - bracket(V, U)).norm(), seed);
    worst.add((generic::dual_bracket<double>(V, U) - dual_bracket(V, U)).norm(), seed);
    worst.add((generic::twist_to_body<double>(e.pose(), U) - twist_to_body(X, U)).norm(), seed);
    worst.add((generic::wrench_to_parent<double>(e.pose(), U) - wrench_to_parent(X, U)).norm(),
              seed);
  }
}

TEST(Generic, DexpAndItsRateByComplexSteps) {
  Worst first("dexp V' - exp(-V) d exp(V)", 64 * eps);
  Worst second("d/dt dexp(V) along V', applied to U", 128 * eps);
  for (const auto seed : seeds(1, 300)) {
    Random random(seed);
    const Vec6 V = random_twist(random), rate = random.vector6(), U = random.vector6();
    const generic::Exponential<Complex> e(stepped(V, rate));
    const generic::Exponential<double> d(V);
    first.add((body_rate(e.pose()) - d.dexp(rate)).norm(), seed);
    const Vec6 exact = e.dexp(U.cast<Complex>()).imag() / tiny;
    second.add((d.dexp_dot(rate, U) - exact).norm(), seed);
  }
}

TEST(Magnus, RatesByComplexSteps) {
  Worst twist("twist of a step", 64 * eps), bias("rate of the twist", 256 * eps);
  Worst dual("power by pull_back", 64 * eps);
  for (const auto seed : seeds(1, 300)) {
    Random random(seed);
    const double h = random.uniform(0.01, 1.5);
    const Vec6 x1 = random.vector6(1.5), x2 = random.vector6(1.5);
    const Vec6 d1 = random.vector6(), d2 = random.vector6(), F = random.vector6();
    const MagnusStep<double> step(h, x1, x2);
    const MagnusStep<Complex> moved(h, stepped(x1, d1), stepped(x2, d2));
    const Vec6 omega = step.rate(d1, d2), V = step.twist(omega);
    twist.add((V - body_rate(moved.pose)).norm(), seed);
    const ComplexTwist rate = moved.rate(d1.cast<Complex>(), d2.cast<Complex>());
    bias.add((step.bias(omega, d1, d2) - moved.twist(rate).imag() / tiny).norm(), seed);
    Twist f1, f2;
    step.pull_back(F, f1, f2);
    dual.add(std::abs(F.dot(V) - f1.dot(d1) - f2.dot(d2)), seed);
  }
}

TEST(Magnus, IsOfFourthOrder) {
  // A field whose values do not commute. With the wrong sign of the commutator the order is 2.
  const auto xi = [](double X) {
    Vec6 x;
    x << 1 + 0.2 * std::sin(2 * X), 0.3 * X, -0.1, std::cos(X), 2 * X - 1, std::sin(3 * X);
    return x;
  };
  const auto tip = [&](int steps) {
    SE3 g;
    const double h = 1.0 / steps;
    for (int k = 0; k < steps; ++k) {
      const double middle = (k + 0.5) * h, d = magnus_offset * h;
      g = g * generic::pose_of(MagnusStep<double>(h, xi(middle - d), xi(middle + d)).pose);
    }
    return g;
  };
  const SE3 fine = tip(1024);
  double before = 0, order = 0;
  for (const int steps : {4, 8, 16, 32, 64}) {
    const double error = log_se3(fine.inverse() * tip(steps)).norm();
    order = std::log2(before / error);
    std::printf("[  ORDER   ] %3d steps: error %9.2e, order %.2f\n", steps, error, order);
    before = error;
  }
  EXPECT_NEAR(order, 4, 0.05);
}

}  // namespace
}  // namespace saltus
