// The builder: what it lays out, and what it refuses, one test a message.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "saltus/base/error.h"
#include "saltus/model/builder.h"
#include "saltus/model/state.h"
#include "tests/support/check.h"
#include "tests/support/random_model.h"

namespace saltus {
namespace {

using test::Random;
using test::seeds;
const double nan = std::nan("");

const RigidInertia unit{1, Vec3::Zero(), Mat3::Identity()};

JointSpec joint_of(const Joint& kind, const std::string& parent = "world") {
  JointSpec joint;
  joint.kind = kind;
  joint.parent = parent;
  return joint;
}
JointSpec with_dof(const Joint& kind, const JointDof& dof) {
  JointSpec joint = joint_of(kind);
  joint.dofs = {dof};
  return joint;
}

// Every complaint names the place first and says what was wrong or expected.
void expect_refused(const std::function<void()>& act, const std::string& path,
                    const std::string& text) {
  try {
    act();
    ADD_FAILURE() << "accepted, but expected a complaint about " << path << ": " << text;
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.rfind(path, 0), 0U) << "expected it to begin with '" << path << "': " << what;
    EXPECT_NE(what.find(text), std::string::npos) << "expected '" << text << "' in: " << what;
  }
}
void expect_body_refused(const RigidInertia& inertia, const JointSpec& joint,
                         const std::string& path, const std::string& text) {
  // Second of two, so that the index is seen to count.
  expect_refused(
      [&] {
        ModelBuilder builder;
        builder.body("ground", unit, joint_of(Floating{})).body("culprit", inertia, joint);
        (void)builder.build();
      },
      path, text);
}

// --- Bad bodies
// -----------------------------------------------------------------------------------

TEST(BadBody, NegativeMass) {
  expect_body_refused({-1, Vec3::Zero(), Mat3::Identity()}, joint_of(Revolute{}), "bodies[1].mass",
                      "expected a positive number, got -1");
}
TEST(BadBody, ZeroMass) {
  expect_body_refused({0, Vec3::Zero(), Mat3::Zero()}, joint_of(Revolute{}), "bodies[1].mass",
                      "expected a positive number, got 0");
}
TEST(BadBody, MassIsNoNumber) {
  expect_body_refused({nan, Vec3::Zero(), Mat3::Identity()}, joint_of(Revolute{}), "bodies[1].mass",
                      "expected a positive number");
}
TEST(BadBody, InfiniteMass) {
  expect_body_refused({infinity, Vec3::Zero(), Mat3::Identity()}, joint_of(Revolute{}),
                      "bodies[1].mass", "expected a positive number");
}
TEST(BadBody, CentreOfMassIsNoNumber) {
  expect_body_refused({1, Vec3(0, nan, 0), Mat3::Identity()}, joint_of(Revolute{}), "bodies[1].com",
                      "expected finite numbers");
}
TEST(BadBody, InertiaIsNoNumber) {
  expect_body_refused({1, Vec3::Zero(), Mat3::Constant(nan)}, joint_of(Revolute{}),
                      "bodies[1].inertia", "expected finite numbers");
}
TEST(BadBody, InertiaNotSymmetric) {
  Mat3 J = Mat3::Identity();
  J(0, 1) = 0.1;
  expect_body_refused({1, Vec3::Zero(), J}, joint_of(Revolute{}), "bodies[1].inertia",
                      "expected a symmetric matrix");
}
TEST(BadBody, TriangleInequality) {
  expect_body_refused({1, Vec3::Zero(), Vec3(1, 1, 3).asDiagonal()}, joint_of(Revolute{}),
                      "bodies[1].inertia", "triangle inequality");
}
TEST(BadBody, NegativeMoment) {
  expect_body_refused({1, Vec3::Zero(), Vec3(-1, 1, 1).asDiagonal()}, joint_of(Revolute{}),
                      "bodies[1].inertia", "expected principal moments");
}
TEST(BadBody, NoName) {
  expect_refused([] { ModelBuilder().body("", unit, joint_of(Revolute{})); }, "bodies[0].name",
                 "expected a name");
}
TEST(BadBody, CalledWorld) {
  expect_refused([] { ModelBuilder().body("world", unit, joint_of(Revolute{})); }, "bodies[0].name",
                 "expected a name other than 'world'");
}
TEST(BadBody, DuplicateName) {
  expect_refused(
      [] {
        ModelBuilder().body("a", unit, joint_of(Revolute{})).body("a", unit, joint_of(Revolute{}));
      },
      "bodies[1].name", "'a' is taken");
}
TEST(BadBody, DuplicateJointName) {
  JointSpec first = joint_of(Revolute{}), second = first;
  first.name = second.name = "hinge";
  expect_refused(
      [&] { (void)ModelBuilder().body("a", unit, first).body("b", unit, second).build(); },
      "bodies[1].joint.name", "'hinge' is taken");
}
TEST(BadBody, UnknownParent) {
  expect_body_refused(unit, joint_of(Revolute{}, "nobody"), "bodies[1].joint.parent",
                      "no body is called 'nobody'");
}
TEST(BadBody, ItsOwnParent) {
  expect_body_refused(unit, joint_of(Revolute{}, "culprit"), "bodies[1].joint.parent", "loop");
}
TEST(BadBody, LoopOfParents) {
  expect_refused(
      [] {
        (void)ModelBuilder()
            .body("a", unit, joint_of(Revolute{}, "c"))
            .body("b", unit, joint_of(Revolute{}, "a"))
            .body("c", unit, joint_of(Revolute{}, "b"))
            .build();
      },
      "bodies[", "loop");
}
TEST(BadBody, AddedInertiaNotSymmetric) {
  Mat6 inertia = Mat6::Identity();
  inertia(0, 5) = 0.5;
  expect_refused(
      [&] { ModelBuilder().body("a", unit, joint_of(Revolute{})).added_inertia("a", inertia); },
      "added_inertia", "expected a symmetric 6 x 6 matrix");
}
TEST(BadBody, AddedInertiaIsNoNumber) {
  expect_refused(
      [] {
        ModelBuilder()
            .body("a", unit, joint_of(Revolute{}))
            .added_inertia("a", Mat6::Constant(nan));
      },
      "added_inertia", "expected");
}
TEST(BadBody, AddedInertiaMakesItIndefinite) {
  expect_refused(
      [] {
        (void)ModelBuilder()
            .body("a", unit, joint_of(Revolute{}))
            .added_inertia("a", -5 * Mat6::Identity())
            .build();
      },
      "added_inertia", "expected");
}
TEST(BadBody, AddedInertiaOfNobody) {
  expect_refused([] { ModelBuilder().added_inertia("nobody", Mat6::Identity()); }, "added_inertia",
                 "no body is called 'nobody'");
}

// --- Bad joints
// -----------------------------------------------------------------------------------

TEST(BadJoint, WrongNumberOfProperties) {
  JointSpec joint = joint_of(Planar{});
  joint.dofs.resize(2);
  expect_body_refused(unit, joint, "bodies[1].joint",
                      "expected properties for 3 coordinates, got 2");
}
TEST(BadJoint, PropertiesOfAJointWithoutCoordinates) {
  for (const Joint& kind : {Joint(Spherical{}), Joint(Floating{}), Joint(Fixed{})}) {
    expect_body_refused(unit, with_dof(kind, {}), "bodies[1].joint", "no scalar coordinate");
  }
}
TEST(BadJoint, NegativeOrUndefinedNumbers) {
  const std::vector<std::pair<std::string, double JointDof::*>> fields{
      {"armature", &JointDof::armature},
      {"stiffness", &JointDof::stiffness},
      {"damping", &JointDof::damping},
      {"friction", &JointDof::friction}};
  for (const auto& [name, field] : fields) {
    for (const double bad : {-1.0, nan, infinity}) {
      JointDof dof;
      dof.*field = bad;
      expect_body_refused(unit, with_dof(Revolute{}, dof), "bodies[1].joint." + name,
                          "expected a number >= 0");
    }
  }
}
TEST(BadJoint, RestIsNoNumber) {
  JointDof dof;
  dof.rest = nan;
  expect_body_refused(unit, with_dof(Revolute{}, dof), "bodies[1].joint.rest",
                      "expected a finite number");
}
TEST(BadJoint, LimitsReversed) {
  JointDof dof;
  dof.lower = 1;
  dof.upper = -1;
  expect_body_refused(unit, with_dof(Revolute{}, dof), "bodies[1].joint.limits",
                      "expected lower < upper, got [1, -1]");
}
TEST(BadJoint, LimitIsNoNumber) {
  JointDof dof;
  dof.lower = nan;
  expect_body_refused(unit, with_dof(Revolute{}, dof), "bodies[1].joint.limits",
                      "expected lower < upper");
}
TEST(BadJoint, AxisOfNoLength) {
  expect_body_refused(unit, joint_of(Revolute{Vec3::Zero()}), "bodies[1].joint.axis", "expected");
  expect_body_refused(unit, joint_of(Prismatic{Vec3::Zero()}), "bodies[1].joint.axis", "expected");
}
TEST(BadJoint, AxisIsNoNumber) {
  expect_body_refused(unit, joint_of(Revolute{Vec3(0, nan, 1)}), "bodies[1].joint.axis",
                      "expected");
}
TEST(BadJoint, AxisNotAUnitVectorIsRefusedOrNormalised) {
  // Taken as it is, the joint would turn twice as fast as its coordinate.
  ModelBuilder builder;
  builder.body("a", unit, joint_of(Revolute{Vec3(0, 0, 2)}));
  try {
    const Model model = builder.build();
    EXPECT_NEAR(std::get<Revolute>(model.bodies[0].joint).axis.norm(), 1, 1e-15);
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("bodies[0].joint.axis", 0), 0U) << error.what();
  }
}
TEST(BadJoint, PlacementIsNoNumber) {
  JointSpec joint = joint_of(Revolute{});
  joint.placement.r[1] = nan;
  expect_body_refused(unit, joint, "bodies[1].joint.placement", "expected");
  joint = joint_of(Revolute{});
  joint.in_body.r[1] = infinity;
  expect_body_refused(unit, joint, "bodies[1].joint.in_body", "expected");
}
TEST(BadJoint, PlacementIsNoRotation) {
  JointSpec joint = joint_of(Revolute{});
  joint.placement.R = 2 * Mat3::Identity();
  expect_body_refused(unit, joint, "bodies[1].joint.placement", "expected");
  joint.placement.R = -Mat3::Identity();  // a reflection
  expect_body_refused(unit, joint, "bodies[1].joint.placement", "expected");
}

