// Robot files: which reader, and meshes they name.
#include "saltus/robots/robot.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "saltus/geometry/mesh.h"
#include "saltus/robots/xml.h"
#include "saltus/scene/mesh.h"

namespace saltus {

namespace fs = std::filesystem;

bool is_robot_file(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  std::ifstream in(path, std::ios::binary);
  char c = 0;
  while (in.get(c)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x80) return c == '<';  // behind blanks and a byte-order mark
  }
  return false;
}

Robot load_robot(const std::string& path, const RobotOptions& options) {
  const fs::path folder = fs::path(path).parent_path();
  return read_robot(text_of_file(path), path, folder.empty() ? "." : folder.string(), options);
}

Robot read_robot(const std::string& text, const std::string& name, const std::string& folder,
                 const RobotOptions& options) {
  const std::string kind = XmlFile(text, name).root().name();
  if (kind == "robot") return read_urdf(text, name, folder, options);
  if (kind == "mujoco") return read_mjcf(text, name, folder, options);
  if (kind == "sdf") return read_sdf(text, name, folder, options);
  throw InputError(fmt::format(
      "{}: expected <robot> (URDF), <mujoco> (MJCF) or <sdf> (SDF), got <{}>", name, kind));
}

std::string coarse_text(const CoarseHull& hull) {
  if (hull.merged == 0) return "";
  return fmt::format(
      "its hull of {} corners is taken with {}: corners nearer than {:.3g} m to "
      "another are left out",
      hull.vertices, hull.hull.hull->vertices.size(), hull.merged);
}

MeshShape mesh_shape(const Folders& folders, const std::string& file, const Vec3& scale,
                     const std::string& from) {
  try {
    if (const auto path = folders.find(file, from)) {
      const CoarseHull hull = coarse_hull_of(read_mesh(*path), scale);
      return {hull.hull, "", coarse_text(hull)};
    }
  } catch (const InputError& e) { return {std::nullopt, e.what(), ""}; }
  return {std::nullopt, fmt::format("'{}' is not there", file), ""};
}

}  // namespace saltus
