// Parts of an SDF that stand for themselves; sdf.cpp puts them together. Values are the text of
// elements, <mass>1.5</mass>.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "saltus/robots/urdf_parts.h"

namespace saltus::sdf {

using Element = XmlElement;
using urdf::Context;

[[nodiscard]] std::string word(const Element& e);  // its text without blanks around it
// Of a child element; nothing where there is none. Throw InputError where it is no number.
[[nodiscard]] std::optional<double> number_child(const Element& e, const char* name);
[[nodiscard]] std::optional<bool> boolean_child(const Element& e, const char* name);
[[nodiscard]] std::optional<Vec3> vec3_child(const Element& e, const char* name);
// x y z roll pitch yaw
[[nodiscard]] SE3 read_pose_text(const Element& pose);

// Where the links, joints and frames of a model are, by their poses and what they are relative to.
class Frames {
 public:
  void read(const Element& model);
  [[nodiscard]] SE3 pose(const std::string& name) const;  // in the model; of one that is known
  [[nodiscard]] bool known(const std::string& name) const { return given_.contains(name); }

 private:
  struct Given {
    Element element;
    SE3 pose;
    std::string relative_to;  // empty: the model
  };
  void add(const Element& e, const std::string& usual);
  std::unordered_map<std::string, Given> given_;
  mutable std::unordered_map<std::string, SE3> placed_;  // in the model
};

[[nodiscard]] std::optional<RigidInertia> read_inertial(const Element& link, Context& context);
// Kind and dofs of a <joint> that stands at X in the model; nothing where it is not supported,
// which is noted.
[[nodiscard]] std::optional<JointSpec> read_joint(const Element& joint, const SE3& X,
                                                  const Frames& frames, double version,
                                                  Context& context);
void read_shapes(const Element& link, const std::string& name, Context& context,
                 std::vector<ShapeScene>& shapes, std::vector<VisualScene>& visuals);
[[nodiscard]] std::string why_unread(const std::string& item);

}  // namespace saltus::sdf