// --- Bad planar models
// ----------------------------------------------------------------------------

void expect_planar_refused(const JointSpec& joint, const std::string& path,
                           const std::string& text) {
  for (const auto set : {CoordinateSet::minimal, CoordinateSet::maximal}) {
    expect_refused(
        [&] {
          (void)ModelBuilder()
              .planar(true)
              .coordinates(set)
              .body("ground", unit, joint_of(Planar{}))
              .body("culprit", unit, joint)
              .build();
        },
        path, text);
  }
}
TEST(BadPlanar, AxisOutOfThePlane) {
  expect_planar_refused(joint_of(Revolute{Vec3::UnitX()}), "bodies[1].joint.axis", "about z only");
  expect_planar_refused(joint_of(Prismatic{Vec3::UnitZ()}), "bodies[1].joint.axis", "in x-y only");
}
TEST(BadPlanar, FrameOutOfThePlane) {
  JointSpec tilted = joint_of(Revolute{}), lifted = joint_of(Revolute{});
  tilted.placement.R = test::rotation_about(Vec3::UnitX(), 0.1);
  lifted.in_body.r[2] = 0.1;
  expect_planar_refused(tilted, "bodies[1].joint", "x-y plane");
  expect_planar_refused(lifted, "bodies[1].joint", "x-y plane");
}
TEST(BadPlanar, JointsThatLeaveThePlane) {
  // Refused in both sets, or the same freedoms in both: a cut must not silently take those out of
  // the plane away.
  for (const Joint& kind : {Joint(Spherical{}), Joint(Floating{}), Joint(Carrier{})}) {
    const auto freedoms = [&](CoordinateSet set) {
      try {
        const Model model = ModelBuilder()
                                .planar(true)
                                .coordinates(set)
                                .body("culprit", unit, joint_of(kind))
                                .build();
        int free = model.nv;
        for (const Cut& cut : model.cuts) free -= cut.translations + cut.rotations;
        return free;
      } catch (const InputError&) { return -1; }
    };
    EXPECT_EQ(freedoms(CoordinateSet::minimal), freedoms(CoordinateSet::maximal)) << name_of(kind);
  }
}

