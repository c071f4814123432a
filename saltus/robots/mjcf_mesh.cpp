// Meshes: only files below the robot's folder are opened, and a robot does without them.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "saltus/geometry/hull.h"
#include "saltus/robots/mjcf_reader.h"
#include "saltus/scene/mesh.h"

namespace saltus::mjcf {

constexpr std::size_t most_vertices = 10'000'000;

namespace {

struct Triangle {
  Vec3 corners[3];
  double area;
  Vec3 centre, normal;
};

Triangle triangle_of(const TriangleMesh& mesh, const std::array<int, 3>& t, const Vec3& origin) {
  Triangle x;
  for (int i = 0; i < 3; ++i) x.corners[i] = mesh.vertices[t[i]] - origin;
  const Vec3 twice = (x.corners[1] - x.corners[0]).cross(x.corners[2] - x.corners[0]);
  x.area = 0.5 * twice.norm();
  x.centre = (x.corners[0] + x.corners[1] + x.corners[2]) / 3;
  x.normal = x.area > 0 ? Vec3(twice / (2 * x.area)) : Vec3(Vec3::Zero());
  return x;
}

// Of the pyramid from the origin to a triangle, or of the triangle itself.
double weight_of(const Triangle& t, MeshInertia mode) {
  if (mode == MeshInertia::shell) return t.area;
  const double volume = t.centre.dot(t.normal) * t.area / 3;
  return mode == MeshInertia::legacy ? std::abs(volume) : volume;
}

}  // namespace

RigidInertia pyramid_inertia(const TriangleMesh& surface, MeshInertia mode) {
  double area = 0;
  Vec3 middle = Vec3::Zero();  // of the surface
  for (const auto& t : surface.triangles) {
    const Triangle x = triangle_of(surface, t, Vec3::Zero());
    area += x.area;
    middle += x.area * x.centre;
  }
  if (!(area > 0)) return {};
  middle /= area;
  RigidInertia unit;
  Vec3 first = Vec3::Zero();
  const double reach = mode == MeshInertia::shell ? 1 : 0.75;  // of a pyramid's centre
  for (const auto& t : surface.triangles) {
    const Triangle x = triangle_of(surface, t, middle);
    const double weight = weight_of(x, mode);
    unit.mass += weight;
    first += weight * reach * x.centre;
  }
  if (!(unit.mass > 0)) return {};
  unit.com = middle + first / unit.mass;
  // Volume and second moments by pyramids that meet in the centre of mass: of an open surface, or
  // in legacy mode, they are others than those above, and these are MuJoCo's.
  Mat3 second = Mat3::Zero();
  unit.mass = 0;
  for (const auto& t : surface.triangles) {
    const Triangle x = triangle_of(surface, t, unit.com);
    const Vec3 sum = 3 * x.centre;
    Mat3 products = sum * sum.transpose();
    for (const Vec3& c : x.corners) products += c * c.transpose();
    unit.mass += weight_of(x, mode);
    second += weight_of(x, mode) / (mode == MeshInertia::shell ? 12 : 20) * products;
  }
  unit.about_com = second.trace() * Mat3::Identity() - second;
  return unit;
}

namespace {

MeshInertia read_mode(const Styled& s) {
  const std::string mode = s.text("inertia").value_or("legacy");
  if (mode == "legacy") return MeshInertia::legacy;
  if (mode == "exact") return MeshInertia::exact;
  if (mode == "convex") return MeshInertia::convex;
  if (mode == "shell") return MeshInertia::shell;
  throw s.error("inertia", fmt::format("expected convex, exact, legacy or shell, got '{}'", mode));
}

Mesh load(Reader& reader, const Styled& s) {
  if (const Element* e = s.holder("vertex")) {
    const auto x = *e->numbers("vertex", 12, 3 * most_vertices);
    if (x.size() % 3 != 0) throw e->error("vertex", "expected three numbers a vertex");
    Mesh mesh;
    for (std::size_t i = 0; i < x.size(); i += 3)
      mesh.surface.vertices.emplace_back(x[i], x[i + 1], x[i + 2]);
    return mesh;
  }
  namespace fs = std::filesystem;
  const auto given = s.text("file");
  if (!given) throw s.self().error("expected a file or vertices");
  const fs::path file = reader.compiler.strip_path ? fs::path(*given).filename() : fs::path(*given);
  const std::string path = (fs::path(reader.compiler.mesh_folder) / file).string();
  try {
    if (const auto found = reader.sources.folders().find(path)) { return {read_mesh(*found)}; }
    Mesh none;
    none.why = fmt::format("there is no file '{}'", path);
    reader.unneeded(s.self(), "file", none.why);
    return none;
  } catch (const InputError& e) {
    Mesh none;
    none.why = fmt::format("{}: {}", path, e.what());
    reader.unneeded(s.self(), "file", none.why);
    return none;
  }
}

void place(const Styled& s, Mesh& mesh) {
  const auto scale = s.numbers("scale", {1, 1, 1}, 3);
  const Vec3 origin = s.vec3("refpos").value_or(Vec3::Zero());
  Mat3 R = Mat3::Identity();
  if (const Element* e = s.holder("refquat"))
    R = rotation_of(*e, "refquat", *e->numbers("refquat", 4, 4));
  const Vec3 factors(scale[0], scale[1], scale[2]);
  for (Vec3& v : mesh.surface.vertices) v = factors.cwiseProduct(R.transpose() * (v - origin));
  if (factors.prod() < 0)  // a mirror turns the triangles inside out
    for (auto& t : mesh.surface.triangles) std::swap(t[1], t[2]);
}

}  // namespace

const Mesh& Reader::mesh(const Styled& geom) {
  const std::string name = geom.text("mesh").value_or("");
  const auto asset = mesh_assets.find(name);
  if (asset == mesh_assets.end())
    throw geom.error("mesh", fmt::format("no mesh is called '{}'", name));
  if (const auto known = meshes.find(name); known != meshes.end()) return known->second;
  asset->second.mark();
  (void)asset->second.text("name");
  const Styled s = defaults.styled(asset->second, "");
  Mesh mesh = load(*this, s);
  place(s, mesh);
  if (!mesh.surface.vertices.empty()) {
    try {
      const CoarseHull coarse = mesh.surface.triangles.empty() ? coarse_hull(mesh.surface.vertices)
                                                               : coarse_hull_of(mesh.surface);
      mesh.hull = coarse.hull;
      if (coarse.merged > 0) assumed(s.self(), nullptr, coarse_text(coarse));
    } catch (const InputError& e) {
      mesh.why = e.what();
      unneeded(s.self(), nullptr, mesh.why);
    }
  }
  const MeshInertia mode = read_mode(s);
  if (mesh.hull.hull) {
    const bool convex = mode == MeshInertia::convex || mesh.surface.triangles.empty();
    mesh.unit = convex ? solid_hull(mesh.hull.hull->volume, *mesh.hull.hull)
                       : pyramid_inertia(mesh.surface, mode);
    assumed(s.self(), nullptr, "the mesh touches as its convex hull");
  }
  return meshes.emplace(name, std::move(mesh)).first->second;
}

}  // namespace saltus::mjcf
