// The models of an SDF: the robot's, those within it and those of files that it includes; what
// their names mean, and where all that has a name stands.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "saltus/robots/urdf_parts.h"

namespace saltus::sdf {

using Element = XmlElement;
using urdf::Context;

// A model. The names in it are those of the robot behind its own: "arm::hand::finger".
struct Scope {
  Element model;
  std::string prefix;  // of its names: "" or "arm::"
  std::string base;    // its frame, by its whole name; "": the robot's
  std::string folder;  // of its file
  int version = 1005;  // of its file: 1.5

  [[nodiscard]] std::string full(const std::string& name) const;  // "", "__model__": the base
};

// Where links, joints, frames and models are, by whole names: their poses and what these are
// relative to.
class Frames {
 public:
  void read(const Scope& scope);
  // One within `outer`, which `pose` places, by its frame `placement` (empty: its own).
  void add_model(const Scope& outer, const Scope& inner, const Element& pose,
                 const std::string& placement);
  void set_canonical(const Scope& scope, const std::string& name);  // unless it is

  [[nodiscard]] bool known(const std::string& name) const { return given_.contains(name); }
  [[nodiscard]] SE3 pose(const std::string& name) const;  // in the robot's model; of a known one
  [[nodiscard]] SE3 pose_of_joint(const std::string& name) const;
  [[nodiscard]] SE3 relative(const std::string& name, const std::string& root) const;
  // The link that a link, joint, frame or model is part of, or nothing.
  [[nodiscard]] std::optional<std::string> link_of(const std::string& name) const;
  // The <pose> of a part of a link, in the link.
  [[nodiscard]] SE3 in_link(const Element& part, const Scope& scope, const SE3& link) const;

 private:
  struct Given {
    Element element;
    SE3 pose;
    std::string relative_to;  // empty: the robot's model
    std::string attached;     // empty: it is a link
    std::string placement;    // of a model
  };
  void add(const std::string& name, const Given& given);
  [[nodiscard]] Given placed(const Element& e, const Scope& scope, const std::string& usual) const;
  [[nodiscard]] SE3 step(const std::string& name) const;  // to what it is relative to

  static constexpr const char* nothing = "\n";  // no name

  std::unordered_map<std::string, Given> given_;
  std::string canonical_ = nothing;                                   // link of the robot's model
  mutable std::unordered_map<std::string, SE3> placed_;               // in the robot's model
  mutable std::unordered_map<std::string, std::optional<SE3>> step_;  // of placed models
};

// The files are read, and the models found in them.
class Models {
 public:
  // Throws InputError: no XML, no model. What is left out is noted.
  Models(const std::string& text, const std::string& name, Context& context);

  [[nodiscard]] const std::vector<Scope>& scopes() const { return scopes_; }  // the robot's first
  [[nodiscard]] const Frames& frames() const { return frames_; }
  [[nodiscard]] const std::vector<std::unique_ptr<XmlFile>>& files() const { return files_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const SE3& pose() const { return pose_; }  // of the robot's model in the world
  [[nodiscard]] bool is_static() const { return static_; }
  [[nodiscard]] const std::string& left_out() const { return left_out_; }  // the first model, why

 private:
  struct Found {
    Element model, include;  // no include: it stands in the file itself
    std::string folder, path;
    int version = 1005;
    [[nodiscard]] Element pose() const;
    [[nodiscard]] std::string placement() const;
    [[nodiscard]] bool is_static() const;
    [[nodiscard]] std::string name() const;
  };
  XmlFile& add_file(const std::string& text, const std::string& name, const std::string& path);
  [[nodiscard]] Found find_robot(const Element& top);
  void add(const Found& found, const Scope& scope);
  [[nodiscard]] std::optional<Found> included(const Element& include, const std::string& from);
  [[nodiscard]] std::string file_of(const std::string& uri, const std::string& from) const;
  [[nodiscard]] std::optional<std::string> find(const std::string& uri, const std::string& file,
                                                const std::string& from) const;
  void leave_whole(const Element& e, const std::string& why);

  Context& context_;
  std::vector<std::unique_ptr<XmlFile>> files_;
  std::map<std::string, XmlFile*> by_path_;
  std::vector<std::string> open_;  // paths of the files that are being read
  std::vector<Scope> scopes_;
  Frames frames_;
  std::string name_, left_out_;
  SE3 pose_;
  bool static_ = false;
};

}  // namespace saltus::sdf
