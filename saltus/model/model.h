// The mechanical system: immutable once built (by ModelBuilder), flat arrays, no pointers between
// bodies. Bodies are sorted so that a parent comes before its children.
//
// A tree joint places its body: X_parent_body = placement * X_J(q) * in_body^-1. A *cut* joint is
// no tree joint: its body hangs on the world by a carrier (Planar in a planar model, else
// Floating) and the joint is kept by bilateral rows. No cuts: minimal coordinates; all cut:
// maximal (P0, P2). A closed *loop* is a cut that cannot be undone: both its bodies have joints of
// their own.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "saltus/base/index.h"
#include "saltus/geometry/shapes.h"
#include "saltus/laws/laws.h"
#include "saltus/lie/inertia.h"
#include "saltus/lie/se3.h"
#include "saltus/model/flow.h"
#include "saltus/model/joint.h"
#include "saltus/model/wing.h"

namespace saltus {

// What acts in one scalar coordinate of a joint; units by the coordinate (rotation or translation).
struct JointDof {
  double armature = 0;                         // rotor inertia seen at the joint [kg m^2] or [kg]
  double stiffness = 0;                        // [N m/rad] or [N/m]
  double rest = 0;                             // spring's zero [rad] or [m]
  double damping = 0;                          // [N m s/rad] or [N s/m]
  double friction = 0;                         // dry: |tau| <= friction [N m] or [N]
  double dynamic = 1;                          // share of it that is left while the joint slides
  double lower = -infinity, upper = infinity;  // limits [rad] or [m]
  bool prescribed = false;                     // r(t) is given by the actuation
};

struct Body {
  std::string name;
  RigidInertia rigid;
  Mat6 inertia = Mat6::Zero();  // spatial, about the frame's origin; may hold added mass too
  BodyIndex parent = world;     // of the tree joint
  Joint joint;
  SE3 placement;  // of the joint's frame in the parent
  SE3 in_body;    // of the joint's frame in this body
  int q0 = 0, v0 = 0, nq = 0, nv = 0;
  // An element with several stations is as many bodies, one after the other, with the same parent
  // and the same coordinates; each has columns of its own, from s0 on (v0 where no element of the
  // model has several stations).
  int station = 0, stations = 1;  // this one's place among them, and their count
  int s0 = 0;
  CutIndex cut;         // the cut that replaces this body's own joint, if any
  bool driven = false;  // its spherical joint follows a given rotation vector
};

// One-sided rotation constraints of a cut.
enum class RotationRows { none, tilt, all };

struct Cut {
  std::string name;
  BodyIndex parent, child;
  Joint joint;
  SE3 placement;                 // of the joint's frame in the parent
  SE3 in_body;                   // of the joint's frame in the child
  Vec3 axis = Vec3::UnitZ();     // of the joint, in the parent's joint frame
  Mat3 axes = Mat3::Identity();  // first `translations` columns: blocked directions there
  int translations = 0;
  RotationRows rotation = RotationRows::none;
  int rotations = 0;  // rows: none 0, tilt 2, all 3 (planar model: all 1)
  bool loop = false;  // closes a loop; its child is no body's own joint, and may be the world
};

// A scalar coordinate of a joint, in the tree or cut: motors, springs, limits act on these and so
// do not care which coordinates the model uses.
struct Coordinate {
  std::string name;  // the joint's; several coordinates: joint.x, joint.y, joint.theta
  BodyIndex body;    // the child; of a loop perhaps the world
  int component = 0;
  int q_index = -1, v_index = -1;  // in the tree
  CutIndex cut;                    // else
  bool rotational = true;
  JointDof dof;
};

// A segment of a rod: what acts along the coefficients of its strains (rods/segment.h),
//   -K (q - a(t)) - D dq/dt,   a: offsets of muscles, zero without.
struct RodElement {
  std::string name;  // its joint's: before the dot of its coefficients
  std::string rod;   // of whose segments it is one
  BodyIndex first;   // its first station; the last is its tip
  BodyIndex base;    // what it is clamped on
  int stations = 0;  // bodies
  int q0 = 0, v0 = 0, size = 0;
  int coordinate = 0;  // its first, of Model::coordinates
  // The stations before the tip that may be put anywhere (SegmentSpec::touches), and where their
  // places begin in State::touches.
  BodyIndex first_touch;
  int touches = 0, touch0 = 0;
  std::shared_ptr<const RodSegment> segment;
  Vec theta;          // of each coefficient: where in a step its elastic force is taken, 1/2 .. 1
  double radius = 0;  // of its section at the base, to be seen [m]
};

struct FrictionMap;  // geometry/friction_map.h

// What a shape's surface adds to the laws it meets others under.
struct Surface {
  Vec3 velocity = Vec3::Zero();  // of the surface against the shape, in its frame: a belt [m/s]
  std::shared_ptr<const FrictionMap> friction;  // multiplies the coefficients; null: 1 everywhere
};

struct ContactShape {
  std::string name;
  BodyIndex body = world;
  SE3 frame;  // in the body
  Shape shape;
  int group = 0;  // shapes of a group meet the same others under the same laws
  Surface surface;
};

// Whose axes carry mu1 and mu2: those of shape a, or of shape b.
enum class FrictionAxes { a, b };

// Springs and dampers of a compliant contact (P2 Algorithm 1); no stiffness: the contact is hard.
struct Compliance {
  double normal_stiffness = 0, normal_damping = 0;          // c_N [N/m], d_N [N s/m]
  double tangential_stiffness = 0, tangential_damping = 0;  // c_T [N/m], d_T [N s/m]
  bool operator==(const Compliance&) const = default;
};

struct ContactLaw {
  double mu1 = 0, mu2 = 0;  // friction coefficients; both 0: no tangential rows
  double restitution = 0;   // normal, 0..1
  FrictionAxes axes = FrictionAxes::b;
  double rolling = 0, drilling = 0;  // resisting moments per normal force [m]
  // mu1 where the body that carries the axes slides along its x, mu_back where against it;
  // negative: mu1 both ways.
  double mu_back = -1;
  SlipRule rule = SlipRule::normal_cone;
  double dynamic = 1;                 // mu_d / mu_s, 0..1: what is left of friction in sliding
  double tangential_restitution = 0;  // e_t, -1..1: of impact laws that know it
  Compliance soft{};
  [[nodiscard]] bool compliant() const { return soft.normal_stiffness > 0; }
};

// Which law two groups of shapes meet under.
struct GroupLaw {
  int law = -1;       // of Model::contact_laws; -1: they do not touch
  bool swap = false;  // the second is the law's shape a
};

// Coulomb friction under a given load, at a point of a body, in the plane across `normal`
// (P0 eq. 50, 52). T1 is the body's x-axis projected on the plane.
struct SupportFriction {
  std::string name;
  BodyIndex body;
  Vec3 point = Vec3::Zero();          // in the body [m]
  Vec3 normal = Vec3::UnitZ();        // inertial
  double mu1 = 0, mu2 = 0, load = 0;  // [-], [-], [N]
  double mu_back = -1;                // where the body slides against T1; negative: as mu1
  SlipRule rule = SlipRule::normal_cone;
  double dynamic = 1;  // mu_d / mu_s, 0..1
};

// A runner at a point of a body: it points along e, the direction turned by its steering angle
// about the normal, and g = normal x e lies across (P3 sections 2 and 5).
struct Runner {
  std::string name;
  BodyIndex body;
  Vec3 point = Vec3::Zero();       // in the body [m]
  Vec3 direction = Vec3::UnitX();  // forward at steering angle 0, unit, in the body
  Vec3 normal = Vec3::UnitZ();     // in the body, unit, across the direction
  bool edge = true;                // knife edge: no side slip, 0 = g . v (P3 eq. 5.1)
  bool scales = false;             // one way: e . v >= 0 (P3 eq. 5.4)
  double friction = 0;             // against sliding along e, both ways where no scales hold [N]
  double grip = infinity;          // of the edge: beyond this force it slips sideways [N]
};

// A thin disc that rolls on a plane (P4 section 5): its lowest point e = c - R (n - (n.a) a)/|...|
// does not slide along its heading a x n nor, unless it is free to, across it; and where it is
// pressed, e stays in the plane. The disc is a body of its own and may lean.
struct Wheel {
  std::string name;
  BodyIndex body;
  Vec3 centre = Vec3::Zero();   // c, in the body [m]
  Vec3 axis = Vec3::UnitY();    // a, in the body, unit
  double radius = 1;            // R [m]
  Vec3 normal = Vec3::UnitZ();  // n of the plane, inertial, unit
  double height = 0;            // of the plane along n [m]
  bool sideways = false;        // free to slide across its heading
  bool pressed = false;         // kept on the plane, both ways
};

// Spring and damper between two points: tension = c (r - l) + k dr/dt, with the length r and the
// natural length l that the actuation may control (P3 section 1).
struct Spring {
  std::string name;
  BodyIndex a, b;                                       // either may be the world
  Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();  // in the bodies [m]
  Vec3 axis = Vec3::Zero();  // zero: r = |p_b - p_a|; else r = axis . (p_b - p_a), inertial, unit
  double stiffness = 0, damping = 0;  // c [N/m], k [N s/m]
  double length = 0;                  // l where no signal is given [m]
};

// Viscous drag -k v on a point of a body.
struct Drag {
  std::string name;
  BodyIndex body;
  Vec3 point = Vec3::Zero();  // in the body [m]
  double coefficient = 0;     // k [N s/m]
};

// The surface of a fluid: sections are wet by the share of them below it, from all at the depth
// `half` under it to none at `half` above.
struct WaterLine {
  double height = 0;  // against gravity [m]
  double half = 0;    // of a section's extent [m]; 0: there is fluid everywhere
};
// Where a slender body ends in a wake: what it leaves behind there (Lighthill, forces/fluid.h).
struct FluidEnd {
  Vec3 point = Vec3::Zero();     // in the body [m]
  Vec3 outward = Vec3::UnitX();  // unit, in the body: out of it along its axis
  Mat3 added = Mat3::Zero();     // added mass per length of its last section, body frame [kg/m]
};
// What a fluid does to a body or to a section of it, besides the inertia of its added mass. With V
// the twist against the fluid, linear first, in the body's frame:
//   wrench = -resistance V - (c_i |V_i| V_i), the latter for V at `centre`
//            - lift gravity at `centre`, and what a flow and an end add (forces/fluid.h).
struct Fluid {
  std::string name;
  BodyIndex body;
  Mat6 resistance = Mat6::Zero();  // Stokes, about the body's origin [N s/m], [N s], [N m s]
  Vec6 quadratic = Vec6::Zero();   // c [N s^2/m^2], [N m s^2]
  double lift = 0;                 // density times volume: what the body displaces [kg]
  Vec3 centre = Vec3::Zero();      // of what it displaces, in the body [m]
  // Added mass, about the body's origin: a part of the body's inertia, which moves against the flow
  Mat6 added = Mat6::Zero();
  std::shared_ptr<const Flow> flow;  // null: at rest
  WaterLine surface;
  FluidEnd end;
  std::shared_ptr<const Wing> wing;  // null: none
};

// A contact known by its gap as a function of joint coordinates rather than by shapes:
//   g = offset + sum gap_i x_i [m],   sliding speed = sum slide_i dx_i/dt [m/s].
struct GapTerm {
  CoordinateIndex coordinate;  // in the tree
  double gap = 0, slide = 0;   // per unit of the coordinate: [m/rad] or [-]
  int velocity = -1;           // of the coordinate  <- ModelBuilder
};
struct GapContact {
  std::string name;
  double offset = 0;  // gap at zero coordinates [m]
  std::vector<GapTerm> terms;
  double mu = 0, restitution = 0;
};

// A cable, which pulls and never pushes. Its length [m] is that of its straight pieces through
// points of bodies, and what it winds over the pulleys of joints:
//   r = sum |p_(k+1) - p_k| + sum ratio_i x_i,   ratio_i a radius [m] of a turning joint.
// Without stretch r <= length, by Signorini's law. With a spring in it, or pulled by a motor,
//   tension = stiffness (r - length) + damping dr/dt + pull, within [lower, upper].
struct CablePoint {
  BodyIndex body = world;
  Vec3 point = Vec3::Zero();  // in the body [m]
};
struct Cable {
  std::string name;
  std::vector<CablePoint> points;      // none, or at least two
  std::vector<GapTerm> pulleys;        // gap is the ratio [m/rad] or [-]
  double length = 0;                   // natural, or the longest [m]
  double stiffness = 0, damping = 0;   // [N/m], [N s/m]
  double lower = 0, upper = infinity;  // of the tension [N]; lower < 0: it pushes as well, a rod
  double restitution = 0;              // where it does not stretch, as it tightens
  bool stretches = false;              // its tension is a force, else a constraint
  bool driven = false;  // its force is a motor's: booked as its work, no energy stored

