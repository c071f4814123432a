// Slender swimmers of VERIFY-P4 sections 10 and 11 as rods and as chains of links.
#pragma once
#include <numbers>

#include "saltus/control/actuation.h"
#include "saltus/control/curvature_wave.h"
#include "tests/rods/rod_cases.h"
#include "tests/support/simulate.h"

namespace saltus::test {

// The eel: length 1, elliptic section, head at the origin, tail along +x.
struct Eel {
  static constexpr double pi = std::numbers::pi, rho = 1000, a = .03, b = .05;
  static constexpr double mb = rho * pi * a * b, ma = rho * pi * b * b, Ib = mb * a * a / 4;
  double Ct = .05, Cn = 1;
  bool tail = true;
  CurvatureWave wave{5, 1.5, 1, 1, 0, 1, 0};

  [[nodiscard]] FluidSection section() const {
    FluidSection s;
    s.drag = rho * b * Vec3(Ct, Cn, Cn);
    s.added = {0, ma, 0};
    return s;
  }
  [[nodiscard]] FluidAlong along() const {
    return {[s = section()](double) { return s; }, nullptr, {}};
  }
  [[nodiscard]] Fluid end(const Vec3& point) const {
    Fluid f;
    f.end = {point, Vec3::UnitX(), Mat3(Vec3(0, tail ? ma : 0, 0).asDiagonal())};
    return f;
  }
};

inline ModelBuilder eel_rod(const Eel& eel, int functions, int points) {
  SegmentSpec s;
  s.length = 1;
  s.basis = {{Strain::bend_z, BasisKind::legendre, functions}};
  s.points = points;
  Vec6 H = Vec6::Constant(1), I;
  I << Eel::mb, Eel::mb, Eel::mb, Eel::Ib, Eel::Ib, Eel::Ib;
  s.given = [H, I](double) { return diagonal_rod(H, I); };
  RodSpec rod;
  rod.name = "eel";
  rod.joint.kind = Planar{};
  rod.segments = {s};
  for (int k = 0; k < functions; ++k) rod.prescribed.push_back(fmt::format("bend_z.{}", k));
  ModelBuilder builder;
  builder.planar(true).gravity(Vec3::Zero()).rod(rod);
  builder.fluid_along(eel.along(), "eel").fluid(eel.end(Vec3::Zero()), "eel.tip");
  return builder;
}
inline void drive_rod(const Eel& eel, const Model& model, Actuation& actuation) {
  const RodElement& rod = model.rods.front();
  const auto signals = wave_strains(eel.wave, *rod.segment, Strain::bend_z, 0, 1);
  for (int k = 0; k < rod.size; ++k)
    actuation.prescribed.push_back({CoordinateIndex(rod.coordinate + k), signals[k]});
}

// Links with frames at their front ends, link1 ahead.
inline ModelBuilder eel_chain(const Eel& eel, int links, int points = 2) {
  const double l = 1.0 / links, m = Eel::mb * l;
  RigidInertia inertia{m, Vec3(l / 2, 0, 0), Mat3::Identity()};
  inertia.about_com *= m * l * l / 12 + Eel::Ib * l;
  ModelBuilder builder;
  builder.planar(true).gravity(Vec3::Zero());
  for (int k = 1; k <= links; ++k) {
    JointSpec j = joint(Planar{});
    if (k > 1) {
      j = joint(Revolute{Vec3::UnitZ()}, fmt::format("link{}", k - 1));
      j.placement = SE3::translation({l, 0, 0});
      j.dofs.resize(1);
      j.dofs[0].prescribed = true;
    }
    const std::string name = fmt::format("link{}", k);
    builder.body(name, inertia, j);
    builder.fluid_along(eel.along(), name, l, Vec3(l / 2, 0, 0), points);
  }
  return builder.fluid(eel.end({l, 0, 0}), fmt::format("link{}", links));
}
inline void drive_chain(const Eel& eel, const Model& model, Actuation& actuation) {
  const int joints = model.body_count() - 1;
  const auto signals = wave_angles(eel.wave, joints, 1);
  for (int k = 0; k < joints; ++k)
    actuation.prescribed.push_back({model.coordinate(fmt::format("link{}", k + 2)), signals[k]});
}

}  // namespace saltus::test
