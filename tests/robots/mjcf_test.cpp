// The MJCF reader: closed forms of small files, and bad ones by file and line.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>

#include "saltus/dynamics/kinematics.h"
#include "saltus/lie/so3.h"
#include "saltus/scene/scene.h"
#include "tests/support/robot_model.h"

namespace saltus {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double eps = 1e-13;  // rounding of numbers of order one

Robot read(const std::string& inside, const std::string& folder = "") {
  return read_mjcf("<mujoco>\n" + inside + "\n</mujoco>", "r.xml", folder, {});
}

// A body with a hinge and a unit inertia, attributes and contents as given.
std::string body(const std::string& inside, const std::string& attributes = "") {
  return "<worldbody><body name=\"b\"" + attributes + "><joint name=\"j\"/>" + inside +
         "</body></worldbody>";
}
const std::string weight = R"(<inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>)";

SE3 pose_at(const Robot& robot, const std::string& name, const std::vector<double>& q) {
  const Model model = test::model_of(robot);
  State state = test::start_of(robot, model);
  for (std::size_t i = 0; i < q.size(); ++i) state.q[static_cast<Eigen::Index>(i)] = q[i];
  Workspace work(model);
  forward_kinematics(model, state.q, state.v, work);
  return work.X[model.body(name)];
}

Mat3 about(const Vec3& axis, double angle) { return exp_so3(angle * axis); }

TEST(Mjcf, AnglesAreDegreesUnlessTheCompilerSaysOtherwise) {
  const std::string joint =
      R"(<worldbody><body name="b"><joint name="j" range="-90 45" ref="30"/>)" + weight +
      "</body></worldbody>";
  const JointDof degrees = read(joint).bodies[0].joint.dofs.at(0);
  EXPECT_NEAR(degrees.lower, -pi / 2, eps);
  EXPECT_NEAR(degrees.upper, pi / 4, eps);
  EXPECT_NEAR(read(joint).initial.at("j").q[0], pi / 6, eps);
  const JointDof radians = read(R"(<compiler angle="radian"/>)" + joint).bodies[0].joint.dofs.at(0);
  EXPECT_EQ(radians.lower, -90);
}

TEST(Mjcf, RotationsInAllTheirForms) {
  const Vec3 x = Vec3::UnitX(), y = Vec3::UnitY(), z = Vec3::UnitZ();
  const double a = 0.3, b = -0.7, c = 1.1;
  const struct {
    std::string compiler, given;
    Mat3 R;
  } cases[] = {
      {"", R"(quat="0 0 3 0")", about(y, pi)},  // w, x, y, z; any length
      {"", R"(axisangle="0 2 0 90")", about(y, pi / 2)},
      {R"(angle="radian")", R"(axisangle="1 0 0 0.3")", about(x, a)},
      {"", R"(xyaxes="0 1 0 -1 5 0")", about(z, pi / 2)},
      {"", R"(zaxis="1 0 0")", about(y, pi / 2)},
      {"", R"(zaxis="0 0 -1")", about(x, pi)},
      {R"(angle="radian")", R"(euler="0.3 -0.7 1.1")", about(x, a) * about(y, b) * about(z, c)},
      {R"(angle="radian" eulerseq="XYZ")", R"(euler="0.3 -0.7 1.1")",
       about(z, c) * about(y, b) * about(x, a)},
      {R"(angle="radian" eulerseq="zyx")", R"(euler="0.3 -0.7 1.1")",
       about(z, a) * about(y, b) * about(x, c)},
  };
  for (const auto& one : cases) {
    const Robot robot =
        read("<compiler " + one.compiler + "/>" + body(weight, " pos=\"1 2 3\" " + one.given));
    const SE3 X = pose_at(robot, "b", {});
    EXPECT_LT((X.R - one.R).norm(), 1e-12) << one.given;
    EXPECT_LT((X.r - Vec3(1, 2, 3)).norm(), eps) << one.given;
  }
}

TEST(Mjcf, JointsTurnAboutTheirAnchors) {
  const Robot robot = read(R"(<worldbody><body name="b" pos="1 0 0">
      <joint name="j" pos="0 2 0" axis="0 0 3"/>)" +
                           weight + "</body></worldbody>");
  const double q = 0.4;
  const Vec3 anchor(1, 2, 0);
  const Vec3 expected = anchor + about(Vec3::UnitZ(), q) * Vec3(0, -2, 0);
  EXPECT_LT((pose_at(robot, "b", {q}).r - expected).norm(), eps);
}

