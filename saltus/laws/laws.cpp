#include "saltus/laws/laws.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace saltus {

void prox(const Bilateral&, VecRef) {}

void prox(const Unilateral&, VecRef x) { x[0] = std::max(x[0], 0.0); }

void prox(const Interval& law, VecRef x) { x[0] = std::clamp(x[0], law.lower, law.upper); }

// Two half-ellipses meet with a common normal, so a point and its foot lie on the same side.
void prox(const GivenLoad& law, VecRef x) {
  const double a = x[0] > 0 && law.back >= 0 ? law.back : law.a;
  x.head<2>() = project_on_ellipse(x, a, law.b);
}

void prox(const Coulomb& law, VecRef x) {
  x[0] = std::max(x[0], 0.0);
  const double mu1 = x[1] > 0 && law.back >= 0 ? law.back : law.mu1;
  x.segment<2>(1) = project_on_ellipse(x.segment<2>(1), mu1 * x[0], law.mu2 * x[0]);
}

void prox(const Coulomb2& law, VecRef x) {
  x[0] = std::max(x[0], 0.0);
  x[1] = std::clamp(x[1], -law.mu * x[0], law.mu * x[0]);
}

void prox(const RollingCoulomb& law, VecRef x) {
  x[0] = std::max(x[0], 0.0);
  x.segment<2>(1) = project_on_ellipse(x.segment<2>(1), law.mu1 * x[0], law.mu2 * x[0]);
  const double rolling = law.mu_rolling * x[0], drilling = law.mu_drilling * x[0];
  x.segment<2>(3) = project_on_ellipse(x.segment<2>(3), rolling, rolling);
  if (dim(law) == 6) x[5] = std::clamp(x[5], -drilling, drilling);
}

int rows_of(const Law& law) {
  return std::visit([](const auto& l) { return dim(l); }, law);
}

void prox_law(const Law& law, VecRef x) {
  std::visit([&](const auto& l) { prox(l, x); }, law);
}

namespace {

using Shape = ConvexSet::Shape;
using Kind = ConvexSet::Kind;

struct SetsOf {
  ConvexSets operator()(const Bilateral& l) const {
    return {{{{Shape::all, Kind::normal, false, 0, l.dim, -infinity, infinity}}}, 1};
  }
  ConvexSets operator()(const Unilateral&) const { return {{{normal()}}, 1}; }
  ConvexSets operator()(const Interval& l) const {
    return {{{{Shape::interval, Kind::tangential, false, 0, 1, l.lower, l.upper}}}, 1};
  }
  ConvexSets operator()(const GivenLoad& l) const {
    return {{{{Shape::ellipse, Kind::tangential, false, 0, 2, l.a, l.b, l.back, l.rule}}}, 1};
  }
  ConvexSets operator()(const Coulomb& l) const {
    return {
        {{normal(), {Shape::ellipse, Kind::tangential, true, 1, 2, l.mu1, l.mu2, l.back, l.rule}}},
        2};
  }
  ConvexSets operator()(const Coulomb2& l) const {
    return {{{normal(), {Shape::interval, Kind::tangential, true, 1, 1, -l.mu, l.mu}}}, 2};
  }
  ConvexSets operator()(const RollingCoulomb& l) const {
    return {{{normal(),
              {Shape::ellipse, Kind::tangential, true, 1, 2, l.mu1, l.mu2},
              {Shape::ellipse, Kind::rotational, true, 3, 2, l.mu_rolling, l.mu_rolling},
              {Shape::interval, Kind::rotational, true, 5, 1, -l.mu_drilling, l.mu_drilling}}},
            dim(l) == 6 ? 4 : 3,
            true};
  }
  static ConvexSet normal() { return {Shape::interval, Kind::normal, false, 0, 1, 0, infinity}; }
};

}  // namespace

ConvexSets sets_of(const Law& law) { return std::visit(SetsOf{}, law); }

