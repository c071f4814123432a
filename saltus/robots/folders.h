// Files that a robot file names, and the only folders they are opened in.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace saltus {

// All of a file, up to one byte more than an XmlFile may have. Throws InputError: cannot be read,
// or is no plain file.
[[nodiscard]] std::string text_of_file(const std::string& path);

// A file below a folder, or nothing where it is absent (or the folder is empty). Throws InputError
// where the path, links followed, leaves the folder.
[[nodiscard]] std::optional<std::string> path_in_folder(const std::string& folder,
                                                        const std::string& file);

// Where a robot file may find others: its own folder; its package, the nearest folder above that
// holds a package.xml, manifest.xml or model.config, or the one above where its own is called
// urdf, robots, sdf or xacro and meshes lie beside it; and the folders that the user names.
class Folders {
 public:
  Folders() = default;  // none: nothing is opened
  // `named`: by the user (--package-path), each a package or a folder of packages. Packages that
  // are in none of these are looked for where ROS and Gazebo would: ROS_PACKAGE_PATH,
  // AMENT_PREFIX_PATH, GAZEBO_MODEL_PATH, GZ_SIM_RESOURCE_PATH.
  Folders(std::string own, const std::vector<std::string>& named);

  [[nodiscard]] const std::string& own() const { return own_; }
  [[nodiscard]] bool none() const { return own_.empty(); }
  // A path, from the robot's folder or the one given, or a name of ROS: package://name/path,
  // model://name/path, file://path. Nothing where it is absent; throws InputError where it is in
  // none of the folders.
  [[nodiscard]] std::optional<std::string> find(const std::string& file,
                                                const std::string& from = "") const;

 private:
  [[nodiscard]] std::optional<std::string> in_package(const std::string& name,
                                                      const std::string& rest) const;
  [[nodiscard]] std::optional<std::string> plain(const std::string& file,
                                                 const std::string& from) const;

  std::string own_, package_;       // canonical; package_ may be empty
  std::vector<std::string> named_;  // canonical
  std::vector<std::string> environment_;
};

}  // namespace saltus
