// Meshes: only files below the robot's folder are opened, and a robot does without them.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "saltus/geometry/hull.h"
#include "saltus/robots/mjcf_reader.h"
#include "saltus/scene/mesh.h"

namespace saltus::mjcf {

constexpr std::size_t most_vertices = 10'000'000;

RigidInertia mesh_inertia(const Mesh& mesh) {
  try {
    return solid_mesh(volume_of(mesh.surface).volume, mesh.surface);
  } catch (const InputError&) {  // open, or vertices alone: as its hull, which the report says
    return solid_hull(mesh.hull.hull->volume, *mesh.hull.hull);
  }
}

namespace {

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
    if (const auto found = path_in_folder(reader.sources.folder(), path)) {
      return {read_mesh(*found), {}};
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
      mesh.hull = mesh.surface.triangles.empty() ? convex_hull(mesh.surface.vertices)
                                                 : hull_of(mesh.surface);
    } catch (const InputError& e) { unused(s.self(), nullptr, e.what()); }
  }
  if (mesh.hull.hull)
    assumed(s.self(), nullptr,
            "the mesh touches as its convex hull, and weighs as that where it is not closed");
  return meshes.emplace(name, std::move(mesh)).first->second;
}

}  // namespace saltus::mjcf
