#include "saltus/analysis/capability.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "saltus/base/error.h"

namespace saltus {

namespace {

// Forces that redundant rows share may not grow beyond this many loads.
constexpr double most_loads = 100;
// Sides of the polygons around friction cones that cuts refine, and within them.
constexpr int first_sides = 16;

// Variables of order one: torques as shares of their half ranges, shared forces in loads.
struct Scaled {
  const Stance& s;
  Vec middle, half;
  Eigen::Index m, r;  // actuators, shared forces

  explicit Scaled(const Stance& stance) : s(stance), m(stance.S.cols()), r(stance.N.cols()) {
    middle.resize(m);
    half.resize(m);
    for (Eigen::Index i = 0; i < m; ++i) {
      middle[i] = 0.5 * (s.actuators[i].upper + s.actuators[i].lower);
      half[i] = 0.5 * (s.actuators[i].upper - s.actuators[i].lower);
    }
  }
  [[nodiscard]] Vec torques(VecIn x) const { return middle + half.cwiseProduct(x.head(m)); }
  [[nodiscard]] Vec forces(VecIn x) const {
    return s.F0 + s.Fs * torques(x) + s.load * (s.N * x.segment(m, r));
  }
  // g.F <= b as a constraint on x, in loads.
  [[nodiscard]] HalfSpaceCut on_forces(VecIn g, double b, Eigen::Index width) const {
    HalfSpaceCut cut{Vec::Zero(width), (b - g.dot(s.F0 + s.Fs * middle)) / s.load};
    cut.a.head(m) = (s.Fs.transpose() * g).cwiseProduct(half) / s.load;
    cut.a.segment(m, r) = s.N.transpose() * g;
    return cut;
  }
  [[nodiscard]] LinearProgram program(const Vec3& direction) const {
    LinearProgram p;
    p.c = Vec::Zero(m + r);
    p.c.head(m) = (s.S.transpose() * direction).cwiseProduct(half);
    p.lower = Vec::Constant(m + r, -1);
    p.lower.tail(r).setConstant(-most_loads);
    p.upper = -p.lower;
    return p;
  }
  [[nodiscard]] Capability answer(const LinearAnswer& found, const Vec3& direction) const {
    Capability c;
    c.feasible = found.status == LinearAnswer::Status::optimal;
    if (!c.feasible) return c;
    c.tau = torques(found.x);
    c.force = forces(found.x);
    c.value = direction.dot(s.acceleration(c.tau));
    return c;
  }
};

// The laws of the forces: what is linear in them as rows, ellipses by cuts.
class ForceLaws {
 public:
  // A cone of `sides` sides: with its corners on the cone, or its sides (outer).
  ForceLaws(const Scaled& scaled, int sides, bool outer)
      : scaled_(scaled), sides_(sides), outer_(outer) {}

  void add_rows(LinearProgram& p) const {
    for_each_set([&](const Block& block, const ConvexSet& set) {
      if (set.shape == ConvexSet::Shape::interval) {
        if (std::isfinite(set.upper)) row(p, block, set, 1, set.upper);
        if (std::isfinite(set.lower)) row(p, block, set, -1, -set.lower);
      } else if (set.shape == ConvexSet::Shape::ellipse) {
        for (int k = 0; k < sides_; ++k) add_side(p, block, set, k);
        if (set.lower == 0) flat(p, block, set, 0);
        if (set.upper == 0) flat(p, block, set, 1);
      }
    });
  }
  // By how much the worst ellipse is missed at F [N], and the plane that touches it there.
  [[nodiscard]] double missed(const Vec& F, Vec& g, double& b) const {
    double most = 0;
    g.setZero(F.size());
    b = 0;
    for_each_set([&](const Block& block, const ConvexSet& set) {
      if (set.shape != ConvexSet::Shape::ellipse) return;
      const int at = block.row + set.first;
      const Vec2 axes(set.axis(F[at]), set.upper);
      const double size = set.scaled ? F[block.row] : 1;
      Vec2 unit = Vec2::Zero();
      for (int i = 0; i < 2; ++i)
        if (axes[i] > 0) unit[i] = F[at + i] / axes[i];
      const double gauge = unit.norm(), by = (gauge - size) * axes.maxCoeff();
      if (!(by > most) || !(gauge > 0)) return;
      most = by;
      g.setZero();
      for (int i = 0; i < 2; ++i)
        if (axes[i] > 0) g[at + i] = unit[i] / (gauge * axes[i]);
      if (set.scaled) g[block.row] -= 1;
      b = set.scaled ? 0 : 1;
    });
    return most;
  }

