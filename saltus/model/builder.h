// Builds and validates a Model. Bodies may come in any order and name parents that come later.
// Every complaint is an InputError with the path of the culprit (bodies[3].mass).
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "saltus/model/model.h"
#include "saltus/rods/segment.h"

namespace saltus {

struct JointSpec {
  std::string name;  // empty: the body's name
  std::string parent = "world";
  Joint kind = Fixed{};
  SE3 placement;               // of the joint's frame in the parent
  SE3 in_body;                 // of the joint's frame in the body
  std::vector<JointDof> dofs;  // one per scalar coordinate, or empty, or one for all
  bool cut = false;
  bool driven = false;  // spherical: it follows a rotation vector of the actuation
};

// A link of constant curvature (Bend): one angle, inertia along its length at Gauss points. Its
// stations are bodies, NAME.1 to NAME.n by arc length, and NAME.tip, a place without inertia at its
// end; what hangs on it names one of them.
struct BendSpec {
  std::string name;  // of the coordinate too
  std::string parent = "world";
  SE3 placement;                // of its base in the parent
  Vec3 axis = Vec3::UnitY();    // that it bends about; across the base's x-axis
  double length = 1;            // [m]
  double mass = 1;              // of all of it, evenly along its length [kg]
  Vec3 section = Vec3::Zero();  // squared radii of gyration of a slice about x, y, z [m^2]
  int stations = 4;             // Gauss points
  JointDof dof;                 // of the angle: stiffness E I / L, damping, limits
};
// Of a round slice: r^2 / 2 about its axis, r^2 / 4 across.
[[nodiscard]] Vec3 round_section(double radius);

// A Cosserat rod: segments end to end, each an element whose coordinates are the coefficients of
// its strains (docs/rods.md). NAME.base is a body without inertia at its beginning, on `joint`; the
// stations that carry its inertia are bodies too, NAME.1 to NAME.n by arc length, and NAME.tip is a
// place without inertia at its end. Of several segments the others' tips are NAME.s1.tip ...
// Coefficients are NAME.bend_z.0 ..., of several segments NAME.s1.bend_z.0 ...
struct RodSpec {
  std::string name;
  JointSpec joint;  // of the base; fixed: clamped
  std::vector<SegmentSpec> segments;
  // Where in a step the elastic force of a component (Strain) is taken, 1/2 to 1: the mid-point
  // keeps the energy, beyond it short waves fade.
  std::array<double, 6> theta{0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
  std::vector<std::string> prescribed;  // coefficients, less the name and the dot: bend_z.0
};
// The stations of a rod as the builder names them, by segments, each with its tip last.
[[nodiscard]] std::vector<std::vector<std::string>> station_names(const RodSpec& rod);
// The stations that may be put anywhere (SegmentSpec::touches), by segments: NAME.touch1 ...
[[nodiscard]] std::vector<std::vector<std::string>> touch_names(const RodSpec& rod);
// The joint of a segment: before the dot of its coefficients.
[[nodiscard]] std::string segment_name(const RodSpec& rod, std::size_t segment);

// A fluid along a slender body, per length; x along it, y and z across.
struct FluidSection {
  Vec3 resistance = Vec3::Zero();  // linear [N s/m^2]
  Vec3 drag = Vec3::Zero();        // quadratic, c |v| v [N s^2/m^3]
  Vec3 added = Vec3::Zero();       // [kg/m]
  double displaced = 0;            // [kg/m]
};
struct FluidAlong {
  std::function<FluidSection(double X)> section;  // X: arc length from the base of a rod [m]
  std::shared_ptr<const Flow> flow;
  WaterLine surface;
};

// Which joints are cut: those marked, or every one (P0, P2's maximal set).
enum class CoordinateSet { as_marked, minimal, maximal };

class ModelBuilder {
 public:
  ModelBuilder& planar(bool yes);  // cut bodies then move in the x-y plane
  ModelBuilder& gravity(const Vec3& g);
  ModelBuilder& coordinates(CoordinateSet set);

  ModelBuilder& body(const std::string& name, const RigidInertia& inertia, const JointSpec& joint);
  ModelBuilder& bend(const BendSpec& bend);
  ModelBuilder& rod(const RodSpec& rod);
  // Closes a loop: one more joint between two bodies that have their own, the parent named in
  // `joint` and `child`; either may be the world. It is cut in every coordinate set.
  ModelBuilder& loop(const std::string& child, const JointSpec& joint);
  // Adds a fluid's added mass (or any symmetric 6 x 6) to a body.
  ModelBuilder& added_inertia(const std::string& body, const Mat6& inertia);
  ModelBuilder& shape(const std::string& name, const std::string& body, const SE3& frame,
                      const Shape& shape, const Surface& surface = {});
  ModelBuilder& contact(const std::string& shape_a, const std::string& shape_b,
                        const ContactLaw& law);
  // Every shape of `a` with every shape of `b`, save those of one body. Where several laws name
  // two shapes, the first holds.
  ModelBuilder& contact(const std::vector<std::string>& a, const std::vector<std::string>& b,
                        const ContactLaw& law);
  // Two bodies that never touch, whatever the laws say.
  ModelBuilder& exclude(const std::string& body_a, const std::string& body_b);
  ModelBuilder& support(const SupportFriction& friction, const std::string& body);

