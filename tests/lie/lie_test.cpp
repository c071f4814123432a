// SO(3), SE(3), SE(2) and inertias against an independent matrix exponential and group identities.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "saltus/lie/inertia.h"
#include "saltus/lie/se2.h"
#include "saltus/lie/se3.h"
#include "saltus/lie/so3.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

namespace saltus {
namespace {

using test::eps;
using test::Random;
using test::seeds;
using test::Worst;
constexpr double pi = std::numbers::pi;

// --- The oracle: exp of any square matrix by scaling, Taylor and squaring in long double
// ----------

using Real = long double;
template <int n>
using Square = Eigen::Matrix<Real, n, n>;

template <int n>
Square<n> matrix_exponential(const Square<n>& A) {
  int halvings = 0;
  for (Real size = A.cwiseAbs().rowwise().sum().maxCoeff(); size > 0.25L; size /= 2) ++halvings;
  const Square<n> scaled = A / std::pow(2.0L, static_cast<Real>(halvings));
  Square<n> sum = Square<n>::Identity(), term = sum;
  for (int k = 1; k <= 20; ++k) {  // 0.25^20/20! = 4e-31
    term = term * scaled / static_cast<Real>(k);
    sum += term;
  }
  for (; halvings > 0; --halvings) sum = sum * sum;
  return sum;
}

// Elements of the algebras as matrices, written out here and not taken from the library.
Square<3> so3_matrix(const Eigen::Matrix<Real, 3, 1>& w) {
  Square<3> W;
  W << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0;
  return W;
}
Square<4> se3_matrix(const Eigen::Matrix<Real, 6, 1>& V) {
  Square<4> X = Square<4>::Zero();
  X.topLeftCorner<3, 3>() = so3_matrix(V.tail<3>());
  X.topRightCorner<3, 1>() = V.head<3>();
  return X;
}
Square<3> se2_matrix(const Eigen::Matrix<Real, 3, 1>& V) {
  Square<3> X;
  X << 0, -V[2], V[0], V[2], 0, V[1], 0, 0, 0;
  return X;
}
Eigen::Matrix<Real, 3, 1> so3_vector(const Square<3>& W) { return {W(2, 1), W(0, 2), W(1, 0)}; }
Eigen::Matrix<Real, 6, 1> se3_vector(const Square<4>& X) {
  Eigen::Matrix<Real, 6, 1> V;
  V << X.topRightCorner<3, 1>(), so3_vector(X.topLeftCorner<3, 3>());
  return V;
}
Eigen::Matrix<Real, 3, 1> se2_vector(const Square<3>& X) { return {X(0, 2), X(1, 2), X(1, 0)}; }

Square<4> as_matrix(const SE3& X) {
  Square<4> A = Square<4>::Identity();
  A.topLeftCorner<3, 3>() = X.R.cast<Real>();
  A.topRightCorner<3, 1>() = X.r.cast<Real>();
  return A;
}
Square<3> as_matrix(const SE2& X) {
  Square<3> A = Square<3>::Identity();
  A.topLeftCorner<2, 2>() = X.R().cast<Real>();
  A.topRightCorner<2, 1>() = X.r.cast<Real>();
  return A;
}

// exp(V)^-1 d/dh exp(V + h D) at h = 0: central differences, extrapolated four times (Richardson).
// Truncation is O(h^10) with h = 1/32, rounding 1e-19/h: good to 1e-16 for |V|, |D| of order 1.
template <int n, class Vector, class ToMatrix, class ToVector>
Vector body_derivative(const Vector& V, const Vector& D, ToMatrix to_matrix, ToVector to_vector) {
  constexpr int levels = 5;
  std::array<Square<n>, levels> table;
  Real h = 1.0L / 32;
  for (int k = 0; k < levels; ++k, h /= 2) {
    table[k] = (matrix_exponential<n>(to_matrix((V + h * D).eval())) -
                matrix_exponential<n>(to_matrix((V - h * D).eval()))) /
               (2 * h);
  }
  for (int order = 1; order < levels; ++order) {
    const Real factor = std::pow(4.0L, static_cast<Real>(order));
    for (int k = levels - 1; k >= order; --k) {
      table[k] = (factor * table[k] - table[k - 1]) / (factor - 1);
    }
  }
  return to_vector((matrix_exponential<n>(to_matrix((-V).eval())) * table[levels - 1]).eval());
}

constexpr std::array difference_angles{1e-12,  1e-9, 1e-6, 1e-4,  1e-3, 1e-2, 0.0499, 0.0999,
                                       0.1999, 0.25, 0.5,  0.999, 1.0,  2.0,  3.0,    3.14159};

template <class A, class B>
double difference(const A& a, const B& b) {
  return static_cast<double>(
      (a.template cast<Real>() - b.template cast<Real>()).cwiseAbs().maxCoeff());
}

// Angles from the smallest to the edge of the logarithm's range.
std::vector<double> angles() {
  std::vector<double> list{0, 1e-300, 1e-160, 1e-100};
  for (double t = 1e-16; t < 0.5; t *= 3) list.push_back(t);
  for (double t = 1e-3; t < 3.1; t *= 1.1) list.push_back(t);  // across the ends of every series
  for (double d = 1e-1; d > 1e-16; d /= 10) list.push_back(pi - d);
  return list;
}

// --- SO(3)
// ----------------------------------------------------------------------------------------

TEST(SO3, HatIsTheCrossProduct) {
  for (const auto seed : seeds(1, 20)) {
    Random random(seed);
    const Vec3 a = random.vector3(), b = random.vector3();
    EXPECT_EQ(hat(a) * b, a.cross(b));
    EXPECT_EQ(hat(a), -hat(a).transpose());
  }
}

TEST(SO3, CoefficientsAgainstSeries) {
  // The coefficients enter exp and dexp times 1, t, t^2: there a rounding error of a few eps is
  // what one can ask for. Alone they are smooth functions, computable to a few eps too; 1e-12
  // leaves room for one branch with a mild cancellation.
  Worst a_error("a = sin t/t, relative", 4 * eps);
  Worst b_error("b = (1 - cos t)/t^2, times t^2", 8 * eps);
  Worst c_error("c = (t - sin t)/t^3, times t^2", 4 * eps);
  Worst b_relative("b, relative", 1e-12), c_relative("c, relative", 1e-12);
  std::vector<double> list = angles();
  for (double t = 1e-6; t < 2 * pi; t *= 1.07) list.push_back(t);
  for (const double t : list) {
    Real a = 0, b = 0, c = 0, term = 1;  // t^2k (-1)^k/(2k + 1)!, ...; |t| < 2 pi: 40 terms do
    for (int k = 0; k < 40; ++k) {
      const Real n = 2 * static_cast<Real>(k);
      a += term / (n + 1);
      b += term / ((n + 1) * (n + 2));
      c += term / ((n + 1) * (n + 2) * (n + 3));
      term *= -static_cast<Real>(t) * t / ((n + 1) * (n + 2));
    }
    const RotationCoefficients ours = rotation_coefficients(t);
    const auto where = "t = " + std::to_string(t);
    const auto error = [](double x, Real y) { return static_cast<double>(std::abs(x - y)); };
    a_error.add(error(ours.a, a), where);
    b_error.add(error(ours.b, b) * t * t, where);
    c_error.add(error(ours.c, c) * t * t, where);
    if (t < 3) {  // further on 1 - cos t may vanish
      b_relative.add(static_cast<double>(std::abs((ours.b - b) / b)), where);
      c_relative.add(static_cast<double>(std::abs((ours.c - c) / c)), where);
    }
  }
}

TEST(SO3, ExpAgainstTheMatrixExponential) {
  // Entries are of order 1: a few roundings, and |w| itself is known to eps |w|.
  Worst worst("exp_so3", 16 * eps), far("exp_so3, |w| to 100, over |w|", 8 * eps);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    for (const double t : angles()) {
      const Vec3 w = t * random.direction();
      const Square<3> exact = matrix_exponential<3>(so3_matrix(w.cast<Real>()));
      worst.add(difference(exp_so3(w), exact), seed);
    }
    const Vec3 w = random.uniform(pi, 100) * random.direction();
    const Square<3> exact = matrix_exponential<3>(so3_matrix(w.cast<Real>()));
    far.add(difference(exp_so3(w), exact) / w.norm(), seed);
  }
}

TEST(SO3, ExpOfATinyVectorKeepsItsDigits) {
  Worst worst("off-diagonal of exp_so3, relative to |w|", 2 * eps);
  for (const auto seed : seeds(1, 20)) {
    Random random(seed);
    for (const double t : {1e-300, 1e-100, 1e-20, 1e-12, 1e-9, 1e-8}) {
      const Vec3 w = t * random.direction();
      const Mat3 R = exp_so3(w);
      const Vec3 odd(R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1));
      worst.add((0.5 * odd - w).norm() / t, seed);
    }
  }
}

