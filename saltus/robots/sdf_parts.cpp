// Values, frames, inertials, joints and shapes of an SDF.
#include "saltus/robots/sdf_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "saltus/lie/so3.h"

namespace saltus::sdf {

std::string word(const Element& e) {
  const std::string text = e.content();
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

namespace {

std::vector<double> numbers(const Element& e, std::size_t count) {
  const auto all = parse_numbers(e.content());
  if (!all || all->size() != count)
    throw e.error(
        fmt::format("expected {} number{}, got '{}'", count, count == 1 ? "" : "s", word(e)));
  // Limits may be: SDF's own word for none is 1e16, others write 1e308.
  constexpr double largest = 1e100;  // products of two still are numbers
  static constexpr std::array unbounded{"lower", "upper", "effort", "velocity"};
  if (std::find(unbounded.begin(), unbounded.end(), std::string_view(e.name())) == unbounded.end())
    for (const double x : *all)
      if (std::abs(x) > largest)
        throw e.error(
            fmt::format("expected numbers of at most {:g} in size, got {:g}", largest, x));
  return *all;
}

double required(const Element& e, const char* name) {
  const auto x = number_child(e, name);
  if (!x) throw e.error(fmt::format("expected <{}>, there is none", name));
  return *x;
}

double positive(const Element& e, const char* name) {
  const double x = required(e, name);
  if (!(x > 0)) throw e.child(name).error(fmt::format("expected a positive length, got {}", x));
  return x;
}

}  // namespace

std::optional<double> number_child(const Element& e, const char* name) {
  const Element c = e.child(name);
  return c ? std::optional(numbers(c, 1)[0]) : std::nullopt;
}

std::optional<Vec3> vec3_child(const Element& e, const char* name) {
  const Element c = e.child(name);
  if (!c) return std::nullopt;
  const auto x = numbers(c, 3);
  return Vec3(x[0], x[1], x[2]);
}

std::optional<bool> boolean_child(const Element& e, const char* name) {
  const Element c = e.child(name);
  if (!c) return std::nullopt;
  const std::string given = word(c);
  if (given == "true" || given == "1") return true;
  if (given == "false" || given == "0") return false;
  throw c.error(fmt::format("expected true or false, got '{}'", given));
}

SE3 read_pose_text(const Element& pose) {
  const auto x = numbers(pose, 6);
  return {
      exp_so3(x[5] * Vec3::UnitZ()) * exp_so3(x[4] * Vec3::UnitY()) * exp_so3(x[3] * Vec3::UnitX()),
      Vec3(x[0], x[1], x[2])};
}

// --- frames --------------------------------------------------------------------------------------

void Frames::add(const Element& e, const std::string& usual) {
  const std::string name = e.required_text("name");
  Given given{e, {}, usual};
  if (const Element pose = e.child("pose")) {
    given.pose = read_pose_text(pose);
    for (const char* attribute : {"relative_to", "frame"})
      if (const auto to = pose.text(attribute); to && !to->empty()) given.relative_to = *to;
  }
  if (given.relative_to == "__model__") given.relative_to = "";
  given_.emplace(name, given);
}

void Frames::read(const Element& model) {
  for (const Element& e : model.children("link")) add(e, "");
  for (const Element& e : model.children("joint")) {
    const Element child = e.child("child");
    const std::string name = child ? word(child) : "";
    add(e, name == "world" ? "" : name);
  }
  for (const Element& e : model.children("frame")) add(e, e.text("attached_to").value_or(""));
}

// Each is found once: a chain of links, each relative to the one before, has as many as links.
SE3 Frames::pose(const std::string& name) const {
  std::vector<const Given*> chain;  // up to what is known, or to the model
  std::string at = name;
  for (; !at.empty() && !placed_.contains(at); at = chain.back()->relative_to) {
    const auto found = given_.find(at);
    if (found == given_.end()) {
      const Element& e = given_.at(name).element;
      throw e.error(fmt::format("its pose is relative to '{}', which is not there", at));
    }
    if (chain.size() > given_.size())
      throw chain.back()->element.error("its pose is relative to itself");
    chain.push_back(&found->second);
  }
  SE3 X = at.empty() ? SE3() : placed_.at(at);
  for (std::size_t i = chain.size(); i-- > 0;) {
    X = X * chain[i]->pose;
    placed_[i == 0 ? name : chain[i - 1]->relative_to] = X;
  }
  return X;
}

// --- links ---------------------------------------------------------------------------------------

std::optional<RigidInertia> read_inertial(const Element& link, Context& context) {
  const Element inertial = link.child("inertial");
  if (!inertial) return std::nullopt;
  RigidInertia out;
  SE3 frame;
  if (const Element pose = inertial.child("pose")) frame = read_pose_text(pose);
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

namespace {

struct Placed {
  SE3 frame;
  Shape shape;
};

std::optional<Placed> read_geometry(const Element& owner, Context& context) {
  SE3 frame;
  if (const Element pose = owner.child("pose")) frame = read_pose_text(pose);
  const Element geometry = owner.child("geometry");
  if (!geometry) throw owner.error("expected <geometry>, there is none");
  const bool touches = owner.name() == "collision";
  if (const Element e = geometry.child("box")) {
    const auto size = vec3_child(e, "size");
    if (!size || size->minCoeff() <= 0) throw e.error("expected a <size> of positive edge lengths");
    return Placed{frame, Box{0.5 * *size}};
  }
  if (const Element e = geometry.child("sphere"))
    return Placed{frame, Sphere{positive(e, "radius")}};
  if (const Element e = geometry.child("cylinder"))
    return Placed{urdf::z_to_x(frame),
                  Cylinder{positive(e, "radius"), 0.5 * positive(e, "length")}};
  if (const Element e = geometry.child("capsule"))
    return Placed{urdf::z_to_x(frame), Capsule{positive(e, "radius"), 0.5 * positive(e, "length")}};
  if (const Element e = geometry.child("ellipsoid")) {
    const auto radii = vec3_child(e, "radii");
    if (!radii || radii->minCoeff() <= 0) throw e.error("expected <radii> of positive lengths");
    return Placed{frame, Ellipsoid{*radii}};
  }
  if (const Element e = geometry.child("mesh")) {
    const Element uri = e.child("uri");
    if (!uri) throw e.error("expected <uri>, there is none");
    const MeshShape read =
        mesh_shape(context.folders, word(uri), vec3_child(e, "scale").value_or(Vec3::Ones()));
    if (!read.shape) {
      context.leave(uri, "", read.why, touches);
      return std::nullopt;
    }
    if (!read.coarse.empty() && touches) context.assume(e, read.coarse);
    return Placed{frame, *read.shape};
  }
  context.leave(geometry, "", "expected box, sphere, cylinder, capsule, ellipsoid or mesh",
                touches);
  return std::nullopt;
}

}  // namespace

void read_shapes(const Element& link, const std::string& name, Context& context,
                 std::vector<ShapeScene>& shapes, std::vector<VisualScene>& visuals) {
  const std::vector<Element> all = link.children("collision");
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::string given = all[k].text("name").value_or("");
    const auto placed = read_geometry(all[k], context);
    if (!placed) continue;
    const std::string usual = all.size() == 1 ? name : fmt::format("{}_{}", name, k + 1);
    shapes.push_back(
        {context.unique(given.empty() ? usual : given), name, placed->frame, placed->shape});
  }
  for (const Element& e : link.children("visual")) {
    VisualScene v;
    const std::string given = e.text("name").value_or(name);
    if (const Element material = e.child("material"))
      for (const char* key : {"ambient", "diffuse"})
        if (const Element colour = material.child(key)) {
          const auto x = parse_numbers(colour.content());
          if (x && x->size() == 4 && (*x)[3] >= 0)
            v.colour = Vec4((*x)[0], (*x)[1], (*x)[2], (*x)[3]).cwiseMax(0).cwiseMin(1);
        }
    const auto placed = read_geometry(e, context);
    if (!placed) continue;
    v.shape = {given, name, placed->frame, placed->shape};
    visuals.push_back(v);
  }
}

// --- joints --------------------------------------------------------------------------------------

namespace {

// In the joint's frame, which stands at X in the model.
Vec3 read_axis(const Element& axis, const SE3& X, const Frames& frames, double version) {
  const Element xyz = axis.child("xyz");
  Vec3 a = vec3_child(axis, "xyz").value_or(Vec3::UnitZ());
  if (!(a.norm() > 1e-12)) throw axis.error("expected a direction, got zero");
  a.normalize();
  const bool of_model = boolean_child(axis, "use_parent_model_frame").value_or(version < 1.5);
  if (const auto in = xyz ? xyz.text("expressed_in") : std::nullopt; in && !in->empty()) {
    const bool model = *in == "__model__";
    if (!model && !frames.known(*in))
      throw xyz.error(fmt::format("it is expressed in '{}', which is not there", *in));
    const Mat3 R = model ? Mat3(Mat3::Identity()) : frames.pose(*in).R;
    return X.R.transpose() * (R * a);
  }
  return of_model ? Vec3(X.R.transpose() * a) : a;
}

JointDof read_dof(const Element& axis, Context& context) {
  JointDof dof;
  if (const Element limit = axis.child("limit")) {
    const double lower = number_child(limit, "lower").value_or(-infinity),
                 upper = number_child(limit, "upper").value_or(infinity);
    if (lower > upper)
      throw limit.error(fmt::format("expected lower <= upper, got {} and {}", lower, upper));
    constexpr double unlimited = 1e15;  // SDF's own word for none is 1e16
    if (lower == upper)
      context.assume(limit, fmt::format("lower and upper are both {}: unlimited", lower));
    else {
      if (lower > -unlimited) dof.lower = lower;
      if (upper < unlimited) dof.upper = upper;
    }
  }
  if (const Element dynamics = axis.child("dynamics")) {
    const auto given = [&](const char* name) {
      const double x = number_child(dynamics, name).value_or(0);
      if (x < 0) throw dynamics.child(name).error(fmt::format("expected a number >= 0, got {}", x));
      return x;
    };
    dof.damping = given("damping");
    dof.friction = given("friction");
    dof.stiffness = given("spring_stiffness");
    dof.rest = number_child(dynamics, "spring_reference").value_or(0);
  }
  return dof;
}

}  // namespace

std::optional<JointSpec> read_joint(const Element& joint, const SE3& X, const Frames& frames,
                                    double version, Context& context) {
  JointSpec spec;
  const std::string type = joint.required_text("type");
  if (type == "fixed") {
    spec.kind = Fixed{};
    return spec;
  }
  if (type == "ball") {
    spec.kind = Spherical{};
    return spec;
  }
  if (type == "revolute" || type == "continuous" || type == "prismatic") {
    const Element axis = joint.child("axis");
    if (!axis) throw joint.error("expected <axis>, there is none");
    const Vec3 a = read_axis(axis, X, frames, version);
    spec.kind = type == "prismatic" ? Joint(Prismatic{a}) : Joint(Revolute{a});
    spec.dofs = {read_dof(axis, context)};
    if (type == "continuous") spec.dofs[0].lower = -infinity, spec.dofs[0].upper = infinity;
    return spec;
  }
  if (type != "gearbox" && type != "screw" && type != "universal" && type != "revolute2")
    throw joint.error("type", fmt::format("expected fixed, revolute, continuous, prismatic, ball, "
                                          "gearbox, screw, universal or revolute2, got '{}'",
                                          type));
  context.leave(joint, "",
                fmt::format("a joint of type {} is not supported: its links are not joined", type));
  return std::nullopt;
}

std::string why_unread(const std::string& item) {
  const std::pair<std::string_view, const char*> reasons[] = {
      {"<plugin", "it speaks to Gazebo"},
      {"<sensor", "sensors are given in the scene"},
      {"<surface", "contact laws are given in the scene"},
      {"<effort", "the joint has no motor that it would limit"},
      {"<velocity", "speeds of joints have no limit"},
      {"<self_collide", "a scene says so by self_contact"},
      {"<material", "the viewer has its own light"}};
  for (const auto& [start, why] : reasons)
    if (item.starts_with(start)) return why;
  return "not supported";
}

}  // namespace saltus::sdf
