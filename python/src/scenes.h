// A scene in Python: its text and overrides, and what was read from them. A run reads it anew, so
// that two threads never share a YAML document.
#pragma once
#include <tuple>

#include "flows.h"
#include "handles.h"
#include "saltus/scene/scene.h"

namespace saltus::python {

struct SceneHandle {
  std::string text, name;
  std::vector<std::string> overrides;  // "path=value"
  Scene scene;
  std::string report;  // JSON: of the robot file it was loaded from; empty: it is a scene

  SceneHandle(std::string text, std::string name, std::vector<std::string> overrides);
  [[nodiscard]] Scene read() const;
};

struct BuiltSystem {
  ModelPtr model;
  ActuationHandle actuation;
  StateHandle start;
  std::vector<Sensor> sensors;
};
// In its own flows, or all in the one that is given.
[[nodiscard]] BuiltSystem build(const Scene& scene, const FlowPtr& flow = nullptr);

}  // namespace saltus::python