TEST(Mjcf, RefIsWhereTheFileDrawsTheJoint) {
  const Robot robot = read(R"(<compiler angle="radian"/><worldbody><body name="b" pos="1 0 0">
      <joint name="turn" ref="0.5"/><joint name="push" type="slide" axis="1 0 0" ref="0.2"/>)" +
                           weight + "</body></worldbody>");
  EXPECT_LT((pose_at(robot, "b", {}).r - Vec3(1, 0, 0)).norm(), eps);  // at qpos0
  const SE3 X = pose_at(robot, "b", {0.9, 0.3});
  const Mat3 R = about(Vec3::UnitZ(), 0.4);
  EXPECT_LT((X.R - R).norm(), eps);
  EXPECT_LT((X.r - (Vec3(1, 0, 0) + R * Vec3(0.1, 0, 0))).norm(), eps);
}

TEST(Mjcf, SeveralJointsOfABodyMoveItInTheirOrder) {
  const Robot robot = read(R"(<worldbody><body name="b">
      <joint name="jx" type="slide" axis="1 0 0"/><joint name="jz" axis="0 0 1"/>
      <joint name="jy" pos="0 0 1" axis="0 1 0"/>)" +
                           weight + R"(
      <body name="c" pos="1 0 0"><geom size="0.1"/></body></body></worldbody>)");
  ASSERT_EQ(robot.bodies.size(), 4U);  // two massless ones
  EXPECT_EQ(robot.bodies[2].name, "b");
  EXPECT_EQ(robot.bodies[2].joint.name, "jy");
  EXPECT_EQ(robot.bodies[0].inertia.mass, 0);
  EXPECT_EQ(robot.bodies[3].joint.parent, "b");
  const SE3 up = SE3::translation(Vec3::UnitZ());
  const SE3 expected = SE3::translation(Vec3(0.5, 0, 0)) *
                       SE3{about(Vec3::UnitZ(), 0.3), Vec3::Zero()} * up *
                       SE3{about(Vec3::UnitY(), -0.8), Vec3::Zero()} * up.inverse();
  const SE3 X = pose_at(robot, "b", {0.5, 0.3, -0.8});
  EXPECT_LT((X.R - expected.R).norm() + (X.r - expected.r).norm(), eps);
}

RigidInertia of_geom(const std::string& geom) {
  return read(body("<geom " + geom + "/>")).bodies[0].inertia;
}
void expect_moments(const RigidInertia& i, double mass, const Vec3& moments) {
  EXPECT_NEAR(i.mass, mass, 1e-12 * mass);
  EXPECT_LT((i.about_com - Mat3(moments.asDiagonal())).norm(), 1e-12 * moments.norm());
}

TEST(Mjcf, InertiaOfEveryGeom) {
  const double r = 0.2, h = 0.5;
  const double ball = 1000 * 4 * pi / 3 * r * r * r, tube = 1000 * 2 * pi * r * r * h;
  expect_moments(of_geom(R"(size="0.2")"), ball, Vec3::Constant(0.4 * ball * r * r));
  const double across = tube * (r * r / 4 + h * h / 3);
  expect_moments(of_geom(R"(type="cylinder" size="0.2 0.5")"), tube,
                 {across, across, tube * r * r / 2});
  // Half balls have their centres 3 r / 8 off the flat.
  const double d = h + 3 * r / 8;
  const double caps = ball * (0.4 * r * r - 9 * r * r / 64 + d * d);
  expect_moments(of_geom(R"(type="capsule" size="0.2 0.5")"), tube + ball,
                 {across + caps, across + caps, tube * r * r / 2 + 0.4 * ball * r * r});
  expect_moments(of_geom(R"(type="box" size="1 2 3" mass="6")"), 6, {26, 20, 10});
  expect_moments(of_geom(R"(type="ellipsoid" size="1 2 3" mass="5")"), 5, {13, 10, 5});
}

