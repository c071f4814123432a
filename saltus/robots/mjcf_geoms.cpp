// Geoms: what touches, what is seen, and what weighs.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "saltus/geometry/hull.h"
#include "saltus/robots/mjcf_reader.h"

namespace saltus::mjcf {

namespace {

constexpr double pi = std::numbers::pi;

// A geom in its own frame.
struct Solid {
  std::optional<Shape> shape;
  SE3 frame;          // of the shape in the geom: MuJoCo's long axis is z, ours x
  RigidInertia unit;  // of unit density
};

SE3 z_to_x() {
  SE3 X;
  X.R << Vec3::UnitZ(), Vec3::UnitY(), -Vec3::UnitX();
  return X;
}

RigidInertia homogeneous(double volume, const Vec3& moments_per_mass) {
  RigidInertia unit;
  unit.mass = volume;
  unit.about_com = (volume * moments_per_mass).asDiagonal();
  return unit;
}

Solid sphere(double r) {
  return {Sphere{r}, {}, homogeneous(4.0 / 3 * pi * r * r * r, Vec3::Constant(0.4 * r * r))};
}

Solid capsule(double r, double h) {
  // A cylinder and two half balls at +-h along z.
  const double tube = 2 * pi * r * r * h, ball = 4.0 / 3 * pi * r * r * r;
  const double across =
      tube * (3 * r * r + 4 * h * h) / 12 + ball * (0.4 * r * r + h * h + 0.75 * h * r);
  const double along = tube * r * r / 2 + ball * 0.4 * r * r;
  Solid s{Capsule{r, h}, z_to_x(), {}};
  s.unit.mass = tube + ball;
  s.unit.about_com = Vec3(across, across, along).asDiagonal();
  return s;
}

Solid cylinder(double r, double h) {
  const double across = (3 * r * r + 4 * h * h) / 12;
  return {Cylinder{r, h}, z_to_x(),
          homogeneous(2 * pi * r * r * h, Vec3(across, across, r * r / 2))};
}

Vec3 others(const Vec3& x) { return Vec3::Constant(x.sum()) - x; }

Solid ellipsoid(const Vec3& a) {
  return {Ellipsoid{a}, {}, homogeneous(4.0 / 3 * pi * a.prod(), others(a.cwiseAbs2()) / 5)};
}

Solid box(const Vec3& half) {
  return {Box{half}, {}, homogeneous(8 * half.prod(), others(half.cwiseAbs2()) / 3)};
}

std::vector<double> read_size(const Styled& s, const std::string& type, std::size_t count) {
  std::vector<double> size = s.numbers("size", {0, 0, 0});
  for (std::size_t i = 0; i < count; ++i)
    if (!(size[i] > 0))
      throw s.error("size", fmt::format("expected {} positive length{} for a {}, got {}", count,
                                        count == 1 ? "" : "s", type, fmt::join(size, " ")));
  return size;
}

// The two ends give the pose and the length of what is long along z.
std::optional<double> read_ends(const Styled& s, const std::string& type, SE3& pose) {
  const Element* e = s.holder("fromto");
  if (!e) return std::nullopt;
  if (type != "capsule" && type != "cylinder" && type != "box" && type != "ellipsoid")
    throw e->error("fromto", fmt::format("a {} has no two ends", type));
  const auto x = *e->numbers("fromto", 6, 6);
  const Vec3 from(x[0], x[1], x[2]), to(x[3], x[4], x[5]);
  if (!((from - to).norm() > 1e-10)) throw e->error("fromto", "expected two points, got one");
  pose = {turn_z_to(from - to), 0.5 * (from + to)};  // z towards the first, as MuJoCo has it
  return 0.5 * (from - to).norm();
}

Solid read_primitive(const Styled& s, const std::string& type, SE3& pose) {
  const std::optional<double> half = read_ends(s, type, pose);
  if (type == "sphere") return sphere(read_size(s, type, 1)[0]);
  if (type == "capsule" || type == "cylinder") {
    const auto size = read_size(s, type, half ? 1 : 2);
    const double h = half ? *half : size[1];
    return type == "capsule" ? capsule(size[0], h) : cylinder(size[0], h);
  }
  const auto size = read_size(s, type, half ? 1 : 3);
  const Vec3 x = half ? Vec3(size[0], size[0], *half) : Vec3(size[0], size[1], size[2]);
  return type == "box" ? box(x) : ellipsoid(x);
}

Touch read_touch(const Styled& s) {
  Touch t;
  t.contype = s.integer("contype").value_or(1);
  t.conaffinity = s.integer("conaffinity").value_or(1);
  t.condim = s.integer("condim").value_or(3);
  if (t.condim != 1 && t.condim != 3 && t.condim != 4 && t.condim != 6)
    throw s.error("condim", fmt::format("expected 1, 3, 4 or 6, got {}", t.condim));
  t.priority = s.integer("priority").value_or(0);
  const auto friction = s.numbers("friction", {t.friction.begin(), t.friction.end()});
  for (int i = 0; i < 3; ++i) {
    if (!(friction[i] >= 0))
      throw s.error("friction", fmt::format("expected numbers >= 0, got {}", friction[i]));
    t.friction[i] = friction[i];
  }
  return t;
}

struct GeomReader {
  Reader& reader;
  int body;
  std::string missing_{};  // why the last geom has no solid

