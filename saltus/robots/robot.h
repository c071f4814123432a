// A robot file (URDF or MJCF) as the parts of a scene, with what was understood of it, what was
// assumed and what was not used.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
    unused    // an element or attribute that has no part in the model
  };
  Kind kind = Kind::assumed;
  SourceLine where;
  std::string item;     // "<joint name="knee"> calibration"
  std::string message;  // why, or what was chosen; may be empty for unused items
};

struct RobotSite {  // a named frame: where sensors sit
  std::string name, body;
  SE3 frame;  // in the body
};

struct RobotKeyframe {
  std::string name;
  std::map<std::string, InitialScene> joints;  // by joint name
};

// Names are those of the file. Bodies come in its order, parents first. The root of a URDF has
// Fixed or Floating to the world, by the options.
struct Robot {
  std::string name, file, format;  // format: "urdf" or "mjcf"
  std::vector<BodyScene> bodies;
  std::vector<SourceLine> body_lines;  // of each body
  std::vector<LoopScene> loops;
  std::vector<SourceLine> loop_lines;
  std::vector<ShapeScene> obstacles;                          // shapes on the world
  std::vector<ContactScene> contacts;                         // laws the file states
  std::vector<std::pair<std::string, std::string>> excluded;  // bodies that never touch
  std::vector<VisualScene> visuals;
  std::vector<MotorScene> motors;
  std::vector<SourceLine> motor_lines;
  std::vector<RobotSite> sites;
  std::vector<RobotKeyframe> keyframes;
  std::map<std::string, InitialScene> initial;  // by joint name, where no keyframe is asked for
  std::optional<Vec3> gravity;                  // where the file gives one [m/s^2]
  std::optional<double> timestep;               // [s]
  std::vector<RobotNote> notes;                 // in the order of the file
};

// By the root element of the file. Files it names (includes, meshes) are read only below its own
// folder. Throws InputError with file and line.
[[nodiscard]] Robot load_robot(const std::string& path, const RobotOptions& options = {});
// The same of a text; files it names are looked for below `folder`, and with an empty folder none
// is opened (fuzzing).
[[nodiscard]] Robot read_robot(const std::string& text, const std::string& name,
                               const std::string& folder, const RobotOptions& options = {});

// Of one format each; called by read_robot.
[[nodiscard]] Robot read_urdf(const std::string& text, const std::string& name,
                              const std::string& folder, const RobotOptions& options);
[[nodiscard]] Robot read_mjcf(const std::string& text, const std::string& name,
                              const std::string& folder, const RobotOptions& options);

// A file that a robot file names, or nothing where it is absent (or the folder is empty). Throws
// InputError where the path, links followed, leaves the folder.
[[nodiscard]] std::optional<std::string> path_in_folder(const std::string& folder,
                                                        const std::string& file);

// The convex hull of a mesh file (STL, OBJ) that a robot file names, scaled; or why there is none.
// Names of ROS, package://name/path and file://path, are looked for below the folder.
struct MeshShape {
  std::optional<Shape> shape;
  std::string why;
};
[[nodiscard]] MeshShape mesh_shape(const std::string& folder, const std::string& file,
                                   const Vec3& scale);

// Adds the robot's parts behind those of the scene. Throws InputError on an unknown keyframe.
void add_robot(Scene& scene, const Robot& robot, const RobotUse& use);

// Whether a file is XML, by its first character; otherwise it is a scene.
[[nodiscard]] bool is_robot_file(const std::string& path);
// A scene that names the robot's file (base as in a scene), to be kept in the same folder.
[[nodiscard]] std::string scene_text(const Robot& robot, const std::string& base);

// A scene that runs the robot, alone: what `saltus import` and `saltus.load` build.
[[nodiscard]] Scene scene_of(const Robot& robot);
[[nodiscard]] std::string report_text(const Robot& robot);
[[nodiscard]] std::string report_json(const Robot& robot);

}  // namespace saltus
