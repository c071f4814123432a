// Equilibrium of rods: closed forms, values computed elsewhere by two methods, orders in the basis.
#include "saltus/rods/statics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "saltus/lie/so3.h"
#include "tests/rods/rod_cases.h"
#include "tests/support/check.h"

namespace saltus {
namespace {

using test::Worst;
constexpr double pi = std::numbers::pi;

struct Rest {
  Rod rod;
  RodState state;
  RodWork work;
  EquilibriumReport report;
  [[nodiscard]] SE3 tip() const { return rod_tip(rod, work); }
  [[nodiscard]] double angle() const { return std::atan2(tip().R(1, 0), tip().R(0, 0)); }
  [[nodiscard]] Vec6 stress(const RodLoads& loads, int segment, double X) const {
    return internal_wrench(rod, state, loads, work, Vec6::Zero(), Vec::Zero(rod.size), segment, X);
  }
};

Rest rest_of(const std::vector<SegmentSpec>& specs, const RodLoads& loads, const SE3& base = {},
             const Vec6& spin = Vec6::Zero()) {
  Rest r;
  r.rod = make_rod(specs);
  r.state.base = base;
  r.state.V = spin;
  r.state.q = r.state.v = Vec::Zero(r.rod.size);
  r.report = equilibrium(r.rod, base, loads, r.state.q, spin);
  EXPECT_TRUE(r.report.converged) << "residual " << r.report.residual;
  r.work.resize(r.rod);
  rod_motion(r.rod, r.state, r.work);
  return r;
}

// Inextensible, unshearable, in the plane; L, EI and w = 1 unless scaled.
SegmentSpec planar(int functions, int cells, BasisKind kind = BasisKind::legendre) {
  SegmentSpec spec = test::unit_rod({{Strain::bend_z, kind, functions}});
  spec.cells = cells;
  spec.points = 3;
  return spec;
}
RodLoads tip_down(double P) { return {.tip_force = Vec3(0, -P, 0)}; }
RodLoads weight(double g = 1) { return {.gravity = Vec3(0, -g, 0)}; }

TEST(RodStatics, RollUp) {
  // M = 2 pi EI/L: a closed circle, with one coefficient. Newton stops at 1e-13 of 2 pi.
  const Rest r = rest_of({planar(1, 1)}, {.tip_moment = Vec3(0, 0, 2 * pi)});
  EXPECT_LE(r.tip().r.norm(), 1e-12);
  EXPECT_LE((r.tip().R - Mat3::Identity()).norm(), 1e-12);
  EXPECT_NEAR(r.state.q[0], 2 * pi, 1e-12);
}

TEST(RodStatics, CantileverElastica) {
  // VERIFY.md, to its eight digits; 48 cells of four steps leave Magnus 1e-9.
  const double table[2][4] = {{1, .30172077, .05643324, .46135195},
                              {10, .81060902, .55499560, 1.43028554}};
  Worst worst("elastica: w/L, u/L, tip angle", 6e-9);  // the last digit printed
  for (const auto& row : table) {
    const RodLoads loads = tip_down(row[0]);
    const Rest r = rest_of({planar(14, 48)}, loads);
    worst.add(std::abs(-r.tip().r.y() - row[1]));
    worst.add(std::abs(1 - r.tip().r.x() - row[2]));
    worst.add(std::abs(-r.angle() - row[3]));
    EXPECT_GT(r.report.least_eigenvalue, 0);
    // In the world the force is the tip's load, in every section.
    EXPECT_LE((r.stress(loads, 0, 0).head<3>() - loads.tip_force).norm(), 1e-12);
  }
}

// Errors of the elastica at P = 10 by basis: what each costs.
double elastica_error(int functions, BasisKind kind) {
  const int cells = kind == BasisKind::legendre ? 64 : std::max(1, 64 / functions) * functions;
  const Rest fine = rest_of({planar(20, 64)}, tip_down(10));
  return (rest_of({planar(functions, cells, kind)}, tip_down(10)).tip().r - fine.tip().r).norm();
}

TEST(RodStatics, OrderInTheBasis) {
  const auto orders = [](BasisKind kind, const char* name, std::initializer_list<int> counts) {
    double before = 0, order = 0;
    int last = 0;
    for (const int n : counts) {
      const double error = elastica_error(n, kind);
      order = std::log(before / error) / std::log(static_cast<double>(n) / std::max(last, 1));
      std::printf("[  ORDER   ] %-9s %3d: tip error %9.2e, order %5.2f\n", name, n, error, order);
      before = error, last = n;
    }
    return std::pair(order, before);
  };
  // The tip is a functional of the strain, and Galerkin's error in it is of twice the basis' order.
  EXPECT_NEAR(orders(BasisKind::constant, "constant", {2, 4, 8, 16}).first, 2, 0.1);
  EXPECT_NEAR(orders(BasisKind::linear, "linear", {2, 4, 8, 16}).first, 4, 0.2);
  EXPECT_LE(orders(BasisKind::legendre, "legendre", {2, 4, 6, 8, 10}).second, 1e-8);  // spectral
}

TEST(RodStatics, HeavyCantilever) {
  // VERIFY-P4.md, sections 9 and 11: L = 1 (rod over a cylinder, arm 1 of the tree) and L = 2.
  Worst one("L = 1: tip, angle, root curvature", 1.1e-10),
      two("L = 2: drop and root curvature", 1.1e-10);
  const Rest a = rest_of({planar(12, 64)}, weight());
  one.add((a.tip().r - Vec3(.9912463953, -.1234714020, 0)).norm());
  one.add(std::abs(a.angle() + .1651155605));
  one.add(std::abs(a.stress(weight(), 0, 0)[5] + .4969333999));
  SegmentSpec longer = planar(16, 128);
  longer.length = 2;
  const Rest b = rest_of({longer}, weight());
  two.add(std::abs(b.tip().r.y() + 1.2812614348));
  two.add(std::abs(b.stress(weight(), 0, 0)[5] + std::sqrt(2 * 1.2812614348)));
}

TEST(RodStatics, SeveralSegmentsAreOneRod) {
  // Cut anywhere, each part with polynomials of its own: the same shape, and stress across the cut.
  Worst worst("three segments against one", 3e-9), cut("stress across a cut", 1e-12);
  const Rest whole = rest_of({planar(18, 96)}, weight(5));
  std::vector<SegmentSpec> parts;
  for (const double length : {0.2, 0.5, 0.3}) {
    parts.push_back(planar(9, 40));
    parts.back().length = length;
  }
  const Rest r = rest_of(parts, weight(5));
  worst.add((r.tip().r - whole.tip().r).norm());
  worst.add(std::abs(r.stress(weight(5), 1, 0.3)[5] - whole.stress(weight(5), 0, 0.5)[5]));
  cut.add((r.stress(weight(5), 0, 0.2) - r.stress(weight(5), 1, 0)).norm());
}

TEST(RodStatics, LoweredOntoAPlane) {
  // VERIFY-P4.md, section 9: the free length l and the reaction R at which the end is level at the
  // drop h, by Newton over both; then the clamp's moment is sqrt(2 h) and the run x.
  struct Row {
    double h, l, R, x;
  };
  Worst worst("free length, reaction, run", 2e-9), moment("clamp moment - sqrt(2 EI w h)", 2e-9);
  for (const Row& row : {Row{.01, 0.9211837872, 0.3070488548, 0.9211093450},
                         Row{.10, 1.6396451952, 0.5458491901, 1.6354564103},
                         Row{.50, 2.4762797381, 0.8134745283, 2.4058003532}}) {
    const auto at = [](double l, double R) {
      SegmentSpec spec = planar(12, 48);
      spec.length = l;
      RodLoads loads = weight();
      loads.tip_force = Vec3(0, R, 0);
      return rest_of({spec}, loads);
    };
    double l = row.l * 1.01, R = row.R * 0.99;
    const auto error = [&](double a, double b) {
      const Rest r = at(a, b);
      return Vec2(r.tip().r.y() + row.h, r.angle());
    };
    for (int k = 0; k < 6; ++k) {
      const double d = 1e-6;
      Mat2 J;
      J << (error(l + d, R) - error(l - d, R)) / (2 * d),
          (error(l, R + d) - error(l, R - d)) / (2 * d);
      const Vec2 step = J.inverse() * error(l, R);
      l -= step[0], R -= step[1];
    }
    worst.add(std::abs(l - row.l)), worst.add(std::abs(R - row.R));
    RodLoads loads = weight();
    loads.tip_force = Vec3(0, R, 0);
    const Rest r = at(l, R);
    worst.add(std::abs(r.tip().r.x() - row.x));
    moment.add(std::abs(std::abs(r.stress(loads, 0, 0)[5]) - std::sqrt(2 * row.h)));
  }
}

TEST(RodStatics, TreeOfFourArms) {
  // VERIFY-P4.md, section 11: a pinned disc of radius .1 with four arms; the moments balance.
  const auto arm = [](double angle, double P) {
    const SE3 base{exp_so3(Vec3(0, 0, angle)), 0.1 * Vec3(std::cos(angle), std::sin(angle), 0)};
    RodLoads loads = weight();
    loads.tip_force = Vec3(0, -P, 0);
    Rest r = rest_of({planar(12, 48)}, loads, base);
    const Vec6 about_centre = wrench_to_parent(base, r.stress(loads, 0, 0));
    return std::pair(r.tip().r, about_centre[5]);
  };
  Worst worst("tips of the arms", 2e-9), balance("moment about the pin", 1e-9);
  const auto four = [&](double phi, double P) {
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += arm(phi + k * pi / 2, k == 0 ? P : 0).second;
    return sum;
  };
  balance.add(std::abs(four(-pi / 4, 0)));
  worst.add((arm(-pi / 4, 0).first - Vec3(.7181943935, -.8321895527, 0)).norm());
  worst.add((arm(pi / 4, 0).first - Vec3(.8422571844, .7058181587, 0)).norm());
  balance.add(std::abs(four(-pi / 2, 0.2)));
  worst.add((arm(-pi / 2, 0.2).first - Vec3(0, -1.1, 0)).norm());
  worst.add((arm(0, 0).first - Vec3(1.0912463953, -.1234714020, 0)).norm());
  worst.add((arm(pi / 2, 0).first - Vec3(0, 1.1, 0)).norm());
  // Stable: turning the disc by a little is resisted. Only weakly so at P = 0.
  const double d = 1e-4;
  for (const auto& [phi, P] : {std::pair(-pi / 4, 0.0), std::pair(-pi / 2, 0.2)}) {
    const double slope = (four(phi + d, P) - four(phi - d, P)) / (2 * d);
    std::printf("[  FIGURE  ] d moment/d phi at P = %.1f: %.6f\n", P, slope);
    EXPECT_LT(slope, 0);
  }
}

TEST(RodStatics, BendOf45Degrees) {
  // An arc of radius 100, 1 x 1, E = 1e7, nu = 0, loaded out of its plane by 600.
  SegmentSpec spec;
  spec.length = 100 * pi / 4;
  for (int c = 0; c < 6; ++c)
    spec.basis.push_back({static_cast<Strain>(c), BasisKind::legendre, 8});
  const double E = 1e7, G = 5e6, I = 1.0 / 12;
  Vec6 H;
  H << E, G, G, G * 2 * I, E * I, E * I;
  spec.given = [H](double) { return test::diagonal_rod(H, Vec6::Ones()); };
  spec.rest = [](double) {
    Vec6 x;
    x << 1, 0, 0, 0, 0, -0.01;
    return x;
  };
  spec.cells = 24;
  // It leaves the origin along y and turns towards x; the load is along z.
  const SE3 base{exp_so3(Vec3(0, 0, pi / 2)), Vec3::Zero()};
  const Rest r = rest_of({spec}, {.tip_force = Vec3(0, 0, 600)}, base);
  const Vec3 t = r.tip().r;
  std::printf("[  FIGURE  ] tip %.5f %.5f %.5f\n", t.x(), t.y(), t.z());
  EXPECT_LE((Vec3(t.y(), t.x(), t.z()) - Vec3(47.15044, 15.68480, 53.47486)).cwiseAbs().maxCoeff(),
            1.1e-5);
}

TEST(RodStatics, PrincetonBeam) {
  // VERIFY.md, load 45 degrees between the axes. It prints no shear stiffness: of an aluminium bar
  // of this EI shear adds F L/GA = 2e-6 across and what follows from it to the twist.
  const double P = 4.448 / std::numbers::sqrt2;
  SegmentSpec spec;
  spec.length = 0.508;
  for (const Strain c : {Strain::torsion, Strain::bend_y, Strain::bend_z}) {
    spec.basis.push_back({c, BasisKind::legendre, 7});
  }
  Vec6 H;
  H << 1, 1, 1, 3.101700, 36.21784, 2.427361;
  spec.given = [H](double) { return test::diagonal_rod(H, Vec6::Ones()); };
  spec.cells = 16;
  const Rest r = rest_of({spec}, {.tip_force = Vec3(0, P, -P)});
  const Vec3 u = r.tip().r - Vec3(0.508, 0, 0);
  std::printf("[  FIGURE  ] u %.6f %.6f %.6f twist %.5f\n", u.x(), u.y(), u.z(),
              log_so3(r.tip().R)[0]);
  EXPECT_LE((u - Vec3(-.003751, .056086, -.003972)).cwiseAbs().maxCoeff(), 2.5e-6);
  EXPECT_NEAR(std::abs(log_so3(r.tip().R)[0]), .00673, 3e-5);
}

TEST(RodStatics, TimoshenkoBeam) {
  // VERIFY.md: F L^3/(3 EI) + F L/(k GA) = .06777, k = 27/28; of small deflections: at a thousandth
  // of the load the next terms are below 1e-8 of it.
  const GivenSection s = section_moments(CircleSection{.25});
  const double E = 1e6, GA = 27.0 / 28 * 1e4 * s.area, L = 3, F = 15, share = 1e-3;
  SegmentSpec spec;
  spec.length = L;
  for (const Strain c : {Strain::stretch, Strain::shear_y, Strain::bend_z}) {
    spec.basis.push_back({c, BasisKind::legendre, 3});
  }
  Vec6 H;
  H << E * s.area, GA, GA, 1, E * s.I_y, E * s.I_z;
  spec.given = [H](double) { return test::diagonal_rod(H, Vec6::Ones()); };
  spec.cells = 8;
  const double exact = F * L * L * L / (3 * E * s.I_z) + F * L / GA;
  EXPECT_NEAR(exact, .06777, 6e-6);
  const Rest r = rest_of({spec}, tip_down(share * F));
  EXPECT_NEAR(-r.tip().r.y() / share, exact, 1e-8);
}

TEST(RodStatics, CurvedRodKeepsItsRestShape) {  // no loads: xi_0, by one exponential a turn
  SegmentSpec spec = test::unit_rod({{Strain::bend_z, BasisKind::linear, 3}});
  spec.length = 2;
  spec.rest = [](double) {
    Vec6 x;
    x << 1, 0, 0, .4, 0, 2;
    return x;
  };
  const Rest r = rest_of({spec}, {});
  Vec6 xi = spec.rest(0);
  const SE3 helix = exp_se3(2 * xi);
  EXPECT_LE((r.tip().r - helix.r).norm() + (r.tip().R - helix.R).norm(), 1e-14);
  EXPECT_EQ(r.report.iterations, 0);
  EXPECT_NEAR(r.report.least_eigenvalue, 1, 1e-12);
}

TEST(RodStatics, ColumnBucklesAtEulersLoad) {
  // Clamped and free under a dead load: the least eigenvalue passes zero at pi^2/4.
  const auto least = [](double P) {
    return rest_of({planar(10, 16)}, {.tip_force = Vec3(-P, 0, 0)}).report.least_eigenvalue;
  };
  const double critical = pi * pi / 4;
  EXPECT_GT(least(critical * (1 - 1e-6)), 0);
  EXPECT_LT(least(critical * (1 + 1e-6)), 0);
}

}  // namespace
}  // namespace saltus