// --- Bad contacts
// ---------------------------------------------------------------------------------

ModelBuilder two_bodies() {
  ModelBuilder builder;
  builder.body("a", unit, joint_of(Floating{})).body("b", unit, joint_of(Floating{}));
  builder.shape("ball", "a", {}, Sphere{0.1}).shape("box", "b", {}, Box{Vec3::Ones()});
  builder.shape("crate", "a", {}, Box{Vec3::Ones()}).shape("ground", "world", {}, HalfSpace{});
  return builder;
}
void expect_contact_refused(const std::string& a, const std::string& b, const ContactLaw& law,
                            const std::string& path, const std::string& text) {
  expect_refused(
      [&] { (void)two_bodies().contact("ball", "ground", {}).contact(a, b, law).build(); }, path,
      text);
}
TEST(BadContact, Restitution) {
  for (const double bad : {2.0, -0.1, nan}) {
    expect_contact_refused("ball", "box", {.restitution = bad}, "contacts[1].restitution",
                           "expected a number in [0, 1]");
  }
}
TEST(BadContact, Friction) {
  for (const double bad : {-0.1, nan, infinity}) {
    expect_contact_refused("ball", "box", {.mu1 = bad}, "contacts[1].friction", "expected");
    expect_contact_refused("ball", "box", {.mu2 = bad}, "contacts[1].friction", "expected");
  }
}
TEST(BadContact, UnknownShapes) {
  expect_contact_refused("ball", "nothing", {}, "contacts[1]", "no shape is called 'nothing'");
  expect_contact_refused("nothing", "ball", {}, "contacts[1]", "no shape is called 'nothing'");
}
TEST(BadContact, OfABodyWithItself) {
  expect_contact_refused("ball", "crate", {}, "contacts[1]", "same body");
}
TEST(BadContact, UnsupportedPair) {
  expect_refused(
      [] {
        (void)two_bodies()
            .shape("peg", "b", {}, Peg{0.1})
            .contact("ball", "ground", {})
            .contact("peg", "ground", {})
            .build();
      },
      "contacts[1]", "is not supported");
}
TEST(BadShape, DuplicateName) {
  expect_refused([] { two_bodies().shape("ball", "b", {}, Sphere{1}); }, "shapes[4]",
                 "'ball' is taken");
}
TEST(BadShape, OfNobody) {
  expect_refused([] { (void)two_bodies().shape("x", "nobody", {}, Sphere{1}).build(); },
                 "shapes[4]", "nobody");
}
TEST(BadShape, Sizes) {
  const std::vector<Shape> bad{Sphere{-1},      Sphere{nan},         Capsule{-1, 1},
                               Capsule{1, -1},  Capsule{nan, 1},     Peg{-1},
                               Peg{nan},        Box{Vec3(1, -1, 1)}, Box{Vec3(1, 1, nan)},
                               Cylinder{-1, 1}, Cylinder{1, nan},    ConvexHull{}};
  for (const Shape& shape : bad) {
    expect_refused([&] { (void)two_bodies().shape("x", "a", {}, shape).build(); }, "shapes[4]",
                   "expected");
  }
}
TEST(BadShape, FrameIsNoNumber) {
  expect_refused(
      [] {
        (void)two_bodies().shape("x", "a", SE3::translation({0, 0, nan}), Sphere{1}).build();
      },
      "shapes[4]", "expected");
}
TEST(BadSupport, NegativeOrUndefinedNumbers) {
  for (const double bad : {-1.0, nan, infinity}) {
    for (double SupportFriction::*field :
         {&SupportFriction::mu1, &SupportFriction::mu2, &SupportFriction::load}) {
      SupportFriction friction;
      friction.*field = bad;
      expect_refused([&] { (void)two_bodies().support(friction, "a").build(); }, "supports[0]",
                     "expected");
    }
  }
}
TEST(BadSupport, OfNobody) {
  expect_refused([] { (void)two_bodies().support({}, "nobody").build(); }, "supports[0]", "nobody");
}
TEST(BadSupport, NormalOfNoLength) {
  SupportFriction friction;
  friction.normal.setZero();
  expect_refused([&] { (void)two_bodies().support(friction, "a").build(); }, "supports[0]",
                 "expected");
}

