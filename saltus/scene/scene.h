// A scene: everything a run needs, as plain data, read from YAML (scene_read.cpp) and turned into
// a model, its actuation and its start state (scene_build.cpp). Paths are those of the document.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/analysis/holds.h"
#include "saltus/analysis/metrics.h"
#include "saltus/base/error.h"
#include "saltus/control/computed_torque.h"
#include "saltus/control/curvature_wave.h"
#include "saltus/control/locomotion.h"
#include "saltus/control/sensor.h"
#include "saltus/integrators/closure.h"
#include "saltus/integrators/integrator.h"
#include "saltus/model/snake.h"
#include "saltus/model/worm.h"

namespace saltus {

class Document;  // scene/document.h

// What comes from a robot file says from where: `source` is "a1.urdf:12", empty in the scene's own.
struct ShapeScene {
  std::string name, body = "world";
  SE3 frame;
  Shape shape = Sphere{};
  std::string source = {};
  Surface surface = {};
};

struct VisualScene {  // what is only seen
  ShapeScene shape;
  std::optional<Vec4> colour;  // red, green, blue, opacity: 0..1; none: the viewer chooses
};

struct BodyScene {
  std::string name;
  RigidInertia inertia;
  Mat6 added = Mat6::Zero();  // a fluid's added mass, about the body's frame
  JointSpec joint;
  std::optional<Signal> prescribed;  // of the joint's only coordinate
  std::vector<ShapeScene> shapes;
  std::string source = {};
};

struct LoopScene {
  std::string child;
  JointSpec joint;
  std::optional<Signal> prescribed;
  std::string source = {};
};

struct BendScene {
  BendSpec spec;
  std::optional<Signal> prescribed;
  std::vector<ShapeScene> shapes;  // at every station; `name` and `body` are the bend's
};

struct RodScene {
  RodSpec spec;
  std::vector<std::pair<std::string, Signal>> prescribed;  // coefficients, less the rod's name
  std::vector<std::pair<std::string, Signal>> muscles;     // likewise: their offsets
  std::vector<ShapeScene> shapes;  // at the base and every station; `name` and `body` are the rod's
  int touches = -1;                // of a segment; -1: as build_system chooses
};

struct ContactScene {
  std::vector<std::string> between;  // two patterns of shape names; * matches any text
  ContactLaw law;
  std::string source = {};
};

struct ExclusionScene {
  std::vector<std::string> bodies;  // patterns: of these none touches another
  std::string source = {};
};

struct SupportScene {
  std::vector<std::string> bodies;  // patterns
  double mu1 = 0, mu2 = 0, mu_back = -1;
  SlipRule rule = SlipRule::normal_cone;
  double dynamic = 1;
  double load = -1;  // [N]; negative: the body's weight
};

// What a motor is made of (Motor), besides its limit.
struct DriveScene {
  double gear = 1;
  double rotor = 0;  // inertia before the gear [kg m^2] or [kg]
  double lower = -infinity, upper = infinity;
  std::vector<double> speeds, torques;
  double lag = 0;       // [s]
  double backlash = 0;  // [rad] or [m]
};

struct MotorScene {
  std::vector<std::string> joints;  // patterns of coordinate names, in the model's order
  bool of_snake = false;            // its own joints instead, whatever others are called
  double kp = 0, kd = 0;
  std::optional<Signal> reference;
  std::optional<SerpenoidGait> gait;  // along the joints
  std::optional<Signal> torque;
  double limit = infinity;
  Servo servo = Servo::position;
  DriveScene drive;
  std::string source = {};
};

struct SensorScene {
  Sensor sensor;                    // but its joints, body and shape
  std::vector<std::string> joints;  // patterns of coordinate names, in the model's order
  std::string body, shape;
};

struct LocomotionScene {
  Locomotion locomotion;  // but the robot and its measures
  std::string trunk;
  std::vector<std::string> feet;
  double friction = -1, limit = infinity, measured_from = -1;
  std::string path;
};

struct PushScene {
  Push push;  // but its body
  std::string body, path;
};

struct SpringScene {
  Spring spring;                     // named by the scene, or spring1 ... in its order
  std::vector<std::string> between;  // bodies, or world
  std::optional<Signal> length;
};
struct DragScene {
  Drag drag;
  std::string body;
};
struct GapScene {
  GapContact contact;
  std::vector<std::string> joints;  // of the terms
};
struct CableScene {
  Cable cable;
  std::vector<std::string> bodies, joints;  // of its points and pulleys
  std::optional<Signal> length, pull;
  std::string source;  // the robot file that has it
};
// What is followed and stands by name.
struct ComputedTorqueScene {
  ComputedTorque settings;
  std::vector<std::string> joints;        // patterns; empty: those with motors
  std::vector<std::string> follow, feet;  // joints or bodies
  double limit = infinity;
  std::string path;
};
struct RunnerScene {
  Runner runner;
  std::string body;
  std::optional<Signal> steering;
};

struct WheelScene {
  Wheel wheel;
  std::string body;
};
// Of every body that the patterns name, or along them and along rods.
struct FluidScene {
  Fluid fluid;  // but its body; its flow and surface are those along bodies too
  std::vector<std::string> bodies, rods;
  std::optional<FluidSection> along;
  double length = 0;  // of each body, along its x [m]
  Vec3 middle = Vec3::Zero();
  int points = 2;
  struct Tail {
    std::string body;  // empty: the tip of the last rod, or the last body
    Vec3 point = Vec3::Zero(), outward = Vec3::UnitX();
  };
  std::optional<Tail> tail;
  std::string path;
};

struct WormScene {
  WormSpec spec;
  std::vector<Signal> lengths;   // of the springs; empty: constant
  std::vector<Signal> steering;  // of the masses; empty: 0
};

// A gait of several joints at once (control/shape_gait.h).
struct GaitScene {
  enum class Kind { serpenoid, ellipse, polygon, spline, table, signals, wave };
  std::string name;
  std::vector<std::string> joints;  // patterns of shape variables, each in the model's order
  Kind kind = Kind::signals;
  double amplitude = 0, omega = 1, lag = 0, offset = 0;
  CurvatureWave wave;
  double length = 1;  // of the chain [m]
  std::vector<double> centre, cosine, sine, times;
  std::vector<std::vector<double>> points;  // a row each; of a table one a time
  double period = 1;
  int cycles = 1;
  bool smooth = false;
  std::vector<Signal> signals;
  double duration = 0;  // [s]; 0: one period, or the scene's end
  bool drive = false;   // it prescribes its joints
  std::string path = {};
};
// One signal a joint. Throws InputError with the gait's path where their number does not fit.
[[nodiscard]] std::vector<Signal> gait_signals(const GaitScene& gait, std::size_t joints);
// [s]; 0: as long as the scene.
[[nodiscard]] double gait_duration(const GaitScene& gait);

// A point that is held while the shape moves (analysis/holds.h).
struct HoldScene {
  Hold hold;
  std::string body, path;
};
// Which lambda_stat is asked for (analysis/stress.h).
struct StressScene {
  double press = 0;       // least normal force of every hold that only pushes [N]
  double limit = 0;       // of every torque [N m], [N]; 0: none
  std::string path = {};  // empty: none is asked for
};

// What `saltus shape` looks at.
struct NetScene {
  std::string reference;             // body; empty: the root
  int connection = 0;                // auto, mechanical, stokes, kinematic
  std::vector<std::string> plane;    // two shape variables
  std::vector<double> lower, upper;  // of these
  std::vector<HoldScene> holds;
  std::optional<std::vector<std::string>> held;  // of these, by name; none: all
  StressScene stress;
};

struct InitialScene {
  std::vector<double> q, v;  // of one joint; empty: zero
};

struct SnakeScene {
  SnakeSpec spec;
  double kp = 0, kd = 0, limit = infinity;
  DriveScene drive;
  SerpenoidGait gait;
};

struct OutputScene {
  double interval = 0.01;   // between frames [s]
  double checkpoint = 1.0;  // between checkpoints [s]
  int impacts = 1000;       // of the first so many the states before and after
  bool modes = false;       // changes of mode of time stepping; event-driven runs always have them
};

// What becomes of shapes that begin inside each other.
enum class Overlap { warn, separate, refuse };

// The alternatives of Integrator. A scene has the options of all: studies compare them.
enum class Method { moreau, event_driven, rk4_projection, connection };

struct Scene {
  std::shared_ptr<const Document> document;
  std::string title, description;
  Vec3 gravity{0, 0, -9.81};
  bool planar = false;
  CoordinateSet coordinates = CoordinateSet::as_marked;
  std::optional<SnakeScene> snake;
  std::optional<WormScene> worm;
  std::vector<BodyScene> bodies;
  std::vector<BendScene> bends;
  std::vector<RodScene> rods;
  std::vector<LoopScene> loops;
  std::vector<ShapeScene> obstacles;
  std::vector<ContactScene> contacts;  // of those that name two shapes, the first holds
  std::vector<ExclusionScene> exclusions;
  std::vector<VisualScene> visuals;
  std::vector<SupportScene> supports;
  std::vector<SpringScene> springs;
  std::vector<DragScene> drags;
  std::vector<GapScene> gaps;
  std::vector<CableScene> cables;
  std::vector<RunnerScene> runners;
  std::vector<WheelScene> wheels;
  std::vector<FluidScene> fluids;  // and those of shape.resistance
  std::vector<MotorScene> motors;
  std::vector<GaitScene> gaits;
  NetScene net;  // the key `shape`
  std::vector<SensorScene> sensors;
  std::optional<LocomotionScene> locomotion;
  std::optional<ComputedTorqueScene> computed_torque;
  std::vector<PushScene> pushes;
  std::map<std::string, InitialScene> initial;  // by joint name
  std::vector<Probe> probes;
  std::vector<Metric> metrics;
  Method method = Method::moreau;
  MoreauMidpoint stepping;  // time.step is its dt; dt and impact law are those of all methods
  EventDriven events;       // besides
  double end = 1;           // [s]
  OutputScene output;
  bool allow_unconverged = false;
  Overlap overlap = Overlap::warn;
  bool robots = false;  // parts of robot files are among the above
};

// What advances its state.
[[nodiscard]] Integrator integrator_of(const Scene& scene);
// Event-driven, whatever the scene's method is.
[[nodiscard]] EventDriven event_driven(const Scene& scene);
[[nodiscard]] bool records_modes(const Scene& scene);

// Throws InputError with file, line and path.
[[nodiscard]] Scene read_scene(const Document& document);
[[nodiscard]] Scene read_scene(Document document, const std::vector<std::string>& overrides);
[[nodiscard]] Scene load_scene(const std::string& path, const std::vector<std::string>& overrides);
[[nodiscard]] std::string scene_schema();  // JSON
// The scene as YAML that needs no other file: robots are written out. Read again it gives the same
// scene to the last bit.
[[nodiscard]] std::string complete_text(const Scene& scene);

struct System {
  Model model;
  Actuation actuation;
  std::vector<Sensor> sensors;
  State start;
  ClosureReport closure;  // of the loops at the start
};
[[nodiscard]] System build_system(const Scene& scene);
// A run's start keeps its edges and wheels; who does not look at velocities need not ask for that.
enum class StartVelocities { checked, any };
[[nodiscard]] System build_system(const Scene& scene, StartVelocities velocities);
// Finds the robot at its start q and gives the actuation its controller. Throws InputError with the
// path.
void build_locomotion(const LocomotionScene& scene, const Model& model, VecIn q,
                      Actuation& actuation);
// The sensors of a scene on its model. Throws InputError with the path.
[[nodiscard]] std::vector<Sensor> build_sensors(const Scene& scene, const Model& model);

}  // namespace saltus
