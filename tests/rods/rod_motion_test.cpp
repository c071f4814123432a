// Rods in motion: conserved quantities, the order of frequencies.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <tuple>

#include "saltus/lie/so3.h"
#include "tests/rods/rod_cases.h"
#include "tests/rods/rod_flight.h"
#include "tests/support/check.h"

namespace saltus {
namespace {

using test::Flight;
using test::Random;
using test::seeds;
using test::Worst;

// Of small motions about the rest shape, the smallest first.
Vec frequencies(const SegmentSpec& spec, const Mat6X& base) {
  const Rod rod = make_rod({spec});
  RodState state;
  state.q = Vec::Zero(rod.size);
  return Flight::frequencies(rod, state, base).reverse();
}

TEST(RodMotion, OrderOfFrequenciesInTheBasis) {
  const auto error = [](BasisKind kind, int n) {
    SegmentSpec spec = test::unit_rod({{Strain::bend_z, kind, n}});
    spec.points = 6;
    const double exact = std::pow(1.875104068711961, 2);
    return std::abs(frequencies(spec, Mat6X(6, 0))[0] / exact - 1);
  };
  for (const auto& [kind, name, expected] : {std::tuple(BasisKind::constant, "constant", 2.0),
                                             std::tuple(BasisKind::linear, "linear", 4.0)}) {
    double order = 0;
    for (const int n : {2, 4, 8, 16}) {
      order = std::log2(error(kind, n / 2) / error(kind, n));
      std::printf("[  ORDER   ] %-9s %2d: omega_1 error %9.2e, order %.2f\n", name, n,
                  error(kind, n), order);
    }
    EXPECT_NEAR(order, expected, 0.1);
  }
}

Mat6X planar_base() {
  Mat6X base = Mat6X::Zero(6, 3);
  base(0, 0) = base(1, 1) = base(5, 2) = 1;
  return base;
}

// VERIFY.md and VERIFY-P4.md section 11: beta L of clamped and of free rods, of ten
// digits; 1000 Magnus steps of fourth order leave 2e-9 of the fifth (200 steps: 1e-6).
TEST(RodMotion, ModesOfClampedAndFreeRods) {
  SegmentSpec spec = test::unit_rod({{Strain::bend_z, BasisKind::legendre, 24}});
  spec.points = 100;
  spec.steps = 10;
  Worst clamped("cantilever, beta L of four modes", 5e-9), free("free, beta L of five", 5e-9);
  const Vec a = frequencies(spec, Mat6X(6, 0)), b = frequencies(spec, planar_base());
  const double cantilever[] = {1.8751040687, 4.6940911330, 7.8547574382, 10.9955407349};
  const double both_free[] = {4.7300407449, 7.8532046241, 10.9956078380, 14.1371654913,
                              17.2787596574};
  for (int k = 0; k < 4; ++k) clamped.add(std::abs(std::sqrt(a[k]) - cantilever[k]));
  for (int k = 0; k < 5; ++k) free.add(std::abs(std::sqrt(b[3 + k]) - both_free[k]));
  for (int k = 0; k < 3; ++k) EXPECT_LE(b[k], 1e-5);  // the frame's: square roots of rounding
}

// A planar Reissner rod on Legendre functions: bending, and as many of stretch and shear.
SegmentSpec reissner(double L, double EA, double GA, double EI, double rhoA, double rhoI, int bend,
                     int other, int points) {
  SegmentSpec spec;
  spec.length = L;
  spec.basis = {{Strain::stretch, BasisKind::legendre, other},
                {Strain::shear_y, BasisKind::legendre, other},
                {Strain::bend_z, BasisKind::legendre, bend}};
  Vec6 H, I;
  H << EA, GA, GA, EI, EI, EI;
  I << rhoA, rhoA, rhoA, rhoI, rhoI, rhoI;
  spec.given = [H, I](double) { return test::diagonal_rod(H, I); };
  spec.points = points;
  return spec;
}

// Coefficients of a field of strains: least squares over the length.
Vec project(const RodSegment& segment, const std::function<Vec6(double)>& field) {
  Mat A = Mat::Zero(segment.size, segment.size);
  Vec b = Vec::Zero(segment.size);
  for (const GaussPoint& p : gauss_points(40)) {
    const double X = p.x * segment.spec.length;
    const Mat6X B = basis_at(segment, X);
    A += p.weight * B.transpose() * B;
    b += p.weight * B.transpose() * field(X);
  }
  return A.ldlt().solve(b);
}

// VERIFY-P4.md section 12: thrown by a smooth force and couple at one end, then free: the ends to
// 3e-6, as the table; angular momentum and energy constant. 18 and 16 functions with 44 stations
// leave 3e-6 of the ends and 5e-7 of the energy (14 functions 4e-6, 12 and 10 1e-5).
TEST(RodMotion, FlexibleBeamInFreeFlight) {
  struct Row {
    double couple;
    Vec4 ends;  // at 2.5
    double H, E;
  };
  Worst ends("ends at t = 2.5 and 5", 3e-6), kept("momenta, of 20 and H", 1e-7),
      energy("energy, of E", 1e-6);
  for (const Row& row :
       {Row{80, {8.352650, 8.019584, 1.714113, .869196}, 147.095435, 295.66506},
        Row{-80, {3.805493, -.554673, 5.418225, 8.784198}, -193.957690, 146.97746}}) {
    Flight f;
    f.rod = make_rod({reissner(10, 1e4, 1e4, 500, 1, 10, 18, 16, 44)});
    f.base = planar_base();
    f.state.base = {exp_so3(Vec3(0, 0, std::atan2(.8, -.6))), Vec3(6, 0, 0)};
    f.push = [&](double t, const SE3& X) {
      const double share = t > 2.5 ? 0 : 2 * std::pow(std::sin(M_PI * t / 2.5), 2);
      Vec6 w;
      w << X.R.transpose() * Vec3(8 * share, 0, 0), 0, 0, row.couple * share;
      return w;
    };
    f.begin();
    const auto places = [&] {
      const Vec3 tip = rod_tip(f.rod, f.work).r, &end = f.state.base.r;
      return Vec4(end.x(), end.y(), tip.x(), tip.y());
    };
    f.run(2.5, 2000);
    ends.add((places() - row.ends).cwiseAbs().maxCoeff());
    const Vec6 P = f.momentum();
    const double E = f.energy().total();
    std::printf("[  FIGURE  ] ends %.6f %.6f %.6f %.6f H %.6f E %.5f\n", places()[0], places()[1],
                places()[2], places()[3], P[5], E);
    kept.add((P.head<3>() - Vec3(20, 0, 0)).norm() / 20);
    kept.add(std::abs(P[5] / row.H - 1));
    energy.add(std::abs(E / row.E - 1));
    if (row.couple < 0) continue;
    f.run(5, 2000);
    ends.add((places() - Vec4(9.408305, -.289107, 14.130540, 6.100339)).cwiseAbs().maxCoeff());
    kept.add((f.momentum() - P).norm() / 147);
    energy.add(std::abs(f.energy().total() / E - 1));
  }
}

// VERIFY-P4.md section 11: a free rod that spins at 10 rad/s and vibrates in its first mode. The
// tension of the spin stiffens it: 26.48 rad/s; at rest 22.31.
TEST(RodMotion, SpinningFreeRod) {
  const double EA = 1e5, eps = .2, beta = 4.730040744862704;
  const double s = (std::cosh(beta) - std::cos(beta)) / (std::sinh(beta) - std::sin(beta));
  // d^k phi/dX^k of the mode, 1 at the ends; X from the end.
  const auto phi = [&](int k, double X) {
    const double x = beta * X, c = k % 2 == 0 ? std::cosh(x) : std::sinh(x),
                 h = k % 2 == 0 ? std::sinh(x) : std::cosh(x);
    return std::pow(beta, k) / 2 *
           (c - s * h + std::cos(x + k * M_PI / 2) - s * std::sin(x + k * M_PI / 2));
  };
  Worst ends("end at t = .25, .5, 1", 1e-5), frequency("frequency, of the table", 1e-3);
  for (const double spin : {0.0, 10.0}) {
    Flight f;
    f.rod = make_rod({reissner(1, EA, EA, 1, 1, 1e-4, 12, 4, 32)});
    f.base = planar_base();
    f.begin();
    const auto stretch = [&](double X) {  // (1/4 - (X - 1/2)^2) Om^2/(2 EA)
      return spin * spin * X * (1 - X) / (2 * EA);
    };
    f.state.q =
        project(f.rod.segments[0], [&](double X) { return Vec6(stretch(X) * Vec6::Unit(0)); });
    f.state.v = project(f.rod.segments[0], [&](double X) {
      return Vec6(-eps * phi(1, X) * stretch(X) * Vec6::Unit(1) + eps * phi(2, X) * Vec6::Unit(5));
    });
    const double x0 = -.5 - spin * spin / (24 * EA);
    f.state.base.r = Vec3(x0, 0, 0);
    f.state.V << 0, spin * x0 + eps * phi(0, 0), 0, 0, 0, spin + eps * phi(1, 0);
    const auto deflection = [&] {  // of the middle from the chord
      rod_motion(f.rod, f.state, f.work);
      const RodSegment& segment = f.rod.segments[0];
      RodPlace middle;
      place(segment, point_at(segment, .5), f.state.q, nullptr, f.work.shape[0], middle);
      const Vec3 a = f.state.base.r, chord = rod_tip(f.rod, f.work).r - a;
      return chord.cross((f.state.base * middle.pose).r - a).z() / chord.norm();
    };
    const double dt = 1.0 / 14000;
    double before = deflection(), first = -1, last = 0;
    int crossings = 0;
    for (int k = 1; k <= (spin > 0 ? 14000 : 7000); ++k) {
      f.step(dt);
      if (spin > 0)
        for (const Vec4& row :
             {Vec4(.25, -.4022034, .2970883, 2.511995), Vec4(.5, .1467697, -.4779681, 5.023021),
              Vec4(1, -.4149208, -.2788697, 10.036372)}) {
          if (std::abs(k * dt - row[0]) > dt / 2) continue;
          rod_motion(f.rod, f.state, f.work);
          const SE3 tip = rod_tip(f.rod, f.work);
          ends.add((tip.r.head<2>() - row.segment<2>(1)).cwiseAbs().maxCoeff());
          const double angle = std::atan2(tip.R(1, 0), tip.R(0, 0)) - row[3];
          ends.add(std::abs(std::remainder(angle, 2 * M_PI)));
        }
      if (k % 20 != 0) continue;
      const double now = deflection();
      if (before * now < 0) {
        last = dt * (k - 20 * now / (now - before));
        if (first < 0) first = last;
        ++crossings;
      }
      before = now;
    }
    const double omega = M_PI * (crossings - 1) / (last - first);
    std::printf("[  FIGURE  ] spin %.0f: frequency %.4f over %d half waves\n", spin, omega,
                crossings - 1);
    frequency.add(std::abs(omega / (spin > 0 ? 26.4828 : 22.3100) - 1));
  }
}

TEST(RodMotion, FreeFlightKeepsMomentaAndEnergy) {
  // A soft rod of two segments in space, thrown and tumbling: what is left is the integrator's,
  // whose error is of order 4 (of energy, a quadratic form, 5).
  Worst ratio("error at dt/2 over that at dt, less rounding", 1 / 10.0);
  for (const auto seed : seeds(1, 2)) {
    const auto drift = [&](int steps) {
      Random random(seed);
      Flight f;
      SegmentSpec spec = test::random_segment(random).spec;
      spec.material.viscosity = 0;
      spec.material.E *= 10;
      f.rod = make_rod({spec, spec});
      f.base = Mat6::Identity();
      f.begin();
      const int n = f.rod.size;
      f.state = {random.pose(), random.vector6(), random.vector(n, 0.3), random.vector(n, 0.3)};
      rod_motion(f.rod, f.state, f.work);
      const double E = f.energy().total();
      const Vec6 P = f.momentum();
      f.run(1, steps);
      return Vec2(std::abs(f.energy().total() / E - 1), (f.momentum() - P).norm() / P.norm());
    };
    const Vec2 coarse = drift(1000), fine = drift(2000);
    std::printf("[  ORDER   ] energy %.2e -> %.2e (%.2f), momenta %.2e -> %.2e (%.2f)\n", coarse[0],
                fine[0], std::log2(coarse[0] / fine[0]), coarse[1], fine[1],
                std::log2(coarse[1] / fine[1]));
    for (int k = 0; k < 2; ++k) ratio.add((fine[k] - 1e-13) / coarse[k], seed);
    EXPECT_LE(fine.maxCoeff(), 1e-6);
  }
}

}  // namespace
}  // namespace saltus
