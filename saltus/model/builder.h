// Builds and validates a Model. Bodies may come in any order and name parents that come later.
// Every complaint is an InputError with the path of the culprit (bodies[3].mass).
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "saltus/model/model.h"

namespace saltus {

struct JointSpec {
  std::string name;  // empty: the body's name
  std::string parent = "world";
  Joint kind = Fixed{};
  SE3 placement;               // of the joint's frame in the parent
  SE3 in_body;                 // of the joint's frame in the body
  std::vector<JointDof> dofs;  // one per scalar coordinate, or empty, or one for all
  bool cut = false;
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

// Which joints are cut: those marked, or every one (P0, P2's maximal set).
enum class CoordinateSet { as_marked, minimal, maximal };

class ModelBuilder {
 public:
  ModelBuilder& planar(bool yes);  // cut bodies then move in the x-y plane
  ModelBuilder& gravity(const Vec3& g);
  ModelBuilder& coordinates(CoordinateSet set);

  ModelBuilder& body(const std::string& name, const RigidInertia& inertia, const JointSpec& joint);
  ModelBuilder& bend(const BendSpec& bend);
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
  // The names of the terms' coordinates, in their order, take the place of their indices.
  ModelBuilder& gap_contact(const GapContact& contact, const std::vector<std::string>& joints);

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

  struct GapSpec {
    GapContact contact;
    std::vector<std::string> joints;
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
  void add_elements(Model& model) const;  // runners, springs, drags
  void add_gap_contacts(Model& model) const;
  void refuse_massless(const Model& model, const std::vector<int>& order) const;
  int bends_ = 0;

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
  std::vector<GapSpec> gaps_;
  std::vector<std::pair<std::string, std::string>> excluded_;
};

}  // namespace saltus