  // As a row it acts on one or two bodies, or on velocities of one tree  <- ModelBuilder
  BodyIndex a, b;
  std::vector<int> velocities;
  bool to_world = false;
  [[nodiscard]] bool of_bodies() const { return velocities.empty(); }
};

// A family of inclusion blocks that may be active; rows have a fixed place in State::Lambda.
// Contacts have none: they come and go, and State::contacts keeps theirs by key.
enum class BlockKind : unsigned char {
  cut_translation,  // the joint of a cut: its blocked directions
  cut_rotation,
  coordinate,  // armature, spring, damper and motor of a cut coordinate; its prescribed rate
  motor,       // a motor with a torque limit
  joint_friction,
  joint_limit,
  support,
  edge,   // no side slip of a runner
  scale,  // one-way sliding of a runner and its friction
  spring,
  drag,
  gap_contact,
  wheel,        // no sliding of a rolling disc: along its heading and across
  wheel_plane,  // and it stays on its plane
  cable
};
struct BlockSlot {
  BlockKind kind;
  int index = 0;          // of what it is of: cut, coordinate, support, runner, ..., cable
  int feature = 0;        // limit: 0 lower, 1 upper
  int row = 0, rows = 0;  // in State::Lambda
};

// Where in a model something happened: a slot, or a contact of two shapes.
struct Place {
  int slot = -1;
  int shape_a = -1, shape_b = -1, feature = 0;
  bool operator==(const Place&) const = default;
};

// A contact by what it joins; the same from step to step.
struct ContactKey {
  std::int32_t a = -1, b = -1;  // shapes
  std::int32_t feature = 0;
  bool operator==(const ContactKey&) const = default;
  friend bool operator<(const ContactKey& x, const ContactKey& y) {
    return std::tie(x.a, x.b, x.feature) < std::tie(y.a, y.b, y.feature);
  }
};

struct Model {
  std::vector<Body> bodies;
  std::vector<Cut> cuts;
  std::vector<Coordinate> coordinates;
  std::vector<ContactShape> shapes;
  std::vector<ContactLaw> contact_laws;
  int groups = 0;
  std::vector<GroupLaw> group_law;            // groups x groups
  std::vector<std::pair<int, int>> excluded;  // bodies (low, high) that never touch, sorted
  std::vector<RodElement> rods;
  std::vector<SupportFriction> supports;
  std::vector<Runner> runners;
  std::vector<Spring> springs;
  std::vector<Drag> drags;
  std::vector<Wheel> wheels;
  std::vector<Fluid> fluids;
  std::vector<GapContact> gap_contacts;
  std::vector<Cable> cables;
  std::vector<BlockSlot> slots;
  std::vector<int> motor_slot;  // of each coordinate
  int lambda_rows = 0;          // of State::Lambda
  int nq = 0, nv = 0;
  int ns = 0;                 // columns: of each body the velocities of its joint
  bool has_stations = false;  // some element has several stations
  int touches = 0;            // of all rods
  bool planar = false;
  double length_scale = 1;  // [m]; weighs rad/s against m/s in residuals