TEST(SO3, LogUndoesExp) {
  // Relative to |w| below 1: the odd part of R holds w to its own digits. Near pi the even part
  // holds the axis and atan2 the angle, both to a few eps.
  Worst worst("log(exp w) - w, relative", 16 * eps);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    for (const double t : angles()) {
      const Vec3 w = t * random.direction();
      const Vec3 back = log_so3(exp_so3(w));
      EXPECT_LE(back.norm(), pi * (1 + eps));
      if (t == 0) {
        EXPECT_EQ(back, Vec3::Zero());
      } else if (pi - t < 4 * eps) {  // w and -w are the same rotation
        worst.add(std::min((back - w).norm(), (back + w).norm()), seed);
      } else {
        worst.add((back - w).norm() / std::min(t, 1.0), seed);
      }
    }
  }
}

TEST(SO3, LogNearPiAlongTheAxes) {
  // Where a formula divides by a component of the axis, one of these fails.
  Worst worst("log(exp w) - w near pi", 16 * eps);
  std::vector<Vec3> axes{Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
  for (const double small : {1e-16, 1e-12, 1e-8, 1e-4}) {
    axes.insert(axes.end(),
                {Vec3(1, small, 0), Vec3(small, 1, -small), Vec3(0, small, 1), Vec3(1, -1, small),
                 Vec3(-1, small, 1), Vec3(-small, -1, -1), Vec3(-1, 0, 0), Vec3(0, -1, small)});
  }
  for (const Vec3& axis : axes) {
    for (double d = 1e-2; d > 1e-14; d /= 10) {
      const Vec3 w = (pi - d) * axis.normalized();
      worst.add((log_so3(exp_so3(w)) - w).norm());
    }
  }
}

TEST(SO3, LogOfAHalfTurn) {
  // Exactly representable half turns: trace -1, symmetric.
  for (int axis = 0; axis < 3; ++axis) {
    Mat3 R = -Mat3::Identity();
    R(axis, axis) = 1;
    const Vec3 w = log_so3(R);
    EXPECT_NEAR(w.norm(), pi, 4 * eps);
    EXPECT_NEAR(std::abs(w[axis]), pi, 4 * eps);
  }
}

TEST(SO3, ExpUndoesLog) {
  Worst worst("exp(log R) - R", 16 * eps);
  for (const auto seed : seeds(1, 1000)) {
    Random random(seed);
    const Mat3 R = random.rotation();
    worst.add(difference(exp_so3(log_so3(R)), R), seed);
  }
}

TEST(SO3, QuaternionIsTheSameRotation) {
  Worst worst("exp_quat against exp_so3", 8 * eps), unit("| |q| - 1 |", 4 * eps);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    for (const double t : angles()) {
      const Vec3 w = t * random.direction();
      const Quat q = exp_quat(w);
      unit.add(std::abs(q.norm() - 1), seed);
      worst.add(difference(q.toRotationMatrix(), exp_so3(w)), seed);
      if (t < 1e-8) worst.add(t == 0 ? q.vec().norm() : (2 * q.vec() - w).norm() / t, seed);
    }
  }
}

