// Inertials, collision and visual geometry, materials of a URDF.
#include <fmt/format.h>

#include "saltus/lie/so3.h"
#include "saltus/robots/urdf_parts.h"

namespace saltus::urdf {

namespace {

double positive_number(const Element& e, const char* attribute) {
  const double x = e.required_number(attribute);
  if (!(x > 0)) throw e.error(attribute, fmt::format("expected a positive length, got {}", x));
  return x;
}

Mat3 read_tensor(const Element& e, Context& context) {
  const auto off = [&](const char* attribute) {
    const std::optional<double> given = e.number(attribute);
    if (!given) context.assume(e, fmt::format("'{}' is missing: 0", attribute));
    return given.value_or(0);
  };
  const double xx = e.required_number("ixx"), yy = e.required_number("iyy"),
               zz = e.required_number("izz"), xy = off("ixy"), xz = off("ixz"), yz = off("iyz");
  Mat3 J;
  J << xx, xy, xz, xy, yy, yz, xz, yz, zz;
  return J;
}

struct Placed {
  SE3 frame;
  Shape shape;
};

std::optional<Placed> read_mesh_geometry(const Element& mesh, const SE3& frame, bool touches,
                                         Context& context) {
  const std::string file = mesh.required_text("filename");
  const Vec3 scale = mesh.vec3("scale").value_or(Vec3::Ones());
  const MeshShape read = mesh_shape(context.folders, file, scale);
  if (!read.shape) {
    context.leave(mesh, "filename", read.why, touches);
    return std::nullopt;
  }
  if (!read.coarse.empty() && touches) context.assume(mesh, read.coarse);
  return Placed{frame, *read.shape};
}

// <geometry>, or nothing where a mesh is not there.
std::optional<Placed> read_geometry(const Element& owner, Context& context) {
  const SE3 frame = read_origin(owner);
  const Element geometry = owner.child("geometry");
  if (!geometry) throw owner.error("expected <geometry>, there is none");
  if (const Element box = geometry.child("box")) {
    const std::optional<Vec3> size = box.vec3("size");
    if (!size) throw box.error("the attribute 'size' is missing");
    if (size->minCoeff() <= 0)
      throw box.error("size", fmt::format("expected positive edge lengths, got {} {} {}", size->x(),
                                          size->y(), size->z()));
    return Placed{frame, Box{0.5 * *size}};
  }
  if (const Element sphere = geometry.child("sphere"))
    return Placed{frame, Sphere{positive_number(sphere, "radius")}};
  if (const Element cylinder = geometry.child("cylinder"))
    return Placed{z_to_x(frame), Cylinder{positive_number(cylinder, "radius"),
                                          0.5 * positive_number(cylinder, "length")}};
  if (const Element capsule = geometry.child("capsule"))
    return Placed{z_to_x(frame), Capsule{positive_number(capsule, "radius"),
                                         0.5 * positive_number(capsule, "length")}};
  if (const Element mesh = geometry.child("mesh"))
    return read_mesh_geometry(mesh, frame, owner.name() == "collision", context);
  throw geometry.error("expected box, sphere, cylinder, capsule or mesh");
}

std::optional<Vec4> read_colour(const Element& material) {
  const Element colour = material.child("color");
  if (!colour) return std::nullopt;
  const auto rgba = colour.numbers("rgba", 4, 4);
  if (!rgba) throw colour.error("the attribute 'rgba' is missing");
  for (const double x : *rgba)
    if (x < 0 || x > 1) throw colour.error("rgba", fmt::format("expected 0 to 1, got {}", x));
  return Vec4((*rgba)[0], (*rgba)[1], (*rgba)[2], (*rgba)[3]);
}

void read_material(const Element& visual, Context& context, std::optional<Vec4>& colour) {
  const Element material = visual.child("material");
  if (!material) return;
  const std::string name = material.text("name").value_or("");
  if (const auto own = read_colour(material)) {
    colour = own;
    if (!name.empty()) context.colours.emplace(name, *own);
  } else if (const auto known = context.colours.find(name); known != context.colours.end()) {
    colour = known->second;
  } else {
    context.leave(material, "name", "no material of this name has a colour", false);
  }
}

}  // namespace

void Context::assume(const Element& at, const std::string& message) {
  notes.push_back({RobotNote::Kind::assumed, {at.file(), at.line()}, at.label(), message});
}

void Context::leave(const Element& at, const std::string& attribute, const std::string& message,
                    bool matters) {
  notes.push_back({RobotNote::Kind::unused,
                   {at.file(), at.line()},
                   attribute.empty() ? at.label() : fmt::format("{} {}", at.label(), attribute),
                   message,
                   matters});
}

std::string Context::unique(const std::string& wish) {
  std::string name = wish;
  for (int k = 2; !shape_names.insert(name).second; ++k) name = fmt::format("{}_{}", wish, k);
  return name;
}

SE3 z_to_x(const SE3& frame) {
  Mat3 turn;
  turn << 0, 0, -1, 0, 1, 0, 1, 0, 0;  // maps x to z
  return frame * SE3{turn, Vec3::Zero()};
}

SE3 read_origin(const Element& parent) {
  const Element origin = parent.child("origin");
  if (!origin) return {};
  const Vec3 rpy = origin.vec3("rpy").value_or(Vec3::Zero());
  return {exp_so3(rpy.z() * Vec3::UnitZ()) * exp_so3(rpy.y() * Vec3::UnitY()) *
              exp_so3(rpy.x() * Vec3::UnitX()),
          origin.vec3("xyz").value_or(Vec3::Zero())};
}

std::optional<RigidInertia> read_inertial(const Element& link, Context& context) {
  const Element inertial = link.child("inertial");
  if (!inertial) return std::nullopt;
  const SE3 frame = read_origin(inertial);
  const Element mass = inertial.child("mass"), tensor = inertial.child("inertia");
  if (!mass) throw inertial.error("expected <mass>, there is none");
  if (!tensor) throw inertial.error("expected <inertia>, there is none");
  RigidInertia out;
  out.mass = mass.required_number("value");
  if (out.mass < 0) throw link.error(fmt::format("expected a mass >= 0, got {}", out.mass));
  out.com = frame.r;
  const Mat3 J = read_tensor(tensor, context);
  const Mat3 turned = frame.R * J * frame.R.transpose();
  out.about_com = frame.R == Mat3::Identity() ? J : Mat3(0.5 * (turned + turned.transpose()));
  return out;
}

std::vector<ShapeScene> read_collisions(const Element& link, const std::string& name,
                                        Context& context) {
  std::vector<ShapeScene> shapes;
  const std::vector<Element> all = link.children("collision");
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::optional<std::string> given = all[k].text("name");
    const std::optional<Placed> placed = read_geometry(all[k], context);
    if (!placed) continue;
    const std::string usual = all.size() == 1 ? name : fmt::format("{}_{}", name, k + 1);
    const std::string wish = given && !given->empty() ? *given : usual;
    shapes.push_back({context.unique(wish), name, placed->frame, placed->shape});
  }
  return shapes;
}

std::vector<VisualScene> read_visuals(const Element& link, const std::string& name,
                                      Context& context) {
  std::vector<VisualScene> visuals;
  for (const Element& e : link.children("visual")) {
    VisualScene v;
    const std::optional<std::string> given = e.text("name");
    read_material(e, context, v.colour);
    const std::optional<Placed> placed = read_geometry(e, context);
    if (!placed) continue;
    v.shape = {given.value_or(name), name, placed->frame, placed->shape};
    visuals.push_back(v);
  }
  return visuals;
}

void read_materials(const Element& robot, Context& context) {
  for (const Element& e : robot.children("material")) {
    const std::string name = e.required_text("name");
    if (const auto colour = read_colour(e)) context.colours[name] = *colour;
  }
}

}  // namespace saltus::urdf
