// Robot files as they are found in the wild: files of our own (tests/robots/files) that have what
// public ones have, each with a known answer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "saltus/analysis/metrics.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/robots/inertia_repair.h"
#include "saltus/robots/robot.h"
#include "saltus/scene/document.h"
#include "tests/support/check.h"

namespace saltus::test {
namespace {

using Kind = RobotNote::Kind;

std::string path_of(const std::string& name) {
  return std::string(SALTUS_SOURCE_DIR) + "/tests/robots/files/" + name;
}

Robot load(const std::string& name, const RobotOptions& options = {}) {
  return load_robot(path_of(name), options);
}

std::string refusal(const std::string& name, const RobotOptions& options = {}) {
  try {
    (void)build_system(scene_of(load(name, options)));
  } catch (const InputError& e) { return e.what(); }
  return "";
}

// The note of an item in a line, or none.
const RobotNote* note(const Robot& r, Kind kind, int line, const std::string& item) {
  for (const RobotNote& n : r.notes)
    if (n.kind == kind && n.where.line == line && n.item == item) return &n;
  return nullptr;
}

std::string message(const Robot& r, Kind kind, int line, const std::string& item) {
  const RobotNote* n = note(r, kind, line, item);
  return n ? n->message : fmt::format("(no note of {} in line {})", item, line);
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

const BodyScene& body(const Robot& r, const std::string& name) {
  for (const BodyScene& b : r.bodies)
    if (b.name == name) return b;
  throw std::runtime_error("no body " + name);
}

Vec3 moments(const RigidInertia& inertia) {
  return Eigen::SelfAdjointEigenSolver<Mat3>(inertia.about_com).eigenvalues();
}

// --- excludes ------------------------------------------------------------------------------------

TEST(Wild, ExclusionsFromBodiesFixedToTheWorldHold) {
  const Robot r = load("hand.xml");
  const auto touch = [&](const std::string& a, const std::string& b) {
    return std::any_of(r.contacts.begin(), r.contacts.end(), [&](const ContactScene& c) {
      return (matches(c.between[0], a) && matches(c.between[1], b)) ||
             (matches(c.between[0], b) && matches(c.between[1], a));
    });
  };
  EXPECT_FALSE(touch("forearm", "palm"));
  EXPECT_FALSE(touch("forearm", "thumb"));
  EXPECT_TRUE(touch("forearm", "finger"));  // it avoids the world's own floor alone
  EXPECT_FALSE(touch("floor", "finger"));
  EXPECT_TRUE(touch("floor", "palm"));
  EXPECT_TRUE(touch("floor", "thumb"));
  EXPECT_TRUE(touch("thumb", "finger"));
  for (const RobotNote& n : r.notes) EXPECT_NE(n.item, "<exclude>") << n.message;
}

// --- inertias ------------------------------------------------------------------------------------

TEST(Wild, TheNearestMomentsAreTheNearest) {
  // Closed forms: one inequality violated, two, all.
  EXPECT_LT((nearest_moments({1, 4, 6}) - Vec3(4, 13, 17) / 3).norm(), 1e-14);
  EXPECT_LT((nearest_moments({0, 0, 3}) - Vec3(1, 1, 2)).norm(), 1e-14);
  EXPECT_LT((nearest_moments({-2, 3, 5}) - Vec3(0, 4, 4)).norm(), 1e-14);
  EXPECT_LT(nearest_moments({-1, -1, -1}).norm(), 1e-14);
  EXPECT_LT((nearest_moments({2, 3, 4}) - Vec3(2, 3, 4)).norm(), 1e-14);
  // x is the nearest point of a convex cone if and only if it is in it and every y of the cone
  // lies behind it: (m - x).(y - x) <= 0.
  std::mt19937_64 random(5);
  const auto number = [&] { return std::ldexp(static_cast<double>(random() >> 11U), -52) - 1; };
  for (int k = 0; k < 2000; ++k) {
    const Vec3 m(number(), number(), number()), x = nearest_moments(m);
    EXPECT_GE(2 * x.maxCoeff() - x.sum(), -4.0);
    EXPECT_LE(2 * x.maxCoeff() - x.sum(), 1e-14);
    for (int i = 0; i < 10; ++i) {
      const Vec3 w(std::abs(number()), std::abs(number()), std::abs(number()));
      const Vec3 y = Vec3::Constant(w.sum()) - w;
      EXPECT_LE((m - x).dot(y - x), 1e-13);
    }
  }
}

TEST(Wild, DummyInertiasAreMadePhysicalByTheSmallestChangeAndNamed) {
  const Robot r = load("sensors.urdf", {RobotBase::floating});
  EXPECT_LT((moments(body(r, "imu").inertia) - 1e-6 * Vec3(1, 1, 2)).norm(), 1e-19);
  EXPECT_LT((moments(body(r, "shank").inertia) - 1e-3 / 3 * Vec3(4, 13, 17)).norm(), 1e-16);
  EXPECT_EQ(body(r, "imu").inertia.mass, 1e-6);
  const std::string imu = message(r, Kind::changed, 9, "<inertia>");
  EXPECT_HAS(imu, "link 'imu'");
  EXPECT_HAS(imu, "taken as 1e-06, 1e-06, 2e-06 kg m^2");
  EXPECT_HAS(message(r, Kind::changed, 16, "<inertia>"), "were 0.001, 0.004, 0.006");
  EXPECT_HAS(message(r, Kind::changed, 20, "<link name=\"pointer\">"),
             "joint 'point' moves nothing with inertia");
  EXPECT_HAS(message(r, Kind::unused, 33, "<joint name=\"nowhere\">"), "no motor");
  EXPECT_EQ(std::count_if(r.notes.begin(), r.notes.end(),
                          [](const RobotNote& n) { return n.kind == Kind::changed; }),
            3);
  EXPECT_EQ(build_system(scene_of(r)).model.nv, 6 + 3);
  EXPECT_HAS(refusal("sensors.urdf", {RobotBase::floating, true}),
             "sensors.urdf:9: <inertia>: expected moments that obey the triangle inequality");
}

TEST(Wild, AnInertiaThatMattersIsRefused) {
  const std::string text =
      "<robot name='r'><link name='a'><inertial><mass value='1'/>\n"
      "<inertia ixx='1' iyy='1' izz='2.5' ixy='0' ixz='0' iyz='0'/></inertial></link>\n"
      "<link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
      "iyz='0'/></inertial></link><joint name='j' type='fixed'><parent link='a'/><child link='b'/>"
      "</joint></robot>";
  try {
    (void)read_robot(text, "r.urdf", "", {});
    FAIL() << "taken";
  } catch (const InputError& e) {
    EXPECT_HAS(std::string(e.what()), "r.urdf:2: <inertia>: expected moments that obey");
    EXPECT_HAS(std::string(e.what()), "too much to be mended");
  }
}

// --- files ---------------------------------------------------------------------------------------

TEST(Wild, MeshesAreFoundInTheRobotsPackageAndInNamedFolders) {
  const std::string file = "ros/hopper_description/robots/hopper.urdf";
  const Robot r = load(file);
  const auto& shapes = body(r, "leg").shapes;
  ASSERT_EQ(shapes.size(), 2U) << report_text(r);
  // A cube of 0.1 m whose faces have corners of their own, 4e-20 m apart; and twice as large.
  for (int k = 0; k < 2; ++k) {
    const Hull& hull = *std::get<ConvexHull>(shapes[k].shape).hull;
    EXPECT_EQ(hull.vertices.size(), 8U);
    EXPECT_NEAR(hull.volume, k == 0 ? 1e-3 : 8e-3, 1e-17);
  }
  EXPECT_HAS(message(r, Kind::unused, 7, "<mesh> filename"), "is not there");
  EXPECT_HAS(message(r, Kind::unused, 8, "<mesh> filename"), "leaves the robot's folder");
  const Robot more = load(file, {RobotBase::from_file, false, {path_of("ros_elsewhere")}});
  EXPECT_EQ(body(more, "leg").shapes.size(), 3U) << report_text(more);
  EXPECT_TRUE(note(more, Kind::unused, 8, "<mesh> filename"));
  const Robot all = load(file, {RobotBase::from_file, false, {path_of("")}});
  EXPECT_FALSE(note(all, Kind::unused, 8, "<mesh> filename"));  // the folder is named
  EXPECT_HAS(refusal(file, {RobotBase::from_file, false, {path_of("nowhere")}}), "is no folder");
}

TEST(Wild, MeshesWeighAsTheirInertiaSays) {
  const Robot r = load("meshes.xml");
  const RigidInertia convex = body(r, "convex").inertia, shell = body(r, "shell").inertia;
  EXPECT_NEAR(convex.mass, 1, 1e-14);
  EXPECT_LT((convex.about_com - Mat3(Mat3::Identity() / 6)).norm(), 1e-14);
  // Centre: by pyramids from (1/2, 1/2, 2/5), the centre of five faces, 2/5 / 3 and 4 x 1/2 / 3.
  // Volume: by pyramids from that centre.
  for (const char* name : {"legacy", "exact"}) {
    const RigidInertia i = body(r, name).inertia;
    EXPECT_NEAR(i.mass, 0.4125 / 3 + 2.0 / 3, 1e-14);
    EXPECT_LT((i.com - Vec3(0.5, 0.5, 0.4125)).norm(), 1e-14);
  }
  EXPECT_NEAR(shell.mass, 5, 1e-13);
  EXPECT_LT((shell.com - Vec3(0.5, 0.5, 0.4)).norm(), 1e-14);
  EXPECT_NEAR(shell.about_com(2, 2), 1.0 / 6 + 4 * (1.0 / 12 + 1.0 / 4), 1e-13);
  // The box that has the moments of a cube is that cube.
  const BodyScene& box = body(r, "box");
  EXPECT_NEAR(box.inertia.mass, 1, 1e-13);
  EXPECT_LT((std::get<Box>(box.shapes.at(0).shape).half_size - Vec3::Constant(0.5)).norm(), 1e-13);
}

// --- macros and what is reported -----------------------------------------------------------------

TEST(Wild, ReplicateIsWrittenOutWithWhatNamesIt) {
  const Robot r = load("rosette.xml");
  ASSERT_EQ(r.bodies.size(), 1U + 6 * 3);
  const System system = build_system(scene_of(r));
  Workspace work(system.model);
  forward_kinematics(system.model, system.start.q, system.start.v, work);
  for (int k = 0; k < 6; ++k) {
    const double angle = (15 + 60 * k) * std::numbers::pi / 180;
    const Vec3 out(std::cos(angle), std::sin(angle), 0);
    const SE3& X = work.X[system.model.body(fmt::format("spoke-{}", k))];
    EXPECT_LT((X.r - Vec3(0, 0, 0.5) - 0.1 * out).norm(), 1e-14);
    EXPECT_LT((X.R.col(0) - out).norm(), 1e-14);
    for (int i = 0; i < 2; ++i) {
      const SE3& toe = work.X[system.model.body(fmt::format("toe{}-{}", i, k))];
      EXPECT_LT((toe.r - Vec3(0, 0, 0.5 + 0.05 * i) - 0.3 * out).norm(), 1e-14);
    }
    EXPECT_EQ(body(r, fmt::format("spoke-{}", k)).joint.name, fmt::format("lift-{}", k));
    const std::pair<std::string, std::string> pair("hub", fmt::format("spoke-{}", k));
    EXPECT_NE(std::find(r.excluded.begin(), r.excluded.end(), pair), r.excluded.end());
  }
  ASSERT_EQ(r.motors.size(), 6U + 12);
  EXPECT_EQ(r.body_lines.at(1).line, 11);  // where the file has it
  // A number that makes no sense, and one that would fill the memory.
  const auto complaint = [](const std::string& inside) {
    try {
      (void)read_robot("<mujoco><worldbody>\n" + inside + "</worldbody></mujoco>", "r.xml", "", {});
    } catch (const InputError& e) { return std::string(e.what()); }
    return std::string();
  };
  EXPECT_HAS(complaint("<replicate count='0'/>"), "r.xml:2: <replicate> count: expected");
  EXPECT_HAS(complaint("<replicate count='9999'><replicate count='9999'><site/></replicate>"
                       "</replicate>"),
             "expected at most 200000 copied elements");
}

TEST(Wild, ActuatorsWithDynamicsAreBuiltOrNamed) {
  const Robot r = load("odds.xml");
  const auto motor = [&](const std::string& joint) -> const MotorScene* {
    for (const MotorScene& m : r.motors)
      if (m.joints.front() == joint) return &m;
    return nullptr;
  };
  const auto constant = [](const std::optional<Signal>& s) { return s ? value(*s, 0) : 0; };
  ASSERT_EQ(r.motors.size(), 6U) << report_text(r);
  // A filter of a pure force is a lag of it.
  EXPECT_EQ(constant(motor("a")->torque), 3);
  EXPECT_EQ(motor("a")->drive.lag, 0.05);
  EXPECT_EQ(motor("a")->limit, 3);
  // An integral that nothing moves stays at 0.
  EXPECT_EQ(motor("b")->kp, 40);
  EXPECT_EQ(motor("b")->kd, 2);
  EXPECT_EQ(constant(motor("b")->reference), 0);
  EXPECT_EQ(motor("c")->kd, 3);  // kv times its control
  EXPECT_EQ(motor("d")->kp, 20);
  EXPECT_EQ(motor("d")->kd, 0.5);
  EXPECT_NEAR(constant(motor("d")->reference), (0.01 * 2 + 1) / 20, 1e-17);
  EXPECT_EQ(motor("e"), nullptr);
  EXPECT_EQ(motor("f")->kp, 9);
  // (1 - 2 l - 3 dl/dt) ctrl with ctrl = 1/2
  EXPECT_EQ(motor("g")->kp, 1);
  EXPECT_EQ(motor("g")->kd, 1.5);
  EXPECT_EQ(constant(motor("g")->reference), 0.5);
  EXPECT_HAS(message(r, Kind::assumed, 34, "<intvelocity name=\"integrated\">"), "stays at 0");
  EXPECT_HAS(message(r, Kind::unused, 36, "<cylinder name=\"piston\">"), "acts at once");
  EXPECT_HAS(message(r, Kind::unused, 37, "<muscle name=\"muscle\">"), "curve");
  EXPECT_EQ(r.cables.at(0).cable.name, "t at_tendon");
  EXPECT_HAS(message(r, Kind::unused, 39, "<position name=\"slow\">"), "acts at once");
}

TEST(Wild, ADamperWhoseControlIsZeroIsNoMotor) {
  const std::string text =
      "<mujoco><worldbody><body><joint name='j' type='slide'/><geom size='1'/></body></worldbody>\n"
      "<actuator><damper joint='j' kv='2' ctrlrange='0 1'/></actuator>";
  const auto with = [&](const std::string& key) {
    return read_robot(text + key + "</mujoco>", "r.xml", "", {});
  };
  const Robot off = with("");
  EXPECT_TRUE(off.motors.empty());
  EXPECT_HAS(message(off, Kind::unused, 2, "<damper>"), "gives no force");
  const Robot on = with("<keyframe><key ctrl='0.5'/></keyframe>");
  ASSERT_EQ(on.motors.size(), 1U);
  EXPECT_EQ(on.motors[0].kd, 1);
  EXPECT_EQ(build_system(scene_of(on)).model.nv, 1);
}

TEST(Wild, WhatIsNotBuiltIsNamedWithLineAndReason) {
  const Robot r = load("odds.xml");
  EXPECT_HAS(message(r, Kind::unused, 7, "<body name=\"a\"> gravcomp"), "the body weighs");
  EXPECT_HAS(message(r, Kind::unused, 15, "<attach>"), "not attached");
  EXPECT_HAS(message(r, Kind::unused, 20, "<composite>"), "write them out");
  EXPECT_HAS(message(r, Kind::unused, 28, "<joint name=\"follow\">"), "does not follow joint 'c'");
  const RobotNote* off = note(r, Kind::unused, 29, "<joint name=\"off\"> active");
  ASSERT_TRUE(off);
  EXPECT_FALSE(off->matters);
  for (const RobotNote& n : r.notes) EXPECT_FALSE(n.message.empty()) << n.item;
}

TEST(Wild, JointsThatFollowOthersAreKeptExactly) {
  const Robot g = load("gripper.urdf", {RobotBase::fixed});
  for (const RobotNote& n : g.notes) EXPECT_FALSE(n.message.empty()) << n.item;
  ASSERT_EQ(g.couplings.size(), 1U);
  EXPECT_EQ(g.couplings[0].where.line, 10);
  Scene scene = scene_of(g);
  EXPECT_EQ(scene.initial.at("b").q.at(0), 0.01);
  // Finger a is driven to 0.03 m; b = -1.5 a + 0.01. The weight of neither acts along y, so that
  // the servo's spring alone decides where it comes to rest.
  MotorScene motor;
  motor.joints = {"a"};
  motor.kp = 100;
  motor.kd = 10;
  motor.reference = Constant{0.03};
  scene.motors.push_back(motor);
  System system = build_system(scene);
  const int a = system.model.coordinates[system.model.coordinate_of.at("a")].q_index,
            b = system.model.coordinates[system.model.coordinate_of.at("b")].q_index;
  StepWorkspace work(system.model);
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    (void)step(system.model, system.actuation, system.start, work, scene.stepping);
    worst = std::max(worst, std::abs(system.start.q[b] + 1.5 * system.start.q[a] - 0.01));
  }
  EXPECT_LT(worst, 1e-12);  // the position correction's own tolerance, far below a micrometre
  EXPECT_NEAR(system.start.q[a], 0.03, 1e-6);
}

TEST(Wild, ReportsStartWithWhatMatters) {
  const std::string text = report_text(load("odds.xml"));
  const std::size_t works = text.find("\nworks: 7 joints that move (6 with motors"),
                    changed = text.find("\nchanged: nothing"), missing = text.find("\nmissing:\n"),
                    details = text.find("\ndetails:\n");
  EXPECT_EQ(works, text.find('\n'));  // the second line
  EXPECT_LT(works, changed);
  EXPECT_LT(changed, missing);
  EXPECT_LT(missing, details);
  ASSERT_NE(details, std::string::npos) << text;
  const std::string summary = text.substr(0, details);
  EXPECT_HAS(summary, "1 x <composite>, first in line 20");
  EXPECT_HAS(summary, "1 x <muscle>, first in line 37");
  EXPECT_EQ(summary.find("off"), std::string::npos) << summary;
}

// --- tendons -------------------------------------------------------------------------------------

TEST(Wild, TendonsAreCables) {
  const Robot r = load("strings.xml");
  const auto cable = [&](const std::string& name) -> const CableScene& {
    for (const CableScene& c : r.cables)
      if (c.cable.name == name) return c;
    throw std::runtime_error("no cable " + name);
  };
  ASSERT_EQ(r.cables.size(), 7U) << report_text(r);
  EXPECT_EQ(cable("gear longest").cable.length, 0.4);
  EXPECT_EQ(cable("gear longest").joints, (std::vector<std::string>{"p", "q"}));
  EXPECT_EQ(cable("gear longest").cable.pulleys[1].gap, -2);
  EXPECT_EQ(cable("gear shortest").cable.length, 0.5);
  EXPECT_EQ(cable("gear shortest").cable.pulleys[1].gap, 2);
  EXPECT_EQ(cable("gear spring").cable.stiffness, 7);
  EXPECT_EQ(cable("gear spring").cable.damping, 0.3);
  EXPECT_EQ(cable("gear spring").cable.length, 0.1);
  EXPECT_LT(cable("gear spring").cable.lower, -1e300);
  // A range of springlength that begins at 0: a string.
  EXPECT_EQ(cable("bungee spring").cable.length, 0.2);
  EXPECT_EQ(cable("bungee spring").cable.lower, 0);
  EXPECT_EQ(cable("rope longest").bodies, (std::vector<std::string>{"world", "bob"}));
  // tension = -g F: F = ctrl with gear -1; F = 3 (0.2 - l) - dl/dt / 2 with l = 2 r.
  EXPECT_EQ(value(*cable("bungee pull").pull, 0), 4);
  EXPECT_EQ(cable("bungee pull").cable.lower, 0);
  EXPECT_EQ(cable("bungee pull").cable.upper, 20);
  EXPECT_EQ(cable("gear servo").cable.stiffness, 12);
  EXPECT_EQ(cable("gear servo").cable.damping, 2);
  EXPECT_NEAR(value(*cable("gear servo").pull, 0), -2 * 3 * 0.2, 1e-15);
  EXPECT_HAS(message(r, Kind::unused, 29, "<spatial name=\"wrapped\">"), "winds around a geom");
  EXPECT_HAS(message(r, Kind::unused, 34, "<motor name=\"no\">"), "tendon 'wrapped' is not built");
  // Written out and read again they are the same model: what a run file keeps.
  const Scene scene = scene_of(r);
  const System system = build_system(scene);
  const System again =
      build_system(read_scene(Document::from_text(complete_text(scene), "c.yaml")));
  ASSERT_EQ(system.model.cables.size(), again.model.cables.size());
  for (std::size_t i = 0; i < system.model.cables.size(); ++i) {
    EXPECT_EQ(system.model.cables[i].name, again.model.cables[i].name);
    EXPECT_EQ(system.model.cables[i].length, again.model.cables[i].length);
    EXPECT_EQ(system.model.cables[i].lower, again.model.cables[i].lower);
    EXPECT_EQ(system.model.cables[i].stiffness, again.model.cables[i].stiffness);
  }
}

// What a run file keeps of a robot has its joints that follow others, and lags of motors.
TEST(Wild, CouplingsAndLagsAreWrittenOut) {
  const Scene gripper = scene_of(load("gripper.urdf", {RobotBase::fixed}));
  const System again =
      build_system(read_scene(Document::from_text(complete_text(gripper), "c.yaml")));
  ASSERT_EQ(again.model.gap_contacts.size(), 2U);
  EXPECT_EQ(again.model.gap_contacts[0].terms.size(), 2U);
  const Scene odds = scene_of(load("odds.xml"));
  const std::string text = complete_text(odds);
  EXPECT_HAS(text, "lag: 0.05");
}

// --- loops ---------------------------------------------------------------------------------------

TEST(Wild, LoopsThatAFileLeavesOpenAreClosedAtTheStart) {
  const auto start = [](const std::string& keyframe) {
    return build_system(read_scene(Document::from_text(
        fmt::format("saltus: 1\ntime: {{end: 1}}\nrobots: [{{file: gripper.xml, keyframe: {}}}]\n",
                    keyframe),
        path_of("s.yaml"))));
  };
  const System system = start("open");
  // The pin of the bar against that of the right finger: 0.2 (sin 0.3 - sin 0.29), ... apart.
  const double gap =
      0.2 * std::hypot(std::sin(0.3) - std::sin(0.29), std::cos(0.3) - std::cos(0.29));
  EXPECT_NEAR(system.closure.gap, gap, 1e-14);
  EXPECT_LT(system.closure.gap_left, 1e-10);
  EXPECT_LT(measure_loops(system.model, system.start).gap, 1e-10);
  const Robot r = load("gripper.xml");
  EXPECT_HAS(message(r, Kind::changed, 24, "<key name=\"open\"> qpos"),
             "the quaternion of joint 'root' was 0 0 0 0, taken as 1 0 0 0");
  try {
    (void)start("broken");
    FAIL() << "taken";
  } catch (const InputError& e) {
    EXPECT_HAS(std::string(e.what()), "gripper.xml:22: the start leaves loop 'pin' open");
  }
}

// --- other formats -------------------------------------------------------------------------------

TEST(Wild, AnSdfIsReadWithItsLoops) {
  const Robot r = load("arm.sdf");
  ASSERT_EQ(r.bodies.size(), 3U);
  ASSERT_EQ(r.loops.size(), 1U);
  EXPECT_EQ(r.loops[0].joint.name, "rod_head");
  const System system = build_system(scene_of(r));
  EXPECT_LT(system.closure.gap, 1e-14);
  ASSERT_EQ(system.model.nv, 1 + 1 + 3);
  Workspace work(system.model);
  forward_kinematics(system.model, system.start.q, system.start.v, work);
  EXPECT_LT((work.X[system.model.body("upper")].r - Vec3(0, 0, 1)).norm(), 1e-14);
  EXPECT_LT((work.X[system.model.body("lower")].r - Vec3(0.2, 0, 1)).norm(), 1e-14);
  EXPECT_LT((work.X[system.model.body("rod")].r - Vec3(0.2, 0, 1.3)).norm(), 1e-14);
  crba(system.model, work);
  // About the shoulder: Steiner, and the lower link's moments turned by 90 degrees about z.
  const int shoulder = system.model.coordinates[system.model.coordinate_of.at("shoulder")].v_index;
  const double expected = (0.02 + 2 * 0.01) + (0.02 + 0.35 * 0.35) + (0.001 + 0.3 * 0.13);
  EXPECT_NEAR(work.M(shoulder, shoulder), expected, 1e-14);
  const JointDof& dof = body(r, "upper").joint.dofs.at(0);
  EXPECT_EQ(dof.lower, -2);
  EXPECT_EQ(dof.damping, 0.5);
  EXPECT_EQ(dof.friction, 0.1);
  EXPECT_EQ(dof.stiffness, 3);
  EXPECT_EQ(dof.rest, 0.2);
  EXPECT_EQ(body(r, "upper").shapes.at(0).name, "upper_box");
  EXPECT_EQ(std::get<Cylinder>(body(r, "lower").shapes.at(0).shape).half_length, 0.15);
  EXPECT_EQ(r.visuals.size(), 1U);
  EXPECT_HAS(message(r, Kind::unused, 51, "<joint name=\"gears\">"), "gearbox is not supported");
  EXPECT_FALSE(note(r, Kind::unused, 52, "<plugin name=\"p\">")->matters);
}

TEST(Wild, SdfThatMakesNoSense) {
  const auto complaint = [](const std::string& inside) {
    try {
      (void)read_robot("<sdf version='1.7'>\n<model name='m'>" + inside + "</model></sdf>", "r.sdf",
                       "", {});
    } catch (const InputError& e) { return std::string(e.what()); }
    return std::string();
  };
  const std::string link = "\n<link name='a'/>";
  EXPECT_HAS(complaint(""), "r.sdf:2: <model name=\"m\">: expected a <link>");
  EXPECT_HAS(complaint(link + link), "r.sdf:4: <link name=\"a\">: the link 'a' is there already");
  EXPECT_HAS(complaint("<link name='a'><pose relative_to='b'>0 0 0 0 0 0</pose></link>"),
             "relative to 'b', which is not there");
  EXPECT_HAS(complaint("<link name='a'><pose>0 0 0</pose></link>"), "expected 6 numbers");
  EXPECT_HAS(complaint("<link name='a'><pose relative_to='a'>0 0 0 0 0 0</pose></link>"),
             "relative to itself");
  EXPECT_HAS(complaint(link + "<joint name='j' type='ball'><parent>a</parent><child>x</child>"
                              "</joint>"),
             "there is no link 'x'");
  EXPECT_HAS(complaint(link + "<joint name='j' type='ball'><parent>a</parent><child>in::b</child>"
                              "</joint>"),
             "there is no link 'in::b'");
  EXPECT_HAS(complaint("<model name='in'/>"), "r.sdf:2: <model name=\"m\">: expected a <link>");
  EXPECT_HAS(complaint("\n<include><uri>model://x</uri></include>"),
             "expected a <link>, there is none: <include> of line 3: 'model://x' is not there");
  EXPECT_HAS(complaint(link + "<model name='a'/>"),
             "r.sdf:3: <model name=\"a\">: there is another");
  EXPECT_HAS(complaint(link + "<model name='in' placement_frame='f'><link name='b'/></model>"),
             "there is no frame 'in::f' in it");
  // A frame that stands where the model does that it places.
  EXPECT_HAS(complaint(link + "<model name='in' placement_frame='f'><link name='b'/><frame "
                              "name='f'><pose relative_to='f'>0 0 0 0 0 0</pose></frame></model>"),
             "by which it is placed");
  EXPECT_HAS(
      complaint("<link name='a'><pose rotation_format='quat_xyzw'>0 0 0 0 0 0 0</pose></link>"),
      "expected a quaternion, got zero");
  EXPECT_HAS(complaint("<link name='a'><pose rotation_format='axis'>0 0 0 0 0 0</pose></link>"),
             "expected euler_rpy or quat_xyzw, got 'axis'");
  EXPECT_HAS(complaint("<link name='a'><inertial auto='true'/></link>"),
             "that gives the link its mass");
  EXPECT_HAS(
      complaint("<link name='a'><inertial auto='true'/>\n<collision name='c'><geometry><plane/>"
                "</geometry></collision></link>"),
      "r.sdf:3: <collision name=\"c\">: this shape gives its link mass and cannot");
  EXPECT_HAS(complaint("<link name='a'><inertial><mass>1e308</mass></inertial></link>"),
             "r.sdf:2: <mass>: expected numbers of at most 1e+100 in size, got 1e+308");
  EXPECT_HAS(complaint("<link name='a'><pose>0 -1e200 0 0 0 0</pose></link>"), "got -1e+200");
}

TEST(Wild, ModelsThatAnSdfLeavesOutAreOneLineEach) {
  const std::string inner = "<link name='b'><pose>1 2 3 0 0 0</pose></link>";
  const Robot r =
      read_robot("<sdf version='1.9'>\n<model name='m'><link name='a'/>\n<model name='in'>" +
                     inner + "</model>\n<include><uri>model://x</uri></include>" +
                     "</model>\n<model name='n'>" + inner + "</model></sdf>",
                 "r.sdf", "", {});
  ASSERT_EQ(r.bodies.size(), 2U);
  EXPECT_EQ(r.bodies[1].name, "in::b");
  EXPECT_HAS(message(r, Kind::unused, 4, "<include>"), "'model://x' is not there");
  EXPECT_HAS(message(r, Kind::unused, 5, "<model name=\"n\">"), "only one model");
  EXPECT_EQ(std::count_if(r.notes.begin(), r.notes.end(),
                          [](const RobotNote& n) { return n.kind == Kind::unused; }),
            2);
}

RobotOptions with_models() { return {RobotBase::from_file, false, {path_of("gazebo_models")}}; }

TEST(Wild, ModelsWithinAnSdfAndOfOtherFilesStandWhereTheyAreSaidTo) {
  const Robot r = load("gazebo/yard.sdf", with_models());
  EXPECT_EQ(r.name, "scout");
  const System system = build_system(scene_of(r));
  Workspace work(system.model);
  forward_kinematics(system.model, system.start.q, system.start.v, work);
  // In the rover, which stands at 1 2 3, turned by 90 degrees.
  const auto place = [&](const std::string& name) {
    const Vec3 d = work.X[system.model.body(name)].r - Vec3(1, 2, 3);
    return Vec3(d.y(), -d.x(), d.z());
  };
  EXPECT_LT((place("chassis") - Vec3(0, 0, 0.5)).norm(), 1e-14);
  EXPECT_LT((place("left::hub") - Vec3(0.3, 0.3, 0.5)).norm(), 1e-14);  // its rim is 0.1 further
  EXPECT_LT((place("hub") - Vec3(0.3, -0.4, 0.5)).norm(), 1e-14);       // merged
  EXPECT_LT((place("mast::tip") - Vec3(0, 0, 1.2)).norm(), 1e-14);      // on its foot
  const Mat3 R = work.X[system.model.body("mast::tip")].R;              // twice 90 degrees
  EXPECT_LT((R - Vec3(-1, -1, 1).asDiagonal().toDenseMatrix()).norm(), 1e-14);
  const BodyScene& left = body(r, "left::hub");
  EXPECT_EQ(left.joint.name, "spin");
  EXPECT_EQ(left.joint.parent, "chassis");
  ASSERT_EQ(left.shapes.size(), 1U) << report_text(r);
  EXPECT_EQ(left.shapes[0].name, "left::tread");
  EXPECT_NEAR(left.shapes[0].frame.r.y(), 0.1, 1e-15);
  EXPECT_NEAR(std::get<ConvexHull>(left.shapes[0].shape).hull->volume, 0.004, 1e-16);
  // Of the shape, with the mass that is given.
  EXPECT_DOUBLE_EQ(body(r, "chassis").inertia.mass, 10);
  EXPECT_LT(
      (body(r, "chassis").inertia.about_com.diagonal() - 10. / 12 * Vec3(0.29, 1.04, 1.25)).norm(),
      1e-14);
  // What is not there is named, with the file it is named in.
  EXPECT_HAS(message(r, Kind::unused, 3, "<include>"), "'model://ground_plane' is not there");
  EXPECT_HAS(message(r, Kind::unused, 4, "<model name=\"shed\">"), "only one model");
  const RobotNote* plugin = note(r, Kind::unused, 11, "<plugin name=\"grip\">");
  ASSERT_TRUE(plugin) << report_text(r);
  EXPECT_HAS(plugin->where.file, "gazebo_models/wheel/model.sdf");
  // Without the folder the world has but a shed, which is held.
  const Robot shed = load("gazebo/yard.sdf");
  EXPECT_EQ(shed.name, "shed");
  EXPECT_HAS(message(shed, Kind::unused, 10, "<include>"), "in the net");
  EXPECT_TRUE(std::holds_alternative<Fixed>(shed.bodies.at(0).joint.kind));
}

TEST(Wild, JointsOfTwoAxesScrewsAndFollowersOfAnSdf) {
  const Robot r = load("gazebo/yard.sdf", {RobotBase::fixed, false, {path_of("gazebo_models")}});
  const BodyScene& tip = body(r, "mast::tip");
  EXPECT_EQ(tip.joint.parent, "gimbal.link");
  EXPECT_EQ(body(r, "gimbal.link").joint.dofs.at(0).stiffness, 20);
  EXPECT_EQ(tip.joint.dofs.at(0).stiffness, 30);
  Scene scene = scene_of(r);
  MotorScene motor;
  motor.joints = {"jackscrew"};
  motor.kp = 10;
  motor.kd = 1;
  motor.reference = Constant{1};
  scene.motors.push_back(motor);
  motor.joints = {"spin"};
  motor.reference = Constant{0.5};
  scene.motors.push_back(motor);
  System system = build_system(scene);
  ASSERT_EQ(system.model.nv, 1 + 1 + 2 + 2);
  const auto q = [&](const char* name) {
    return system.start.q[system.model.coordinates[system.model.coordinate_of.at(name)].q_index];
  };
  EXPECT_DOUBLE_EQ(q("follow"), 0.1);  // 2 (0 - 0.1) + 0.3
  StepWorkspace work(system.model);
  for (int i = 0; i < 3000; ++i) {
    (void)step(system.model, system.actuation, system.start, work, scene.stepping);
    EXPECT_NEAR(q("jackscrew.2"), 0.01 / std::numbers::pi * q("jackscrew"), 1e-12);
    EXPECT_NEAR(q("follow"), 2 * q("spin") + 0.1, 1e-11);
  }
  EXPECT_NEAR(q("spin"), 0.5, 1e-3);
  // The screw's weight turns it: kp (q - 1) = -m g pitch / (2 pi).
  EXPECT_NEAR(q("jackscrew"), 1 - 9.81 * 0.01 / std::numbers::pi / 10, 1e-3);
}

TEST(Wild, AnAxisOfAnSdfIsTheModelsBeforeVersion15) {
  const auto axis = [](const std::string& version) {
    const Robot r =
        read_robot("<sdf version='" + version +
                       "'><model name='m'><link name='a'/><link name='b'><inertial/><pose>0 0 0 0 "
                       "0 1.5707963267948966</pose></link><joint name='j' "
                       "type='revolute'><parent>a</parent><child>b</child><axis><xyz>1 "
                       "0 0</xyz></axis></joint></model></sdf>",
                   "r.sdf", "", {});
    const JointSpec& j = body(r, "b").joint;
    return Vec3(j.placement.R * std::get<Revolute>(j.kind).axis);
  };
  EXPECT_LT((axis("1.4") - Vec3::UnitX()).norm(), 1e-14);
  for (const char* later : {"1.5", "1.9", "1.10", "1.11", "1.12"})
    EXPECT_LT((axis(later) - Vec3::UnitY()).norm(), 1e-14) << later;
}

TEST(Wild, NothingOfAStaticModelMoves) {
  const std::string text =
      "<sdf version='1.7'><model name='m'><static>true</static><link name='a'/>\n<link "
      "name='b'><pose>1 0 0 0 0 0</pose></link><joint name='j' type='revolute'>"
      "<parent>a</parent><child>b</child><axis/></joint></model></sdf>";
  const Robot r = read_robot(text, "r.sdf", "", {});
  EXPECT_EQ(build_system(scene_of(r)).model.nv, 0);
  EXPECT_HAS(message(r, Kind::assumed, 2, "<joint name=\"j\">"), "static");
}

TEST(Wild, AnSdfThatIncludesItselfIsRefused) {
  const std::string got = refusal("gazebo/circle.sdf", with_models());
  EXPECT_HAS(got, "gazebo/circle.sdf:4: <include>: the includes form a cycle");
}

TEST(Wild, ChainsOfFollowersStartTogetherAndCirclesAreNamed) {
  const auto joint = [](const std::string& name, const std::string& leader) {
    return "<link name='l" + name +
           "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
           "izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>\n<joint name='" +
           name + "' type='continuous'><parent link='base'/><child link='l" + name + "'/>" +
           (leader.empty() ? "" : "<mimic joint='" + leader + "' multiplier='2' offset='0.1'/>") +
           "</joint>\n";
  };
  const Robot r =
      read_robot("<robot name='r'><link name='base'/>\n" + joint("c", "b") + joint("b", "a") +
                     joint("a", "") + joint("d", "e") + joint("e", "d") + "</robot>",
                 "r.urdf", "", {RobotBase::fixed});
  ASSERT_EQ(r.couplings.size(), 3U);
  EXPECT_HAS(message(r, Kind::unused, 11, "<mimic>"),
             "joint 'd' follows 'e' already, through others");
  // q_c = 2 (2 0 + 0.1) + 0.1
  const System system = build_system(scene_of(r));
  const auto q = [&](const char* name) {
    return system.start.q[system.model.coordinates[system.model.coordinate_of.at(name)].q_index];
  };
  EXPECT_DOUBLE_EQ(q("b"), 0.1);
  EXPECT_DOUBLE_EQ(q("c"), 0.3);
}

TEST(Wild, AFileOfModelsThatAreNotMadeIsRefused) {
  try {
    (void)read_robot("<mujoco>\n<worldbody>\n<attach model='m' prefix='x'/></worldbody></mujoco>",
                     "r.xml", "", {});
    FAIL() << "an empty robot";
  } catch (const InputError& e) {
    EXPECT_HAS(std::string(e.what()), "r.xml:3: <attach>: its bodies are not there");
  }
}

TEST(Wild, ATemplateIsRefusedWithTheCommandThatExpandsIt) {
  const std::string got = refusal("arm.urdf.xacro");
  EXPECT_HAS(got, "arm.urdf.xacro:2: <xacro:property name=\"length\">: this is a template");
  EXPECT_HAS(got, "xacro " + path_of("arm.urdf.xacro") + " > robot.urdf");
}

}  // namespace
}  // namespace saltus::test
