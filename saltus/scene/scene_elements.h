// Readers of the elements of a scene; see scene_read.cpp for the whole.
#pragma once
#include "saltus/scene/fields.h"
#include "saltus/scene/robot_use.h"
#include "saltus/scene/scene.h"

namespace saltus {

void read_frame(Fields& f, const char* key, SE3& frame, const char* about);
void read_signal(Fields& f, const char* key, std::optional<Signal>& signal, const char* about);
[[nodiscard]] Signal read_signal_here(Fields& f);  // this node is the signal
void read_body(Fields& f, BodyScene& body);
void read_bend(Fields& f, BendScene& bend);
void read_rod(Fields& f, RodScene& rod);
[[nodiscard]] Joint read_joint_kind(Fields& f);  // its type and axis
void read_loop(Fields& f, LoopScene& loop);
void read_shape(Fields& f, ShapeScene& shape);
// Of half-spaces and height fields; of all shapes.
void read_friction_map(Fields& f, Surface& surface);
[[nodiscard]] HeightField read_height_field(Fields& f);
[[nodiscard]] ConvexHull read_mesh_shape(Fields& f);
void read_contact(Fields& f, ContactScene& contact);
void read_support(Fields& f, SupportScene& support);
void read_motor(Fields& f, MotorScene& motor);
void read_sensor(Fields& f, SensorScene& sensor);
void read_locomotion(Fields& f, LocomotionScene& locomotion);
void read_push(Fields& f, PushScene& push);
void read_drive(Fields& f, DriveScene& drive);
void read_gait(Fields& f, SerpenoidGait& gait);
void read_shape_gait(Fields& f, GaitScene& gait);
void read_net(Fields& f, NetScene& net, std::vector<FluidScene>& fluids);
void read_added_mass(Fields& f, Mat6& added);
void read_snake(Fields& f, SnakeScene& snake);
void read_spring(Fields& f, SpringScene& spring);
void read_drag(Fields& f, DragScene& drag);
void read_gap(Fields& f, GapScene& gap);
void read_cable(Fields& f, CableScene& cable);
void read_computed_torque(Fields& f, ComputedTorqueScene& scene);
void read_runner(Fields& f, RunnerScene& runner);
void read_wheel(Fields& f, WheelScene& wheel);
void read_resistance(Fields& f, FluidScene& fluid);  // of shape.resistance
void read_fluid(Fields& f, FluidScene& fluid);
void read_flow(Fields& f, std::shared_ptr<const Flow>& flow);
void read_wing(Fields& f, FluidScene& fluid);
// Waves of strain along a rod, of the keys `waves` and `muscle_waves`.
struct StrainWave {
  Strain component = Strain::bend_z;
  CurvatureWave wave;
  bool muscle = false;
  std::string path;
};
void read_curvature_wave(Fields& f, CurvatureWave& wave);
void read_strain_waves(Fields& f, std::vector<StrainWave>& waves);
// Throws InputError: too short for its links, or through itself.
void check_chain_wave(const GaitScene& gait, int joints);
void add_strain_waves(const std::vector<StrainWave>& waves, RodScene& rod);
void read_worm(Fields& f, WormScene& worm);
// Final positions and velocities of a worm's masses, under names that are free.
void add_worm_metrics(Scene& scene);
void read_metric(Fields& f, Metric& metric);
[[nodiscard]] Scene bare_scene(const Document& document);  // read as it is; may have no bodies
// Friction coefficients: one, two, or forward, backward and lateral; and the slip rule.
struct FrictionScene {
  double mu1 = 0, mu2 = 0, back = -1;
  SlipRule rule = SlipRule::normal_cone;
  double dynamic = 1;  // <- read_dynamic_friction
};
void read_dynamic_friction(Fields& f, FrictionScene& friction);
void read_friction(Fields& f, FrictionScene& friction, const char* about);

}  // namespace saltus
