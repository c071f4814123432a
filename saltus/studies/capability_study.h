// What the actuators of a scene can do at its start, in one direction, in all directions of a
// plane, and over two coordinates of its posture (P1 Figs 6.1 to 6.7).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "saltus/analysis/capability.h"
#include "saltus/scene/scene.h"

namespace saltus {

struct CapabilityRequest {
  std::string point;  // BODY, BODY:x,y,z or centre-of-mass
  Vec3 direction = Vec3::UnitZ();
  std::vector<std::string> pins;  // BODY or BODY:x,y,z: points that are held all ways
  std::vector<std::string> feet;  // the same: points that push within friction
  double friction = infinity;     // of the feet; infinity: not given
  Vec3 up = Vec3::Zero();         // normal of the feet; zero: against gravity
  std::optional<double> limit;    // of every actuator
  std::string joints;             // that are driven; empty: those with motors
  double touch = 1e-6;            // [m]
};

struct CapabilityReport {
  Stance stance;
  Vec3 direction;
  Capability directional, free, held;
};

// Throws InputError by the names of the command line's options.
[[nodiscard]] CapabilityReport capability_of(const Scene& scene, const CapabilityRequest& request);

// One coordinate of the posture over a range: "femur=-1:1:41", in radians or metres.
struct FieldAxis {
  std::string name;
  double from = 0, to = 0;
  int count = 0;
};
[[nodiscard]] FieldAxis field_axis(const std::string& text);

// The capability over two coordinates, all else as at the start; a model on a floating base is
// moved so that its only point of support stays where it is. Row by row of the second axis.
struct CapabilityField {
  FieldAxis x, y;
  std::vector<Capability> directional, held;
};
[[nodiscard]] CapabilityField capability_field(const Scene& scene, const CapabilityRequest& request,
                                               const FieldAxis& x, const FieldAxis& y);

}  // namespace saltus
