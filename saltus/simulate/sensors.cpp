#include "saltus/simulate/sensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/lie/so3.h"

namespace saltus {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// A sensor's part of State::memory: step of the reading that has arrived (-1: none), readings
// taken, readings arrived, that reading, the velocity of an IMU at the last step, and the readings
// on their way, each with its step.
enum { at_step, at_taken, at_arrived, at_values };

int ring_of(const Sensor& s, int values) {
  return at_values + values + (s.kind == SensorKind::imu ? 3 : 0);
}

void put(const Vec3& x, double*& out) { out = std::copy(x.data(), x.data() + 3, out); }

}  // namespace

SensorBank::SensorBank(const Model& model, std::vector<Sensor> sensors, double dt, int first)
    : model_(model), sensors_(std::move(sensors)), dt_(dt), first_(first) {
  int at = first;
  for (const Sensor& s : sensors_) {
    check_sensor(s, dt);
    Place p;
    p.at = at;
    p.values = values_of(s);
    p.period = s.rate > 0 ? 1 / (s.rate * dt) : 1;
    p.late = static_cast<std::int64_t>(std::ceil(s.delay / dt - 1e-9));
    p.room = static_cast<int>(std::floor(static_cast<double>(p.late) / p.period)) + 2;
    at += ring_of(s, p.values) + p.room * (1 + p.values);
    places_.push_back(p);
    readings_.push_back({false, 0, 0, p.late, std::vector<double>(p.values, nan)});
  }
  size_ = at - first;
}

int SensorBank::find(const std::string& name) const {
  for (std::size_t i = 0; i < sensors_.size(); ++i)
    if (sensors_[i].name == name) return static_cast<int>(i);
  return -1;
}

// --- what is measured ---------------------------------------------------------------------------

Vec3 SensorBank::velocity(const Sensor& s, const Workspace& w) const {
  const Vec6& V = w.V[s.body];
  return w.X[s.body].R * (V.head<3>() + V.tail<3>().cross(s.frame.r));
}

// The mean acceleration over the last step, impacts included, less gravity; the axes are those of
// its end.
void SensorBank::imu(const Sensor& s, const Place& p, const Moment& now, const State& state,
                     double* out) const {
  const Mat3 R = now.work.X[s.body].R * s.frame.R;
  const auto before = state.memory.segment<3>(p.at + at_values + p.values);
  Vec3 f = Vec3::Constant(nan);
  if (now.assembly) f = R.transpose() * ((velocity(s, now.work) - before) / dt_ - model_.gravity);
  put(f, out);
  put(s.frame.R.transpose() * now.work.V[s.body].tail<3>(), out);
}

bool SensorBank::touches(const Sensor& s, int shape) const {
  return s.shape.valid() ? shape == s.shape.value : model_.shapes[shape].body == s.body;
}

void SensorBank::wrench(const Sensor& s, const Moment& now, double* out) const {
  if (!now.assembly) {
    std::fill_n(out, 6, nan);
    return;
  }
  const SE3 frame = now.work.X[s.body] * s.frame;
  Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
  for (const Contact& c : now.assembly->contacts) {
    if (c.mode == 0) continue;
    const Vec3 &n = c.point.normal, &t1 = c.tangent, t2 = n.cross(t1);
    const Vec3 on_b = c.Lambda[0] * n + c.Lambda[1] * t1 + c.Lambda[2] * t2;
    const Vec3 couple = c.Lambda[3] * t1 + c.Lambda[4] * t2 + c.Lambda[5] * n;
    const auto add = [&](double sign, const Vec3& point) {
      force += sign * on_b;
      moment += sign * (couple + (point - frame.r).cross(on_b));
    };
    if (touches(s, c.key.b)) add(1, c.point.on_b);
    if (touches(s, c.key.a)) add(-1, c.point.on_a);
  }
  put(frame.R.transpose() * force / dt_, out);
  put(frame.R.transpose() * moment / dt_, out);
}

void SensorBank::pose(const Sensor& s, const Workspace& w, double* out) const {
  const SE3 frame = w.X[s.body] * s.frame;
  const Quat p(frame.R);
  put(frame.r, out);
  for (const double x : {p.w(), p.x(), p.y(), p.z()}) *out++ = x;
  put(velocity(s, w), out);
  put(w.X[s.body].R * w.V[s.body].tail<3>(), out);
}