TEST(BadWorld, GravityIsNoNumber) {
  expect_refused(
      [] {
        ModelBuilder().gravity({0, 0, nan});
      },
      "gravity", "expected three finite numbers");
}

// --- Names that are not there
// ---------------------------------------------------------------------

TEST(Lookup, SaysWhichNamesThereAre) {
  const Model model = two_bodies().build();
  EXPECT_EQ(model.bodies[model.body("b")].name, "b");
  for (const auto& act : std::vector<std::function<void()>>{
           [&] { (void)model.body("nobody"); }, [&] { (void)model.coordinate("nothing"); }}) {
    try {
      act();
      ADD_FAILURE() << "found what is not there";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("no"), std::string::npos);
    }
  }
  try {
    (void)model.body("nobody");
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("nobody"), std::string::npos) << what;
    EXPECT_NE(what.find('a'), std::string::npos) << what;
    EXPECT_NE(what.find('b'), std::string::npos) << what;
  }
}

// --- Layout
// ---------------------------------------------------------------------------------------

TEST(Layout, ParentsComeFirstAndIndicesFit) {
  for (const auto seed : seeds(1, 200)) {
    Random random(seed);
    test::ForestOptions options;
    options.coordinates = seed % 3 == 0 ? CoordinateSet::maximal : CoordinateSet::minimal;
    const Model model = test::random_forest(random, options).build();
    int nq = 0, nv = 0;
    double mass = 0;
    for (int i = 0; i < model.body_count(); ++i) {
      const Body& body = model.bodies[i];
      EXPECT_LT(static_cast<int>(body.parent), i) << "seed " << seed;
      EXPECT_EQ(body.q0, nq);
      EXPECT_EQ(body.v0, nv);
      EXPECT_EQ(body.nq, nq_of(body.joint));
      EXPECT_EQ(body.nv, nv_of(body.joint));
      nq += body.nq;
      nv += body.nv;
      mass += body.rigid.mass;
      for (int k = body.v0; k < nv; ++k) EXPECT_EQ(model.v_body[k], i);
    }
    EXPECT_EQ(model.nq, nq);
    EXPECT_EQ(model.nv, nv);
    EXPECT_NEAR(model.total_mass(), mass, 1e-13 * mass);
    ASSERT_EQ(model.armature.size(), nv);
    int row = 0;
    for (const BlockSlot& slot : model.slots) {
      EXPECT_EQ(slot.row, row);
      row += slot.rows;
    }
    EXPECT_EQ(model.lambda_rows, row);
  }
}

