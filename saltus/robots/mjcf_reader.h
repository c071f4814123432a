// What the parts of the MJCF reader share. Private to saltus/robots/mjcf*.cpp.
//
// A body's joints move it one after the other, each about its anchor p in the body:
//   X = X_file T(p1) J1(q1 - ref1) T(p1)^-1 T(p2) J2(q2 - ref2) T(p2)^-1 ...
// so q is MuJoCo's qpos; every joint but the last carries a massless body of ours.
#pragma once
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "saltus/geometry/mesh.h"
#include "saltus/robots/mjcf_source.h"
#include "saltus/robots/robot.h"

namespace saltus::mjcf {

struct Compiler {
  enum class FromGeom { no, yes, where_silent };
  bool degree = true, autolimits = true, balance = false, strip_path = false;
  std::array<char, 3> euler{'x', 'y', 'z'};  // capital: about the fixed axes
  FromGeom from_geom = FromGeom::where_silent;
  double least_mass = 0, least_inertia = 0;  // [kg], [kg m^2]
  double total_mass = -1;                    // [kg]; negative: as it is
  int first_group = 0, last_group = 5;       // geoms with these groups carry mass
  std::string mesh_folder;

  [[nodiscard]] double angle(double x) const;                   // [rad]
  [[nodiscard]] Mat3 euler_rotation(const Vec3& angles) const;  // in the order of `euler`
};

[[nodiscard]] Compiler read_compiler(const Sources& sources);
// Writes out every <replicate> (mjcf_replicate.cpp).
void expand_replicates(const Sources& sources, const Compiler& compiler);
// pos and one of quat, axisangle, xyaxes, zaxis, euler.
[[nodiscard]] SE3 read_pose(const Styled& e, const Compiler& compiler);
[[nodiscard]] Mat3 turn_z_to(const Vec3& direction);  // by the least rotation
[[nodiscard]] Mat3 rotation_of(const Element& e, const char* attribute,
                               const std::vector<double>& quaternion);

// How a geom takes part in contact.
struct Touch {
  int contype = 1, conaffinity = 1, condim = 3, priority = 0;
  std::array<double, 3> friction{1, 0.005, 0.0001};  // sliding [-], torsional, rolling [m]
  friend bool operator<(const Touch& a, const Touch& b) {
    return std::tie(a.contype, a.conaffinity, a.condim, a.priority, a.friction) <
           std::tie(b.contype, b.conaffinity, b.condim, b.priority, b.friction);
  }
};

struct GeomPart {
  std::string name = {}, shape = {};  // in the file, in the robot (empty: it has none)
  int body = 0;
  Touch touch = {};
  Shape solid = Sphere{};
};

struct JointPart {
  std::string name = {};
  Element element = {};
  Joint kind = Fixed{};
  std::vector<double> q = {};     // where the file draws it (MuJoCo's qpos0)
  double force_limit = infinity;  // of all actuators together [N m] or [N]
  bool in_file = true;            // else given by the options
  bool in_robot = true;           // else taken away by the options
};

struct BodyPart {
  std::string name = {};
  Element element = {};
  int parent = 0;
  SE3 X = {};          // in the world where the file draws it
  bool moves = false;  // has joints
  bool held = false;   // had a free joint, but for the options
  int weld = 0;        // the body it moves with: itself, or an ancestor; 0: the world
  int index = -1;      // in Robot::bodies
};

// Something inside a body, frames undone.
struct Placed {
  Element element;
  SE3 frame;  // in the body
  std::string childclass;
};

// A tendon's way; what it does is cables of the robot along it.
struct TendonPart {
  CableScene path = {};
  double start = 0;  // its length where the file draws the robot [m] or [rad]
  Vec3 last = Vec3::Zero();
  std::string why = {};                       // it is not built
  [[nodiscard]] CableScene reversed() const;  // of a fixed tendon
};

struct Mesh {
  TriangleMesh surface;    // may have no triangles
  ConvexHull hull = {};    // null where the mesh is absent or flat
  RigidInertia unit = {};  // of unit density
  std::string why = {};    // there is no hull
};

struct Reader {
  Sources sources;
  Defaults defaults;
  Compiler compiler;
  RobotOptions options = {};
  Robot robot = {};
  std::vector<BodyPart> bodies = {};  // the first is the world
  std::vector<GeomPart> geoms = {};
  std::vector<JointPart> joints = {};  // in the order of qpos
  std::map<std::string, Element> mesh_assets = {};
  std::map<std::string, Element> materials = {};
  std::set<std::string> paired = {};        // geoms that a <pair> names
  std::map<std::string, Mesh> meshes = {};  // those that geoms asked for
  std::map<std::string, int> body_of = {}, joint_of = {}, geom_of = {};  // by the file's names
  std::map<std::string, std::pair<int, SE3>> site_of = {};               // body and frame in it
  std::vector<TendonPart> tendons = {};
  std::map<std::string, int> tendon_of = {};  // by the file's names
  std::set<std::string> body_names = {}, joint_names = {}, shape_names = {}, tendon_names = {};
  bool contacts = true, parents_excluded = true;  // flags