  // Nothing where the geom has no part in the model.
  std::optional<Solid> read(const Styled& s, const std::string& type, SE3& pose) {
    if (type == "plane") {
      if (reader.bodies[body].weld != 0)
        throw s.self().error("a plane belongs to the world or a body fixed to it");
      if (s.has("size")) reader.unneeded(s.self(), "size", "a plane has no edges");
      return Solid{HalfSpace{}, {}, {}};
    }
    if (type == "hfield" || type == "sdf") {
      missing_ = fmt::format("a geom of type {} is not supported", type);
      reader.unused(s.self(), nullptr, missing_);
      return std::nullopt;
    }
    if (type == "mesh") return mesh(s);
    if (s.holder("mesh")) return fitted(s, type);
    return read_primitive(s, type, pose);
  }

  std::optional<Solid> mesh(const Styled& s) {
    const Mesh& m = reader.mesh(s);
    if (!m.hull.hull) {
      missing_ = m.why;
      const Touch t = read_touch(s);
      reader.note(RobotNote::Kind::unused, s.self(), "mesh",
                  "without the mesh this geom is neither seen nor touched",
                  t.contype != 0 || t.conaffinity != 0);
      return std::nullopt;
    }
    return Solid{m.hull, {}, m.unit};
  }

  // A primitive in place of a mesh: that of the box with the mesh's moments, MuJoCo's way.
  std::optional<Solid> fitted(const Styled& s, const std::string& type) {
    const Mesh& m = reader.mesh(s);
    if (!(m.unit.mass > 0)) {
      missing_ = m.why.empty() ? "the mesh encloses nothing" : m.why;
      reader.unused(s.self(), "mesh", missing_);
      return std::nullopt;
    }
    const Eigen::SelfAdjointEigenSolver<Mat3> axes(m.unit.about_com);
    const Vec3 least_first = axes.eigenvalues();
    const Vec3 moments(least_first[2], least_first[1], least_first[0]);  // z: the long axis
    SE3 principal;
    principal.r = m.unit.com;
    principal.R.col(2) = axes.eigenvectors().col(0);
    principal.R.col(1) = axes.eigenvectors().col(1);
    principal.R.col(0) = principal.R.col(1).cross(principal.R.col(2));
    const Vec3 squares = 6 / m.unit.mass * (others(moments) - moments).cwiseMax(0);
    const Vec3 half = s.number("fitscale").value_or(1) * 0.5 * squares.cwiseSqrt();
    const double radius = 0.5 * (half.x() + half.y());
    if (!(half.minCoeff() > 0)) throw s.error("mesh", "the mesh has no thickness to fit to");
    Solid solid = type == "sphere"     ? sphere(half.mean())
                  : type == "capsule"  ? capsule(radius, std::max(0.0, half.z() - radius / 2))
                  : type == "cylinder" ? cylinder(radius, half.z())
                  : type == "box"      ? box(half)
                                       : ellipsoid(half);
    solid.frame = principal * solid.frame;
    solid.unit.com = principal.r;
    const Mat3 J = principal.R * solid.unit.about_com * principal.R.transpose();
    solid.unit.about_com = 0.5 * (J + J.transpose());
    reader.assumed(s.self(), "mesh", fmt::format("a {} fitted to the mesh's moments", type));
    return solid;
  }

  // Whether a geom gives its body mass, where geoms do; of a solid whose volume is not known.
  [[nodiscard]] bool weighs(const Styled& s) const {
    const int group = s.integer("group").value_or(0);
    if (group < reader.compiler.first_group || group > reader.compiler.last_group) return false;
    return s.number("mass").value_or(s.number("density").value_or(1000)) > 0;
  }

  void weigh(const Styled& s, const Solid& solid, const SE3& frame, RigidInertia& sum) {
    if (!weighs(s)) {
      if (s.number("mass").value_or(s.number("density").value_or(1000)) < 0)
        throw s.error(s.has("mass") ? "mass" : "density", "expected a number >= 0");
      return;
    }
    if (s.boolean("shellinertia").value_or(false))
      reader.unused(s.self(), "shellinertia", "the geom weighs as a solid");
    const double density = s.number("density").value_or(1000);
    const double mass = s.number("mass").value_or(density * solid.unit.mass);
    if (solid.unit.mass == 0) return;
    RigidInertia part = solid.unit;
    part.about_com *= mass / solid.unit.mass;
    part.mass = mass;
    add_inertia(sum, part, frame);
  }