TEST(Layout, TreesAreInOnePiece) {
  for (const auto seed : seeds(1, 100)) {
    Random random(seed);
    test::ForestOptions options;
    options.coordinates = seed % 3 == 0 ? CoordinateSet::maximal : CoordinateSet::minimal;
    const Model model = test::random_forest(random, options).build();
    ASSERT_EQ(static_cast<int>(model.tree.size()), model.body_count());
    ASSERT_EQ(model.tree_begin.size(), model.tree_v.size());
    EXPECT_EQ(model.tree_begin.front(), 0);
    EXPECT_EQ(model.tree_begin.back(), model.body_count());
    EXPECT_EQ(model.tree_v.back(), model.nv);
    for (int i = 0; i < model.body_count(); ++i) {
      const Body& body = model.bodies[i];
      const int t = model.tree[i];
      EXPECT_TRUE(model.tree_begin[t] <= i && i < model.tree_begin[t + 1]) << "seed " << seed;
      EXPECT_TRUE(model.tree_v[t] <= body.v0 && body.v0 + body.nv <= model.tree_v[t + 1]);
      EXPECT_EQ(body.parent.valid(), i > model.tree_begin[t]);
      if (body.parent.valid()) { EXPECT_EQ(model.tree[body.parent], t) << "seed " << seed; }
    }
  }
}

// --- Who touches whom
// -----------------------------------------------------------------------------

