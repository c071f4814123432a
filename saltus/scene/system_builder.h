// From a scene to a model, its actuation and its start state. Only build_system (scene_build.cpp)
// makes one.
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "saltus/dynamics/workspace.h"
#include "saltus/scene/scene.h"

namespace saltus {

struct SystemBuilder {
  const Scene& scene;
  StartVelocities velocities = StartVelocities::checked;
  ModelBuilder builder{};
  System system{};

  System build();  // all of the following, in this order

  // system_bodies.cpp
  void add_bodies();
  void add_bend(std::size_t index);
  void add_rod(std::size_t index);
  [[nodiscard]] int touches_of(const RodScene& rod, const std::string& path) const;
  void add_shape(const ShapeScene& s, const std::string& path);
  void add_station_shapes(const std::vector<ShapeScene>& of, const std::string& name,
                          const std::string& station, const std::string& path);

  // system_contacts.cpp
  void add_contacts();
  void exclude_neighbours();
  void exclude_pair(const std::string& name, const std::string& parent);
  void add_exclusions();
  void add_supports();

  // system_elements.cpp
  void add_elements();
  void add_fluid(const FluidScene& f);
  void add_fluid(const FluidScene& f, const std::string& body);
  void add_tail(const FluidScene& f, const std::string& body);
  void add_element_signals();

  // system_actuation.cpp
  void find_snake();
  void add_actuation();
  void add_motor(const MotorScene& s, const std::string& path);
  void fit_drive(const MotorScene& s, Motor& m);
  [[nodiscard]] bool moved_by(const MotorScene& motor, const Coordinate& c) const;
  [[nodiscard]] InputError motor_error(const MotorScene& motor, const std::string& path,
                                       const std::string& message) const;
  void add_rod_signals(std::size_t index);
  void add_gaits();
  // What a gait moves: a coordinate, or a component of a spherical joint's rotation vector.
  struct Driven {
    CoordinateIndex coordinate;
    BodyIndex body;
    int component = 0;
    bool operator==(const Driven&) const = default;
  };
  [[nodiscard]] std::vector<Driven> driven_by(const GaitScene& g) const;
  [[nodiscard]] JointSpec driven_joint(const BodyScene& b, std::size_t index) const;

  // system_start.cpp
  void add_start();
  void follow_connection();
  void close_loops();
  void refuse_inconsistent_rates(const std::vector<CoordinateWish>& all) const;
  void check_runners() const;
  void check_wheels() const;
  [[nodiscard]] Workspace at_start() const;  // kinematics there
  [[nodiscard]] bool is_of_robot(int cut) const;
  [[nodiscard]] std::string joint_name(int i) const;
  [[nodiscard]] std::vector<CoordinateWish> wishes() const;

  // system_control.cpp
  void add_control();
  [[nodiscard]] ComputedTorque computed_torque(const ComputedTorqueScene& s) const;

  // scene_build.cpp
  void check_mass() const;
  void check_integrator() const;
  [[nodiscard]] InputError error(const std::string& path, const std::string& message) const;
  [[nodiscard]] static InputError of_robot(const BodyScene& body, const std::string& message);
  [[nodiscard]] InputError located(const InputError& e) const;

  struct NamedShape {
    std::string name, body;
  };
  std::vector<NamedShape> shapes{};
  std::unordered_set<std::string> shape_names{};
  std::vector<WormJoint> worm{};  // its bodies
  struct Parts {
    std::size_t bodies = 0, springs = 0, drags = 0, runners = 0;
  } own{};                                                 // of the snake or the worm
  std::unordered_map<std::string, std::size_t> body_of{};  // by name, in scene.bodies
  // Bends, and segments of rods: their stations, by whose names they are found, and their joint.
  struct ElementNames {
    std::vector<std::string> stations;
    std::string joint;
  };
  void add_element(const ElementNames& element);
  std::vector<ElementNames> elements{};
  std::unordered_map<std::string, std::size_t> element_of{};
  std::vector<int> snake_link{};  // of each body of the model: its number in the snake, 0: none
  std::vector<char> driven{};     // coordinates that have a motor
  std::vector<std::string> fluid_paths{};  // of the builder's fluids
};

}  // namespace saltus
