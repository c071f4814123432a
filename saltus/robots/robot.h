// A robot file (URDF, MJCF or SDF) as the parts of a scene, with what was understood of it, what
// was assumed and what was not used.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/geometry/hull.h"
#include "saltus/robots/folders.h"
#include "saltus/scene/robot_use.h"
#include "saltus/scene/scene.h"

namespace saltus {

// Where something of a robot stands in its files.
struct SourceLine {
  std::string file;
  int line = 0;
};

struct RobotNote {
  enum class Kind {
    assumed,  // the file is silent or ambiguous, and this was chosen
    changed,  // the file says something that no model can be, and this was taken instead
    unused    // an element or attribute that has no part in the model
  };
  Kind kind = Kind::assumed;
  SourceLine where;
  std::string item;     // "<joint name="knee"> calibration"
  std::string message;  // why, or what was chosen; may be empty for unused items
  bool matters = true;  // the motion is another for it; not: what is only seen or measured
};

struct RobotSite {  // a named frame: where sensors sit
  std::string name, body;
  SE3 frame;  // in the body
};

struct RobotKeyframe {
  std::string name;
  std::map<std::string, InitialScene> joints;  // by joint name
};

// A joint that follows another, both of one coordinate and of one tree: q = ratio q_leader +
// offset.
struct RobotCoupling {
  std::string follower, leader;  // joints; no leader: held at the offset
  double ratio = 1, offset = 0;  // [-] or [m/rad], [rad/m]; [rad] or [m]
  SourceLine where;
};

// Names are those of the file. Bodies come in its order, parents first. The root of a URDF has
// Fixed or Floating to the world, by the options.
struct Robot {
  std::string name, file, format;  // format: "urdf", "mjcf" or "sdf"
  std::vector<BodyScene> bodies;
  std::vector<SourceLine> body_lines;  // of each body
  std::vector<LoopScene> loops;
  std::vector<SourceLine> loop_lines;
  std::vector<RobotCoupling> couplings;
  std::vector<ShapeScene> obstacles;                          // shapes on the world
  std::vector<ContactScene> contacts;                         // laws the file states
  std::vector<std::pair<std::string, std::string>> excluded;  // bodies that never touch
  std::vector<VisualScene> visuals;
  std::vector<MotorScene> motors;
  std::vector<SourceLine> motor_lines;
  std::vector<CableScene> cables;  // tendons: their limits, springs and drives
  std::vector<SourceLine> cable_lines;
  std::vector<RobotSite> sites;
  std::vector<RobotKeyframe> keyframes;
  std::map<std::string, InitialScene> initial;  // by joint name, where no keyframe is asked for
  std::optional<Vec3> gravity;                  // where the file gives one [m/s^2]
  std::optional<double> timestep;               // [s]
  std::vector<RobotNote> notes;                 // in the order of the file
};

// By the root element of the file. Files it names (includes, meshes) are read only from its own
// folders (folders.h). Throws InputError with file and line.
[[nodiscard]] Robot load_robot(const std::string& path, const RobotOptions& options = {});
// The same of a text; files it names are looked for below `folder`, and with an empty folder none
// is opened (fuzzing).
[[nodiscard]] Robot read_robot(const std::string& text, const std::string& name,
                               const std::string& folder, const RobotOptions& options = {});

// Of one format each; called by read_robot.
[[nodiscard]] Robot read_urdf(const std::string& text, const std::string& name,
                              const std::string& folder, const RobotOptions& options);
[[nodiscard]] Robot read_sdf(const std::string& text, const std::string& name,
                             const std::string& folder, const RobotOptions& options);
[[nodiscard]] Robot read_mjcf(const std::string& text, const std::string& name,
                              const std::string& folder, const RobotOptions& options);

// Adds a coupling, or says why it cannot be kept: joints that are absent, have not one coordinate,
// or belong to two trees.
[[nodiscard]] std::string add_coupling(Robot& robot, const RobotCoupling& coupling);

// Whether an element or attribute that no one read, "<geom name="a"> gap", may change the motion.
[[nodiscard]] bool matters_unread(const std::string& item);

// The convex hull of a mesh file (STL, OBJ) that a robot file names, scaled; or why there is none.
// `from`: the folder of that file, where it is another than the robot's.
struct MeshShape {
  std::optional<Shape> shape;
  std::string why;     // there is none
  std::string coarse;  // it is coarser than the mesh's hull; empty: it is not
};
[[nodiscard]] std::string coarse_text(const CoarseHull& hull);  // empty: it is not
[[nodiscard]] MeshShape mesh_shape(const Folders& folders, const std::string& file,
                                   const Vec3& scale, const std::string& from = "");

// Adds the robot's parts behind those of the scene. Throws InputError on an unknown keyframe.
void add_robot(Scene& scene, const Robot& robot, const RobotUse& use);

// Whether a file is XML, by its first character; otherwise it is a scene.
[[nodiscard]] bool is_robot_file(const std::string& path);
// A scene that names the robot's file (base as in a scene), to be kept in the same folder.
[[nodiscard]] std::string scene_text(const Robot& robot, const std::string& base,
                                     const RobotOptions& options = {});

// A scene that runs the robot, alone: what `saltus import` and `saltus.load` build.
[[nodiscard]] Scene scene_of(const Robot& robot);
[[nodiscard]] std::string report_text(const Robot& robot);
[[nodiscard]] std::string report_json(const Robot& robot);

}  // namespace saltus
