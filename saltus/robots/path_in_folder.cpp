// Files that a robot file names: only below its own folder.
#include <fmt/format.h>

#include <filesystem>

#include "saltus/base/error.h"
#include "saltus/robots/robot.h"

namespace saltus {

std::optional<std::string> path_in_folder(const std::string& folder, const std::string& file) {
  namespace fs = std::filesystem;
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
  const fs::path inside = full.lexically_relative(root);
  if (inside.empty() || *inside.begin() == "..")
    throw InputError(fmt::format("'{}' leaves the robot's folder", file));
  if (!fs::is_regular_file(full, failure)) return std::nullopt;
  return full.string();
}

}  // namespace saltus