TEST(SO3, DexpAgainstDifferences) {
  // The oracle is good to 1e-16 per unit; what remains is rounding in dexp itself.
  Worst worst("dexp_so3 against Richardson", 16 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    for (const double t : difference_angles) {
      const Vec3 w = t * random.direction(), d = random.direction();
      const auto exact =
          body_derivative<3>(Eigen::Matrix<Real, 3, 1>(w.cast<Real>()),
                             Eigen::Matrix<Real, 3, 1>(d.cast<Real>()), so3_matrix, so3_vector);
      worst.add(difference((dexp_so3(w) * d).eval(), exact), seed);
    }
  }
}

TEST(SO3, DexpInverse) {
  // Up to 2 pi, where dexp loses rank; rounding grows with the norm of the inverse.
  Worst worst("dexp_inv dexp - I, over |dexp_inv|", 16 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    std::vector<double> list = angles();
    for (double t = pi; t < 2 * pi - 0.01; t += 0.1) list.push_back(t);
    for (const double t : list) {
      const Vec3 w = t * random.direction();
      const Mat3 inverse = dexp_inv_so3(w);
      const double scale = std::max(1.0, inverse.norm());
      worst.add(difference((inverse * dexp_so3(w)).eval(), Mat3(Mat3::Identity())) / scale, seed);
    }
  }
}

