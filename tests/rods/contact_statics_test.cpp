// Statics of rods at walls, planes and cylinders by their free parts (VERIFY-P4.md, section 9):
// what holds at a lift-off closes the problem of the part that does not touch.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <functional>
#include <numbers>

#include "saltus/lie/so3.h"
#include "saltus/rods/statics.h"
#include "tests/rods/rod_cases.h"
#include "tests/support/check.h"

namespace saltus {
namespace {

using test::Worst;
constexpr double pi = std::numbers::pi;

// An inextensible part of EI = 1 and weight w a length, clamped at its root, loaded at its tip.
struct Part {
  double length = 1, w = 0;
  Vec3 force = Vec3::Zero();
  SE3 base{};
  double guess = 0;  // of the curvature's sine wave over the part
};
struct PartRest {
  Vec3 tip;
  double angle = 0, largest = 0;  // of the tip and the largest of a station [rad]
  Vec6 root;                      // stress there, its frame
};
PartRest rest_of_part(const Part& part) {
  SegmentSpec spec = test::unit_rod({{Strain::bend_z, BasisKind::legendre, 12}});
  spec.length = part.length;
  spec.cells = 48;
  spec.points = 3;
  const Rod rod = make_rod({spec});
  RodState state;
  state.base = part.base;
  state.q = state.v = Vec::Zero(rod.size);
  if (part.guess != 0) {  // the sine's Legendre coefficients, by quadrature
    for (const GaussPoint& p : gauss_points(30)) {
      const Mat6X B = basis_at(rod.segments[0], p.x * part.length);
      for (int k = 0; k < rod.size; ++k)
        state.q[k] += (2 * k + 1) * p.weight * B(5, k) * part.guess * std::sin(pi * p.x);
    }
  }
  const RodLoads loads{.gravity = Vec3(0, -part.w, 0), .tip_force = part.force};
  const EquilibriumReport report = equilibrium(rod, part.base, loads, state.q);
  EXPECT_TRUE(report.converged) << "residual " << report.residual;
  RodWork work;
  work.resize(rod);
  rod_motion(rod, state, work);
  PartRest r;
  const auto angle = [](const SE3& X) { return std::atan2(X.R(1, 0), X.R(0, 0)); };
  r.tip = rod_tip(rod, work).r;
  r.angle = angle(rod_tip(rod, work));
  for (int i = 0; i <= rod.segments[0].tip(); ++i)
    r.largest = std::max(r.largest, std::abs(angle(rod_pose(work, 0, i))));
  r.root = internal_wrench(rod, state, loads, work, Vec6::Zero(), Vec::Zero(rod.size), 0, 0);
  return r;
}

// A root of two equations near x by Newton with central differences: quadratic but for their 1e-10.
Vec2 root_of(const std::function<Vec2(const Vec2&)>& error, Vec2 x) {
  for (int k = 0; k < 6; ++k) {
    Mat2 J;
    for (int c = 0; c < 2; ++c) {
      const Vec2 d = 1e-5 * std::abs(x[c]) * Vec2::Unit(c);
      J.col(c) = (error(x + d) - error(x - d)) / (2 * d[c]);
    }
    x -= J.inverse() * error(x);
  }
  EXPECT_LE(error(x).norm(), 1e-10);
  return x;
}

TEST(RodContactStatics, SteepestOfARodLoweredOntoAPlane) {
  // The free part ends level at the plane, without moment. Slopes have eight digits; the largest of
  // 145 stations is below the true one by the square of their distance.
  Worst slope("largest slope", 2e-6), total("reaction R and clamp shear carry the weight", 1e-12);
  for (const Vec4& row : {Vec4(.01, 0.9211837872, 0.3070488548, .01929939),
                          Vec4(.10, 1.6396451952, 0.5458491901, .10852184),
                          Vec4(.50, 2.4762797381, 0.8134745283, .36256241)}) {
    const PartRest r = rest_of_part({.length = row[1], .w = 1, .force = Vec3(0, row[2], 0)});
    slope.add(std::abs(r.largest - row[3]));
    total.add(std::abs(-r.root[1] - (row[1] - row[2])));
  }
}

TEST(RodContactStatics, TipTouchesAtAPointOrLiesDown) {
  // L = 2: the tip is level, and the reaction is there, at h2 = 0.2194579306; between h2 and the
  // free drop it touches at a point. The root's moment is sqrt(2 h).
  const auto at = [](double R) { return rest_of_part({.length = 2, .w = 1, .force = {0, R, 0}}); };
  double R = 2.0 / 3;
  for (int k = 0; k < 8; ++k) {
    const double d = 1e-5;
    R -= at(R).angle / ((at(R + d).angle - at(R - d).angle) / (2 * d));
  }
  const PartRest r = at(R);
  Worst worst("h2 and sqrt(2 h2)", 2e-10);
  worst.add(std::abs(-r.tip.y() - 0.2194579306));
  worst.add(std::abs(std::abs(r.root[5]) - std::sqrt(-2 * r.tip.y())));
}

TEST(RodContactStatics, LaidOverACylinder) {
  // a = 2, r = 1: an arc of |psi| <= phi with the curvature 1/r, which is also that at the root of
  // the free part. One equation for phi, by the secant.
  const double a = 2, r = 1;
  const auto free_part = [&](double phi) {
    const SE3 base{exp_so3(Vec3(0, 0, -phi)), r * Vec3(std::sin(phi), std::cos(phi) - 1, 0)};
    return rest_of_part({.length = a - r * phi, .w = 1, .base = base});
  };
  const auto error = [&](double phi) { return std::abs(free_part(phi).root[5]) - 1 / r; };
  double before = .35, phi = .4, e = error(before);
  for (int k = 0; k < 8 && std::abs(phi - before) > 1e-13; ++k) {
    const double now = error(phi), next = phi - now * (phi - before) / (now - e);
    before = phi, e = now, phi = next;
  }
  const PartRest part = free_part(phi);
  // What the free part asks of the arc: along the tangent the tension, across it the point force.
  Worst worst("phi, point force, tension, tip, first integral", 2e-10), angle("tip angle", 6e-9);
  worst.add(std::abs(phi - 0.3825969385));
  worst.add(std::abs(std::abs(part.root[1]) - 1.5004619858));
  worst.add(std::abs(part.root[0] - 0.6038265420));
  worst.add((part.tip - Vec3(1.5343889413, -1.1761282945, 0)).norm());
  angle.add(std::abs(part.angle + .87887097));
  const double y = r * (std::cos(phi) - 1);
  worst.add(std::abs(part.root[0] - y + 1 / (2 * r * r) + part.tip.y()));
}

TEST(RodContactStatics, BucklingAgainstAWall) {
  // Clamped and clamped, L = 1, the wall at d = .02. Until it touches four equal quarters carry the
  // sine: clamp to inflection, y = d/2.
  const double d = .02;
  Worst touch("first touch: P, shortening", 5e-10), line("contact: P, forces, lengths", 1e-8);
  {
    const auto quarter = [&](double P) {
      return rest_of_part({.length = .25, .force = {-P, 0, 0}, .guess = .5 * d * 4 * pi * pi});
    };
    double P = 39.5, before = 39.49;
    double e = quarter(before).tip.y() - d / 2;
    for (int k = 0; k < 12 && std::abs(P - before) > 1e-13; ++k) {
      const double now = quarter(P).tip.y() - d / 2, next = P - now * (P - before) / (now - e);
      before = P, e = now, P = next;
    }
    touch.add(std::abs(P / 39.497922290 - 1));
    touch.add(std::abs(4 * (.25 - quarter(P).tip.x()) - .0009875700));
  }
  // Then the free part between clamp and lift-off, of length l, is symmetric about its middle: no
  // moment there, at its ends only if they touch along a line. Half of it, from the clamp on, with
  // the force (-P, -R) at its tip: y = d/2, and no moment at the root.
  const auto half = [&](double l, double P, double R) {
    return rest_of_part({.length = l / 2, .force = {-P, -R, 0}, .guess = 2 * pi * d / (l * l)});
  };
  const auto off = [&](double l, double P, double R) {
    const PartRest r = half(l, P, R);
    return Vec2((r.tip.y() - d / 2) / d, r.root[5]);
  };
  const auto shortening = [&](double l, double P, double R) {
    return 2 * (l - 2 * half(l, P, R).tip.x());
  };
  const Vec2 point =  // P, R: the line begins with l = 1/2, both free parts push
      root_of([&](const Vec2& x) { return off(.5, x[0], x[1]); }, {158, 6.3});
  line.add(std::abs(point[0] / 157.8187917 - 1));
  line.add(std::abs(2 * std::abs(point[1]) / 12.64068660 - 1));
  line.add(std::abs(shortening(.5, point[0], point[1]) - .0012011422));
  const double P25 = 25 * pi * pi;
  const Vec2 given = root_of([&](const Vec2& x) { return off(x[0], P25, x[1]); }, {.4, 12.4});
  line.add(std::abs(given[0] - .3998118743));
  line.add(std::abs(std::abs(given[1]) / 12.36605326 - 1));
  line.add(std::abs(shortening(given[0], P25, given[1]) - .0015029423));
  // The flat part buckles off as a column clamped at both ends: P (1 - 2 l)^2 = 4 pi^2.
  const auto load = [](double l) { return std::pow(2 * pi / (1 - 2 * l), 2); };
  const Vec2 flat =
      root_of([&](const Vec2& x) { return off(x[0], load(x[0]), x[1]); }, {.3332, 21.3});
  line.add(std::abs(load(flat[0]) / 354.9848075 - 1));
  line.add(std::abs(std::abs(flat[1]) / 21.3617294 - 1));
  line.add(std::abs(shortening(flat[0], load(flat[0]), flat[1]) - .0018042738));
  std::printf("[  FIGURE  ] P %.7f (16 pi^2 %.4f), l %.10f, P %.7f (36 pi^2 %.4f)\n", point[0],
              16 * pi * pi, given[0], load(flat[0]), 36 * pi * pi);
}

}  // namespace
}  // namespace saltus
