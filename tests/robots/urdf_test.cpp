// URDF: closed forms on small files, and what is refused, with its line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numbers>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/lie/so3.h"
#include "saltus/robots/robot.h"
#include "saltus/scene/document.h"
#include "tests/support/check.h"

namespace saltus::test {
namespace {

constexpr double pi = std::numbers::pi;

std::string link(const std::string& name, const std::string& inside = "") {
  return fmt::format("<link name=\"{}\">{}</link>\n", name, inside);
}
// Mass m, moments a, b, c about a centre at xyz turned by rpy.
std::string inertial(double m, const std::string& moments, const std::string& origin = "") {
  return fmt::format("<inertial>{}<mass value=\"{}\"/><inertia {}/></inertial>",
                     origin.empty() ? "" : "<origin " + origin + "/>", m, moments);
}
std::string moments(double a, double b, double c) {
  return fmt::format(R"(ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0")", a, b, c);
}
const std::string usual = inertial(1, moments(0.1, 0.1, 0.1));
std::string joint(const std::string& name, const std::string& type, const std::string& parent,
                  const std::string& child, const std::string& inside = "") {
  return fmt::format(
             R"(<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>)", name,
             type, parent, child, inside) +
         "\n";
}
std::string robot(const std::string& inside) {
  return "<robot name=\"r\">\n" + inside + "</robot>";
}

Robot read(const std::string& text, RobotBase base = RobotBase::fixed) {
  return read_robot(text, "r.urdf", "", {base, false, {}});
}

struct Built {
  System system;
  Workspace work;
  explicit Built(const Robot& robot) : system(build_system(scene_of(robot))), work(system.model) {}
  void at(const Vec& q, const Vec& v) {
    forward_kinematics(system.model, q, v, work);
    crba(system.model, work);
    bias_force(system.model, work);
  }
};

Vec one(double x) { return Vec::Constant(1, x); }

// --- closed forms --------------------------------------------------------------------------------

TEST(Urdf, PendulumHasItsMassAndBias) {
  // Centre of mass l below a hinge about y: M = J + m l^2, bias = m g l sin q.
  const double m = 2, l = 0.3, J = 0.05;
  const Robot r =
      read(robot(link("base") +
                 link("rod", inertial(m, moments(J, J, 0.02), fmt::format("xyz=\"0 0 {}\"", -l))) +
                 joint("hinge", "continuous", "base", "rod", "<axis xyz='0 2 0'/>")));
  Built b(r);
  ASSERT_EQ(b.system.model.nv, 1);
  for (const double q : {0.0, 0.4, -2.0}) {
    b.at(one(q), one(1.3));
    EXPECT_NEAR(b.work.M(0, 0), J + m * l * l, 4 * eps);
    EXPECT_NEAR(b.work.tau_bias[0], m * 9.81 * l * std::sin(q), 32 * eps);
  }
}

TEST(Urdf, RollPitchYawTurnAboutFixedAxesInThatOrder) {
  // roll 90 deg: y -> z; then yaw 90 deg: x -> y, z stays. So y of the child is z of the parent.
  const std::string origin = fmt::format(R"(<origin xyz="1 2 3" rpy="{} 0 {}"/>)", pi / 2, pi / 2);
  const Robot r = read(robot(link("base") + link("arm", usual) +
                             joint("j", "revolute", "base", "arm",
                                   origin + "<axis xyz='0 1 0'/><limit lower='-1' upper='1'/>")));
  const SE3& X = r.bodies[1].joint.placement;
  EXPECT_LT((X.R * Vec3::UnitY() - Vec3::UnitZ()).norm(), 4 * eps);
  EXPECT_LT((X.R * Vec3::UnitX() - Vec3::UnitY()).norm(), 4 * eps);
  EXPECT_EQ(X.r, Vec3(1, 2, 3));
  const Mat3 all =
      exp_so3(0.3 * Vec3::UnitZ()) * exp_so3(-0.2 * Vec3::UnitY()) * exp_so3(0.1 * Vec3::UnitX());
  const Robot s = read(robot(link("base") + link("arm", usual) +
                             joint("j", "fixed", "base", "arm", "<origin rpy='0.1 -0.2 0.3'/>")));
  EXPECT_LT((s.bodies[1].joint.placement.R - all).norm(), 4 * eps);
}

TEST(Urdf, InertiaIsTurnedFromItsFrameToTheLinks) {
  // The inertial frame turned about z by 90 deg: its x-moment is the link's y-moment.
  const Robot r =
      read(robot(link("body", inertial(3, moments(0.1, 0.2, 0.25),
                                       fmt::format(R"(xyz="0.1 0.2 0.3" rpy="0 0 {}")", pi / 2)))));
  const RigidInertia& I = r.bodies[0].inertia;
  EXPECT_LT((I.about_com - Mat3(Vec3(0.2, 0.1, 0.25).asDiagonal())).norm(), 4 * eps);
  EXPECT_EQ(I.com, Vec3(0.1, 0.2, 0.3));
  EXPECT_EQ(I.about_com, I.about_com.transpose());
  // Products of inertia keep their sign: J_xy is the matrix entry.
  const Robot s = read(robot(
      link("body", inertial(3, R"(ixx="1" iyy="1" izz="1" ixy="0.1" ixz="-0.2" iyz="0.3")"))));
  EXPECT_EQ(s.bodies[0].inertia.about_com(0, 1), 0.1);
  EXPECT_EQ(s.bodies[0].inertia.about_com(2, 0), -0.2);
  EXPECT_EQ(s.bodies[0].inertia.about_com(1, 2), 0.3);
}

TEST(Urdf, PrismaticJointCarriesItsWeight) {
  const Robot r = read(robot(link("base") + link("lift", inertial(5, moments(1, 1, 1))) +
                             joint("slide", "prismatic", "base", "lift",
                                   "<axis xyz='0 0 1'/><limit lower='0' upper='0.4' effort='9'/>"
                                   "<dynamics damping='0.5' friction='2'/>")));
  const JointDof& dof = r.bodies[1].joint.dofs.front();
  EXPECT_EQ(dof.lower, 0);
  EXPECT_EQ(dof.upper, 0.4);
  EXPECT_EQ(dof.damping, 0.5);
  EXPECT_EQ(dof.friction, 2);
  Built b(r);
  b.at(one(0.2), one(-1));
  EXPECT_NEAR(b.work.M(0, 0), 5, 0);
  EXPECT_NEAR(b.work.tau_bias[0], 5 * 9.81, 64 * eps);
}

TEST(Urdf, PlanarJointMovesAcrossItsAxis) {
  // Normal x: a body may not leave x = 0, and turns about x.
  const Robot r = read(robot(link("base") + link("puck", inertial(2, moments(0.3, 0.2, 0.4))) +
                             joint("glide", "planar", "base", "puck", "<axis xyz='1 0 0'/>")));
  Built b(r);
  ASSERT_EQ(b.system.model.nv, 3);
  Vec q(3), v(3);
  q << 0.1, -0.4, 0.7;
  v << 1, 2, 3;
  b.at(q, v);
  const SE3& X = b.work.X[b.system.model.body("puck")];
  EXPECT_NEAR(X.r.x(), 0, 4 * eps);
  EXPECT_NEAR(X.r.norm(), q.head<2>().norm(), 4 * eps);
  EXPECT_LT((X.R * Vec3::UnitX() - Vec3::UnitX()).norm(), 4 * eps);
  EXPECT_NEAR(b.work.M(2, 2), 0.3, 8 * eps);  // about x
  // At q = 0 the link's frame is the joint's.
  b.at(Vec::Zero(3), Vec::Zero(3));
  EXPECT_LT((b.work.X[b.system.model.body("puck")].R - Mat3::Identity()).norm(), 4 * eps);
}

TEST(Urdf, FloatingBaseHasSixMoreDegreesOfFreedom) {
  const std::string text = robot(link("base", usual) + link("arm", usual) +
                                 joint("j", "continuous", "base", "arm", "<axis xyz='1 0 0'/>"));
  EXPECT_EQ(Built(read(text, RobotBase::fixed)).system.model.nv, 1);
  EXPECT_EQ(Built(read(text, RobotBase::floating)).system.model.nv, 7);
  EXPECT_EQ(Built(read(text, RobotBase::from_file)).system.model.nv, 7);
  // A root called world is the world.
  const std::string on_world =
      robot(link("world") + link("arm", usual) + joint("j", "floating", "world", "arm"));
  const Robot r = read(on_world, RobotBase::from_file);
  EXPECT_EQ(r.bodies.size(), 1U);
  EXPECT_EQ(Built(r).system.model.nv, 6);
}

TEST(Urdf, FixedLinksMoveAsOneBody) {
  // A rod of two halves, each of mass 1 and length 1, on a hinge: M is that of one rod.
  const auto half = [](const char* name) {
    return link(name, inertial(1, moments(1. / 12, 1. / 12, 0.001), "xyz='0 0 -0.5'"));
  };
  const Robot r = read(robot(link("base") + half("upper") + half("lower") +
                             joint("h", "continuous", "base", "upper", "<axis xyz='0 1 0'/>") +
                             joint("weld", "fixed", "upper", "lower", "<origin xyz='0 0 -1'/>")));
  Built b(r);
  b.at(one(0.5), one(0));
  EXPECT_NEAR(b.work.M(0, 0), 2 * 4 / 3.0, 16 * eps);  // m L^2/3
  EXPECT_NEAR(b.work.tau_bias[0], 2 * 9.81 * std::sin(0.5), 64 * eps);
}

// --- shapes --------------------------------------------------------------------------------------

TEST(Urdf, CylindersStandAlongZ) {
  const Robot r = read(robot(link(
      "body", usual + "<collision><geometry><cylinder radius='0.1' length='0.6'/></geometry>"
                      "</collision><collision name='rod'><origin rpy='0 1.5707963267948966 0'/>"
                      "<geometry><capsule radius='0.1' length='0.4'/></geometry></collision>")));
  ASSERT_EQ(r.bodies[0].shapes.size(), 2U);
  const ShapeScene& cylinder = r.bodies[0].shapes[0];
  EXPECT_EQ(std::get<Cylinder>(cylinder.shape).half_length, 0.3);
  EXPECT_LT((cylinder.frame.R * Vec3::UnitX() - Vec3::UnitZ()).norm(), eps);  // ours is along x
  EXPECT_EQ(cylinder.name, "body_1");
  const ShapeScene& capsule = r.bodies[0].shapes[1];
  EXPECT_EQ(capsule.name, "rod");
  EXPECT_LT((capsule.frame.R * Vec3::UnitX() - Vec3::UnitX()).norm(), 4 * eps);
}

TEST(Urdf, MaterialsGiveVisualsTheirColour) {
  const Robot r =
      read(robot("<material name='red'><color rgba='1 0 0 0.5'/></material>" +
                 link("body", usual + "<visual><geometry><sphere radius='0.1'/></geometry>"
                                      "<material name='red'/></visual>")));
  ASSERT_EQ(r.visuals.size(), 1U);
  EXPECT_EQ(r.visuals[0].colour, Vec4(1, 0, 0, 0.5));
}

// --- notes ---------------------------------------------------------------------------------------

bool noted(const Robot& r, RobotNote::Kind kind, int line, const std::string& item) {
  for (const RobotNote& n : r.notes)
    if (n.kind == kind && n.where.line == line && n.item.find(item) != std::string::npos)
      return true;
  return false;
}

TEST(Urdf, NamesWhatItDoesNotUseByLine) {
  const Robot r =
      read(robot(link("base") + link("arm", usual) +
                 joint("j", "revolute", "base", "arm",
                       "<axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='3' velocity='2'/>"
                       "<mimic joint='k'/><calibration rising='0'/>") +
                 "<gazebo reference='arm'><mu1>0.2</mu1></gazebo>\n"),
           RobotBase::from_file);
  using enum RobotNote::Kind;
  EXPECT_TRUE(noted(r, unused, 4, "velocity"));
  EXPECT_TRUE(noted(r, unused, 4, "effort"));  // no transmission: no motor to limit
  EXPECT_TRUE(noted(r, unused, 4, "mimic"));
  EXPECT_TRUE(noted(r, unused, 4, "calibration"));
  EXPECT_TRUE(noted(r, unused, 5, "gazebo"));
  EXPECT_TRUE(noted(r, assumed, 2, "base"));  // floating, and no mass
  EXPECT_EQ(r.notes.size(), 7U) << report_text(r);
}

TEST(Urdf, TransmissionsBecomeMotorsWithTheEffortAsLimit) {
  const std::string transmission =
      "<transmission name='t'><joint name='j'/><actuator name='a'>"
      "<mechanicalReduction>50</mechanicalReduction></actuator></transmission>\n";
  const Robot r = read(robot(link("base") + link("arm", usual) +
                             joint("j", "revolute", "base", "arm",
                                   "<axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='3'/>") +
                             transmission));
  ASSERT_EQ(r.motors.size(), 1U);
  EXPECT_EQ(r.motors[0].limit, 3);
  EXPECT_TRUE(noted(r, RobotNote::Kind::assumed, 5, "mechanicalReduction"));
  EXPECT_EQ(Built(r).system.actuation.motors.size(), 1U);
}

TEST(Urdf, RoundedInertiaIsMendedAndSaid) {
  // A thin plate, 0.02 + 0.03 = 0.05, printed with three digits.
  const Robot r = read(robot(link("plate", inertial(1, moments(0.02, 0.03, 0.05002)))));
  EXPECT_TRUE(noted(r, RobotNote::Kind::assumed, 2, "inertia"));
  EXPECT_TRUE(physical(r.bodies[0].inertia.about_com));
  EXPECT_NEAR(r.bodies[0].inertia.about_com(2, 2), 0.05004, 1e-12);
}

// --- scenes and export ---------------------------------------------------------------------------

TEST(Urdf, WrittenOutItIsTheSameModelToTheLastBit) {
  const std::string text = robot(
      link("base", usual) +
      link("arm",
           inertial(1.1, R"(ixx="0.11" iyy="0.12" izz="0.13" ixy="0.01" ixz="0.003" iyz="-0.02")",
                    "xyz='0.1 -0.2 0.3' rpy='0.3 0.2 -1'") +
               "<collision><origin rpy='1 2 3'/><geometry><box size='0.1 0.7 0.3'/>"
               "</geometry></collision>") +
      link("hand", usual) +
      joint("elbow", "revolute", "base", "arm",
            "<origin xyz='0.3 0.1 0.7' rpy='0.3 -2 1'/><axis xyz='0.1 0.7 -0.3'/>"
            "<limit lower='-0.1' upper='0.7'/><dynamics damping='0.3'/>") +
      joint("wrist", "planar", "arm", "hand", "<axis xyz='0.3 0.4 0.5'/>"));
  const Scene scene = scene_of(read(text, RobotBase::floating));
  const std::string written = complete_text(scene);
  const System a = build_system(scene),
               b = build_system(read_scene(Document::from_text(written, "written")));
  ASSERT_EQ(a.model.nv, 10);
  ASSERT_EQ(b.model.nv, 10);
  Vec q = a.start.q, v(10);
  for (int i = 0; i < 10; ++i) v[i] = std::cos(i);
  q[7] = 0.4;
  q.tail<3>() << 0.1, 0.2, 0.3;
  Workspace wa(a.model), wb(b.model);
  for (auto* x : {&a, &b}) {
    Workspace& w = x == &a ? wa : wb;
    forward_kinematics(x->model, q, v, w);
    crba(x->model, w);
    bias_force(x->model, w);
  }
  EXPECT_EQ(wa.M, wb.M);
  EXPECT_EQ(wa.tau_bias, wb.tau_bias);
  EXPECT_EQ(a.model.shapes[0].frame.R, b.model.shapes[0].frame.R);
}

class UrdfScene : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              fmt::format("saltus_urdf_{}_{}", ::getpid(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_ / "robots");
    write("robots/arm.urdf",
          robot(link("base", usual) +
                link("arm", usual + "<collision><geometry><sphere radius='0.1'/></geometry>"
                                    "</collision>") +
                joint("j", "revolute", "base", "arm",
                      "<axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='3'/>") +
                "<transmission name='t'><joint name='j'/></transmission>"));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] Scene scene(const std::string& text) const {
    return read_scene(
        Document::from_text("saltus: 1\ntime: {end: 1}\n" + text, (folder_ / "s.yaml").string()));
  }
  [[nodiscard]] std::string complaint(const std::string& text) const {
    try {
      (void)build_system(scene(text));
    } catch (const InputError& e) { return e.what(); }
    return "";
  }
  std::filesystem::path folder_;
};

TEST_F(UrdfScene, TakesSeveralCopiesUnderNamesOfTheirOwn) {
  const Scene s = scene(
      "robots:\n- {file: robots/arm.urdf, name: a, base: fixed, at: {position: [1, 0, 0]}}\n"
      "- {file: robots/arm.urdf, name: b, at: {position: [0, 2, 0], rpy: [0, 0, 1]}}\n"
      "motors: [{joints: a/j, kp: 7}]\ninitial: {b/j: 0.3, b/base: {v: [1, 0, 0, 0, 0, 0]}}\n"
      "contacts: [{between: [a/*, b/*], friction: 0.5}]\n");
  const System system = build_system(s);
  EXPECT_EQ(system.model.nv, 1 + 7);
  Workspace work(system.model);
  forward_kinematics(system.model, system.start.q, system.start.v, work);
  EXPECT_EQ(work.X[system.model.body("a/arm")].r, Vec3(1, 0, 0));
  EXPECT_LT((work.X[system.model.body("b/base")].r - Vec3(0, 2, 0)).norm(), 4 * eps);
  // The scene's motor takes the place of the file's on a/j; b/j keeps the file's.
  ASSERT_EQ(system.actuation.motors.size(), 2U);
  EXPECT_EQ(system.actuation.motors[0].kp, 7);
  EXPECT_EQ(system.actuation.motors[1].limit, 3);
  EXPECT_EQ(system.start.v[system.model.bodies[system.model.body("b/base")].v0], 1);
}

TEST_F(UrdfScene, CopiesWithoutNamesCollideByLine) {
  const std::string twice = "robots: [{file: robots/arm.urdf}, {file: robots/arm.urdf}]\n";
  EXPECT_NE(complaint(twice).find("arm.urdf:2"), std::string::npos) << complaint(twice);
}

TEST_F(UrdfScene, RobotsLieInTheScenesFolderOrInNamedOnes) {
  namespace fs = std::filesystem;
  fs::create_directories(folder_ / "scenes");
  fs::create_symlink(folder_ / "robots/arm.urdf", folder_ / "scenes/link.urdf");
  const auto complaint = [&](const std::string& robot) {
    try {
      (void)read_scene(Document::from_text("saltus: 1\ntime: {end: 1}\nrobots: [" + robot + "]\n",
                                           (folder_ / "scenes/s.yaml").string()));
    } catch (const InputError& e) { return std::string(e.what()); }
    return std::string();
  };
  const std::string absolute = (folder_ / "robots/arm.urdf").string();
  for (const std::string& file : {std::string("../robots/arm.urdf"), absolute,
                                  std::string("link.urdf"), "file://" + absolute}) {
    const std::string got = complaint("{file: '" + file + "'}");
    EXPECT_NE(got.find("s.yaml:3: robots[0].file: '" + file + "' is outside of the scene's folder"),
              std::string::npos)
        << got;
    EXPECT_EQ(complaint("{file: '" + file + "', package_paths: [../robots]}"), "") << file;
  }
  EXPECT_EQ(complaint("{file: 'package://robots/arm.urdf', package_paths: [..]}"), "");
  EXPECT_NE(complaint("{file: 'package://robots/leg.urdf', package_paths: [..]}")
                .find("robots[0].file: package://robots/leg.urdf: cannot read: No such file"),
            std::string::npos);
  EXPECT_NE(
      complaint("{file: link.urdf, package_paths: [nowhere]}").find("robots[0].package_paths"),
      std::string::npos);
  // A scene of a package finds the package's robots.
  std::ofstream(folder_ / "package.xml") << "<package/>";
  EXPECT_EQ(complaint("{file: ../robots/arm.urdf}"), "");
}

TEST_F(UrdfScene, ABodyTheModelRefusesIsNamedByItsLine) {
  // Two hinges about one axis with a point mass on it: nothing turns.
  write("robots/bad.urdf", robot(link("base") + link("dot", inertial(1, moments(0, 0, 0))) +
                                 joint("j", "continuous", "base", "dot", "<axis xyz='0 0 1'/>")));
  const std::string got = complaint("robots: [{file: robots/bad.urdf, base: fixed}]\n");
  EXPECT_NE(got.find("bad.urdf:3: body 'dot'"), std::string::npos) << got;
}

TEST_F(UrdfScene, SelfContactIsOffUnlessAskedFor) {
  const std::string law = "contacts: [{between: ['*', '*']}]\n";
  write("robots/two.urdf",
        robot(link("base", usual) +
              link("x", usual + "<collision><geometry><sphere radius='0.1'/>"
                                "</geometry></collision>") +
              link("y", usual + "<collision><geometry><sphere radius='0.1'/></geometry>"
                                "</collision>") +
              joint("jx", "continuous", "base", "x", "<axis xyz='0 0 1'/>") +
              joint("jy", "continuous", "base", "y", "<axis xyz='0 0 1'/>")));
  const auto excluded = [&](const std::string& more) {
    const System s = build_system(scene("robots: [{file: robots/two.urdf" + more + "}]\n" + law));
    const int x = s.model.body("x").value, y = s.model.body("y").value;
    return std::binary_search(s.model.excluded.begin(), s.model.excluded.end(),
                              std::pair(std::min(x, y), std::max(x, y)));
  };
  EXPECT_TRUE(excluded(""));
  EXPECT_FALSE(excluded(", self_contact: true"));
}

// --- bad input -----------------------------------------------------------------------------------

struct Bad {
  const char* what;
  std::string text, expected;  // expected: within the message
};
std::ostream& operator<<(std::ostream& out, const Bad& b) { return out << b.what; }

class BadUrdf : public ::testing::TestWithParam<Bad> {};

TEST_P(BadUrdf, IsRefusedByNameAndLine) {
  try {
    (void)build_system(
        scene_of(read_robot(GetParam().text, "r.urdf", "", {RobotBase::fixed, true, {}})));
    FAIL() << "taken";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(GetParam().expected), std::string::npos) << e.what();
    EXPECT_EQ(std::string(e.what()).rfind("r.urdf:", 0), 0U) << e.what();
  }
}