TEST(Mjcf, TwoBallsOnARodAboutTheirCentre) {
  const RigidInertia i = read(body(R"(<geom size="0.1" mass="1" pos="0 0 0"/>
      <geom size="0.1" mass="3" pos="4 0 0"/>)"))
                             .bodies[0]
                             .inertia;
  EXPECT_LT((i.com - Vec3(3, 0, 0)).norm(), eps);
  const double own = 4 * 0.4 * 0.01;
  expect_moments(i, 4, {own, own + 12, own + 12});  // 1 * 3^2 + 3 * 1^2
}

TEST(Mjcf, TheCompilersRulesOfMass) {
  const std::string two = R"(<geom size="0.1" mass="1" group="3"/><geom size="0.1" mass="2"/>)";
  const auto mass = [&](const std::string& rule, const std::string& inside) {
    return read("<compiler " + rule + "/>" + body(inside)).bodies[0].inertia.mass;
  };
  EXPECT_DOUBLE_EQ(mass("", two), 3);
  EXPECT_DOUBLE_EQ(mass(R"(inertiagrouprange="0 2")", two), 2);
  EXPECT_DOUBLE_EQ(mass("", two + weight), 1);
  EXPECT_DOUBLE_EQ(mass(R"(inertiafromgeom="true")", two + weight), 3);
  EXPECT_DOUBLE_EQ(mass(R"(settotalmass="8")", two), 8);
  EXPECT_DOUBLE_EQ(mass(R"(boundmass="5")", two), 5);
  const std::string odd = R"(<inertial mass="1" pos="0 0 0" diaginertia="1 1 4"/>)";
  const Robot balanced = read(R"(<compiler balanceinertia="true"/>)" + body(odd));
  EXPECT_LT((balanced.bodies[0].inertia.about_com - 2 * Mat3::Identity()).norm(), eps);
}

TEST(Mjcf, ClassesAndChildclasses) {
  const Robot robot = read(R"(<default><geom density="10"/><joint damping="1" armature="0.5"/>
      <default class="a"><joint damping="2"/>
        <default class="b"><joint damping="3"/></default></default></default>
      <worldbody><body name="p" childclass="a"><geom size="1" mass="1"/><joint name="j1"/>
        <body name="q"><geom size="1" mass="1"/><joint name="j2" class="b"/>
        <body name="r"><geom size="1" mass="1"/><joint name="j3" class="main"/>
        <body name="s"><geom size="1" mass="1"/><joint name="j4" damping="4"/>
        </body></body></body></body></worldbody>)");
  const double expected[] = {2, 3, 1, 4};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(robot.bodies[i].joint.dofs[0].damping, expected[i]);
    EXPECT_EQ(robot.bodies[i].joint.dofs[0].armature, 0.5);
  }
}

