// The parts of a scene in their order, and where an error of the builder lies in the document.
#include <fmt/format.h>

#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "saltus/scene/document.h"
#include "saltus/scene/system_builder.h"

namespace saltus {

InputError SystemBuilder::error(const std::string& path, const std::string& message) const {
  return scene.document->error(path, message);
}

InputError SystemBuilder::of_robot(const BodyScene& body, const std::string& message) {
  return InputError(fmt::format("{}: body '{}': {}", body.source, body.name, message));
}

// The builder counts a snake's or a worm's parts among the bodies, springs, drags and runners;
// the document does not.
InputError SystemBuilder::located(const InputError& e) const {
  const char* const animal = scene.worm ? "worm" : "snake";
  const struct {
    const char* list;
    std::size_t own;
  } lists[] = {{"bodies", own.bodies},
               {"springs", own.springs},
               {"drags", own.drags},
               {"runners", own.runners}};
  for (const auto& l : lists) {
    const std::string start = std::string(l.list) + "[";
    if (!e.path().starts_with(start)) continue;
    std::size_t length = 0;
    const std::size_t index = std::stoul(e.path().substr(start.size()), &length);
    if (index < l.own) return error(animal, e.message());
    if (l.list == lists[0].list && !scene.bodies[index - l.own].source.empty())
      return of_robot(scene.bodies[index - l.own], e.message());
    return error(
        fmt::format("{}{}{}", start, index - l.own, e.path().substr(start.size() + length)),
        e.message());
  }
  if (e.path().starts_with("worm")) return error(e.path(), e.message());
  if (e.path().starts_with("contacts[")) return error(e.path(), e.message());
  if (e.path().starts_with("bends[")) return error(e.path(), e.message());
  if (e.path().starts_with("rods[")) return error(e.path(), e.message());
  if (e.path().rfind("loops[", 0) == 0) {
    const LoopScene& l = scene.loops[std::stoul(e.path().substr(6))];
    if (l.source.empty()) return error(e.path(), e.message());
    return InputError(fmt::format("{}: loop '{}': {}", l.source, l.joint.name, e.message()));
  }
  if (e.path().starts_with("integrator")) return error(e.path(), e.message());
  if (e.path().starts_with("gaps[")) return error(e.path(), e.message());
  if (e.path().starts_with("wheels[")) return error(e.path(), e.message());
  if (e.path().starts_with("fluids["))
    return error(fluid_paths[std::stoul(e.path().substr(7))], e.message());
  if (e.path().starts_with("cables[")) {
    const CableScene& c = scene.cables[std::stoul(e.path().substr(7))];
    if (c.source.empty()) return error(e.path(), e.message());
    return InputError(fmt::format("{}: tendon '{}': {}", c.source, c.cable.name, e.message()));
  }
  if (!e.path().empty()) return error("", e.path() + ": " + e.message());
  return error("", e.what());
}

// A massless chain or a point mass on a hinge has no motion: say so now, not in the first step.
void SystemBuilder::check_mass() const {
  const Workspace work = at_start();
  Forest mass;
  mass.resize(forest_shape(system.model));
  load_mass(work, Vec::Zero(system.model.nv), mass);
  const int culprit = without_inertia(system.model, mass);
  if (culprit < 0) return;
  const std::string& name = system.model.bodies[system.model.v_body[culprit]].name;
  const auto found = body_of.find(name);
  if (found != body_of.end() && !scene.bodies[found->second].source.empty())
    throw of_robot(scene.bodies[found->second], "nothing with inertia moves with its joint");
  throw error("bodies", fmt::format("nothing with inertia moves with the joint of '{}'", name));
}

// Time stepping too where it is not the scene's: its options are there to be right, and
// `compare` takes them.
void SystemBuilder::check_integrator() const {
  try {
    check_supported(scene.stepping, system.model, system.actuation, "integrator.");
    check_supported(integrator_of(scene), system.model, system.actuation, "integrator.");
  } catch (const InputError& e) { throw error(e.path(), e.message()); }
}

System SystemBuilder::build() {
  try {
    add_bodies();
    add_contacts();
    add_supports();
    add_elements();
    system.model = builder.build();
    find_snake();
    add_actuation();
    system.sensors = build_sensors(scene, system.model);
  } catch (const InputError& e) {
    if (e.path().empty() && std::string(e.what()).rfind(scene.document->name(), 0) == 0) throw;
    if (e.path().empty() && std::string(e.what()).rfind("--set", 0) == 0) throw;
    throw located(e);
  }
  add_start();
  check_mass();
  close_loops();
  if (velocities == StartVelocities::checked) {
    check_runners();
    check_wheels();
  }
  add_control();
  check_integrator();
  return system;
}

System build_system(const Scene& scene) { return build_system(scene, StartVelocities::checked); }

System build_system(const Scene& scene, StartVelocities velocities) {
  return SystemBuilder{scene, velocities}.build();
}

}  // namespace saltus