void SensorBank::measure(int i, const Moment& now, const State& state, double* out) {
  const Sensor& s = sensors_[i];
  const Workspace& w = now.work;
  switch (s.kind) {
    case SensorKind::encoder:
      for (const CoordinateIndex c : s.joints)
        *out++ = coordinate_value(model_, w, state.q, state.turns, c);
      for (const CoordinateIndex c : s.joints) *out++ = coordinate_rate(model_, w, state.v, c);
      break;
    case SensorKind::torque:
      for (const CoordinateIndex c : s.joints)
        *out++ = now.motor_force ? (*now.motor_force)[c] : nan;
      break;
    case SensorKind::imu: imu(s, places_[i], now, state, out); break;
    case SensorKind::wrench: wrench(s, now, out); break;
    case SensorKind::contact: {
      bool pressed = false;
      if (now.assembly)
        for (const Contact& c : now.assembly->contacts)
          pressed = pressed || (c.mode != 0 && c.Lambda[0] > 0 &&
                                (touches(s, c.key.a) || touches(s, c.key.b)));
      *out = now.assembly ? static_cast<double>(pressed) : nan;
      break;
    }
    case SensorKind::com:
      put(centre_of_mass(model_, w), out);
      put(momentum(model_, w).linear / model_.total_mass(), out);
      break;
    case SensorKind::pose: pose(s, w, out); break;
  }
}

// --- rate and delay -----------------------------------------------------------------------------

// Readings of another bank, or of a damaged file: their counts say which part of the ring is read.
void SensorBank::require_own(const State& state) const {
  for (const Place& p : places_) {
    const double* memory = state.memory.data() + p.at;
    const auto is_count = [](double x, double least) {
      constexpr double most = 9e15;  // whole numbers beyond it are not all there
      return x >= least && x <= most && x == std::floor(x);
    };
    const double taken = memory[at_taken], arrived = memory[at_arrived];
    if (!is_count(memory[at_step], -1) || !is_count(taken, 0) || !is_count(arrived, 0) ||
        arrived > taken || taken - arrived > p.room)
      throw InputError("what the state remembers of sensors is not of these sensors");
  }
}

void SensorBank::take_over(int i, const State& state) {
  const Place& p = places_[i];
  const double* memory = state.memory.data() + p.at;
  Reading& r = readings_[i];
  r.there = memory[at_step] >= 0;
  r.taken = r.there ? state.t0 + memory[at_step] * dt_ : 0;
  r.arrived = r.there ? static_cast<std::int64_t>(memory[at_step]) + p.late : 0;
  std::copy_n(memory + at_values, p.values, r.value.begin());
}

void SensorBank::remember_velocities(const Workspace& work, State& state) const {
  for (std::size_t i = 0; i < sensors_.size(); ++i)
    if (sensors_[i].kind == SensorKind::imu)
      state.memory.segment<3>(places_[i].at + at_values + places_[i].values) =
          velocity(sensors_[i], work);
}

// Takes the readings that are due and lets those arrive that have waited for their delay. Reading k
// is due at the first step at or after k/rate.
void SensorBank::advance(const Moment& now, State& state) {
  arrived_.clear();
  for (int i = 0; i < static_cast<int>(sensors_.size()); ++i) {
    const Place& p = places_[i];
    double* memory = state.memory.data() + p.at;
    double* ring = memory + ring_of(sensors_[i], p.values);
    const auto slot = [&](double count) {
      return ring + static_cast<std::int64_t>(std::fmod(count, p.room)) * (1 + p.values);
    };
    const auto step = static_cast<double>(state.step);
    const double due = memory[at_taken] * p.period;  // less its rounding
    if (step >= std::ceil(due - 1e-9 - 1e-14 * due)) {
      double* to = slot(memory[at_taken]);
      to[0] = step;
      measure(i, now, state, to + 1);
      spoil(sensors_[i], static_cast<std::uint64_t>(memory[at_taken]), to + 1);
      memory[at_taken] += 1;
    }
    if (memory[at_arrived] == memory[at_taken]) continue;
    const double* from = slot(memory[at_arrived]);
    if (from[0] + static_cast<double>(p.late) > step) continue;
    memory[at_step] = from[0];
    std::copy_n(from + 1, p.values, memory + at_values);
    memory[at_arrived] += 1;
    arrived_.push_back(i);
    take_over(i, state);
  }
}

void SensorBank::start(const Workspace& work, State& state) {
  arrived_.clear();
  if (state.memory.size() >= first_ + size_) {
    require_own(state);
    for (int i = 0; i < static_cast<int>(sensors_.size()); ++i) take_over(i, state);
    return;
  }
  const Vec kept = state.memory;
  state.memory.setZero(first_ + size_);
  const auto old = std::min<Eigen::Index>(kept.size(), first_);
  state.memory.head(old) = kept.head(old);
  for (std::size_t i = 0; i < sensors_.size(); ++i) {
    state.memory[places_[i].at + at_step] = -1;
    // A state that has come from elsewhere: the next reading is the one that is due now.
    state.memory[places_[i].at + at_taken] = state.memory[places_[i].at + at_arrived] =
        std::ceil(static_cast<double>(state.step) / places_[i].period - 1e-9);
    state.memory.segment(places_[i].at + at_values, places_[i].values).setConstant(nan);
    take_over(static_cast<int>(i), state);
  }
  remember_velocities(work, state);
  advance({work, nullptr, nullptr}, state);
}

void SensorBank::step(const StepResult& result, State& state) {
  advance({result.work, &result.assembly, &result.motor_force}, state);
  remember_velocities(result.work, state);
}

}  // namespace saltus