TEST(Mjcf, KeyframesSplitByJointAndMotors) {
  const Robot robot = read(R"(<worldbody><body name="p" pos="0 0 1"><freejoint name="root"/>
      <geom size="0.1"/><body name="q"><joint name="j"/><geom size="0.1"/></body></body></worldbody>
      <actuator><position joint="j" kp="10" kv="1" gear="2" ctrlrange="-1 1"/></actuator>
      <keyframe><key name="home" qpos="1 2 3 2 0 0 0 0.5" qvel="1 2 3 4 5 6 7" ctrl="0.8"/></keyframe>)");
  EXPECT_EQ(robot.initial.at("root").q, (std::vector<double>{0, 0, 1, 1, 0, 0, 0}));
  const auto& joints = robot.keyframes.at(0).joints;
  EXPECT_EQ(joints.at("root").q, (std::vector<double>{1, 2, 3, 1, 0, 0, 0}));
  EXPECT_EQ(joints.at("root").v, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(joints.at("j").q, std::vector<double>{0.5});
  const MotorScene& motor = robot.motors.at(0);  // tau = g kp (ctrl - g q) - g^2 kv dq/dt
  EXPECT_DOUBLE_EQ(motor.kp, 40);
  EXPECT_DOUBLE_EQ(motor.kd, 4);
  EXPECT_DOUBLE_EQ(value(motor.reference.value(), 0), 0.4);
}

TEST(Mjcf, EqualitiesCloseLoops) {
  const Robot robot = read(R"(<worldbody><body name="p"><joint/><geom size="0.1"/></body>
      <body name="q" pos="1 0 0"><joint/><geom size="0.1"/></body></worldbody>
      <equality><connect body1="p" body2="q" anchor="0.5 0 0"/><weld body1="p" body2="q"/>
      <joint joint1="p" joint2="q"/></equality>)");
  ASSERT_EQ(robot.loops.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Spherical>(robot.loops[0].joint.kind));
  EXPECT_LT((robot.loops[0].joint.in_body.r - Vec3(-0.5, 0, 0)).norm(), eps);
  EXPECT_TRUE(std::holds_alternative<Fixed>(robot.loops[1].joint.kind));
  EXPECT_LT((robot.loops[1].joint.placement.r - Vec3(1, 0, 0)).norm(), eps);
}

TEST(Mjcf, WhatIsNotUsedIsNamedWithItsLine) {
  const Robot robot = read("<option cone=\"elliptic\"/>\n" +
                           body("<geom size=\"0.1\" solref=\"1 1\"/>\n<camera name=\"eye\"/>") +
                           "\n<sensor>\n<gyro site=\"s\"/></sensor>");
  const auto line_of = [&](const std::string& item) {
    for (const RobotNote& n : robot.notes)
      if (n.item == item && n.kind == RobotNote::Kind::unused) return n.where.line;
    return -1;
  };
  EXPECT_EQ(line_of("<option> cone"), 2);
  EXPECT_EQ(line_of("<geom> solref"), 3);
  EXPECT_EQ(line_of("<camera name=\"eye\">"), 4);
  EXPECT_EQ(line_of("<sensor>"), 5);
}

TEST(Mjcf, BaseByTheOptions) {
  const std::string text = "<mujoco><worldbody><body name=\"b\" pos=\"0 0 2\"><freejoint/>" +
                           weight + "</body></worldbody></mujoco>";
  const Robot fixed = read_mjcf(text, "r.xml", "", {RobotBase::fixed});
  EXPECT_TRUE(std::holds_alternative<Fixed>(fixed.bodies[0].joint.kind));
  EXPECT_EQ(fixed.bodies[0].joint.placement.r.z(), 2);
}

// A base that is held by the options does not touch its neighbours, whom it covers in most files,
// but all others, as it would if it moved.
TEST(Mjcf, AHeldBaseIsStillANeighbour) {
  const std::string text = R"(<mujoco><worldbody>
      <body name="b"><freejoint/><geom name="trunk" size="0.1"/>
        <body name="hip"><geom name="socket" size="0.05"/>
          <body name="leg"><joint/><geom name="thigh" size="0.1"/>
            <body name="foot"><joint/><geom name="sole" size="0.1"/></body></body></body></body>
      </worldbody></mujoco>)";
  for (const RobotBase base : {RobotBase::from_file, RobotBase::fixed}) {
    const System system = build_system(scene_of(read_mjcf(text, "r.xml", "", {base})));
    const auto touch = [&](const char* first, const char* second) {
      const auto find = [&](const char* name) {
        const auto& all = system.model.shapes;
        return static_cast<int>(
            std::find_if(all.begin(), all.end(),
                         [&](const ContactShape& s) { return s.name == name; }) -
            all.begin());
      };
      int a = find(first), b = find(second);
      const ContactShape &x = system.model.shapes.at(a), &y = system.model.shapes.at(b);
      const std::pair pair(std::min<int>(x.body, y.body), std::max<int>(x.body, y.body));
      const auto& excluded = system.model.excluded;
      return system.model.law_between(a, b) >= 0 &&
             !std::binary_search(excluded.begin(), excluded.end(), pair);
    };
    EXPECT_FALSE(touch("trunk", "thigh"));
    EXPECT_FALSE(touch("socket", "thigh"));
    EXPECT_FALSE(touch("thigh", "sole"));
    EXPECT_TRUE(touch("trunk", "sole"));
  }
}

// --- bad input -----------------------------------------------------------------------------------

void expect_refused(const std::string& inside, int line, const std::string& words) {
  try {
    (void)read(inside);
    FAIL() << "accepted: " << inside;
  } catch (const InputError& e) {
    const std::string what = e.what();
    if (line > 0) { EXPECT_EQ(what.rfind("r.xml:" + std::to_string(line) + ":", 0), 0U) << what; }
    EXPECT_NE(what.find(words), std::string::npos) << what;
  }
}