ContactLaw rough(double mu) { return {.mu1 = mu, .mu2 = mu}; }

// Law and order of two shapes by name, both ways round.
struct Meeting {
  int law = -1;
  std::string a, b;
};
Meeting meeting(const Model& model, const std::string& first, const std::string& second) {
  const auto index = [&](const std::string& name) {
    for (std::size_t i = 0; i < model.shapes.size(); ++i)
      if (model.shapes[i].name == name) return static_cast<int>(i);
    return -1;
  };
  int a = index(first), b = index(second), c = b, d = a;
  const int law = model.law_between(a, b);
  EXPECT_EQ(model.law_between(c, d), law) << first << " " << second;
  if (law >= 0) { EXPECT_EQ(std::pair(a, b), std::pair(c, d)) << first << " " << second; }
  return {law, model.shapes[a].name, model.shapes[b].name};
}

TEST(Contacts, LawsByPairsAndLists) {
  ModelBuilder builder;
  for (const std::string name : {"a", "b", "c"}) {
    builder.body(name, unit, joint_of(Floating{}));
    builder.shape(name + "1", name, {}, Sphere{0.1}).shape(name + "2", name, {}, Sphere{0.1});
  }
  builder.shape("ground", "world", {}, HalfSpace{}).shape("wall", "world", {}, HalfSpace{});
  builder.contact("ground", "a1", rough(0.1));
  builder.contact({"b1", "b2", "a1"}, {"ground", "c1"}, rough(0.2));
  builder.contact({"a1", "a2"}, {"a1", "a2", "b1"}, rough(0.3));
  const Model model = builder.build();
  ASSERT_EQ(model.contact_laws.size(), 3u);
  EXPECT_EQ(model.contact_laws[1].mu1, 0.2);
  const auto expect = [&](const std::string& first, const std::string& second, int law,
                          const std::string& a = "") {
    const Meeting m = meeting(model, first, second);
    EXPECT_EQ(m.law, law) << first << " " << second;
    if (law >= 0) { EXPECT_EQ(m.a, a) << first << " " << second; }
  };
  expect("a1", "ground", 0, "ground");  // the first law that names both
  expect("b2", "ground", 1, "b2");
  expect("c1", "b1", 1, "b1");
  expect("c1", "a1", 1, "a1");
  expect("b1", "a2", 2, "a2");
  expect("a2", "ground", -1);
  expect("c2", "ground", -1);
  expect("c1", "wall", -1);
  expect("ground", "wall", -1);
}

TEST(Layout, CoordinatesHaveNamesAndArmature) {
  ModelBuilder builder;
  JointSpec planar = joint_of(Planar{}), hinge = joint_of(Revolute{}, "base"),
            slide = joint_of(Prismatic{}, "arm");
  planar.dofs = {{.armature = 1}, {.armature = 2}, {.armature = 3}};
  hinge.name = "shoulder";
  hinge.dofs = {{.armature = 4}};
  builder.body("tool", unit, slide).body("arm", unit, hinge).body("base", unit, planar);
  const Model model = builder.build();
  ASSERT_EQ(model.nv, 5);
  for (const std::string name : {"base.x", "base.y", "base.theta", "shoulder", "tool"}) {
    const Coordinate& c = model.coordinates[model.coordinate(name)];
    EXPECT_EQ(c.name, name);
    EXPECT_EQ(c.rotational, name == "base.theta" || name == "shoulder") << name;
  }
  const auto armature = [&](const std::string& name) {
    return model.armature[model.coordinates[model.coordinate(name)].v_index];
  };
  EXPECT_EQ(armature("base.x"), 1);
  EXPECT_EQ(armature("base.y"), 2);
  EXPECT_EQ(armature("base.theta"), 3);
  EXPECT_EQ(armature("shoulder"), 4);
  EXPECT_EQ(armature("tool"), 0);
}

TEST(Layout, OnePropertyForAllCoordinates) {
  const Model model =
      ModelBuilder().body("a", unit, with_dof(Carrier{}, {.armature = 0.5})).build();
  EXPECT_EQ(model.armature, Vec::Constant(3, 0.5));
}

