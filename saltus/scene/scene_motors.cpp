// Motors of a scene: gains and signals, and what the motor itself is made of.
#include "saltus/scene/scene_elements.h"

namespace saltus {

void read_gait(Fields& f, SerpenoidGait& gait) {
  f.number("amplitude", gait.amplitude, "rad", "A");
  f.number("omega", gait.omega, "rad/s", "");
  f.number("delta", gait.delta, "rad", "phase between neighbours");
}

namespace {

void read_curve(Fields& f, DriveScene& drive) {
  double stall = 0, no_load = 0;
  f.number("stall_torque", stall, "", "of a straight line: at rest [N m] or [N]", positive);
  f.number("no_load_speed", no_load, "", "and where it ends, at zero [rad/s] or [m/s]", positive);
  f.numbers("speeds", drive.speeds, "", "or points: speeds from 0 on [rad/s] or [m/s]");
  f.numbers("torques", drive.torques, "", "and what is available there [N m] or [N]");
  if (f.writing_schema()) return;
  const bool line = f.has("stall_torque") || f.has("no_load_speed");
  if (line == (f.has("speeds") || f.has("torques")))
    throw f.error("", "expected stall_torque and no_load_speed, or speeds and torques");
  if (line && !(stall > 0)) throw f.error("", "expected a stall_torque");
  if (line && !(no_load > 0)) throw f.error("", "expected a no_load_speed");
  if (line) {
    drive.speeds = {0, no_load};
    drive.torques = {stall, 0};
  }
  Motor motor;
  motor.speeds = drive.speeds;
  motor.torques = drive.torques;
  if (const char* fault = fault_of(motor)) throw f.error("", fault);
  if (drive.speeds.empty()) throw f.error("speeds", "expected speeds from 0 on");
}

}  // namespace

void read_drive(Fields& f, DriveScene& drive) {
  f.number("gear", drive.gear, "",
           "joint torque per motor torque; motor speed per joint speed. Torques, limits, the "
           "curve and the rotor are the motor's, gains and references the joint's");
  if (drive.gear == 0) throw f.error("gear", "expected a number other than 0");
  f.number("rotor", drive.rotor, "",
           "inertia of the motor [kg m^2] or [kg]; gear^2 times it acts at the joint",
           not_negative);
  std::vector<double> limits;
  f.numbers("limits", limits, "", "least and largest torque [N m] or [N], around 0");
  if (!limits.empty() && !(limits.size() == 2 && limits[0] <= 0 && limits[1] >= 0))
    throw f.error("limits", "expected two numbers, one <= 0 and one >= 0");
  if (!limits.empty()) {
    drive.lower = limits[0];
    drive.upper = limits[1];
  }
  f.object("curve", "torque that is available at a speed, driving; braking: that at rest",
           [&](Fields& g) { read_curve(g, drive); });
  f.number("lag", drive.lag, "s", "time constant of the torque: T dtau/dt = command - tau",
           not_negative);
  f.number("backlash", drive.backlash, "rad", "width of the play between motor and joint",
           not_negative);
}

void read_motor(Fields& f, MotorScene& motor) {
  f.required().texts("joints", motor.joints, "patterns of joint names");
  const int type = f.choice("type", 0, {"position", "velocity", "torque"},
                            "what the reference is, an angle or a speed; torque: there is none");
  if (type == 1) motor.servo = Servo::velocity;
  f.number("kp", motor.kp, "", "[N m/rad] or [N/m]", not_negative);
  f.number("kd", motor.kd, "", "[N m s/rad] or [N s/m]", not_negative);
  read_signal(f, "reference", motor.reference,
              "[rad] or [m]; of a velocity servo [rad/s] or [m/s]");
  f.object("gait", "serpenoid reference along the joints", [&](Fields& g) {
    SerpenoidGait gait;
    read_gait(g, gait);
    if (!g.writing_schema()) motor.gait = gait;
  });
  read_signal(f, "torque", motor.torque, "[N m] or [N]");
  f.number("limit", motor.limit, "", "largest |torque| [N m] or [N]", positive);
  read_drive(f, motor.drive);
  if (f.writing_schema()) return;
  if (motor.reference && motor.gait)
    throw f.error("gait", "expected either reference or gait, got both");
  const auto refuse = [&](const char* key, const char* what) {
    if (f.has(key)) throw f.error(key, what);
  };
  if (type == 1) refuse("kp", "expected no kp: a velocity servo has kd");
  if (type == 2)
    for (const char* key : {"kp", "kd", "reference", "gait"})
      refuse(key, "expected only a torque: this motor has no servo");
}

}  // namespace saltus