TEST(SO3, DexpLeavesTheAxisAndReversesWithTheSign) {
  Worst axis("dexp(w) w - w", 8 * eps), sign("dexp(-w) - dexp(w)'", 8 * eps);
  Worst turn("R dexp(w) - dexp(-w)", 16 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const Vec3 w = random.uniform(0, pi) * random.direction();
    axis.add((dexp_so3(w) * w - w).norm(), seed);
    sign.add(difference(dexp_so3(-w), Mat3(dexp_so3(w).transpose())), seed);
    turn.add(difference(Mat3(exp_so3(w) * dexp_so3(w)), dexp_so3(-w)), seed);
  }
}

// --- SE(3)
// ----------------------------------------------------------------------------------------

Vec6 random_twist(Random& random, double angle, double length) {
  return join(length * random.direction(), angle * random.direction());
}

TEST(SE3, GroupOperations) {
  Worst worst("products, inverse, action", 1e-14);  // lengths of order 1, a few roundings
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const SE3 X = random.pose(), Y = random.pose();
    const Vec3 p = random.vector3();
    worst.add(difference(as_matrix(X * Y), (as_matrix(X) * as_matrix(Y)).eval()), seed);
    worst.add(difference(as_matrix(X * X.inverse()), Square<4>(Square<4>::Identity())), seed);
    worst.add(((X * Y) * p - X * (Y * p)).norm(), seed);
    worst.add((X.inverse() * (X * p) - p).norm(), seed);
  }
  EXPECT_EQ(SE3::identity() * Vec3(1, 2, 3), Vec3(1, 2, 3));
  EXPECT_EQ(SE3::translation(Vec3(1, 2, 3)) * Vec3(1, 1, 1), Vec3(2, 3, 4));
}

TEST(SE3, ExpAgainstTheMatrixExponential) {
  Worst worst("exp_se3, over max(1, |v|)", 16 * eps);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    for (const double t : angles()) {
      const double length = random.log_uniform(1e-3, 1e3);
      const Vec6 V = random_twist(random, t, length);
      const Square<4> exact = matrix_exponential<4>(se3_matrix(V.cast<Real>()));
      worst.add(difference(as_matrix(exp_se3(V)), exact) / std::max(1.0, length), seed);
    }
  }
}

