// Meshes: only files below the robot's folder are opened, and a robot does without them.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "saltus/geometry/hull.h"
#include "saltus/io/mesh_file.h"
#include "saltus/io/mjcf_reader.h"

namespace saltus::mjcf {

constexpr std::size_t most_vertices = 10'000'000;

// Tetrahedra from the origin to the triangles, with their signs: exact for a closed surface.
RigidInertia mesh_inertia(const Mesh& mesh) {
  if (mesh.triangles.empty()) return solid_hull(mesh.hull.hull->volume, *mesh.hull.hull);
  double volume = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();  // integral of r r'
  const Vec3 about = mesh.hull.hull->centroid;
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3) {
    const Vec3 a = mesh.vertices[mesh.triangles[i]] - about,
               b = mesh.vertices[mesh.triangles[i + 1]] - about,
               c = mesh.vertices[mesh.triangles[i + 2]] - about, sum = a + b + c;
    const double v = a.dot(b.cross(c)) / 6;
    volume += v;
    first += v / 4 * sum;
    second += v / 20 *
              (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
  }
  if (!(volume > 1e-9 * mesh.hull.hull->volume))  // open, or inside out
    return solid_hull(mesh.hull.hull->volume, *mesh.hull.hull);
  RigidInertia inertia;
  inertia.mass = volume;
  inertia.com = first / volume;
  const Mat3 about_com = second - volume * inertia.com * inertia.com.transpose();
  inertia.about_com = about_com.trace() * Mat3::Identity() - about_com;
  inertia.com += about;
  return inertia;
}

namespace {

Mesh load(Reader& reader, const Styled& s) {
  if (const Element* e = s.holder("vertex")) {
    const auto x = *e->numbers("vertex", 12, 3 * most_vertices);
    if (x.size() % 3 != 0) throw e->error("vertex", "expected three numbers a vertex");
    Mesh mesh;
    for (std::size_t i = 0; i < x.size(); i += 3)
      mesh.vertices.emplace_back(x[i], x[i + 1], x[i + 2]);
    return mesh;
  }
  namespace fs = std::filesystem;
  const auto given = s.text("file");
  if (!given) throw s.self().error("expected a file or vertices");
  const fs::path file = reader.compiler.strip_path ? fs::path(*given).filename() : fs::path(*given);
  const std::string path = (fs::path(reader.compiler.mesh_folder) / file).string();
  try {
    if (const auto found = path_in_folder(reader.sources.folder(), path)) {
      const MeshFile read = read_mesh_file(*found);
      return {read.vertices, read.triangles, {}};
    }
    reader.unused(s.self(), "file", fmt::format("there is no file '{}'", path));
  } catch (const InputError& e) {
    reader.unused(s.self(), "file", fmt::format("{}: {}", path, e.what()));
  }
  return {};
}

void place(const Styled& s, Mesh& mesh) {
  const auto scale = s.numbers("scale", {1, 1, 1}, 3);
  const Vec3 origin = s.vec3("refpos").value_or(Vec3::Zero());
  Mat3 R = Mat3::Identity();
  if (const Element* e = s.holder("refquat"))
    R = rotation_of(*e, "refquat", *e->numbers("refquat", 4, 4));
  const Vec3 factors(scale[0], scale[1], scale[2]);
  for (Vec3& v : mesh.vertices) v = factors.cwiseProduct(R.transpose() * (v - origin));
  if (factors.prod() < 0)  // a mirror turns the triangles inside out
    for (std::size_t i = 0; i < mesh.triangles.size(); i += 3)
      std::swap(mesh.triangles[i], mesh.triangles[i + 1]);
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
  if (!mesh.vertices.empty()) {
    try {
      mesh.hull = convex_hull(mesh.vertices);
    } catch (const InputError& e) { unused(s.self(), nullptr, e.what()); }
  }
  if (mesh.hull.hull) assumed(s.self(), nullptr, "the mesh touches as its convex hull");
  return meshes.emplace(name, std::move(mesh)).first->second;
}

}  // namespace saltus::mjcf