 private:
  template <class Do>
  void for_each_set(const Do& act) const {
    for (const Block& block : scaled_.s.blocks)
      for (const ConvexSet& set : sets_of(block.law)) act(block, set);
  }
  [[nodiscard]] Vec unit(int row) const { return Vec::Unit(scaled_.s.F0.size(), row); }
  // sign F <= bound (times the normal force).
  void row(LinearProgram& p, const Block& block, const ConvexSet& set, double sign,
           double bound) const {
    Vec g = sign * unit(block.row + set.first);
    if (set.scaled) g -= bound * unit(block.row);
    p.rows.push_back(scaled_.on_forces(g, set.scaled ? 0 : bound, p.c.size()));
  }
  void flat(LinearProgram& p, const Block& block, const ConvexSet& set, int i) const {
    for (const double sign : {1.0, -1.0})
      p.rows.push_back(scaled_.on_forces(sign * unit(block.row + set.first + i), 0, p.c.size()));
  }
  // Of two half-ellipses the smaller one, which lies within both, or the larger.
  void add_side(LinearProgram& p, const Block& block, const ConvexSet& set, int k) const {
    const double angle = 2 * std::numbers::pi * k / sides_;
    const double back = set.two_sided() ? set.back : set.lower;
    const Vec2 axes(outer_ ? std::max(set.lower, back) : std::min(set.lower, back), set.upper);
    if (!(axes.minCoeff() > 0)) return;
    const int at = block.row + set.first;
    const double reach = outer_ ? 1 : std::cos(std::numbers::pi / sides_);
    Vec g = std::cos(angle) / axes[0] * unit(at) + std::sin(angle) / axes[1] * unit(at + 1);
    if (set.scaled) g -= reach * unit(block.row);
    p.rows.push_back(scaled_.on_forces(g, set.scaled ? 0 : reach, p.c.size()));
  }

  const Scaled& scaled_;
  int sides_;
  bool outer_;
};

Vec3 checked(const Vec3& direction) {
  if (!(direction.norm() > 0) || !direction.allFinite())
    throw InputError("direction", "expected a vector that is not zero");
  return direction.normalized();
}

// The share of the way from x to the point `inside` at which every cone holds, and a little more.
double way_inside(const Scaled& scaled, const ForceLaws& laws, const Vec& x, const Vec& inside) {
  Vec g;
  double b = 0;
  const auto holds = [&](double share) {  // to rounding: at a foot without load nothing is inside
    const Vec F = scaled.forces(x + share * (inside - x));
    return laws.missed(F, g, b) <= 1e-12 * (1 + F.lpNorm<Eigen::Infinity>());
  };
  if (holds(0)) return 0;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) (holds(0.5 * (low + high)) ? high : low) = 0.5 * (low + high);
  return high;
}

}  // namespace

Capability directional_by_ratios(const Stance& stance, const Vec3& direction) {
  const Vec3 d = checked(direction);
  if (stance.S.cols() != 3)
    throw InputError("expected three actuators: their torques follow from the acceleration");
  const Eigen::FullPivLU<Mat3> S(Mat3(stance.S));
  if (!S.isInvertible()) return {};
  const Vec3 e = S.solve(d), b = S.solve(stance.a0);
  double most = infinity, least = -infinity;
  Capability c;
  for (int i = 0; i < 3; ++i) {
    const Actuator& a = stance.actuators[i];
    const double lower = a.lower + b[i], upper = a.upper + b[i];  // of e_i v
    if (e[i] == 0) {
      if (lower > 0 || upper < 0) return c;
      continue;
    }
    const double high = (e[i] > 0 ? upper : lower) / e[i];
    least = std::max(least, (e[i] > 0 ? lower : upper) / e[i]);
    if (high < most) {
      most = high;
      c.limiting = i;
    }
  }
  if (!(least <= most)) return {};
  c.feasible = true;
  c.value = most;
  c.tau = most * e - b;
  c.force = stance.F0 + stance.Fs * c.tau;
  return c;
}