TEST(MjcfBad, NumbersTypesAndDirections) {
  expect_refused("\n" + body("<geom size=\"0.x\"/>"), 3, "size: expected 1 to 3 numbers");
  expect_refused(body("<geom size=\"-1\"/>"), 2, "positive length");
  expect_refused(body("<geom size=\"1\" type=\"blob\"/>"), 2, "got 'blob'");
  expect_refused(R"(<worldbody><body><joint type="screw"/></body></worldbody>)", 2, "got 'screw'");
  expect_refused(body(weight, " quat=\"0 0 0 0\""), 2, "quat: expected a quaternion");
  expect_refused(body(weight, " quat=\"1 0 0 0\" euler=\"0 0 0\""), 2, "one rotation");
  expect_refused(R"(<worldbody><body><joint axis="0 0 0"/></body></worldbody>)", 2, "axis");
  expect_refused(R"(<compiler coordinate="global"/>)", 2, "coordinate");
  expect_refused(R"(<compiler eulerseq="xy"/>)", 2, "eulerseq");
  expect_refused(R"(<compiler inertiagrouprange="0 1e300"/>)", 2, "whole numbers");
  expect_refused(R"(<worldbody><body><joint range="2 1"/></body></worldbody>)", 2, "lower < upper");
}

TEST(MjcfBad, Inertia) {
  expect_refused(body(""), 2, "needs mass and inertia");
  expect_refused(body(R"(<inertial mass="0" pos="0 0 0" diaginertia="1 1 1"/>)"), 2, "needs mass");
  expect_refused(body(R"(<inertial mass="-1" pos="0 0 0"/>)"), 2, "mass >= 0");
  expect_refused(body(R"(<inertial mass="1" pos="0 0 0" diaginertia="1 1 4"/>)"), 2, "A + B >= C");
  expect_refused(body(R"(<inertial mass="1" pos="0 0 0" fullinertia="1 1 1 2 0 0"/>)"), 2, "A + B");
}

TEST(MjcfBad, NamesAndClasses) {
  expect_refused(R"(<worldbody><body name="b"/>)"
                 "\n"
                 R"(<body name="b"/></worldbody>)",
                 3, "the name 'b' is taken");
  expect_refused(R"(<worldbody><body name="world"/></worldbody>)", 2, "is taken");
  expect_refused(body("<geom class=\"none\" size=\"1\"/>"), 2, "no default class is called 'none'");
  expect_refused(body(weight, " childclass=\"none\""), 2, "no default class");
  expect_refused(R"(<default><default class="a"><default class="a"/></default></default>)", 2,
                 "the class name 'a' is taken");
  expect_refused(R"(<actuator><motor joint="none"/></actuator>)", 2, "no joint is called 'none'");
  expect_refused(R"(<contact><exclude body1="x" body2="y"/></contact>)", 2,
                 "no body is called 'x'");
  expect_refused(body(weight) + R"(<keyframe><key qpos="1 2"/></keyframe>)", 2,
                 "expected 1 number");
}

TEST(MjcfBad, Joints) {
  expect_refused(body("<body><freejoint/></body>"), 2, "free joint");
  expect_refused(R"(<worldbody><body><joint type="ball"/><joint/></body></worldbody>)", 2, "ball");
}

TEST(MjcfBad, DeepNestingAndEntities) {
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "<body>";
  for (int i = 0; i < 5000; ++i) deep += "</body>";
  expect_refused("<worldbody>" + deep + "</worldbody>", 0, "nested more than");
  EXPECT_THROW((void)read_mjcf("<!DOCTYPE a [<!ENTITY b \"c\">]>\n<mujoco/>", "r.xml", "", {}),
               InputError);
}

class MjcfFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(top_);
    std::filesystem::create_directories(top_ / "in");
  }
  void TearDown() override { std::filesystem::remove_all(top_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(top_ / name) << text;
  }
  [[nodiscard]] std::string refusal(const std::string& inside) const {
    try {
      (void)read(inside, (top_ / "in").string());
    } catch (const InputError& e) { return e.what(); }
    return "";
  }
  std::filesystem::path top_ =
      std::filesystem::temp_directory_path() / ("mjcf_test" + std::to_string(::getpid()));
};

