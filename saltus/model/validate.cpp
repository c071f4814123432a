#include "saltus/model/validate.h"

#include <fmt/format.h>

#include <cmath>

#include "saltus/base/error.h"
#include "saltus/rods/segment.h"

namespace saltus {

void require(bool ok, const std::string& path, const std::string& expected) {
  if (!ok) throw InputError(path, expected);
}

void check_inertia(const RigidInertia& inertia, bool fixed, const std::string& path) {
  const double m = inertia.mass;
  const bool massless = m == 0 && (fixed || inertia.about_com.isZero(0));
  require(std::isfinite(m) && (m > 0 || massless), path + ".mass",
          fmt::format("expected a positive number, got {}", m));
  require(inertia.com.allFinite(), path + ".com", "expected finite numbers");
  const Mat3& J = inertia.about_com;
  require(J.allFinite(), path + ".inertia", "expected finite numbers");
  require((J - J.transpose()).norm() <= 1e-12 * J.norm(), path + ".inertia",
          "expected a symmetric matrix");
  require(physical(J), path + ".inertia",
          fmt::format("expected principal moments that obey the triangle inequality (none larger "
                      "than the sum of the other two), got diagonal ({}, {}, {})",
                      J(0, 0), J(1, 1), J(2, 2)));
}

void check_dof(const JointDof& d, const std::string& path) {
  const auto not_negative = [&](double x, const char* name) {
    require(std::isfinite(x) && x >= 0, path + "." + name,
            fmt::format("expected a number >= 0, got {}", x));
  };
  not_negative(d.armature, "armature");
  not_negative(d.stiffness, "stiffness");
  not_negative(d.damping, "damping");
  not_negative(d.friction, "friction");
  check_dynamic(d.dynamic, -1, SlipRule::normal_cone, path);
  require(std::isfinite(d.rest), path + ".rest", "expected a finite number");
  require(d.lower < d.upper, path + ".limits",
          fmt::format("expected lower < upper, got [{}, {}]", d.lower, d.upper));
}

void check_dofs(const JointSpec& joint, const std::string& path) {
  const int n = has_scalar_coordinates(joint.kind) ? nv_of(joint.kind) : 0;
  const int given = static_cast<int>(joint.dofs.size());
  require(given <= 1 || given == n, path,
          fmt::format("expected properties for {} coordinates, got {}", n, given));
  require(given == 0 || n > 0, path,
          fmt::format("a {} joint has no scalar coordinate to carry springs, limits or friction",
                      name_of(joint.kind)));
  for (const auto& d : joint.dofs) check_dof(d, path);
}

void check_frame(const SE3& frame, const std::string& path) {
  require(frame.r.allFinite() && frame.R.allFinite(), path, "expected finite numbers");
  // Files print rotations with six digits or so.
  require(
      (frame.R.transpose() * frame.R - Mat3::Identity()).norm() < 1e-5 && frame.R.determinant() > 0,
      path, "expected a rotation matrix");
}

void check_shape(const Shape& shape, const std::string& path) {
  const auto size = [&](double x, bool zero_allowed, const char* name) {
    require(std::isfinite(x) && (x > 0 || (zero_allowed && x == 0)), path + "." + name,
            fmt::format("expected a positive length, got {}", x));
  };
  if (const auto* s = std::get_if<Sphere>(&shape)) size(s->radius, true, "radius");
  if (const auto* s = std::get_if<Peg>(&shape)) size(s->radius, false, "radius");
  if (const auto* s = std::get_if<Capsule>(&shape)) {
    size(s->radius, false, "radius");
    size(s->half_length, true, "half_length");
  }
  if (const auto* s = std::get_if<Cylinder>(&shape)) {
    size(s->radius, false, "radius");
    size(s->half_length, false, "half_length");
  }
  if (const auto* s = std::get_if<ConvexHull>(&shape))
    require(s->hull != nullptr, path, "expected a hull made by convex_hull");
  if (const auto* s = std::get_if<HeightField>(&shape))
    require(s->terrain != nullptr, path, "expected a height field made by height_field");
  if (const auto* s = std::get_if<Ellipsoid>(&shape))
    for (const double x : s->semi_axes) size(x, false, "semi_axes");
  if (const auto* s = std::get_if<Box>(&shape))
    for (const double x : s->half_size) size(x, false, "half_size");
}

void check_surface(const Shape& shape, const Surface& surface, const std::string& path) {
  require(surface.velocity.allFinite(), path + ".surface_velocity", "expected finite numbers");
  require(!surface.friction || std::holds_alternative<HeightField>(shape) ||
              std::holds_alternative<HalfSpace>(shape),
          path + ".friction_map",
          fmt::format("expected a half-space or a height field, got a {}", name_of(shape)));
}

void check_friction(double mu1, double mu2, double mu_back, SlipRule rule,
                    const std::string& path) {
  for (const double x : {mu1, mu2})
    require(std::isfinite(x) && x >= 0, path,
            fmt::format("expected friction coefficients >= 0, got {}", x));
  require(std::isfinite(mu_back), path, "expected finite numbers");
  const bool all = mu1 > 0 && mu2 > 0 && mu_back != 0;
  require(rule != SlipRule::hu || all || (mu1 == 0 && mu2 == 0), path,
          "Hu's rule expects coefficients > 0: a direction without friction has no slip in it");
  require(mu_back < 0 || all, path,
          "forward, backward and lateral friction expects coefficients > 0");
}

void check_dynamic(double dynamic, double mu_back, SlipRule rule, const std::string& path) {
  require(dynamic >= 0 && dynamic <= 1, path + ".friction_dynamic",
          fmt::format("expected 0 to 1 of the static friction, got {}", dynamic));
  require(dynamic > 0 || (mu_back < 0 && rule == SlipRule::normal_cone), path + ".friction_dynamic",
          "Hu's rule and backward friction expect coefficients > 0");
}

double dynamic_share(const std::vector<FrictionPair>& directions) {
  const std::string path = "friction_dynamic";
  double share = -1;
  for (const auto& [at_rest, sliding] : directions) {
    require(std::isfinite(sliding) && sliding >= 0, path,
            fmt::format("expected a number >= 0, got {}", sliding));
    require(sliding <= at_rest, path,
            fmt::format("expected at most friction ({}), got {}", at_rest, sliding));
    if (at_rest == 0) continue;
    const double one = sliding / at_rest;
    // What a file prints with its digits may differ by rounding.
    require(share < 0 || std::abs(one - share) <= 1e-12, path,
            fmt::format("expected the same share of friction in every direction, got {} and {}",
                        share, one));
    if (share < 0) share = one;
  }
  require(share >= 0, path, "expected friction beside it: of none, none is left");
  return share;
}

void check_support(const SupportFriction& f, const std::string& path) {
  check_friction(f.mu1, f.mu2, f.mu_back, f.rule, path);
  check_dynamic(f.dynamic, f.mu_back, f.rule, path);
  require(std::isfinite(f.load) && f.load >= 0, path,
          fmt::format("expected a load >= 0, got {}", f.load));
  require(f.point.allFinite(), path + ".point", "expected finite numbers");
  require(f.normal.allFinite() && f.normal.norm() > 1e-12, path + ".normal",
          "expected a direction");
}

void check_compliance(const Compliance& c, const std::string& path) {
  require(std::isfinite(c.normal_stiffness) && c.normal_stiffness > 0,
          path + ".compliant.stiffness",
          fmt::format("expected a number > 0, got {}", c.normal_stiffness));
  for (const double x : {c.normal_damping, c.tangential_stiffness, c.tangential_damping})
    require(std::isfinite(x) && x >= 0, path + ".compliant",
            fmt::format("expected numbers >= 0, got {}", x));
}

void check_compliance(const ContactLaw& law, const std::string& path) {
  if (law.soft == Compliance{}) return;  // hard
  check_compliance(law.soft, path);
  require(law.mu1 == law.mu2 && law.mu_back < 0 && law.rule == SlipRule::normal_cone &&
              law.dynamic == 1 && law.rolling == 0 && law.drilling == 0,
          path + ".friction", "a compliant contact knows one coefficient of friction");
  require(law.restitution == 0 && law.tangential_restitution == 0, path + ".restitution",
          "a compliant contact has none: its damping does that");
}

namespace {

void check_direction(const Vec3& d, const std::string& path) {
  require(d.allFinite() && d.norm() > 1e-12, path, "expected a direction");
}
void check_not_negative(double x, const std::string& path) {
  require(std::isfinite(x) && x >= 0, path, fmt::format("expected a number >= 0, got {}", x));
}

}  // namespace

void check_runner(const Runner& r, bool planar, const std::string& path) {
  require(r.point.allFinite(), path + ".point", "expected finite numbers");
  check_direction(r.direction, path + ".direction");
  check_direction(r.normal, path + ".normal");
  require(std::abs(r.direction.normalized().dot(r.normal.normalized())) < 1e-9, path + ".direction",
          "expected a direction across the normal");
  require(!planar || std::abs(std::abs(r.normal.normalized().z()) - 1) < 1e-9, path + ".normal",
          "the runners of a planar model turn about z");
  check_not_negative(r.friction, path + ".friction");
  require(r.grip > 0, path + ".grip", fmt::format("expected a positive number, got {}", r.grip));
  require(r.edge || r.grip == infinity, path + ".grip", "expected an edge, whose grip it is");
  require(r.edge || r.scales || r.friction > 0, path,
          "expected an edge, scales or friction: this runner does nothing");
}

void check_spring(const Spring& s, bool planar, const std::string& path) {
  require(s.point_a.allFinite() && s.point_b.allFinite(), path + ".points",
          "expected finite numbers");
  require(s.axis.allFinite(), path + ".axis", "expected a direction");
  require(!planar || std::abs(s.axis.z()) < 1e-9, path + ".axis",
          "the springs of a planar model act in x-y only");
  check_not_negative(s.stiffness, path + ".stiffness");
  check_not_negative(s.damping, path + ".damping");
  require(std::isfinite(s.length), path + ".length",
          fmt::format("expected a finite natural length, got {}", s.length));
}

void check_drag(const Drag& d, const std::string& path) {
  require(d.point.allFinite(), path + ".point", "expected finite numbers");
  check_not_negative(d.coefficient, path + ".coefficient");
}

void check_cable(const Cable& c, const std::string& path) {
  require(!c.points.empty() || !c.pulleys.empty(), path,
          "expected points that it runs through, or pulleys of joints");
  require(c.points.size() != 1, path + ".through", "expected at least two points, got 1");
  for (std::size_t i = 0; i < c.points.size(); ++i)
    require(c.points[i].point.allFinite(), fmt::format("{}.through[{}].point", path, i),
            "expected finite numbers");
  for (std::size_t i = 0; i < c.pulleys.size(); ++i)
    require(std::isfinite(c.pulleys[i].gap) && c.pulleys[i].gap != 0,
            fmt::format("{}.pulleys[{}].ratio", path, i),
            fmt::format("expected a number other than 0, got {}", c.pulleys[i].gap));
  require(std::isfinite(c.length), path + ".length",
          fmt::format("expected a finite length, got {}", c.length));
  check_not_negative(c.stiffness, path + ".stiffness");
  check_not_negative(c.damping, path + ".damping");
  require(c.lower <= c.upper && !std::isnan(c.lower) && !std::isnan(c.upper), path + ".limit",
          fmt::format("expected lower <= upper, got {} and {}", c.lower, c.upper));
  require(c.stretches || (c.lower == 0 && c.upper == infinity), path + ".limit",
          "a cable that does not stretch has no limit: give it a stiffness or a pull");
  require(c.restitution >= 0 && c.restitution <= 1, path + ".restitution",
          fmt::format("expected a number in [0, 1], got {}", c.restitution));
  require(c.restitution == 0 || !c.stretches, path + ".restitution",
          "a cable that stretches has none");
}

void check_gap_contact(const GapContact& c, const std::string& path) {
  require(std::isfinite(c.offset), path + ".offset", "expected a finite number");
  bool opens = false;
  for (std::size_t i = 0; i < c.terms.size(); ++i) {
    const GapTerm& term = c.terms[i];
    require(std::isfinite(term.gap) && std::isfinite(term.slide),
            fmt::format("{}.terms[{}]", path, i), "expected finite numbers");
    opens = opens || term.gap != 0;
  }
  require(opens, path + ".terms", "expected a term with a gap: this one never changes");
  check_not_negative(c.mu, path + ".friction");
  require(c.restitution >= 0 && c.restitution <= 1, path + ".restitution",
          fmt::format("expected a number in [0, 1], got {}", c.restitution));
}

void check_planar(const JointSpec& joint, const std::string& path) {
  const auto upright = [&](const SE3& X) {
    require(std::abs(X.R(2, 2) - 1) < 1e-9 && std::abs(X.r.z()) < 1e-12, path,
            "a planar model has its joints' frames in the x-y plane");
  };
  require(!std::holds_alternative<Spherical>(joint.kind) &&
              !std::holds_alternative<Floating>(joint.kind),
          path, fmt::format("a planar model has no {} joints", name_of(joint.kind)));
  upright(joint.placement);
  upright(joint.in_body);
  if (const auto* j = std::get_if<Revolute>(&joint.kind))
    require(std::abs(std::abs(j->axis.z()) - 1) < 1e-9, path + ".axis",
            "a planar model turns about z only");
  if (const auto* p = std::get_if<Prismatic>(&joint.kind))
    require(std::abs(p->axis.z()) < 1e-9, path + ".axis", "a planar model slides in x-y only");
  if (const auto* b = std::get_if<Bend>(&joint.kind))
    require(std::abs(std::abs(b->axis.z()) - 1) < 1e-9, path + ".axis",
            "a planar model bends about z only");
  if (const auto* r = std::get_if<RodPiece>(&joint.kind))
    for (const int c : r->segment->component) {
      const auto s = static_cast<Strain>(c);
      require(s == Strain::stretch || s == Strain::shear_y || s == Strain::bend_z, path + ".basis",
              fmt::format("the rods of a planar model bend about z, stretch and shear along y, not "
                          "{}",
                          name_of(s)));
    }
}

Joint with_unit_axis(const Joint& joint, const std::string& path) {
  const auto unit = [&](auto kind) {
    require(kind.axis.allFinite() && kind.axis.norm() > 1e-12, path, "expected a direction");
    kind.axis.normalize();
    return Joint(kind);
  };
  if (const auto* j = std::get_if<Revolute>(&joint)) return unit(*j);
  if (const auto* j = std::get_if<Prismatic>(&joint)) return unit(*j);
  if (const auto* j = std::get_if<Bend>(&joint)) return unit(*j);
  return joint;
}

}  // namespace saltus