TEST(Layout, AnEmptyModelIsAModel) {
  const Model model = ModelBuilder().build();
  EXPECT_EQ(model.nv, 0);
  EXPECT_EQ(model.lambda_rows, 0);
  EXPECT_EQ(make_state(model).q.size(), 0);
}

// --- State
// ----------------------------------------------------------------------------------------

TEST(States, StartAtRestInTheZeroPosition) {
  const Model model = ModelBuilder()
                          .body("a", unit, joint_of(Floating{}))
                          .body("b", unit, joint_of(Spherical{}, "a"))
                          .body("c", unit, joint_of(Revolute{}, "b"))
                          .build();
  const State state = make_state(model);
  Vec q(12);
  q << 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0;
  EXPECT_EQ(state.q, q);
  EXPECT_EQ(state.v, Vec::Zero(10));
  EXPECT_EQ(state.t, 0);
  EXPECT_EQ(state.Lambda, Vec::Zero(model.lambda_rows));
  EXPECT_EQ(state.mode.size(), model.slots.size());
  EXPECT_EQ(state.turns.size(), model.coordinates.size());
}

std::vector<ContactImpulse> random_contacts(Random& random, int count) {
  std::vector<ContactImpulse> contacts;
  for (int i = 0; i < count; ++i) {
    ContactImpulse& c = contacts.emplace_back();
    c.key = {.a = i / 2, .b = 10 + i % 2, .feature = random.integer(0, 1000)};
    c.mode = static_cast<unsigned char>(random.integer(1, 2));
    for (double& x : c.Lambda) x = random.uniform(-1, 1);
  }
  return contacts;
}

TEST(States, FindsAContactByItsKey) {
  Random random(7);
  State state;
  EXPECT_EQ(find_contact(state, {.a = 0, .b = 10}), nullptr);
  state.contacts = random_contacts(random, 9);
  for (const ContactImpulse& c : state.contacts) {
    EXPECT_EQ(find_contact(state, c.key), &c);
    ContactKey other = c.key;
    ++other.feature;
    EXPECT_EQ(find_contact(state, other), nullptr);
  }
  EXPECT_EQ(find_contact(state, {.a = 5}), nullptr);
}

TEST(States, AnAbsurdCountOfContactsIsAnError) {
  const Model model = two_bodies().build();
  std::vector<std::uint8_t> bytes = to_bytes(make_state(model));
  for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    std::memcpy(bytes.data(), &count, sizeof count);
    EXPECT_THROW((void)from_bytes(model, bytes.data(), bytes.size()), InputError);
  }
}

TEST(States, BytesAreACheckpoint) {
  for (const auto seed : seeds(1, 50)) {
    Random random(seed);
    test::ForestOptions options;
    if (seed % 2 == 0) options.coordinates = CoordinateSet::maximal;
    const Model model = test::random_forest(random, options).build();
    State state = test::random_state(random, model);
    state.t = random.uniform(0, 10);
    state.t0 = random.uniform(0, 1);
    state.step = 123456789012;
    state.Lambda = random.vector(model.lambda_rows);
    for (auto& mode : state.mode) mode = static_cast<unsigned char>(random.integer(0, 2));
    for (auto& turns : state.turns) turns = random.integer(-5, 5);
    EXPECT_EQ(to_bytes(state).size(), to_bytes(make_state(model)).size());
    state.contacts = random_contacts(random, random.integer(0, 5));
    if (seed % 3 == 0) state.memory = random.vector(random.integer(1, 9));
    const std::vector<std::uint8_t> bytes = to_bytes(state);
    const State back = from_bytes(model, bytes.data(), bytes.size());
    EXPECT_TRUE(back == state) << "seed " << seed;
    EXPECT_EQ(to_bytes(back), bytes) << "seed " << seed;
    for (const std::size_t size :
         {bytes.size() - 1, bytes.size() + 1, std::size_t{7}, std::size_t{0}})
      EXPECT_THROW((void)from_bytes(model, bytes.data(), size), InputError) << size;
    State other = state;
    if (other.v.size() > 0) {
      other.v[0] += 1;
      EXPECT_FALSE(other == state);
    }
    other = state;
    if (!other.contacts.empty()) {
      other.contacts[0].Lambda[5] += 1;
      EXPECT_FALSE(other == state);
    }
  }
}

}  // namespace
}  // namespace saltus
