// MuJoCo, by the library of its wheel: position actuators and joint damping are the PD.
#include <fmt/format.h>
#include <mujoco/mujoco.h>

#include <stdexcept>

#include "bench/quadruped.h"

namespace saltus::bench {
namespace {

std::string numbers(const Vec3& v) {
  return fmt::format("{:.17g} {:.17g} {:.17g}", v[0], v[1], v[2]);
}

std::string body_xml(const Robot& robot, int i) {
  const Body& b = robot.system.model.bodies[i];
  std::string xml =
      i == 0
          ? fmt::format("<body name='{}' pos='{}'><freejoint/>", b.name, numbers(robot.start[0].r))
          : fmt::format("<body name='{}' pos='{}'><joint name='j{}' axis='{}' damping='{:.17g}'/>",
                        b.name, numbers(b.placement.r), i, numbers(robot.axis(i)), robot.kd);
  xml += fmt::format("<inertial pos='{}' mass='{:.17g}' diaginertia='{}'/>", numbers(b.rigid.com),
                     b.rigid.mass, numbers(b.rigid.about_com.diagonal()));
  for (const Foot& foot : robot.feet)
    if (foot.body == i)
      xml += fmt::format(
          "<geom type='sphere' size='{:.17g}' pos='{}' friction='{:.17g}' contype='1' "
          "conaffinity='2'/>",
          foot.radius, numbers(foot.at), robot.mu);
  for (int k = i + 1; k <= joints; ++k)
    if (robot.system.model.bodies[k].parent == i) xml += body_xml(robot, k);
  return xml + "</body>";
}

std::string model_xml(const Robot& robot, const Trial& trial, const std::string& option,
                      const std::string& contact) {
  std::string drives;
  for (int i = 1; i <= joints; ++i)
    drives += fmt::format("<position joint='j{}' kp='{:.17g}'/>", i, robot.kp);
  return fmt::format(
      "<mujoco><compiler angle='radian' autolimits='false'/>"
      "<option timestep='{:.17g}' gravity='{}' {}/><default><geom {}/></default>"
      "<worldbody><geom type='plane' size='0 0 1' friction='{:.17g}' contype='2' conaffinity='1'/>"
      "{}</worldbody><actuator>{}</actuator></mujoco>",
      trial.dt, numbers(trial.gravity), option, contact, robot.mu, body_xml(robot, 0), drives);
}

class Base {
 public:
  Base(const Robot& robot, const Trial& trial, const std::string& option,
       const std::string& contact) {
    char error[500] = "";
    mjSpec* spec = mj_parseXMLString(model_xml(robot, trial, option, contact).c_str(), nullptr,
                                     error, sizeof error);
    if (spec == nullptr) throw std::runtime_error(error);
    model_ = mj_compile(spec, nullptr);
    mj_deleteSpec(spec);
    if (model_ == nullptr) throw std::runtime_error("mj_compile failed");
    data_ = mj_makeData(model_);
    for (int i = 0; i < joints; ++i) data_->qpos[7 + i] = robot.q_start[i];
  }
  Base(const Base&) = delete;
  Base& operator=(const Base&) = delete;
  ~Base() {
    mj_deleteData(data_);
    mj_deleteModel(model_);
  }
  void step(const References& from, const References&) {
    for (int i = 0; i < joints; ++i) data_->ctrl[i] = from[i];
    mj_step(model_, data_);
  }
  void look(Seen& seen) {  // after a step positions and velocities of bodies are still the old ones
    mj_kinematics(model_, data_);
    mj_comPos(model_, data_);
    mj_comVel(model_, data_);
    seen.X.resize(joints + 1);
    seen.v.resize(joints + 1);
    seen.omega.resize(joints + 1);
    for (int i = 0; i <= joints; ++i) {
      seen.X[i].r = Vec3(data_->xpos + 3 * (i + 1));
      seen.X[i].R =
          Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(data_->xmat + 9 * (i + 1));
      double twist[6];
      mj_objectVelocity(model_, data_, mjOBJ_BODY, i + 1, twist, 0);
      seen.omega[i] = Vec3(twist);
      seen.v[i] = Vec3(twist + 3);
      if (i > 0) seen.q[i - 1] = data_->qpos[6 + i];
    }
  }

 private:
  mjModel* model_ = nullptr;
  mjData* data_ = nullptr;
};

// The stiffest contact that it takes at a step: its time constant is two steps.
std::string stiff(const Trial& trial) { return fmt::format("solref='{:.17g} 1'", 2 * trial.dt); }

constexpr const char* accurate =
    "integrator='implicitfast' cone='elliptic' solver='Newton' tolerance='1e-12' iterations='100'";

struct Default : Base {
  Default(const Robot& robot, const Trial& trial) : Base(robot, trial, "", "") {}
};
struct Stiff : Base {
  Stiff(const Robot& robot, const Trial& trial)
      : Base(robot, trial, fmt::format("{} impratio='100'", accurate), stiff(trial)) {}
};
struct NoSlip : Base {
  NoSlip(const Robot& robot, const Trial& trial)
      : Base(robot, trial, fmt::format("{} noslip_iterations='20'", accurate), stiff(trial)) {}
};

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  return run_contenders(
      argc, argv, mj_versionString(),
      {contender<Default>("mujoco", "defaults"),
       contender<Stiff>("mujoco-accurate",
                        fmt::format("{} impratio='100', contacts with solref 2 dt", accurate)),
       contender<NoSlip>(
           "mujoco-noslip",
           fmt::format("{} noslip_iterations='20', contacts with solref 2 dt", accurate))});
}
