#include "saltus/analysis/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "saltus/base/error.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"

namespace saltus {

using Kind = Metric::Kind;

namespace {

// The last star takes as little as it can, and more when the rest does not fit: what earlier stars
// took never has to change, so many stars cost no more than few.
bool matches_one(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

bool matches(const std::string& pattern, const std::string& name) {
  for (std::size_t start = 0;;) {
    const std::size_t end = std::min(pattern.find('|', start), pattern.size());
    if (matches_one(std::string_view(pattern).substr(start, end - start), name)) return true;
    if (end == pattern.size()) return false;
    start = end + 1;
  }
}

NamePattern::NamePattern(const std::string& pattern) {
  for (std::size_t start = 0; start <= pattern.size();) {
    const std::size_t end = std::min(pattern.find('|', start), pattern.size());
    const std::string one = pattern.substr(start, end - start);
    if (one.find('*') == std::string::npos)
      names_.insert(one);
    else
      starred_.push_back(one);
    start = end + 1;
  }
}

bool NamePattern::matches(const std::string& name) const {
  return names_.contains(name) ||
         std::any_of(starred_.begin(), starred_.end(),
                     [&](const std::string& p) { return matches_one(p, name); });
}

Vec3 probe_position(const Model& model, const Workspace& work, const Probe& probe) {
  if (probe.body == "centre-of-mass") return centre_of_mass(model, work);
  return work.X[model.body(probe.body)] * probe.point;
}

namespace {

// Shapes that match, by their own name or their body's.
std::vector<char> named_shapes(const Model& model, const Metric& m) {
  const auto named = [&](const std::string& name) {
    return std::any_of(m.objects.begin(), m.objects.end(),
                       [&](const std::string& p) { return matches(p, name); });
  };
  std::vector<char> chosen(model.shapes.size(), 0);
  bool any = false;
  for (std::size_t k = 0; k < model.shapes.size(); ++k) {
    const ContactShape& s = model.shapes[k];
    chosen[k] = named(s.name) || (s.body.valid() && named(model.bodies[s.body].name));
    const auto row = model.group_law.begin() + static_cast<std::ptrdiff_t>(s.group) * model.groups;
    any = any || (chosen[k] && std::any_of(row, row + model.groups,
                                           [](const GroupLaw& g) { return g.law >= 0; }));
  }
  if (!any)
    throw InputError(m.path + ".objects",
                     fmt::format("no contact involves {}", fmt::join(m.objects, ", ")));
  return chosen;
}

constexpr double unset = std::numeric_limits<double>::quiet_NaN();

// The quantity at time t inside the last step, linear in between.
double between(double t0, double x0, double t1, double x1, double t) {
  return t1 > t0 ? x0 + (x1 - x0) * (t - t0) / (t1 - t0) : x1;
}

bool inside(double t0, double t1, double t) { return t > t0 - 1e-12 && t <= t1 + 1e-12; }

}  // namespace

MetricEvaluator::MetricEvaluator(const Model& model, std::vector<Probe> probes,
                                 std::vector<Metric> metrics, double end)
    : probes_(std::move(probes)), metrics_(std::move(metrics)) {
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    if (probes_[i].body == "centre-of-mass") continue;
    try {
      (void)model.body(probes_[i].body);
    } catch (const InputError& e) { throw InputError(fmt::format("probes[{}].body", i), e.what()); }
  }
  for (Metric& m : metrics_) {
    if (m.to < 0) m.to = end;
    if (m.at < 0) m.at = end;
    joints_.emplace_back();
    for (const std::string& name : m.joints) try {
        joints_.back().push_back(model.coordinate(name));
      } catch (const InputError& e) { throw InputError(m.path + ".joints", e.what()); }
    int probe = -1;
    if (!m.probe.empty()) {
      for (std::size_t i = 0; i < probes_.size(); ++i)
        if (probes_[i].name == m.probe) probe = static_cast<int>(i);
      if (probe < 0)
        throw InputError(m.path + ".probe", fmt::format("no probe is called '{}'", m.probe));
    }
    probe_of_.push_back(probe);
    touches_.push_back(m.kind == Kind::mean_force ? named_shapes(model, m) : std::vector<char>{});
  }
  memory_.assign(3 + stride * metrics_.size() + 3 * probes_.size(), unset);
}

double MetricEvaluator::joint_sum(const Model& model, const State& state, const Workspace& work,
                                  std::size_t metric) const {
  double sum = 0;
  for (const CoordinateIndex c : joints_[metric])
    sum += metrics_[metric].kind == Kind::rate
               ? coordinate_rate(model, work, state.v, c)
               : coordinate_value(model, work, state.q, state.turns, c);
  return sum;
}

void MetricEvaluator::start(const Model& model, const State& state, const Workspace& work) {
  memory_[0] = state.t;
  memory_[1] = 0;
  memory_[2] = 0;
  remember_positions(model, work);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const Metric& m = metrics_[i];
    double* x = slot(i);
    if (m.kind == Kind::mean_force || m.kind == Kind::joint_gap) x[0] = 0;
    if (!joints_[i].empty()) {  // x: the value asked for, and the last one
      x[1] = joint_sum(model, state, work, i);
      if (m.at <= state.t) x[0] = x[1];
    }
    if (m.kind == Kind::energy_drift) {
      x[0] = 0;
      x[1] = x[2] = kinetic_energy(model, state.v, work);
    }
    if (probe_of_[i] < 0) {
      if (m.kind == Kind::work && m.from <= state.t) x[0] = 0;
      continue;
    }
    const double* p = memory_.data() + 3 + stride * metrics_.size() + 3 * probe_of_[i];
    if (m.kind == Kind::position && m.at <= state.t) x[0] = p[m.axis];
    if (m.from > state.t) continue;
    if (m.kind == Kind::largest || m.kind == Kind::smallest) x[0] = p[m.axis];
    if (m.kind == Kind::mean_velocity || m.kind == Kind::travel ||
        m.kind == Kind::cost_of_transport || m.kind == Kind::displacement)
      std::copy_n(p, 3, x);
    if (m.kind == Kind::displacement) x[3] = 0;
    if (m.kind == Kind::cost_of_transport) x[6] = 0;
  }
}

void MetricEvaluator::remember_positions(const Model& model, const Workspace& work) {
  double* last = memory_.data() + 3 + stride * metrics_.size();
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    const Vec3 now = probe_position(model, work, probes_[i]);
    std::copy_n(now.data(), 3, last + 3 * i);
  }
}

