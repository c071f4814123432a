// The locomotion controller and pushes, from Python.
#include <fmt/format.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "locomotion.h"
#include "saltus/scene/scene.h"
#include "signals.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

Gait gait_of(const std::string& type) {
  if (type == "stand") return stand_gait();
  if (type == "walk") return walk_gait();
  if (type == "trot") return trot_gait();
  if (type == "pronk") return pronk_gait();
  throw InputError(
      fmt::format("gait: expected 'stand', 'walk', 'trot' or 'pronk', got '{}'", type));
}

const Locomotion& settings_of(const ActuationHandle& a) {
  require_free(a.busy, "actuation");
  const Locomotion* l = locomotion_of(a.actuation);
  if (!l)
    throw InputError("there is no locomotion controller: a scene's `locomotion`, or locomote()");
  return *l;
}

void locomote(ActuationHandle& a, const StateHandle& state, const std::vector<ScheduledGait>& gaits,
              const SignalLike& forward, const SignalLike& lateral, const SignalLike& yaw_rate,
              std::optional<double> height, double clearance, std::optional<double> friction,
              double limit, double rate, const std::string& trunk,
              const std::vector<std::string>& feet) {
  require_free(a.busy, "actuation");
  require_model(*a.model, state.model, "state");
  LocomotionScene s;
  s.path = "locomotion";
  s.locomotion.gaits = gaits;
  if (gaits.empty()) s.locomotion.gaits.push_back({0, trot_gait()});
  s.locomotion.forward = signal_of(forward);
  s.locomotion.lateral = signal_of(lateral);
  s.locomotion.yaw_rate = signal_of(yaw_rate);
  const auto above_zero = [](double x, const char* name) {
    if (!(x > 0)) throw InputError(fmt::format("{}: expected a number > 0, got {}", name, x));
    return x;
  };
  if (height) s.locomotion.height = above_zero(*height, "height");
  if (friction) s.friction = above_zero(*friction, "friction");
  s.locomotion.clearance = above_zero(clearance, "clearance");
  s.locomotion.rate = above_zero(rate, "rate");
  s.limit = above_zero(limit, "limit");
  s.trunk = trunk;
  s.feet = feet;
  build_locomotion(s, *a.model, state.state.q, a.actuation);
}

void command(ActuationHandle& a, const std::optional<SignalLike>& forward,
             const std::optional<SignalLike>& lateral, const std::optional<SignalLike>& yaw_rate) {
  Locomotion l = settings_of(a);
  if (forward) l.forward = signal_of(*forward);
  if (lateral) l.lateral = signal_of(*lateral);
  if (yaw_rate) l.yaw_rate = signal_of(*yaw_rate);
  set_locomotion(a.actuation, std::move(l));
}

void push(ActuationHandle& a, const BodyName& body, double at, const ArrayLike& impulse,
          double duration, const ArrayLike& point) {
  require_free(a.busy, "actuation");
  require_finite(at, "at");
  require_finite(duration, "duration");
  if (duration < 0) throw InputError("duration: expected a number >= 0");
  a.actuation.pushes.push_back({body_of(*a.model, body), at, duration, vec3_of(impulse, "impulse"),
                                point.is_none() ? Vec3(Vec3::Zero()) : vec3_of(point, "point")});
}

}  // namespace

nb::object locomotion_dict(const Actuation& actuation, const State& state) {
  const std::optional<LocomotionReport> report = locomotion_report(actuation, state);
  if (!report) return nb::none();
  const LocomotionReport& r = *report;
  nb::dict d;
  d["fell"] = r.fall == Fall::none ? nb::object(nb::none()) : nb::cast(r.fall_time);
  d["why"] = text_of(r.fall);
  d["measured_s"] = r.measured;
  d["forward"] = r.forward;
  d["lateral"] = r.lateral;
  d["yaw_rate"] = r.yaw_rate;
  d["height"] = r.height;
  d["largest_tilt"] = r.largest_tilt;
  d["saturated"] = r.saturated;
  return d;
}