const std::string two = link("a", usual) + link("b", usual);  // lines 2 and 3
const std::string z = "<axis xyz='0 0 1'/>";

INSTANTIATE_TEST_SUITE_P(
    All, BadUrdf,
    ::testing::Values(
        Bad{"not XML", "<robot>\n<link>\n</robot>", "not XML"},
        Bad{"another root", "<model/>", "expected <robot>"},
        Bad{"no links", "<robot name='r'/>", "r.urdf:1: <robot name=\"r\">: expected a <link>"},
        Bad{"a cycle of all",
            robot(two + joint("x", "fixed", "a", "b") + joint("y", "fixed", "b", "a")), "cycle"},
        Bad{"a cycle aside",
            robot(link("base", usual) + two + joint("x", "fixed", "a", "b") +
                  joint("y", "fixed", "b", "a")),
            "r.urdf:5: <joint name=\"x\">: the joints above link 'b' form a cycle"},
        Bad{"two parents",
            robot(two + link("c", usual) + joint("x", "fixed", "a", "c") +
                  joint("y", "fixed", "b", "c")),
            "r.urdf:6: <joint name=\"y\">: the link 'c' has a parent already, by joint 'x'"},
        Bad{"a missing link", robot(two + joint("x", "fixed", "a", "c")),
            "r.urdf:4: <child> link: there is no link 'c'"},
        Bad{"two roots", robot(two), "r.urdf:3: <link name=\"b\">: a second root"},
        Bad{"links of one name", robot(link("a") + link("a")),
            "r.urdf:3: <link name=\"a\">: the link 'a' is there already, in line 2"},
        Bad{"joints of one name",
            robot(two + link("c", usual) + joint("x", "fixed", "a", "b") +
                  joint("x", "fixed", "a", "c")),
            "r.urdf:6: <joint name=\"x\">: the joint 'x' is there already, in line 5"},
        Bad{"negative mass", robot(link("a", inertial(-1, moments(1, 1, 1)))),
            "r.urdf:2: <link name=\"a\">: expected a mass >= 0, got -1"},
        Bad{"a moving link without mass",
            robot(link("a", usual) + link("b") + joint("x", "continuous", "a", "b", z)),
            "r.urdf:3: <link name=\"b\">: expected a positive mass"},
        Bad{"a moving link of mass 0",
            robot(link("a", usual) + link("b", inertial(0, moments(0, 0, 0))) +
                  joint("x", "continuous", "a", "b", z)),
            "r.urdf:3: <link name=\"b\">: expected a positive mass"},
        Bad{"no triangle", robot(link("a", inertial(1, moments(1, 1, 2.1)))),
            "r.urdf:2: <inertia>: expected moments that obey the triangle inequality"},
        Bad{"negative inertia", robot(link("a", inertial(1, moments(-1, 1, 1)))),
            "r.urdf:2: <inertia>: expected a positive definite inertia"},
        Bad{"an indefinite tensor",
            robot(link("a", inertial(1, R"(ixx="1" iyy="1" izz="1" ixy="2" ixz="0" iyz="0")"))),
            "r.urdf:2: <inertia>: expected a positive definite inertia"},
        Bad{"an unknown joint", robot(two + joint("x", "screw", "a", "b")),
            "r.urdf:4: <joint name=\"x\"> type: expected fixed, revolute"},
        Bad{"a number that is none",
            robot(two + joint("x", "fixed", "a", "b", "<origin xyz='0 0 1,5'/>")),
            "r.urdf:4: <origin> xyz: expected 3 numbers, got '0 0 1,5'"},
        Bad{"two numbers of three",
            robot(two + joint("x", "fixed", "a", "b", "<origin xyz='0 0'/>")),
            "r.urdf:4: <origin> xyz: expected 3 numbers"},
        Bad{"not a number", robot(link("a", inertial(1, R"(ixx="nan" iyy="1" izz="1")"))),
            "r.urdf:2: <inertia> ixx: expected 1 number, got 'nan'"},
        Bad{"an infinite number", robot(link("a", inertial(1, R"(ixx="1e999" iyy="1" izz="1")"))),
            "r.urdf:2: <inertia> ixx: expected 1 number"},
        Bad{"an axis of zero",
            robot(two + joint("x", "continuous", "a", "b", "<axis xyz='0 0 0'/>")),
            "r.urdf:4: <axis> xyz: expected a direction, got zero"},
        Bad{"limits upside down",
            robot(two + joint("x", "revolute", "a", "b", z + "<limit lower='1' upper='-1'/>")),
            "r.urdf:4: <limit>: expected lower <= upper"},
        Bad{"negative damping",
            robot(two + joint("x", "continuous", "a", "b", z + "<dynamics damping='-1'/>")),
            "r.urdf:4: <dynamics> damping: expected a number >= 0, got -1"},
        Bad{"a sphere of radius 0",
            robot(link("a", usual + "<collision><geometry><sphere radius='0'/></geometry>"
                                    "</collision>")),
            "r.urdf:2: <sphere> radius: expected a positive length, got 0"},
        Bad{"no geometry", robot(link("a", usual + "<collision/>")),
            "r.urdf:2: <collision>: expected <geometry>"},
        Bad{"a transmission of no joint",
            robot(link("a", usual) + "<transmission><joint name='q'/></transmission>"),
            "r.urdf:3: <joint name=\"q\">: there is no joint 'q'"},
        Bad{"billion laughs",
            "<?xml version='1.0'?>\n<!DOCTYPE r [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]>\n"
            "<robot name='&b;'/>",
            "r.urdf:2: entities of a DOCTYPE are not allowed"},
        Bad{"an external entity",
            "<!DOCTYPE r [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>\n<robot name='&a;'/>",
            "r.urdf:1: entities of a DOCTYPE are not allowed"}));