  Vec3 gravity{0, 0, -9.81};  // [m/s^2]

  // Kinematic trees: bodies tree_begin[t] .. tree_begin[t + 1), velocities tree_v[t] ..
  std::vector<int> tree;  // of each body
  std::vector<int> tree_begin, tree_v;

  // Of each velocity: its body, its armature and whether it is prescribed.
  std::vector<int> v_body;
  Vec armature;
  std::vector<char> prescribed;
  std::vector<char> rotational;  // rad/s, else m/s
  bool any_prescribed = false;
  bool has_loops = false;
  bool has_compliant = false;   // any contact law is
  bool quadratic_terms = true;  // tau_bias depends on v; P0's links about their centres: no

  // Where a name is in bodies and coordinates; the first of equal names.
  std::unordered_map<std::string, int> body_of, coordinate_of;

  // The column of a velocity at the first station that it moves.
  [[nodiscard]] int column_of(int velocity) const {
    const Body& b = bodies[v_body[velocity]];
    return b.s0 + velocity - b.v0;
  }
  [[nodiscard]] int body_count() const { return static_cast<int>(bodies.size()); }
  // Throw InputError with the known names when there is none.
  [[nodiscard]] BodyIndex body(const std::string& name) const;
  [[nodiscard]] CoordinateIndex coordinate(const std::string& name) const;
  [[nodiscard]] double total_mass() const;
  // The law under which two shapes meet, or -1; swaps them so that `a` is the law's shape a.
  [[nodiscard]] int law_between(int& a, int& b) const;
  // "contact peg4 - link7", "joint3": what a place is, for messages.
  [[nodiscard]] std::string name_of(const Place& place) const;
  // Runners, wheels, springs, drags or cables: rows beside those of cuts.
  [[nodiscard]] bool has_elements() const {
    return !runners.empty() || !wheels.empty() || !springs.empty() || !drags.empty() ||
           !cables.empty();
  }
  // Of a joint that closes a loop: its coordinates follow from those of the bodies' joints.
  [[nodiscard]] bool of_loop(const Coordinate& c) const {
    return c.cut.valid() && cuts[c.cut].loop;
  }
};

}  // namespace saltus
