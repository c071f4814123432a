// Values, joints and shapes of an SDF.
#include "saltus/robots/sdf_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
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
  const std::string format = pose.text("rotation_format").value_or("euler_rpy");
  const bool degrees = pose.boolean("degrees").value_or(false);
  if (format == "quat_xyzw") {
    if (degrees) throw pose.error("degrees", "expected false beside a quaternion");
    const auto x = numbers(pose, 7);
    const Quat p(x[6], x[3], x[4], x[5]);
    if (!(p.norm() > 1e-6)) throw pose.error("expected a quaternion, got zero");
    return {p.normalized().toRotationMatrix(), Vec3(x[0], x[1], x[2])};
  }
  if (format != "euler_rpy")
    throw pose.error("rotation_format",
                     fmt::format("expected euler_rpy or quat_xyzw, got '{}'", format));
  const auto x = numbers(pose, 6);
  const double unit = degrees ? std::numbers::pi / 180 : 1;
  return {exp_so3(unit * x[5] * Vec3::UnitZ()) * exp_so3(unit * x[4] * Vec3::UnitY()) *
              exp_so3(unit * x[3] * Vec3::UnitX()),
          Vec3(x[0], x[1], x[2])};
}

// --- links ---------------------------------------------------------------------------------------

std::optional<Placed> read_geometry(const Element& owner, const SE3& frame, const Scope& scope,
                                    Context& context) {
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
    const MeshShape read = mesh_shape(context.folders, word(uri),
                                      vec3_child(e, "scale").value_or(Vec3::Ones()), scope.folder);
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

void read_shapes(const Element& link, const SE3& X, const Scope& scope, const Frames& frames,
                 Context& context, std::vector<ShapeScene>& shapes,
                 std::vector<VisualScene>& visuals) {
  const std::string name = scope.full(link.required_text("name"));
  const std::vector<Element> all = link.children("collision");
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::string given = all[k].text("name").value_or("");
    const auto placed = read_geometry(all[k], frames.in_link(all[k], scope, X), scope, context);
    if (!placed) continue;
    const std::string usual = all.size() == 1 ? name : fmt::format("{}_{}", name, k + 1);
    shapes.push_back({context.unique(given.empty() ? usual : scope.prefix + given), name,
                      placed->frame, placed->shape});
  }
  for (const Element& e : link.children("visual")) {
    VisualScene v;
    const std::string given = e.text("name").value_or(name);  // of what is only seen
    if (const Element material = e.child("material"))
      for (const char* key : {"ambient", "diffuse"})
        if (const Element colour = material.child(key)) {
          const auto x = parse_numbers(colour.content());
          if (x && x->size() == 4 && (*x)[3] >= 0)
            v.colour = Vec4((*x)[0], (*x)[1], (*x)[2], (*x)[3]).cwiseMax(0).cwiseMin(1);
        }
    const auto placed = read_geometry(e, frames.in_link(e, scope, X), scope, context);
    if (!placed) continue;
    v.shape = {given, name, placed->frame, placed->shape};
    visuals.push_back(v);
  }
}

// --- joints --------------------------------------------------------------------------------------

namespace {

// In the joint's frame, which stands at X in the robot's model.
Vec3 read_axis(const Element& axis, const SE3& X, const Scope& scope, const Frames& frames) {
  const Element xyz = axis.child("xyz");
  Vec3 a = vec3_child(axis, "xyz").value_or(Vec3::UnitZ());
  if (!(a.norm() > 1e-12)) throw axis.error("expected a direction, got zero");
  a.normalize();
  const bool of_model =
      boolean_child(axis, "use_parent_model_frame").value_or(scope.version < 1005);
  if (const auto in = xyz ? xyz.text("expressed_in") : std::nullopt; in && !in->empty()) {
    const std::string name = scope.full(*in);
    if (!name.empty() && !frames.known(name))
      throw xyz.error(fmt::format("it is expressed in '{}', which is not there", *in));
    return X.R.transpose() * (frames.pose(name).R * a);
  }
  return of_model ? Vec3(X.R.transpose() * (frames.pose(scope.base).R * a)) : a;
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

namespace {

JointSpec turning(const Element& joint, const char* name, const SE3& X, const Scope& scope,
                  const Frames& frames, Context& context) {
  const Element axis = joint.child(name);
  if (!axis) throw joint.error(fmt::format("expected <{}>, there is none", name));
  JointSpec spec;
  spec.kind = Revolute{read_axis(axis, X, scope, frames)};
  spec.dofs = {read_dof(axis, context)};
  return spec;
}

}  // namespace

std::vector<JointSpec> read_joint(const Element& joint, const SE3& X, const Scope& scope,
                                  const Frames& frames, Context& context) {
  JointSpec spec;
  const std::string type = joint.required_text("type");
  if (type == "fixed") {
    spec.kind = Fixed{};
    return {spec};
  }
  if (type == "ball") {
    spec.kind = Spherical{};
    return {spec};
  }
  if (type == "universal" || type == "revolute2")
    return {turning(joint, "axis", X, scope, frames, context),
            turning(joint, "axis2", X, scope, frames, context)};
  if (type == "revolute" || type == "continuous" || type == "prismatic" || type == "screw") {
    spec = turning(joint, "axis", X, scope, frames, context);
    const Vec3 a = std::get<Revolute>(spec.kind).axis;
    if (type == "prismatic") spec.kind = Prismatic{a};
    if (type == "continuous") spec.dofs[0].lower = -infinity, spec.dofs[0].upper = infinity;
    if (type != "screw") return {spec};
    JointSpec slide;
    slide.kind = Prismatic{a};
    slide.dofs = {JointDof{}};
    return {spec, slide};
  }
  if (type != "gearbox")
    throw joint.error("type", fmt::format("expected fixed, revolute, continuous, prismatic, ball, "
                                          "gearbox, screw, universal or revolute2, got '{}'",
                                          type));
  context.leave(joint, "",
                fmt::format("a joint of type {} is not supported: its links are not joined", type));
  return {};
}

std::optional<double> screw_pitch(const Element& joint) {
  if (joint.node().attribute("type").value() != std::string("screw")) return std::nullopt;
  return number_child(joint, "screw_thread_pitch").value_or(1);
}

std::optional<Mimic> read_mimic(const Element& joint, const char* axis) {
  const Element of = joint.child(axis), e = of ? of.child("mimic") : Element();
  if (!e) return std::nullopt;
  const double ratio = number_child(e, "multiplier").value_or(1);
  return Mimic{
      e, e.required_text("joint"), e.text("axis").value_or("axis"), ratio,
      number_child(e, "offset").value_or(0) - ratio * number_child(e, "reference").value_or(0)};
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