TEST_F(MjcfFiles, IncludesAreReadAndReportedByTheirOwnLines) {
  write("in/part.xml",
        "<mujocoinclude>\n<body name=\"b\">\n<joint/><geom size=\"1\" gap=\"1\"/>"
        "</body></mujocoinclude>");
  const Robot robot =
      read("<worldbody><include file=\"part.xml\"/></worldbody>", (top_ / "in").string());
  ASSERT_EQ(robot.bodies.size(), 1U);
  ASSERT_EQ(robot.notes.size(), 1U);
  EXPECT_EQ(robot.notes[0].where.file, "part.xml");
  EXPECT_EQ(robot.notes[0].where.line, 3);
}

TEST_F(MjcfFiles, BadIncludes) {
  write("secret.xml", "<mujoco/>");
  write("in/a.xml", "<mujoco>\n<include file=\"b.xml\"/></mujoco>");
  write("in/b.xml", "<mujoco>\n<include file=\"a.xml\"/></mujoco>");
  write("in/c.xml", "<mujoco/>");
  std::filesystem::create_symlink(top_ / "secret.xml", top_ / "in/link.xml");
  const auto include = [](const std::string& f) { return "<include file=\"" + f + "\"/>"; };
  EXPECT_NE(refusal(include("a.xml")).find("b.xml:2: <include> file: the includes form a cycle"),
            std::string::npos);
  EXPECT_NE(refusal(include("none.xml")).find("r.xml:2: <include> file: there is no file"),
            std::string::npos);
  EXPECT_NE(refusal(include("../secret.xml")).find("leaves the robot's folder"), std::string::npos);
  EXPECT_NE(refusal(include("link.xml")).find("leaves the robot's folder"), std::string::npos);
  EXPECT_NE(refusal(include((top_ / "secret.xml").string())).find("absolute"), std::string::npos);
  EXPECT_NE(refusal(include("c.xml") + include("c.xml")).find("twice"), std::string::npos);
}

TEST_F(MjcfFiles, MeshesGiveHullsAndMass) {
  // A tetrahedron with its right corner at the origin: volume 1/6, centre at 1/4.
  write("in/t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  const Robot robot = read(R"(<asset><mesh name="t" file="t.obj"/><mesh name="u" file="../u.stl"/>
      </asset>)" + body(R"(<geom type="mesh" mesh="t" density="6"/>
      <geom type="mesh" mesh="u" mass="0"/>)"),
                           (top_ / "in").string());
  const RigidInertia& i = robot.bodies[0].inertia;
  EXPECT_NEAR(i.mass, 1, eps);
  EXPECT_LT((i.com - Vec3::Constant(0.25)).norm(), eps);
  EXPECT_NEAR(i.about_com(0, 0), 2 * (1.0 / 10 - 1.0 / 16), eps);  // integral x^2 = m / 10
  EXPECT_NEAR(i.about_com(0, 1), 1.0 / 16 - 1.0 / 20, eps);        // integral x y = m / 20
  bool reported = false;
  for (const RobotNote& n : robot.notes)
    reported = reported || n.message.find("leaves the robot's folder") != std::string::npos;
  EXPECT_TRUE(reported);
}

TEST_F(MjcfFiles, AMeshThatGivesMassAndCannotIsRefused) {
  // A robot never loses mass in silence: an absent, a flat and an unreadable mesh.
  write("in/flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n");
  write("in/bad.stl", "solid");
  const std::string geom = R"(<geom type="mesh" mesh="m")";
  const struct {
    std::string file, why;
  } cases[] = {{"absent.stl", "there is no file 'absent.stl'"},
               {"flat.obj", "the points lie in one plane"},
               {"bad.stl", "expected triangles, got none"}};
  for (const auto& c : cases) {
    const std::string asset = R"(<asset><mesh name="m" file=")" + c.file + "\"/></asset>\n";
    const std::string message = refusal(asset + body(geom + "/>"));
    EXPECT_NE(message.find("r.xml:3: <geom>: this geom gives its body mass and cannot"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find(c.why), std::string::npos) << message;
    // Where it does not weigh, or the body has an <inertial>, the robot does without.
    EXPECT_EQ(refusal(asset + body(geom + " mass=\"0\"/>" + R"(<geom size="1"/>)")), "");
    EXPECT_EQ(refusal(asset + body(geom + "/>" + weight)), "");
  }
}

}  // namespace
}  // namespace saltus