TEST(SE3, LogUndoesExp) {
  // The linear part passes through dexp and its inverse, whose product of norms is at most pi/2.
  Worst angular("angular part of log(exp V), relative", 16 * eps);
  Worst linear("linear part of log(exp V), over |v|", 64 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    for (const double t : angles()) {
      if (t == 0 || pi - t < 1e-14) continue;
      const Vec6 V = random_twist(random, t, random.log_uniform(1e-3, 1e3));
      const Vec6 back = log_se3(exp_se3(V));
      angular.add((back - V).tail<3>().norm() / std::min(t, 1.0), seed);
      // An error of eps in the angle near pi turns v by eps.
      linear.add((back - V).head<3>().norm() / V.head<3>().norm(), seed);
    }
  }
  EXPECT_EQ(log_se3(SE3::identity()), Vec6::Zero());
}

TEST(SE3, ExpUndoesLog) {
  Worst worst("exp(log X) - X", 64 * eps);
  for (const auto seed : seeds(1, 1000)) {
    Random random(seed);
    const SE3 X = random.pose();
    worst.add(difference(as_matrix(exp_se3(log_se3(X))), as_matrix(X)), seed);
  }
}

TEST(SE3, DexpAgainstDifferences) {
  Worst worst("dexp_se3 against Richardson", 10 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    for (const double t : difference_angles) {
      const Vec6 V = random_twist(random, t, random.uniform(0, 2)), d = random.vector6();
      const auto exact =
          body_derivative<4>(Eigen::Matrix<Real, 6, 1>(V.cast<Real>()),
                             Eigen::Matrix<Real, 6, 1>(d.cast<Real>()), se3_matrix, se3_vector);
      worst.add(difference((dexp_se3(V) * d).eval(), exact), seed);
    }
  }
}

TEST(SE3, DexpInverse) {
  Worst worst("dexp_inv dexp - I, over norms", 16 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    std::vector<double> list = angles();
    for (double t = pi; t < 2 * pi - 0.1; t += 0.1) list.push_back(t);
    for (const double t : list) {
      const Vec6 V = random_twist(random, t, random.log_uniform(1e-3, 1e2));
      const Mat6 D = dexp_se3(V), inverse = dexp_inv_se3(V);
      worst.add(difference(Mat6(inverse * D), Mat6(Mat6::Identity())) / (D.norm() * inverse.norm()),
                seed);
    }
  }
}

TEST(SE3, DexpKeepsTheTwist) {  // along the ray t V the body twist is V
  Worst worst("dexp(V) V - V", 16 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const Vec6 V = random_twist(random, random.uniform(0, pi), 1);
    worst.add((dexp_se3(V) * V - V).norm(), seed);
  }
}

TEST(SE3, AdjointIsAHomomorphism) {
  Worst product("Ad_XY - Ad_X Ad_Y", 1e-14), inverse("Ad_X Ad_X^-1 - I", 1e-14);
  Worst conjugation("X exp(V) X^-1 - exp(Ad_X V)", 1e-13);  // Ad_X V is of size 4, angles to 2 rad
  Worst exponential("Ad_exp(V) - exp(ad_V)", 1e-14), algebra("Ad_X [A, B] - [Ad A, Ad B]", 1e-14);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const SE3 X = random.pose(), Y = random.pose();
    const Vec6 A = random.vector6(), B = random.vector6();
    product.add(difference(adjoint(X * Y), Mat6(adjoint(X) * adjoint(Y))), seed);
    inverse.add(difference(Mat6(adjoint(X) * adjoint(X.inverse())), Mat6(Mat6::Identity())), seed);
    conjugation.add(
        difference(as_matrix(X * exp_se3(A) * X.inverse()), as_matrix(exp_se3(adjoint(X) * A))),
        seed);
    exponential.add(difference(adjoint(exp_se3(A)),
                               matrix_exponential<6>(Square<6>(bracket_matrix(A).cast<Real>()))),
                    seed);
    algebra.add((adjoint(X) * bracket(A, B) - bracket(adjoint(X) * A, adjoint(X) * B)).norm(),
                seed);
  }
}

