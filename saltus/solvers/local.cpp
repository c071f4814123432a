#include "saltus/solvers/local.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

namespace saltus {

namespace {

using SmallMat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
using SmallVec = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 6, 1>;
using Shape = ConvexSet::Shape;

// y(s) = -(B + s 1)^-1 p and its derivative -(B + s 1)^-1 y.
struct Shifted {
  const Mat2& B;
  const Vec2& p;
  [[nodiscard]] Vec2 solve(double s, const Vec2& rhs) const {
    const double a = B(0, 0) + s, d = B(1, 1) + s, b = B(0, 1), c = B(1, 0);
    const double det = a * d - b * c;
    return {(d * rhs[0] - b * rhs[1]) / det, (a * rhs[1] - c * rhs[0]) / det};
  }
  [[nodiscard]] Vec2 y(double s) const { return solve(s, -p); }
};

// s > 0 with |y(s)| + e . y(s) = h, h > 0: Newton on the reciprocal, which is nearly straight in s,
// inside a bracket. Returns y.
Vec2 slip(const Mat2& B, const Vec2& p, const Vec2& e, double h) {
  const Shifted system{B, p};
  if (p.norm() == 0) return Vec2::Zero();
  double lower = 0, upper = (1 + e.norm()) * p.norm() / h;
  const auto beyond = [&](double s) {
    const Vec2 y = system.y(s);
    return y.norm() + e.dot(y);
  };
  for (int k = 0; k < 1000 && beyond(upper) > h; ++k) upper *= 2;  // B not quite semidefinite
  const double floor = 1e-15 * B.trace();  // below it B + s 1 is B, which may be singular
  double s = upper;
  for (int k = 0; k < 200 && s > floor; ++k) {
    const Vec2 y = system.y(s);
    const double length = y.norm(), value = length + e.dot(y);
    (value > h ? lower : upper) = s;
    if (value == h || length == 0) break;
    const Vec2 dy = -system.solve(s, y);
    const double slope = y.dot(dy) / length + e.dot(dy);
    double next = s + value * (value - h) / (-slope * h);  // root of 1/value - 1/h, linearised
    if (!(next > lower && next < upper)) next = lower > 0 ? std::sqrt(lower * upper) : 0.1 * upper;
    if (std::abs(next - s) <= std::numeric_limits<double>::epsilon() * s) break;
    s = next;
  }
  return system.y(s);
}

// B y = -p. Of a singular B (a row that nothing moves, two that are one) the smallest solution, if
// there is any. `size` and `rest` are the sizes that B and p had before rows were eliminated, which
// tell their rounding.
bool stick(const Mat2& B, const Vec2& p, double size, double rest, Vec2& y) {
  const double det = B.determinant(), trace = B.trace();
  if (det > 1e-13 * trace * size) {
    y = {(-B(1, 1) * p[0] + B(0, 1) * p[1]) / det, (-B(0, 0) * p[1] + B(1, 0) * p[0]) / det};
    return true;
  }
  y = trace > 1e-13 * size ? Vec2(-B * p / (trace * trace)) : Vec2::Zero();  // B = trace v v'
  return (B * y + p).norm() <= 1e-12 * rest;
}

// Onto the ball of the given radius, where rounding left it.
Vec2 within(const Vec2& y, double radius) {
  const double length = y.norm();
  return length > radius ? Vec2(y * (radius / length)) : y;
}

// In units of the semi-axes, x = axes y, a sliding impulse is y = -xi'/|xi'| with xi' = axes xi,
// and by Hu's rule xi' = xi.
Vec2 weights(const ConvexSet& set, const Vec2& axes) {
  return set.rule == SlipRule::hu ? Vec2(Vec2::Ones()) : axes;
}

// The half-ellipse whose solution lies on its own side is the one; `solve` returns what it has of
// row `first` for a semi-axis.
template <class Solve>
void choose_side(const ConvexSet& set, const Solve& solve) {
  if (!set.two_sided()) {
    static_cast<void>(solve(set.lower));
    return;
  }
  if (solve(set.back) >= 0) return;
  if (solve(set.lower) > 0) static_cast<void>(solve(set.back));  // neither, by rounding
}

Vec2 in_ellipse(const ConvexSet& set, const Mat2& A, const Vec2& q, double a, double b) {
  const Vec2 axes(a, b), weight = weights(set, axes);
  const Mat2 B = weight.asDiagonal() * A * axes.asDiagonal();
  const Vec2 p = weight.cwiseProduct(q);
  if (Vec2 y; stick(B, p, B.trace(), p.norm(), y) && y.norm() <= 1) return axes.cwiseProduct(y);
  return axes.cwiseProduct(within(slip(B, p, Vec2::Zero(), 1), 1));
}

// The segment |t| <= mu n beside its normal.
void coulomb_plane(const Mat6& A, const Vec6& q, double mu, int T, Vec6& x) {
  x[0] = x[T] = 0;
  if (!(q[0] < 0) || !(A(0, 0) > 0)) return;
  const double schur = A(T, T) - A(T, 0) * A(0, T) / A(0, 0);
  const double rest = q[T] - A(T, 0) * q[0] / A(0, 0);  // of T at a zero impulse of T, N closed
  if (schur > 1e-14 * A(T, T)) {
    const double t = -rest / schur, n = -(q[0] + A(0, T) * t) / A(0, 0);
    if (n > 0 && std::abs(t) <= mu * n) {
      x[0] = n;
      x[T] = t;
      return;
    }
  }
  if (!(A(T, T) > 0)) {  // nothing moves it
    x[0] = -q[0] / A(0, 0);
    return;
  }
  // t = sign mu n, opposed to the slip: n (A_NN + sign mu A_NT) = -q_N. Painleve's case, where the
  // bracket is not positive for the first sign, leaves the other.
  for (const double sign : {rest > 0 ? -1.0 : 1.0, rest > 0 ? 1.0 : -1.0}) {
    const double a = A(0, 0) + sign * mu * A(0, T);
    if (!(a > 0)) continue;
    const double n = -q[0] / a, t = sign * mu * n;
    x[0] = n;
    x[T] = t;
    if (sign * (A(T, 0) * n + A(T, T) * t + q[T]) <= 0) return;
  }
}

// The pair (N, T1, T2), T = first .. first + 1.
void coulomb(const Mat6& A, const Vec6& q, const ConvexSet& set, Vec6& x) {
  const int T = set.first;
  x[0] = 0;
  x.segment<2>(T).setZero();
  if (!(q[0] < 0) || !(A(0, 0) > 0)) return;
  const Vec2 NT = A.row(0).segment<2>(T).transpose(), TN = A.col(0).segment<2>(T);
  const Mat2 schur = A.block<2, 2>(T, T) - TN * NT.transpose() / A(0, 0);
  const Vec2 rest = q.segment<2>(T) - TN * (q[0] / A(0, 0));
  const auto normal = [&](const Vec2& t) { return -(q[0] + NT.dot(t)) / A(0, 0); };
  choose_side(set, [&](double first) {
    const Vec2 axes(first, set.upper), weight = weights(set, axes);
    const Mat2 B = weight.asDiagonal() * schur * axes.asDiagonal();
    const Vec2 p = weight.cwiseProduct(rest);
    const Vec2 squares = weight.cwiseProduct(axes);
    const double size = squares[0] * A(T, T) + squares[1] * A(T + 1, T + 1);
    const double p_size = weight.cwiseProduct(q.segment<2>(T)).norm() +
                          weight.cwiseProduct(TN).norm() * -q[0] / A(0, 0);
    Vec2 y;
    const bool sticks = stick(B, p, size, p_size, y) && y.norm() <= normal(axes.cwiseProduct(y));
    if (!sticks) y = slip(B, p, axes.cwiseProduct(NT) / A(0, 0), -q[0] / A(0, 0));
    x[0] = std::max(normal(axes.cwiseProduct(y)), 0.0);
    x.segment<2>(T) = axes.cwiseProduct(within(y, x[0]));
    return x[T];
  });
}

// One set with all other rows of the block held.
void solve_set(const ConvexSet& set, int rows, const Mat6& A, const Vec6& q, Vec6& x) {
  const int i = set.first;
  const double scale = set.scaled ? x[0] : 1.0;
  const auto held = [&](int row) {
    double value = q[row];
    for (int j = 0; j < rows; ++j)
      if (j < i || j >= i + set.rows) value += A(row, j) * x[j];
    return value;
  };
  if (set.shape == Shape::ellipse) {
    const Vec2 rest(held(i), held(i + 1));
    choose_side(set, [&](double first) {
      x.segment<2>(i) =
          in_ellipse(set, A.block<2, 2>(i, i), rest, scale * first, scale * set.upper);
      return x[i];
    });
  } else if (set.shape == Shape::interval) {
    const double rest = held(i);
    const double free = A(i, i) > 0 ? -rest / A(i, i) : x[i];  // nothing moves it: as it was
    x[i] = std::clamp(free, scale * set.lower, scale * set.upper);
  } else {
    const SmallMat B = A.block(i, i, set.rows, set.rows);
    SmallVec rest(set.rows);
    for (int k = 0; k < set.rows; ++k) rest[k] = -held(i + k);
    const SmallVec solution = B.fullPivLu().solve(rest);
    x.segment(i, set.rows) = solution;
  }
}

// Contact with rolling: (N, T) with the moments held, then each moment, to rounding.
void solve_in_turn(const ConvexSets& sets, int rows, const Mat6& A, const Vec6& q, Vec6& x) {
  x[0] = std::max(x[0], 0.0);
  for (int i = 1; i < sets.count; ++i)
    project(sets[i], x[0], x.segment(sets[i].first, sets[i].rows));
  for (int sweep = 0; sweep < 500; ++sweep) {
    const Vec6 before = x;
    // The moments follow the normal impulse: held as fractions of it, they act through the normal
    // row's own coefficient.
    Mat6 B = A;
    Vec6 held = q;
    for (int j = 3; j < rows; ++j) {
      if (x[0] > 0)
        B.col(0).head(3) += A.col(j).head(3) * (x[j] / x[0]);
      else
        held.head(3) += A.col(j).head(3) * x[j];
    }
    Vec6 next = x;
    if (B(0, 0) > 0) coulomb(B, held, sets[1], next);
    if (x[0] > 0)
      for (int j = 3; j < rows; ++j) next[j] = x[j] * (next[0] / x[0]);
    x = next;
    for (int i = 2; i < sets.count; ++i) solve_set(sets[i], rows, A, q, x);
    if ((x - before).head(rows).norm() <=
        4 * std::numeric_limits<double>::epsilon() * x.head(rows).norm())
      return;
  }
}

}  // namespace

void solve_block(const ConvexSets& sets, int rows, const Mat6& A, const Vec6& q, Vec6& x) {
  if (sets.count == 1) {
    solve_set(sets[0], rows, A, q, x);
  } else if (sets.count > 2) {
    solve_in_turn(sets, rows, A, q, x);
  } else if (sets[1].shape == Shape::interval) {
    coulomb_plane(A, q, sets[1].upper, 1, x);
  } else {
    coulomb(A, q, sets[1], x);
  }
}

}  // namespace saltus
