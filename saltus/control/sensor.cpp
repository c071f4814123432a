#include "saltus/control/sensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"

namespace saltus {

std::string_view name_of(SensorKind kind) {
  static constexpr std::string_view names[] = {"encoder", "torque", "imu", "wrench",
                                               "contact", "com",    "pose"};
  return names[static_cast<int>(kind)];
}

std::vector<SensorGroup> groups_of(const Sensor& s) {
  const int n = static_cast<int>(s.joints.size());
  switch (s.kind) {
    case SensorKind::encoder: return {{"position", "rad", n, n}, {"velocity", "rad/s", n, n}};
    case SensorKind::torque: return {{"torque", "N m", n, n}};
    case SensorKind::imu:
      return {{"specific_force", "m/s^2", 3, 3}, {"angular_velocity", "rad/s", 3, 3}};
    case SensorKind::wrench: return {{"force", "N", 3, 3}, {"moment", "N m", 3, 3}};
    case SensorKind::contact: return {{"contact", "", 1, 0}};
    case SensorKind::com: return {{"position", "m", 3, 3}, {"velocity", "m/s", 3, 3}};
    case SensorKind::pose:
      return {{"position", "m", 3, 3},
              {"quaternion", "", 4, 3},
              {"velocity", "m/s", 3, 3},
              {"angular_velocity", "rad/s", 3, 3}};
  }
  return {};
}

int values_of(const Sensor& sensor) {
  int n = 0;
  for (const SensorGroup& g : groups_of(sensor)) n += g.values;
  return n;
}

void check_sensor(const Sensor& s, double dt) {
  constexpr double most_on_their_way = 1e6;
  const auto refuse = [&](const char* key, const std::string& what) {
    throw InputError(s.path.empty() ? fmt::format("sensor '{}'.{}", s.name, key)
                                    : fmt::format("{}.{}", s.path, key),
                     what);
  };
  // A period below a step would take several readings in one.
  if (!(s.rate >= 0) || !(s.rate * dt <= 1 + 1e-9))
    refuse("rate", fmt::format("expected at most one reading a step of {:g} s, so up to {:g} Hz, "
                               "got {:g} Hz",
                               dt, 1 / dt, s.rate));
  if (!(s.delay >= 0)) refuse("delay", fmt::format("expected a delay >= 0, got {:g}", s.delay));
  if (s.delay > 0 && s.rate == 0)
    refuse("delay", "expected a rate, too: a sensor without one is read in every step, at once");
  if (!(s.delay * s.rate <= most_on_their_way))
    refuse("delay", fmt::format("expected at most {:g} readings on their way, got {:g}",
                                most_on_their_way, s.delay * s.rate));
  const auto groups = groups_of(s);
  const auto noisy = std::count_if(groups.begin(), groups.end(),
                                   [](const SensorGroup& g) { return g.noises > 0; });
  if (!s.noise.empty() && static_cast<std::ptrdiff_t>(s.noise.size()) != noisy)
    refuse("noise.std", fmt::format("expected {} numbers, got {}", noisy, s.noise.size()));
  for (const double x : s.noise)
    if (!(x >= 0) || !std::isfinite(x)) refuse("noise.std", "expected numbers >= 0");
  if (!s.bias.empty() && static_cast<int>(s.bias.size()) != values_of(s))
    refuse("bias", fmt::format("expected a bias for each of {} values, got {}", values_of(s),
                               s.bias.size()));
  if (!(s.resolution >= 0)) refuse("resolution", "expected a number >= 0");
}

}  // namespace saltus