  // Names of bodies take the place of their indices; a spring may hold on to the world.
  ModelBuilder& runner(const Runner& runner, const std::string& body);
  ModelBuilder& spring(const Spring& spring, const std::string& body_a, const std::string& body_b);
  ModelBuilder& drag(const Drag& drag, const std::string& body);
  ModelBuilder& wheel(const Wheel& wheel, const std::string& body);
  // Its added mass goes to the body's inertia.
  ModelBuilder& fluid(const Fluid& fluid, const std::string& body);
  // Along the x-axis of a straight link: sections at Gauss points, of one point the whole of it.
  ModelBuilder& fluid_along(const FluidAlong& along, const std::string& body, double length,
                            const Vec3& middle, int points);
  // Along a rod: a section a station.
  ModelBuilder& fluid_along(const FluidAlong& along, const std::string& rod);
  [[nodiscard]] std::size_t fluid_count() const { return fluids_.size(); }
  // The names of the terms' coordinates, in their order, take the place of their indices.
  ModelBuilder& gap_contact(const GapContact& contact, const std::vector<std::string>& joints);

  // Names of the bodies of its points and of the coordinates of its pulleys, in their order.
  ModelBuilder& cable(const Cable& cable, const std::vector<std::string>& bodies,
                      const std::vector<std::string>& joints);

  [[nodiscard]] Model build() const;

 private:
  struct BodySpec {
    std::string name;
    RigidInertia inertia;
    Mat6 added = Mat6::Zero();
    JointSpec joint;
    int station = 0, stations = 1;  // of an element
    std::string path = {};          // in messages; empty: bodies[i]
  };
  struct LoopSpec {
    std::string child;
    JointSpec joint;
  };
  struct ShapeSpec {
    std::string name, body;
    SE3 frame;
    Shape shape;
    Surface surface;
  };
  struct ContactSpec {
    std::vector<std::string> a, b;
    ContactLaw law;
  };
  struct SupportSpec {
    SupportFriction friction;
    std::string body;
  };

  struct RunnerSpec {
    Runner runner;
    std::string body;
  };
  struct SpringSpec {
    Spring spring;
    std::string a, b;
  };
  struct DragSpec {
    Drag drag;
    std::string body;
  };

  struct WheelSpec {
    Wheel wheel;
    std::string body;
  };
  struct FluidSpec {
    Fluid fluid;
    std::string body;
  };

  struct GapSpec {
    GapContact contact;
    std::vector<std::string> joints;
  };
  struct CableSpec {
    Cable cable;
    std::vector<std::string> bodies, joints;
  };

  [[nodiscard]] std::vector<int> sorted() const;  // parents first; throws on loops
  [[nodiscard]] std::vector<int> in_one_piece(const std::vector<int>& order) const;
  [[nodiscard]] std::string path_of(int spec_index) const;
  [[nodiscard]] bool is_cut(const JointSpec& joint) const;
  static void check_touch(const Model& model, int group, int other, int law);
  void add_bodies(Model& model, const std::vector<int>& order) const;
  void add_joint(Model& model, const BodySpec& spec, int spec_index) const;
  void add_shapes(Model& model) const;
  void add_loops(Model& model) const;
  void add_contacts(Model& model) const;
  void add_supports(Model& model) const;
  void add_elements(Model& model) const;  // runners, springs, drags, wheels, fluids
  void add_gap_contacts(Model& model) const;
  void add_cables(Model& model) const;
  void refuse_massless(const Model& model, const std::vector<int>& order) const;
  void add_segment(const RodSpec& rod, std::size_t index, const std::vector<std::string>& names,
                   const std::vector<std::string>& touches, const std::string& path);
  void add_rods(Model& model) const;
  int bends_ = 0, rods_ = 0;
  struct SegmentPlace {
    std::string rod, joint, first, base;  // its name, its joint's, its first station, its base
    Vec theta;
    double radius = 0;
  };
  std::vector<SegmentPlace> segments_;

  bool planar_ = false;
  Vec3 gravity_{0, 0, -9.81};
  CoordinateSet set_ = CoordinateSet::as_marked;
  std::vector<BodySpec> bodies_;
  std::unordered_map<std::string, std::size_t> body_of_;  // by name, in bodies_
  std::unordered_set<std::string> shape_names_;
  std::vector<LoopSpec> loops_;
  std::vector<ShapeSpec> shapes_;
  std::vector<ContactSpec> contacts_;
  std::vector<SupportSpec> supports_;
  std::vector<RunnerSpec> runners_;
  std::vector<SpringSpec> springs_;
  std::vector<DragSpec> drags_;
  std::vector<WheelSpec> wheels_;
  std::vector<FluidSpec> fluids_;
  std::vector<GapSpec> gaps_;
  std::vector<CableSpec> cables_;
  std::vector<std::pair<std::string, std::string>> excluded_;
};

}  // namespace saltus
