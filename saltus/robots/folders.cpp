#include "saltus/robots/folders.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "saltus/base/error.h"
#include "saltus/robots/xml.h"

namespace saltus {

namespace fs = std::filesystem;

namespace {

constexpr int highest = 8;  // levels above a robot's folder that may be its package

std::string canonical(const std::string& folder) {
  std::error_code failure;
  const fs::path path = fs::canonical(folder, failure);
  return failure ? "" : path.string();
}

bool is_inside(const fs::path& full, const fs::path& root) {
  const fs::path inside = full.lexically_relative(root);
  return !inside.empty() && *inside.begin() != "..";
}

bool is_package(const fs::path& folder) {
  std::error_code failure;
  for (const char* mark : {"package.xml", "manifest.xml", "model.config"})
    if (fs::is_regular_file(folder / mark, failure)) return true;
  return false;
}

// ROS's layout without a mark: pkg/urdf/robot.urdf beside pkg/meshes.
bool is_layout(const fs::path& own) {
  static constexpr std::array<std::string_view, 4> names{"urdf", "robots", "sdf", "xacro"};
  std::error_code failure;
  for (const std::string_view name : names)
    if (own.filename() == name) return fs::is_directory(own.parent_path() / "meshes", failure);
  return false;
}

std::string package_of(const fs::path& own) {
  fs::path folder = own;
  for (int level = 0; level < highest && folder.has_relative_path(); ++level) {
    if (is_package(folder)) return folder.string();
    folder = folder.parent_path();
  }
  return is_layout(own) ? own.parent_path().string() : "";
}

void add_variable(const char* variable, const char* below, std::vector<std::string>& folders) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): read at the door
  std::string_view rest = value ? value : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.push_back((fs::path(rest.substr(0, end)) / below).string());
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace

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

std::optional<std::string> path_in_folder(const std::string& folder, const std::string& file) {
  const fs::path relative(file);
  if (relative.is_absolute())
    throw InputError(
        fmt::format("'{}' is an absolute path: files are read only below the "
                    "robot's folder",
                    file));
  if (folder.empty()) return std::nullopt;
  std::error_code failure;
  const fs::path root = fs::canonical(folder, failure);
  if (failure) return std::nullopt;
  const fs::path full = fs::weakly_canonical(root / relative, failure);  // links followed
  if (failure) return std::nullopt;
  if (!is_inside(full, root)) throw InputError(fmt::format("'{}' leaves the robot's folder", file));
  if (!fs::is_regular_file(full, failure)) return std::nullopt;
  return full.string();
}

Folders::Folders(std::string own, const std::vector<std::string>& named) : own_(std::move(own)) {
  if (own_.empty()) return;
  if (const std::string full = canonical(own_); !full.empty()) {
    own_ = full;
    package_ = package_of(full);
  }
  for (const std::string& folder : named) {
    named_.push_back(canonical(folder));
    if (named_.back().empty())
      throw InputError(fmt::format("the package path '{}' is no folder", folder));
  }
  add_variable("ROS_PACKAGE_PATH", "", environment_);
  add_variable("AMENT_PREFIX_PATH", "share", environment_);
  add_variable("GAZEBO_MODEL_PATH", "", environment_);
  add_variable("GZ_SIM_RESOURCE_PATH", "", environment_);
}

std::optional<std::string> Folders::find(const std::string& file, const std::string& from) const {
  for (const std::string& scheme : {std::string("package://"), std::string("model://")}) {
    if (!file.starts_with(scheme)) continue;
    const std::string rest = file.substr(scheme.size());
    const std::size_t slash = rest.find('/');
    if (slash == std::string::npos) return plain(rest, from);
    return in_package(rest.substr(0, slash), rest.substr(slash + 1));
  }
  const std::string scheme = "file://";
  return plain(file.starts_with(scheme) ? file.substr(scheme.size()) : file, from);
}

std::optional<std::string> Folders::in_package(const std::string& name,
                                               const std::string& rest) const {
  std::vector<std::pair<std::string, std::string>> places;  // folder, path in it
  for (const std::string& folder : named_) {
    places.emplace_back(folder, (fs::path(name) / rest).string());
    if (fs::path(folder).filename() == name || is_package(folder))
      places.emplace_back(folder, rest);
  }
  places.emplace_back(own_, (fs::path(name) / rest).string());
  if (!package_.empty()) places.emplace_back(package_, rest);
  places.emplace_back(own_, rest);
  for (const std::string& folder : environment_)
    places.emplace_back((fs::path(folder) / name).string(), rest);
  std::string outside;
  for (const auto& [folder, path] : places) {
    try {
      if (auto found = path_in_folder(folder, path)) return found;
    } catch (const InputError& e) { outside = e.what(); }
  }
  if (!outside.empty()) throw InputError(outside);
  return std::nullopt;
}

std::optional<std::string> Folders::plain(const std::string& file, const std::string& from) const {
  if (own_.empty()) return path_in_folder("", file);
  const fs::path start = from.empty() ? fs::path(own_) : fs::path(from);
  const bool absolute = fs::path(file).is_absolute();
  std::error_code failure;
  const fs::path full = fs::weakly_canonical(start / file, failure);
  if (failure) return std::nullopt;
  std::vector<std::string> roots = named_;
  if (!absolute) {
    roots.push_back(own_);
    if (!package_.empty()) roots.push_back(package_);
  }
  for (const std::string& root : roots) {
    if (!is_inside(full, root)) continue;
    if (!fs::is_regular_file(full, failure)) return std::nullopt;
    return full.string();
  }
  if (absolute) return path_in_folder(own_, file);  // says so
  throw InputError(fmt::format("'{}' leaves the robot's folder", file));
}

}  // namespace saltus