TEST(SE3, BracketIsALieBracket) {
  Worst matrix("bracket_matrix", eps), commutator("[A, B] against matrices", 4 * eps);
  Worst jacobi("Jacobi's identity", 16 * eps);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const Vec6 A = random.vector6(), B = random.vector6(), C = random.vector6();
    matrix.add((bracket_matrix(A) * B - bracket(A, B)).cwiseAbs().maxCoeff() / 4, seed);
    EXPECT_EQ(bracket(A, B), -bracket(B, A)) << "seed " << seed;
    const Square<4> a = se3_matrix(A.cast<Real>()), b = se3_matrix(B.cast<Real>());
    commutator.add(difference(bracket(A, B), se3_vector(Square<4>(a * b - b * a))), seed);
    jacobi.add(
        (bracket(A, bracket(B, C)) + bracket(B, bracket(C, A)) + bracket(C, bracket(A, B))).norm(),
        seed);
  }
}

TEST(SE3, TransformsKeepPower) {
  Worst twist("twist_to_parent - Ad", 4 * eps), back("to parent and back", 32 * eps);
  Worst wrench("wrench_to_parent - Ad^-T", 32 * eps), power("F . V in both frames", 32 * eps);
  Worst dual("F . [V, W] + (V x* F) . W", 32 * eps);
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    const SE3 X = random.pose();
    const Vec6 V = random.vector6(), W = random.vector6(), F = random.vector6();
    twist.add((twist_to_parent(X, V) - adjoint(X) * V).cwiseAbs().maxCoeff(), seed);
    wrench.add((wrench_to_parent(X, F) - adjoint(X.inverse()).transpose() * F).norm(), seed);
    back.add((twist_to_body(X, twist_to_parent(X, V)) - V).norm(), seed);
    back.add((wrench_to_body(X, wrench_to_parent(X, F)) - F).norm(), seed);
    power.add(std::abs(wrench_to_parent(X, F).dot(twist_to_parent(X, V)) - F.dot(V)), seed);
    power.add(std::abs(wrench_to_body(X, F).dot(twist_to_body(X, V)) - F.dot(V)), seed);
    dual.add(std::abs(F.dot(bracket(V, W)) + dual_bracket(V, F).dot(W)), seed);
  }
}

TEST(SE3, TwistIsTheVelocityOfPoints) {
  // A point fixed in the body moves, seen from the parent, as the transformed twist says.
  Worst worst("velocity of a point", 32 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const SE3 X = random.pose();
    const Vec6 V = random.vector6();
    const Vec3 p = random.vector3();
    const Vec3 in_body = V.head<3>() + V.tail<3>().cross(p);
    const Vec6 U = twist_to_parent(X, V);
    worst.add((U.head<3>() + U.tail<3>().cross(X * p) - X.R * in_body).norm(), seed);
  }
}

// --- SE(2)
// ----------------------------------------------------------------------------------------

TEST(SE2, ExpAgainstTheMatrixExponential) {
  Worst worst("exp_se2, over max(1, |v|)", 8 * eps);
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    for (const double t : angles()) {
      Vec3 V = random.vector3(random.log_uniform(1e-3, 1e3));
      V[2] = random.chance(0.5) ? t : -t;
      const Square<3> exact = matrix_exponential<3>(se2_matrix(V.cast<Real>()));
      worst.add(difference(as_matrix(exp_se2(V)), exact) / std::max(1.0, V.head<2>().norm()), seed);
    }
  }
}

TEST(SE2, LogUndoesExp) {
  Worst angle("theta, relative", 4 * eps), linear("linear part, over |v|", 16 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    for (const double t : angles()) {
      Vec3 V = random.vector3(random.log_uniform(1e-3, 1e3));
      V[2] = random.chance(0.5) ? t : -t;
      const Vec3 back = log_se2(exp_se2(V));
      if (t > 0) angle.add(std::abs(back[2] - V[2]) / t, seed);
      linear.add((back - V).head<2>().norm() / V.head<2>().norm(), seed);
    }
  }
}