  void note(RobotNote::Kind kind, const Element& e, const char* attribute,
            const std::string& message, bool matters = true);
  void assumed(const Element& e, const char* attribute, const std::string& message) {
    note(RobotNote::Kind::assumed, e, attribute, message);
  }
  void changed(const Element& e, const char* attribute, const std::string& message) {
    note(RobotNote::Kind::changed, e, attribute, message);
  }
  void unused(const Element& e, const char* attribute, const std::string& message) {
    note(RobotNote::Kind::unused, e, attribute, message);
  }
  // The motion is the same without it.
  void unneeded(const Element& e, const char* attribute, const std::string& message) {
    note(RobotNote::Kind::unused, e, attribute, message, false);
  }
  // A name no one has: the file's own, else `fallback`, with a number behind it where taken.
  [[nodiscard]] std::string new_name(std::set<std::string>& taken, const Element& e,
                                     const std::string& fallback);
  [[nodiscard]] int find_body(const Element& e, const char* attribute,
                              const std::string& name) const;

  void read_options();     // mjcf.cpp
  void read_assets();      // mjcf_geoms.cpp
  void read_world();       // mjcf_bodies.cpp
  void read_contacts();    // mjcf_contacts.cpp
  void read_equalities();  // mjcf_equalities.cpp
  void read_tendons();     // mjcf_tendons.cpp
  void read_actuators();   // mjcf_actuators.cpp
  void read_keyframes();   // mjcf_equalities.cpp
  void finish_masses();    // mjcf_inertia.cpp
  void collect_unread();   // mjcf_notes.cpp

  // mjcf_bodies.cpp
  void read_body(const Element& e, int parent, const SE3& frame, std::string childclass, int depth);
  void gather(const Element& e, const SE3& frame, const std::string& childclass, int depth,
              std::vector<Placed>& parts) const;
  void read_sites(int body, const std::vector<Placed>& parts);
  // mjcf_joints.cpp: the joints of a body, as bodies of the robot; the last has no inertia yet.
  void add_joints(int body, const std::vector<Placed>& parts, const SE3& X);
  // auto: limited where a range is given and the compiler says so.
  [[nodiscard]] bool is_limited(const Styled& s, const char* attribute, const char* range);
  // mjcf_geoms.cpp: the shapes, and the inertia of those that carry any.
  void add_geoms(int body, const std::vector<Placed>& parts, bool with_mass, RigidInertia& inertia);
  [[nodiscard]] const Mesh& mesh(const Styled& geom);
  // mjcf_inertia.cpp
  [[nodiscard]] RigidInertia bounded(const Element& e, RigidInertia inertia) const;
  [[nodiscard]] RigidInertia read_inertial(const Element& e) const;
};

// Adds an inertia at a frame; both about their centres of mass.
void add_inertia(RigidInertia& sum, const RigidInertia& part, const SE3& frame);
// How a mesh weighs, as MuJoCo's compiler has it. legacy and exact: pyramids from the centre of its
// surface to its triangles, those seen from behind counted positive (legacy) or negative; convex:
// its hull; shell: its surface alone.
enum class MeshInertia { legacy, exact, convex, shell };
// Of unit density (a surface density for shells), about the centre of mass.
[[nodiscard]] RigidInertia pyramid_inertia(const TriangleMesh& surface, MeshInertia mode);

// Why something of a file is not used.
[[nodiscard]] std::string why_unused(const std::string& tag, const std::string& attribute);

}  // namespace saltus::mjcf