void bind_locomotion(nb::module_& m, nb::class_<ActuationHandle>& actuation) {
  nb::class_<ScheduledGait>(m, "Gait", "When each leg of a quadruped stands and swings.")
      .def(
          "__init__",
          [](ScheduledGait* self, const std::string& type, double start,
             std::optional<double> frequency, std::optional<double> duty,
             const std::optional<std::array<double, leg_count>>& phases,
             std::optional<double> sway) {
            ScheduledGait g{start, gait_of(type)};
            g.gait.frequency = frequency.value_or(g.gait.frequency);
            g.gait.duty = duty.value_or(g.gait.duty);
            g.gait.phase = phases.value_or(g.gait.phase);
            g.gait.sway = sway.value_or(g.gait.sway);
            if (const char* fault = fault_of(g.gait, 1.0 / 400)) throw InputError(fault);
            new (self) ScheduledGait(g);
          },
          "type"_a = "trot", nb::kw_only(), "start"_a = 0.0, "frequency"_a.none() = nb::none(),
          "duty"_a.none() = nb::none(), "phases"_a.none() = nb::none(),
          "sway"_a.none() = nb::none(),
          "type: 'stand', 'walk', 'trot' or 'pronk'; start [s], frequency [Hz]; phases of LF, RF, "
          "LH, RH in cycles.")
      .def_ro("start", &ScheduledGait::from, "[s]")
      .def_prop_ro("frequency", [](const ScheduledGait& g) { return g.gait.frequency; })
      .def_prop_ro("duty", [](const ScheduledGait& g) { return g.gait.duty; })
      .def_prop_ro("phases", [](const ScheduledGait& g) { return g.gait.phase; })
      .def_prop_ro("sway", [](const ScheduledGait& g) { return g.gait.sway; });

  actuation
      .def("locomote", &locomote, "state"_a, "gaits"_a = std::vector<ScheduledGait>{},
           nb::kw_only(), "forward"_a = 0.0, "lateral"_a = 0.0, "yaw_rate"_a = 0.0,
           "height"_a.none() = nb::none(), "clearance"_a = 0.08, "friction"_a.none() = nb::none(),
           "limit"_a = infinity, "rate"_a = 400.0, "trunk"_a = "",
           "feet"_a = std::vector<std::string>{},
           "The locomotion controller (docs/locomotion.md) for the quadruped as it stands in "
           "`state`. Velocities [m/s, rad/s] are signals or numbers; limit [N m] of every joint.")
      .def("command", &command, nb::kw_only(), "forward"_a.none() = nb::none(),
           "lateral"_a.none() = nb::none(), "yaw_rate"_a.none() = nb::none(),
           "The wanted velocity of the controller [m/s, rad/s]: signals or numbers.")
      .def(
          "release",
          [](ActuationHandle& a) { (void)settings_of(a), set_locomotion(a.actuation, {}); },
          "Takes the locomotion controller away; its joints keep motors without gains.")
      .def_prop_ro(
          "leg_joints",
          [](ActuationHandle& a) {
            std::vector<std::string> names;
            for (const Leg& leg : settings_of(a).robot.legs)
              for (const CoordinateIndex c : leg.joints)
                names.push_back(a.model->coordinates[c].name);
            return names;
          },
          "joints of the legs LF, RF, LH, RH, each from the trunk to the foot")
      .def_prop_ro(
          "feet",
          [](ActuationHandle& a) {
            std::vector<std::string> names;
            for (const Leg& leg : settings_of(a).robot.legs)
              names.push_back(a.model->shapes[leg.foot].name);
            return names;
          },
          "shapes that are the feet LF, RF, LH, RH")
      .def_prop_ro(
          "leg_limits",
          [](ActuationHandle& a) {
            const Locomotion& l = settings_of(a);
            std::vector<double> all;
            for (int i = 0; i < leg_count; ++i)
              for (std::size_t j = 0; j < l.robot.legs[i].joints.size(); ++j)
                all.push_back(l.limit[i][j]);
            return all;
          },
          "largest torques of leg_joints [N m]")
      .def_prop_ro(
          "trunk",
          [](ActuationHandle& a) {
            std::vector<std::string> names;
            for (const int body : settings_of(a).robot.trunk)
              names.push_back(a.model->bodies[body].name);
            return names;
          },
          "the body that floats, and those that are fixed to it")
      .def_prop_ro(
          "trunk_height", [](ActuationHandle& a) { return settings_of(a).height; },
          "that is wanted [m]")
      .def(
          "push", &push, "body"_a, "at"_a, "impulse"_a, "duration"_a = 0.0,
          "point"_a.none() = nb::none(),
          "An impulse [N s] (inertial axes) on a point of a body (its frame) at a time [s], within "
          "one step or evenly over a duration.");
}

}  // namespace saltus::python