double MetricEvaluator::contact_impulse(const State& state, std::size_t metric) const {
  double sum = 0;
  for (const ContactImpulse& c : state.contacts)
    if (touches_[metric][c.key.a] || touches_[metric][c.key.b])
      sum += std::hypot(c.Lambda[0], c.Lambda[1], c.Lambda[2]);
  return sum;
}

void MetricEvaluator::step(const Model& model, const State& state, const Workspace& work,
                           const StepFigures& figures) {
  const double drive_work = figures.drive_work;
  const double t0 = memory_[0], t1 = state.t, work0 = memory_[1];
  const double* positions = memory_.data() + 3 + stride * metrics_.size();
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const Metric& m = metrics_[i];
    double* x = slot(i);
    if (m.kind == Kind::mean_force) {
      const double overlap = std::min(t1, m.to) - std::max(t0, m.from);
      // Overlaps of rounding size do not count a neighbouring step.
      if (overlap > 1e-9 * (t1 - t0)) x[0] += contact_impulse(state, i) * overlap / (t1 - t0);
      continue;
    }
    if (!joints_[i].empty()) {
      const double now = joint_sum(model, state, work, i);
      if (inside(t0, t1, m.at)) x[0] = between(t0, x[1], t1, now, m.at);
      x[1] = now;
      continue;
    }
    if (m.kind == Kind::joint_gap) x[0] = std::max(x[0], figures.joint_gap);
    if (m.kind == Kind::energy_drift) {
      x[0] = std::max(x[0], std::abs(figures.energy_error));
      const double kinetic = kinetic_energy(model, state.v, work);
      x[1] = std::min(x[1], kinetic);
      x[2] = std::max(x[2], kinetic);
    }
    if (m.kind == Kind::work || m.kind == Kind::cost_of_transport) {
      double* w = m.kind == Kind::work ? x : x + 6;
      if (inside(t0, t1, m.from)) w[0] = between(t0, work0, t1, drive_work, m.from);
      if (inside(t0, t1, m.to)) w[1] = between(t0, work0, t1, drive_work, m.to);
    }
    if (probe_of_[i] < 0) continue;
    const double* before = positions + 3 * probe_of_[i];
    const Vec3 now = probe_position(model, work, probes_[probe_of_[i]]);
    const double a = before[m.axis], b = now[m.axis];
    switch (m.kind) {
      case Kind::position:
        if (inside(t0, t1, m.at)) x[0] = between(t0, a, t1, b, m.at);
        break;
      case Kind::largest:
      case Kind::smallest:
        if (t1 >= m.from - 1e-12 && t1 <= m.to + 1e-12 &&
            (std::isnan(x[0]) || (m.kind == Kind::largest ? b > x[0] : b < x[0])))
          x[0] = b;
        break;
      case Kind::first_pass:
        if (std::isnan(x[0]) && (a - m.value) * (b - m.value) <= 0 && a != b)
          x[0] = t0 + (t1 - t0) * (m.value - a) / (b - a);
        break;
      case Kind::displacement:  // x: where it was, and the largest distance since
        if (std::isnan(x[3]) && inside(t0, t1, m.from)) {
          for (int k = 0; k < 3; ++k) x[k] = between(t0, before[k], t1, now[k], m.from);
          x[3] = 0;
        }
        if (!std::isnan(x[3]) && t1 <= m.to + 1e-12)
          x[3] = std::max(x[3], (now - Eigen::Map<const Vec3>(x)).norm());
        break;
      default:  // mean velocity, travel, cost of transport: the ends of the window
        for (int k = 0; k < 3; ++k) {
          if (inside(t0, t1, m.from)) x[k] = between(t0, before[k], t1, now[k], m.from);
          if (inside(t0, t1, m.to)) x[3 + k] = between(t0, before[k], t1, now[k], m.to);
        }
    }
  }
  remember_positions(model, work);
  memory_[0] = t1;
  memory_[1] = drive_work;
}