TEST(SE2, LogTakesTheAngleInOneTurn) {
  Worst worst("exp(log X) - X after turns", 64 * eps);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    const SE2 X{random.uniform(-10, 10), random.vector(2)};
    const Vec3 V = log_se2(X);
    EXPECT_LE(V[2], pi);
    EXPECT_GE(V[2], -pi);
    worst.add(difference(as_matrix(exp_se2(V)), as_matrix(X)), seed);
  }
  EXPECT_NEAR(log_se2({pi, Vec2::Zero()})[2], pi, 0);
  // 3 pi as a double may lie on either side of the half turn.
  EXPECT_NEAR(std::abs(log_se2({3 * pi, Vec2::Zero()})[2]), pi, 8 * eps);
}

TEST(SE2, DexpAgainstDifferences) {
  Worst worst("dexp_se2 against Richardson", 16 * eps);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    for (const double t : difference_angles) {
      Vec3 V = random.vector3(2);
      V[2] = random.chance(0.5) ? t : -t;
      const Vec3 d = random.vector3();
      const auto exact =
          body_derivative<3>(Eigen::Matrix<Real, 3, 1>(V.cast<Real>()),
                             Eigen::Matrix<Real, 3, 1>(d.cast<Real>()), se2_matrix, se2_vector);
      worst.add(difference((dexp_se2(V) * d).eval(), exact), seed);
    }
  }
}

TEST(SE2, IsTheSubgroupOfSE3) {
  Worst worst("SE(2) inside SE(3)", 32 * eps);
  const auto lift = [](const Vec3& V) { return join(Vec3(V[0], V[1], 0), Vec3(0, 0, V[2])); };
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const Vec3 V = random.vector3(2), U = random.vector3(2);
    const SE2 a = exp_se2(V), b = exp_se2(U), c = a * b.inverse();
    const SE3 A = exp_se3(lift(V)), B = exp_se3(lift(U)), C = A * B.inverse();
    worst.add((C.r - Vec3(c.r[0], c.r[1], 0)).norm(), seed);
    worst.add((C.R.topLeftCorner<2, 2>() - c.R()).norm(), seed);
    const Mat6 D = dexp_se3(lift(V));
    const std::array<int, 3> rows{0, 1, 5};
    worst.add((D(rows, rows) - dexp_se2(V)).norm(), seed);
  }
}

// --- Inertia
// --------------------------------------------------------------------------------------

TEST(Inertia, KineticEnergyOfACloudOfPoints) {
  Worst energy("1/2 V'IV against the sum over points, relative", 1e-14);
  Worst symmetric("I - I', relative", 2 * eps);
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    constexpr int points = 7;
    RigidInertia body;
    std::array<Vec3, points> p;
    std::array<double, points> m{};
    for (int k = 0; k < points; ++k) {
      p[k] = random.vector3();
      m[k] = random.uniform(0.1, 2);
      body.mass += m[k];
      body.com += m[k] * p[k];
    }
    body.com /= body.mass;
    const Vec6 V = random.vector6(3);
    double exact = 0;
    for (int k = 0; k < points; ++k) {
      const Vec3 r = p[k] - body.com;
      body.about_com += m[k] * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
      exact += 0.5 * m[k] * (V.head<3>() + V.tail<3>().cross(p[k])).squaredNorm();
    }
    const Mat6 I = spatial_inertia(body);
    energy.add(std::abs(0.5 * V.dot(I * V) - exact) / exact, seed);
    symmetric.add((I - I.transpose()).cwiseAbs().maxCoeff() / I.norm(), seed);
    EXPECT_TRUE(physical(body.about_com)) << "seed " << seed;
  }
}

TEST(Inertia, TransformsAsAFormOnTwists) {
  Worst worst("I in another frame, relative", 1e-14);
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    const RigidInertia body = random.inertia();
    const SE3 X = random.pose();  // the body's frame in another one
    const RigidInertia moved{body.mass, X * body.com, X.R * body.about_com * X.R.transpose()};
    const Mat6 back = adjoint(X.inverse());
    const Mat6 expected = back.transpose() * spatial_inertia(body) * back;
    worst.add((spatial_inertia(moved) - expected).norm() / expected.norm(), seed);
  }
}