  void add(const Placed& p, int number, bool with_mass, RigidInertia& inertia) {
    const Styled s = reader.defaults.styled(p.element, p.childclass);
    const std::string type = s.text("type").value_or("sphere");
    static const std::set<std::string> known{"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                             "cylinder", "box",    "mesh",   "sdf"};
    if (!known.contains(type))
      throw s.error("type", fmt::format("expected {}, got '{}'", fmt::join(known, ", "), type));
    SE3 pose = read_pose(s, reader.compiler);
    GeomPart part;
    part.body = body;
    const auto own = p.element.text("name");
    part.name = reader.new_name(reader.shape_names, p.element,
                                fmt::format("{}.geom{}", reader.bodies[body].name, number));
    reader.geom_of[own.value_or(part.name)] = static_cast<int>(reader.geoms.size());
    const std::optional<Solid> solid = read(s, type, pose);
    part.touch = read_touch(s);
    if (solid) {
      if (with_mass) weigh(s, *solid, p.frame * pose, inertia);
      show(s, part, *solid, p.frame * pose);
    } else if (with_mass && type != "hfield" && reader.bodies[body].weld != 0 && weighs(s)) {
      throw s.self().error(fmt::format(
          "this geom gives its body mass and cannot: {}; give the body an <inertial>, or the geom "
          "mass=\"0\"",
          missing_));
    }
    reader.geoms.push_back(part);
  }

  // Shapes of bodies that never move are the world's: then they may touch a body that is joined
  // to theirs, as in MuJoCo.
  void show(const Styled& s, GeomPart& part, const Solid& solid, const SE3& frame) {
    const BodyPart& owner = reader.bodies[body];
    const bool still = owner.weld == 0;
    ShapeScene shape{part.name, still ? "world" : owner.name, frame * solid.frame, *solid.shape};
    if (still) shape.frame = owner.X * shape.frame;
    const bool touches = part.touch.contype != 0 || part.touch.conaffinity != 0 ||
                         reader.paired.contains(s.self().text("name").value_or(""));
    if (!touches) {
      reader.robot.visuals.push_back({shape, colour(s)});
      return;
    }
    part.shape = part.name;
    part.solid = shape.shape;
    if (still)
      reader.robot.obstacles.push_back(shape);
    else
      reader.robot.bodies[owner.index].shapes.push_back(shape);
  }

  std::optional<Vec4> colour(const Styled& s) {
    std::vector<double> rgba{0.5, 0.5, 0.5, 1};
    if (!s.has("material") && !s.has("rgba")) return std::nullopt;
    if (const auto name = s.text("material")) {
      const auto found = reader.materials.find(*name);
      if (found == reader.materials.end())
        throw s.error("material", fmt::format("no material is called '{}'", *name));
      found->second.mark();
      (void)found->second.text("name");
      rgba = reader.defaults.styled(found->second, "").numbers("rgba", {1, 1, 1, 1});
    }
    rgba = s.numbers("rgba", rgba);
    for (const double x : rgba)
      if (!(x >= 0 && x <= 1)) throw s.error("rgba", fmt::format("expected 0 to 1, got {}", x));
    return Vec4(rgba[0], rgba[1], rgba[2], rgba[3]);
  }
};

}  // namespace

void Reader::add_geoms(int body, const std::vector<Placed>& parts, bool with_mass,
                       RigidInertia& inertia) {
  GeomReader geom_reader{*this, body};
  int number = 0;
  for (const Placed& p : parts) {
    if (p.element.name() != "geom") continue;
    p.element.mark();
    geom_reader.add(p, ++number, with_mass, inertia);
  }
}

void Reader::read_assets() {
  for (const Element& e : sources.contents("contact"))
    for (const char* a : {"geom1", "geom2"})
      if (e.has(a)) paired.insert(*e.text(a));
  for (const Element& e : sources.contents("asset")) {
    std::string name = e.node().attribute("name").value();
    if (e.name() == "material" && !materials.emplace(name, e).second)
      unneeded(e, nullptr, fmt::format("the first material '{}' is taken", name));
    if (e.name() != "mesh") continue;
    if (name.empty())
      name = std::filesystem::path(e.node().attribute("file").value()).stem().string();
    if (!mesh_assets.emplace(name, e).second)
      throw e.error(fmt::format("the mesh name '{}' is taken", name));
  }
}

}  // namespace saltus::mjcf
