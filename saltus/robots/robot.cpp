// Robot files: which reader, and meshes they name.
#include "saltus/robots/robot.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "saltus/geometry/mesh.h"
#include "saltus/robots/xml.h"
#include "saltus/scene/mesh.h"

namespace saltus {

namespace fs = std::filesystem;

namespace {

std::string text_of_file(const std::string& path) {
  const auto refuse = [&](int error) {
    return InputError(
        fmt::format("{}: cannot read: {}", path, std::generic_category().message(error)));
  };
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) throw refuse(EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw InputError(path + ": cannot read: expected a plain file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw refuse(errno);
  std::string text;
  std::vector<char> part(1U << 16U);
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > XmlFile::most_bytes) break;  // XmlFile says so
  }
  if (in.bad()) throw refuse(EIO);
  return text;
}

}  // namespace

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

MeshShape mesh_shape(const Folders& folders, const std::string& file, const Vec3& scale) {
  try {
    if (const auto path = folders.find(file)) {
      const CoarseHull hull = coarse_hull_of(read_mesh(*path), scale);
      return {hull.hull, "", coarse_text(hull)};
    }
  } catch (const InputError& e) { return {std::nullopt, e.what(), ""}; }
  return {std::nullopt, fmt::format("'{}' is not there", file), ""};
}

}  // namespace saltus