TEST(Inertia, PhysicalAtTheEdges) {
  const auto diagonal = [](double a, double b, double c) {
    return Mat3(Vec3(a, b, c).asDiagonal());
  };
  EXPECT_TRUE(physical(Mat3::Zero()));       // a point
  EXPECT_TRUE(physical(diagonal(0, 1, 1)));  // a slender rod
  EXPECT_TRUE(physical(diagonal(1, 2, 3)));  // a plate: equality
  EXPECT_TRUE(physical(diagonal(0.1, 0.2, 0.1 + 0.2)));
  EXPECT_TRUE(physical(diagonal(1e-12, 1e-12, 2e-12)));  // the test has no absolute size
  EXPECT_TRUE(physical(diagonal(1e12, 1e12, 2e12)));
  EXPECT_FALSE(physical(diagonal(1, 1, 2.001)));
  EXPECT_FALSE(physical(diagonal(1e-12, 1e-12, 2.001e-12)));
  EXPECT_FALSE(physical(diagonal(1, 1, 2 + 1e-6)));
  EXPECT_FALSE(physical(diagonal(0, 0, 1)));
  EXPECT_FALSE(physical(diagonal(-1, 1, 1)));
  EXPECT_FALSE(physical(diagonal(-1e-6, 1, 1)));
  EXPECT_FALSE(physical(diagonal(-1, -1, -1)));
  EXPECT_FALSE(physical(diagonal(std::nan(""), 1, 1)));
  EXPECT_FALSE(physical(diagonal(INFINITY, INFINITY, 1)));
}

TEST(Inertia, PhysicalInAnyAxes) {
  // Rods and plates in tilted axes: the edge of the set, moved by rounding only.
  for (const auto seed : seeds(1, 500)) {
    Random random(seed);
    const Mat3 R = random.rotation();
    const double scale = random.log_uniform(1e-9, 1e9);
    const double a = random.uniform(0.1, 1), b = random.uniform(0.1, 1);
    const auto turned = [&](const Vec3& moments) {
      return Mat3(scale * R * moments.asDiagonal() * R.transpose());
    };
    EXPECT_TRUE(physical(turned({0, a, a}))) << "rod, seed " << seed;
    EXPECT_TRUE(physical(turned({a, b, a + b}))) << "plate, seed " << seed;
    EXPECT_FALSE(physical(turned({a, b, 1.001 * (a + b)}))) << "seed " << seed;
    EXPECT_FALSE(physical(turned({a, a, -1e-3 * a}))) << "seed " << seed;
  }
}

TEST(Inertia, SolidsAgainstQuadrature) {
  // Two Gauss points an axis integrate quadratics exactly.
  const double m = 1.7;
  const Vec3 size(0.3, 0.5, 1.1);
  Mat3 box = Mat3::Zero();
  for (int k = 0; k < 8; ++k) {
    const Vec3 sign((k & 1) != 0 ? 1 : -1, (k & 2) != 0 ? 1 : -1, (k & 4) != 0 ? 1 : -1);
    const Vec3 r = sign.cwiseProduct(size) / (2 * std::numbers::sqrt3);
    box += m / 8 * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
  }
  EXPECT_LE((solid_box(m, size) - box).norm(), 4 * eps * box.norm());
  EXPECT_LE((solid_sphere(m, 0.4) - 0.4 * m * 0.16 * Mat3::Identity()).norm(), 4 * eps);
  const double r = 0.2, l = 0.9, across = m * (3 * r * r + l * l) / 12;
  const Mat3 cylinder = Vec3(0.5 * m * r * r, across, across).asDiagonal();
  EXPECT_LE((solid_cylinder(m, r, l) - cylinder).norm(), 4 * eps);
  EXPECT_TRUE(physical(solid_box(m, size)) && physical(solid_cylinder(m, r, l)));
}

}  // namespace
}  // namespace saltus
