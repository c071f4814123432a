// Parts of a URDF that stand for themselves; urdf.cpp puts them together.
#pragma once
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "saltus/robots/robot.h"
#include "saltus/robots/xml.h"

namespace saltus::urdf {

using Element = XmlElement;

// What all readers of a file's parts share.
struct Context {
  Folders folders;
  bool strict = false;
  std::vector<RobotNote> notes;
  std::map<std::string, Vec4> colours;          // of materials, by name
  std::unordered_set<std::string> shape_names;  // taken

  void assume(const Element& at, const std::string& message);
  void leave(const Element& at, const std::string& attribute, const std::string& message,
             bool matters = true);
  [[nodiscard]] std::string unique(const std::string& wish);  // a shape's name
};

// The axis of a cylinder is z in a URDF and an SDF, and x here.
[[nodiscard]] SE3 z_to_x(const SE3& frame);

// <origin xyz rpy>: R = Rz(yaw) Ry(pitch) Rx(roll); identity where there is none.
[[nodiscard]] SE3 read_origin(const Element& parent);
// <inertial>, in the link's frame; nothing where there is none.
[[nodiscard]] std::optional<RigidInertia> read_inertial(const Element& link, Context& context);
// <collision>s of a link.
[[nodiscard]] std::vector<ShapeScene> read_collisions(const Element& link, const std::string& name,
                                                      Context& context);
[[nodiscard]] std::vector<VisualScene> read_visuals(const Element& link, const std::string& name,
                                                    Context& context);
// Top-level <material>s.
void read_materials(const Element& robot, Context& context);
// Kind, placement, springs and limits of a <joint>; parent and child are not looked at.
[[nodiscard]] JointSpec read_joint(const Element& joint, Context& context);
// <mimic> of a joint, once all bodies are there.
void read_mimic(const Element& joint, const std::string& name, Context& context, Robot& out);
// <transmission>s become motors with the torque limit of their joint.
void read_transmissions(const Element& robot, const std::map<std::string, Element>& joints,
                        Context& context, Robot& out);

}  // namespace saltus::urdf