Capability directional_capability(const Stance& stance, const Vec3& direction) {
  const Vec3 d = checked(direction);
  const Scaled scaled(stance);
  // The parts of a across d must vanish: two rows, both ways.
  LinearProgram p = scaled.program(d);
  Mat3 across = Mat3::Identity() - d * d.transpose();
  const double size = std::max((stance.S.cwiseAbs() * scaled.half).maxCoeff(), 1e-300);
  for (int i = 0; i < 3; ++i) {
    const Vec3 u = across.col(i) / size;
    HalfSpaceCut cut{Vec::Zero(p.c.size()), -u.dot(stance.S * scaled.middle + stance.a0)};
    cut.a.head(scaled.m) = (stance.S.transpose() * u).cwiseProduct(scaled.half);
    // Accelerations that no torque changes, of a planar model say, are zero but for rounding.
    if (cut.a.norm() < 1e-12) {
      if (std::abs(cut.b) > 1e-9) return {};
      continue;
    }
    p.rows.push_back(cut);
    p.rows.push_back({-cut.a, -cut.b});
  }
  return scaled.answer(maximise(p), d);
}

Capability free_capability(const Stance& stance, const Vec3& direction) {
  const Vec3 d = checked(direction);
  const Scaled scaled(stance);
  return scaled.answer(maximise(scaled.program(d)), d);
}

Capability held_capability(const Stance& stance, const Vec3& direction, int sides) {
  const Vec3 d = checked(direction);
  const Scaled scaled(stance);
  const ForceLaws laws(scaled, sides > 0 ? sides : first_sides, sides == 0);
  LinearProgram p = scaled.program(d);
  laws.add_rows(p);
  if (sides > 0) return scaled.answer(maximise(p), d);
  p.separate = [&](VecIn x) {
    Vec g;
    double b = 0;
    if (!(laws.missed(scaled.forces(x), g, b) > 0)) return HalfSpaceCut{Vec::Zero(x.size()), 0};
    return scaled.on_forces(g, b, x.size());
  };
  const LinearAnswer outer = maximise(p);
  Capability c = scaled.answer(outer, d);
  if (!c.feasible) return c;
  // How far the bound is from what can be reached: on the way to a point within all cones.
  LinearProgram inner = scaled.program(d);
  ForceLaws(scaled, first_sides, false).add_rows(inner);
  const LinearAnswer inside = maximise(inner);
  if (inside.status != LinearAnswer::Status::optimal) {
    c.error = infinity;
    return c;
  }
  const double share = way_inside(scaled, laws, outer.x, inside.x);
  c.error = share * std::max(0.0, p.c.dot(outer.x - inside.x));
  return c;
}

std::vector<Vec2> capability_outline(const Stance& stance, const Vec3& x, const Vec3& y, bool held,
                                     double tolerance) {
  const auto corner = [&](const Vec2& direction) -> std::optional<Vec2> {
    const Vec3 d = direction[0] * x + direction[1] * y;
    const Capability c = held ? held_capability(stance, d) : free_capability(stance, d);
    if (!c.feasible) return std::nullopt;
    const Vec3 a = stance.acceleration(c.tau);
    return Vec2(a.dot(x), a.dot(y));
  };
  std::vector<Vec2> found;
  for (const Vec2& d : {Vec2(1, 0), Vec2(0, 1), Vec2(-1, 0), Vec2(0, -1)}) {
    const std::optional<Vec2> c = corner(d);
    if (!c) return {};
    found.push_back(*c);
  }
  double size = 0;
  for (const Vec2& a : found)
    for (const Vec2& b : found) size = std::max(size, (a - b).norm());
  // Outwards of each side: a corner beyond it goes in between, else the side is one of the outline.
  constexpr std::size_t most_corners = 2000;
  for (std::size_t i = 0; i < found.size() && found.size() < most_corners;) {
    const Vec2 a = found[i], side = found[(i + 1) % found.size()] - a;
    const Vec2 out(side[1], -side[0]);
    if (side.norm() > 1e-9 * size) {
      const std::optional<Vec2> c = corner(out);
      if (c && (*c - a).dot(out.normalized()) > (held ? tolerance : 1e-9) * size) {
        found.insert(found.begin() + static_cast<std::ptrdiff_t>(i) + 1, *c);
        continue;
      }
    }
    ++i;
  }
  const auto same = [&](const Vec2& a, const Vec2& b) { return (a - b).norm() <= 1e-9 * size; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  while (found.size() > 1 && same(found.front(), found.back())) found.pop_back();
  return found;
}

}  // namespace saltus
