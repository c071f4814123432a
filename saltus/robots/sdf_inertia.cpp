// Inertias of an SDF: as the file has them, or of its collision shapes.
#include <fmt/format.h>

#include "saltus/lie/inertia.h"
#include "saltus/robots/mjcf_reader.h"
#include "saltus/robots/sdf_parts.h"

namespace saltus::sdf {

namespace {

// Of density 1; nothing of a shape whose volume is another than its surface says.
std::optional<RigidInertia> of_volume(const Shape& shape) {
  constexpr double pi = std::numbers::pi;
  RigidInertia out;
  if (const auto* box = std::get_if<Box>(&shape)) {
    out.mass = 8 * box->half_size.prod();
    out.about_com = solid_box(out.mass, 2 * box->half_size);
  } else if (const auto* ball = std::get_if<Sphere>(&shape)) {
    out.mass = 4 * pi / 3 * std::pow(ball->radius, 3);
    out.about_com = solid_sphere(out.mass, ball->radius);
  } else if (const auto* egg = std::get_if<Ellipsoid>(&shape)) {
    out.mass = 4 * pi / 3 * egg->semi_axes.prod();
    out.about_com = solid_ellipsoid(out.mass, egg->semi_axes);
  } else if (const auto* rod = std::get_if<Cylinder>(&shape)) {
    out.mass = 2 * pi * rod->radius * rod->radius * rod->half_length;
    out.about_com = solid_cylinder(out.mass, rod->radius, 2 * rod->half_length);
  } else {
    return std::nullopt;
  }
  return out;
}

// <inertial auto="true">: of the link's collision shapes, each with its own density.
RigidInertia of_shapes(const Element& link, const Element& inertial, const SE3& X,
                       const Scope& scope, const Frames& frames, const Context& context) {
  RigidInertia sum;
  const double usual = number_child(inertial, "density").value_or(1000);  // as SDF has it
  for (const Element& e : link.children("collision")) {
    Context scratch = context;  // what there is to note, the shapes' reader notes
    const auto placed = read_geometry(e, frames.in_link(e, scope, X), scope, scratch);
    std::optional<RigidInertia> part = placed ? of_volume(placed->shape) : std::nullopt;
    if (!part)
      throw e.error(
          "this shape gives its link mass and cannot: expected box, sphere, cylinder or ellipsoid; "
          "give the link its <mass> and <inertia>");
    const double density = number_child(e, "density").value_or(usual);
    if (!(density > 0)) throw e.error(fmt::format("expected a positive density, got {}", density));
    part->mass *= density;
    part->about_com *= density;
    mjcf::add_inertia(sum, *part, placed->frame);
  }
  if (!(sum.mass > 0)) throw inertial.error("expected a <collision> that gives the link its mass");
  if (const auto mass = number_child(inertial, "mass")) {
    sum.about_com *= *mass / sum.mass;
    sum.mass = *mass;
  }
  return sum;
}

}  // namespace

std::optional<RigidInertia> read_inertial(const Element& link, const SE3& X, const Scope& scope,
                                          const Frames& frames, Context& context) {
  const Element inertial = link.child("inertial");
  if (!inertial) return std::nullopt;
  if (inertial.boolean("auto").value_or(false))
    return of_shapes(link, inertial, X, scope, frames, context);
  RigidInertia out;
  const SE3 frame = frames.in_link(inertial, scope, X);
  out.mass = number_child(inertial, "mass").value_or(1);
  if (!inertial.child("mass")) context.assume(inertial, "no <mass>: 1 kg, as SDF has it");
  if (out.mass < 0) throw inertial.error(fmt::format("expected a mass >= 0, got {}", out.mass));
  out.com = frame.r;
  const Element tensor = inertial.child("inertia");
  const auto entry = [&](const char* name, double usual) {
    return tensor ? number_child(tensor, name).value_or(usual) : usual;
  };
  if (!tensor) context.assume(inertial, "no <inertia>: 1, 1, 1 kg m^2, as SDF has it");
  Mat3 J;
  const double xx = entry("ixx", 1), yy = entry("iyy", 1), zz = entry("izz", 1),
               xy = entry("ixy", 0), xz = entry("ixz", 0), yz = entry("iyz", 0);
  J << xx, xy, xz, xy, yy, yz, xz, yz, zz;
  const Mat3 turned = frame.R * J * frame.R.transpose();
  out.about_com = 0.5 * (turned + turned.transpose());
  return out;
}

}  // namespace saltus::sdf