TEST(Urdf, DeepNestingIsRefused) {
  std::string text = "<robot name='r'>";
  for (int i = 0; i < 100000; ++i) text += "<a>";
  for (int i = 0; i < 100000; ++i) text += "</a>";
  try {
    (void)read(text + "</robot>");
    FAIL() << "taken";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("deep"), std::string::npos) << e.what();
  }
}

TEST(Urdf, ALongChainIsRead) {
  std::string text = link("l0", usual);
  for (int i = 1; i < 3000; ++i)
    text += link(fmt::format("l{}", i), usual) + joint(fmt::format("j{}", i), "continuous",
                                                       fmt::format("l{}", i - 1),
                                                       fmt::format("l{}", i), z);
  EXPECT_EQ(read(robot(text)).bodies.size(), 3000U);
}

// --- files that a robot names --------------------------------------------------------------------

TEST_F(UrdfScene, MeshesOutsideTheFolderAreNotOpened) {
  write("secret.stl", "solid s\nendsolid s\n");
  write("robots/here.stl", "solid s\nendsolid s\n");
  std::filesystem::create_symlink(folder_ / "secret.stl", folder_ / "robots" / "link.stl");
  std::filesystem::create_directory_symlink(folder_, folder_ / "robots" / "up");
  const std::string home = (folder_ / "robots").string();
  for (const std::string& path :
       {std::string("../secret.stl"), std::string("/etc/passwd"), std::string("link.stl"),
        std::string("up/secret.stl"), std::string("x/../../secret.stl")})
    EXPECT_THROW((void)path_in_folder(home, path), InputError) << path;
  EXPECT_TRUE(path_in_folder(home, "here.stl"));
  EXPECT_FALSE(path_in_folder(home, "absent.stl"));
  EXPECT_FALSE(path_in_folder("", "here.stl"));
  for (const char* path : {"../secret.stl", "file:///etc/passwd", "package://x/../../secret.stl"}) {
    const std::string mesh =
        fmt::format("<collision><geometry>\n<mesh filename='{}'/></geometry></collision>", path);
    const Robot r = read_robot(robot(link("a", usual + mesh)), "r.urdf", home, {});
    EXPECT_TRUE(noted(r, RobotNote::Kind::unused, 3, "<mesh> filename")) << report_text(r);
    EXPECT_TRUE(r.bodies[0].shapes.empty());
  }
}

}  // namespace
}  // namespace saltus::test
