// Parts of an SDF that stand for themselves; sdf.cpp puts them together. Values are the text of
// elements, <mass>1.5</mass>.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "saltus/robots/sdf_models.h"

namespace saltus::sdf {

[[nodiscard]] std::string word(const Element& e);  // its text without blanks around it
// Of a child element; nothing where there is none. Throw InputError where it is no number.
[[nodiscard]] std::optional<double> number_child(const Element& e, const char* name);
[[nodiscard]] std::optional<bool> boolean_child(const Element& e, const char* name);
[[nodiscard]] std::optional<Vec3> vec3_child(const Element& e, const char* name);
// x y z roll pitch yaw, or what its rotation_format says
[[nodiscard]] SE3 read_pose_text(const Element& pose);

struct Placed {
  SE3 frame;  // in the link
  Shape shape;
};
// Of a <collision> or <visual> at `frame`; nothing where it is not supported, which is noted.
[[nodiscard]] std::optional<Placed> read_geometry(const Element& owner, const SE3& frame,
                                                  const Scope& scope, Context& context);
// Of a link that stands at X in the robot's model.
[[nodiscard]] std::optional<RigidInertia> read_inertial(const Element& link, const SE3& X,
                                                        const Scope& scope, const Frames& frames,
                                                        Context& context);
// Kinds and dofs of a <joint> that stands at X in the robot's model: two follow each other where it
// has two axes or is a screw; none where it is not supported, which is noted.
[[nodiscard]] std::vector<JointSpec> read_joint(const Element& joint, const SE3& X,
                                                const Scope& scope, const Frames& frames,
                                                Context& context);
// How far a screw moves in a turn [m]; nothing of another joint.
[[nodiscard]] std::optional<double> screw_pitch(const Element& joint);
// q = ratio q_leader + offset
struct Mimic {
  Element element;
  std::string joint, axis;  // of the leader, as the file has them
  double ratio = 1, offset = 0;
};
[[nodiscard]] std::optional<Mimic> read_mimic(const Element& joint, const char* axis);
// Those of a link that stands at X.
void read_shapes(const Element& link, const SE3& X, const Scope& scope, const Frames& frames,
                 Context& context, std::vector<ShapeScene>& shapes,
                 std::vector<VisualScene>& visuals);
[[nodiscard]] std::string why_unread(const std::string& item);

}  // namespace saltus::sdf