void project(const ConvexSet& set, double normal, VecRef x) {
  const double scale = set.scaled ? normal : 1.0;
  switch (set.shape) {
    case Shape::all: return;
    case Shape::interval: x[0] = std::clamp(x[0], scale * set.lower, scale * set.upper); return;
    case Shape::ellipse:
      x = project_on_ellipse(x, scale * set.axis(x[0]), scale * set.upper);
      return;
  }
}

void natural(const ConvexSet& set, double normal, double r, VecIn xi, VecRef x) {
  if (set.rule == SlipRule::normal_cone) {
    x -= r * xi;
    return project(set, normal, x);
  }
  // Impulses over their semi-axes fill a disc, and slide straight against xi. On which side is seen
  // where the law holds: there x_1 and -xi_1 have one sign.
  const double a = set.axis(x[0] - r * xi[0]), b = set.upper, radius = std::sqrt(a * b);
  const Vec2 axes = Vec2(a, b) / radius;
  const double scale = set.scaled ? normal : 1.0;
  // No row moves by more than r xi.
  const Vec2 y = x.cwiseQuotient(axes) - (r / axes.maxCoeff()) * xi;
  x = axes.cwiseProduct(project_on_ellipse(y, scale * radius, scale * radius));
}

namespace {

double square(double x) { return x * x; }

// The foot of the perpendicular from p (first quadrant, outside) on an ellipse with a >= b > 0 is
// x = a^2 px/(a^2 + t), y = b^2 py/(b^2 + t), with t the largest root of
//   n(t)^2 = (a px/(a^2 + t))^2 + (b py/(b^2 + t))^2 = 1,   t in [b py - b^2, ...).
// 1/n is concave and increasing there and nearly straight (the secular equation of trust regions),
// so Newton on 1/n = 1 from the left of the root ascends monotonically, in two or three steps; in
// units of b (t = b^2 u) nothing overflows.
Vec2 foot_on_ellipse(double px, double py, double a, double b) {
  const double ratio = a / b;
  const double k = ratio * ratio;  // (a/b)^2 >= 1
  const double zx = ratio * px / b, zy = py / b;
  // Both bounds lie left of the root: each term alone reaches 1 there.
  double u = std::max({zy - 1, zx - k, 0.0});
  for (int i = 0; i < 100; ++i) {
    const double p = 1 / (k + u), q = 1 / (1 + u);
    const double X = zx * p, Y = zy * q;
    const double n2 = X * X + Y * Y;
    if (n2 <= 1) break;
    const double n = std::sqrt(n2);
    const double next = u + n2 * (n - 1) / (X * X * p + Y * Y * q);
    if (!(next > u)) break;  // no further progress in floating point
    u = next;
    // Squared, the next error is below rounding; of flat ellipses 1/n is less straight.
    if (n - 1 < 1e-8 && k < 100) break;
  }
  Vec2 foot(k * px / (k + u), py / (1 + u));
  // Put the result on the curve: the last rounding error would otherwise leave the set.
  const double level = std::sqrt(square(foot.x() / a) + square(foot.y() / b));
  return level > 1 ? Vec2(foot / level) : foot;
}

}  // namespace

Vec2 project_on_ellipse(const Vec2& p, double a, double b) {
  if (a <= 0 && b <= 0) return Vec2::Zero();
  constexpr double flat = 1e-100;  // flatter than this it is a segment: (a/b)^2 must not overflow
  if (a <= flat * b) return {0.0, std::clamp(p.y(), -b, b)};
  if (b <= flat * a) return {std::clamp(p.x(), -a, a), 0.0};
  if (a == b) {  // the disc, exactly radial so that friction is isotropic
    const double length = p.norm();
    return length > a ? Vec2(p * (a / length)) : p;
  }
  const double x = std::abs(p.x()), y = std::abs(p.y());
  if (square(x / a) + square(y / b) <= 1) return p;  // overflow is outside, underflow inside
  const Vec2 foot =
      a > b ? foot_on_ellipse(x, y, a, b) : Vec2(foot_on_ellipse(y, x, b, a).reverse());
  return {std::copysign(foot.x(), p.x()), std::copysign(foot.y(), p.y())};
}

}  // namespace saltus
