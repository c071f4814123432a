// Controllers of a scene, and what pushes it.
#include <fmt/format.h>

#include <algorithm>

#include "saltus/scene/document.h"
#include "saltus/scene/system_builder.h"

namespace saltus {

ComputedTorque SystemBuilder::computed_torque(const ComputedTorqueScene& s) const {
  const Model& model = system.model;
  ComputedTorque c = s.settings;
  const auto body = [&](const std::string& name, const std::string& key) {
    const auto at = model.body_of.find(name);
    if (at == model.body_of.end())
      throw error(s.path + key, fmt::format("no body is called '{}'", name));
    return BodyIndex(at->second);
  };
  for (std::size_t i = 0; i < c.follow.size(); ++i) {
    const std::string key = fmt::format(".follow[{}]", i);
    if (!c.follow[i].joint.valid()) {
      c.follow[i].body = body(s.follow[i], key + ".body");
      continue;
    }
    const auto at = model.coordinate_of.find(s.follow[i]);
    if (at == model.coordinate_of.end())
      throw error(s.path + key + ".joint",
                  fmt::format("no joint coordinate is called '{}'", s.follow[i]));
    c.follow[i].joint = CoordinateIndex(at->second);
  }
  for (std::size_t i = 0; i < c.feet.size(); ++i)
    c.feet[i].body = body(s.feet[i], fmt::format(".feet[{}].body", i));
  for (int k = 0; k < static_cast<int>(model.coordinates.size()); ++k) {
    const Motor* motor = nullptr;
    for (const Motor& m : system.actuation.motors)
      if (m.coordinate == CoordinateIndex(k)) motor = &m;
    const bool named = std::any_of(
        s.joints.begin(), s.joints.end(),
        [&](const std::string& pattern) { return matches(pattern, model.coordinates[k].name); });
    if (s.joints.empty() ? motor == nullptr : !named) continue;
    const TorqueRange range = motor ? torque_range(*motor, 0) : TorqueRange{-infinity, infinity};
    c.joints.emplace_back(k);
    c.lower.push_back(std::max(range.lower, -s.limit));
    c.upper.push_back(std::min(range.upper, s.limit));
  }
  check(model, c, s.path);
  return c;
}

void SystemBuilder::add_control() {
  if (scene.computed_torque) {
    try {
      system.actuation.controllers.push_back(
          std::make_shared<ComputedTorqueController>(computed_torque(*scene.computed_torque)));
    } catch (const InputError& e) { throw e.path().empty() ? e : error(e.path(), e.message()); }
  }
  if (!scene.locomotion && scene.pushes.empty()) return;
  for (const PushScene& p : scene.pushes) {
    Push push = p.push;
    const auto body = system.model.body_of.find(p.body);
    if (body == system.model.body_of.end())
      throw error(p.path + ".body", fmt::format("no body is called '{}'", p.body));
    push.body = BodyIndex(body->second);
    system.actuation.pushes.push_back(push);
  }
  if (!scene.locomotion) return;
  try {
    build_locomotion(*scene.locomotion, system.model, system.start.q, system.actuation);
  } catch (const InputError& e) { throw error(e.path(), e.message()); }
}

}  // namespace saltus