std::vector<MetricEvaluator::Result> MetricEvaluator::results(const Model& model) const {
  std::vector<Result> all;
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    const Metric& m = metrics_[i];
    const double* x = slot(i);
    double value = x[0];
    const double window = m.to - m.from;
    if (m.kind == Kind::mean_velocity) value = (x[3 + m.axis] - x[m.axis]) / window;
    if (m.kind == Kind::travel)
      value = (Eigen::Map<const Vec3>(x + 3) - Eigen::Map<const Vec3>(x)).norm();
    if (m.kind == Kind::displacement) value = x[3];
    if (m.kind == Kind::mean_force)
      value = memory_[0] >= m.to - 1e-9 * std::max(1.0, m.to) ? x[0] / window : unset;
    if (m.kind == Kind::work) value = x[1] - x[0];
    if (m.kind == Kind::energy_drift) value = x[0] / (x[2] - x[1]);
    if (m.kind == Kind::cost_of_transport) {
      const double g = model.gravity.norm();
      Vec3 d = Eigen::Map<const Vec3>(x + 3) - Eigen::Map<const Vec3>(x);
      if (g > 0) d -= d.dot(model.gravity) / (g * g) * model.gravity;
      value = (x[7] - x[6]) / (model.total_mass() * g * d.norm());
    }
    all.push_back({m.name, std::isfinite(value) ? std::optional(value) : std::nullopt});
  }
  return all;
}

}  // namespace saltus
