// A run of P1: its impacts and contact forces in the plane of motion.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "apps/saltus/papers/p1.h"

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;

double seconds(std::clock_t from) {
  return static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
}

// Runs the scene and says how much CPU time of this process that took, reading the scene and
// writing and reading the run file included.
Study timed(const std::string& folder, const std::string& name, const std::string& scene,
            const std::vector<std::string>& overrides, double& cpu) {
  const std::clock_t start = std::clock();
  Study study(folder, name, "p1/" + scene, overrides);
  cpu = seconds(start);
  return study;
}

// Rows [k width, (k + 1) width) of a flat column.
std::vector<double> row(const std::vector<double>& all, std::size_t k, std::size_t width) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(k * width);
  return {first, first + static_cast<std::ptrdiff_t>(width)};
}

}  // namespace

P1Run::P1Run(const std::string& folder, const std::string& scene,
             const std::vector<std::string>& overrides, const std::string& name)
    : name_(name.empty() ? scene : name),
      study_(timed(folder, "p1-" + name_, scene, overrides, cpu_)) {
  read(fmt::format("{}/p1-{}.h5", folder, name_));
}

void P1Run::read(const std::string& path) {
  const RunReader reader(path);
  const Json header = Json::parse(reader.header());
  pendulum_ = header["bodies"][0]["name"] == "upper";
  for (const Json& s : header["shapes"]) {
    if (s["type"] == "half-space") {
      slope_ = 2 * std::atan2(s["pose"][5].get<double>(), s["pose"][3].get<double>());
      height_ = s["pose"][2];
    }
    if (s["type"] == "ellipsoid")
      wheels_.push_back({s["name"], s["semi_axes"][0], s["semi_axes"][1],
                         s["name"] == "wheel-rear" ? -0.5 : 0.5});
  }
  nq_ = header["nq"].get<std::size_t>();
  q_ = reader.read("frames", "q", 0, reader.rows("frames"));
  potential_at_0_ = study_.energy(false).front() - potential(q_at(0));
  read_impacts(reader, header);
  read_forces(reader, header);
  double largest = 0;
  for (const double t : study_.energy(true)) largest = std::max(largest, t);
  if (study_.energy(true).back() < 1e-12 * largest) ending_ = Ending::rests;
}

void P1Run::read_impacts(const RunReader& reader, const Json& header) {
  const auto column = [&](const char* table, const char* name) {
    return reader.read(table, name, 0, reader.rows(table));
  };
  const auto t = column("impacts", "t"), before = column("impacts", "kinetic_before"),
             after = column("impacts", "kinetic_after"),
             attenuation = column("impacts", "attenuation"), path = column("impacts", "path"),
             end = column("impacts", "contact_end"), b = column("impact_contacts", "b"),
             gamma = column("impact_contacts", "before"),
             gamma_after = column("impact_contacts", "after"),
             impulse = column("impact_contacts", "impulse"), q = column("impact_states", "q"),
             v_before = column("impact_states", "v_before"),
             v_after = column("impact_states", "v_after");
  const std::size_t states = q.size() / nq_,
                    nv = v_before.size() / std::max<std::size_t>(states, 1);
  std::map<std::string, double>
      sign;  // of the tangent that the rows have; kept where nothing slides
  std::size_t i = 0;
  for (std::size_t k = 0; k < std::min(t.size(), states); ++k) {
    P1Impact m{t[k],
               before[k],
               after[k],
               attenuation[k],
               header["impact_paths"][static_cast<std::size_t>(path[k])],
               row(q, k, nq_),
               row(v_before, k, nv),
               row(v_after, k, nv),
               {}};
    for (; i < static_cast<std::size_t>(end[k]); ++i) {
      const std::string shape = header["shapes"][static_cast<std::size_t>(b[i])]["name"];
      // Of the two tangents one lies in the plane of motion; which, and where it points, depends on
      // the shapes' frames.
      const auto size = [&](int d) {
        return std::abs(gamma[3 * i + d]) + std::abs(gamma_after[3 * i + d]) +
               std::abs(impulse[3 * i + d]);
      };
      const std::size_t d = size(1) >= size(2) ? 1 : 2;
      const double slides = sliding(shape, m.q, m.v_before);
      if (std::abs(slides) > 1e-9) sign[shape] = slides * gamma[3 * i + d] < 0 ? -1 : 1;
      const double s = sign.count(shape) ? sign[shape] : 1;
      m.contacts.push_back({shape, gamma[3 * i], s * gamma[3 * i + d], gamma_after[3 * i],
                            s * gamma_after[3 * i + d], impulse[3 * i], s * impulse[3 * i + d]});
    }
    impacts_.push_back(std::move(m));
  }
}

void P1Run::read_forces(const RunReader& reader, const Json& header) {
  const auto column = [&](const char* table, const char* name) {
    return reader.read(table, name, 0, reader.rows(table));
  };
  const auto t = column("frames", "t"), end = column("frames", "contact_end"),
             b = column("contacts", "b"), impulse = column("contacts", "impulse"),
             normal = column("contacts", "normal_impulse"), mode = column("contacts", "mode");
  const double dt = header["dt"];
  std::size_t i = 0;
  for (std::size_t f = 0; f < t.size(); ++f) {
    sticks_ = true;
    ending_ = i < static_cast<std::size_t>(end[f]) ? Ending::touches : Ending::flies;
    for (; i < static_cast<std::size_t>(end[f]); ++i) {
      const bool sticks = mode[i] == 1;
      sticks_ = sticks_ && sticks;
      const double along =
          impulse[3 * i] * std::cos(slope_) - impulse[3 * i + 2] * std::sin(slope_);
      forces_[header["shapes"][static_cast<std::size_t>(b[i])]["name"]].push_back(
          {t[f], normal[i] / dt, along / dt, sticks});
    }
  }
}

const P1Impact& P1Run::first() const {
  if (impacts_.empty()) throw std::runtime_error(name_ + ": expected an impact, there is none");
  return impacts_.front();
}

std::string P1Run::ending_text() const {
  switch (ending_) {
    case Ending::rests: return "rests";
    case Ending::touches: return sticks_ ? "rolls without slip" : "slides and rolls";
    case Ending::flies: break;
  }
  return "bounces";
}

int P1Run::gains() const {
  // Rounding of two sums of squares is below 1e-12.
  return static_cast<int>(std::count_if(impacts_.begin(), impacts_.end(), [](const P1Impact& m) {
    return m.kinetic_after > m.kinetic_before * (1 + 1e-12);
  }));
}

Point P1Run::tip_velocity(const std::vector<double>& q, const std::vector<double>& v) {
  const double lower = q[0] + q[1], turn = v[0] + v[1];
  return {-std::sin(q[0]) * v[0] - std::sin(lower) * turn,
          std::cos(q[0]) * v[0] + std::cos(lower) * turn};
}

// Speed of a shape's contact point down the slope.
double P1Run::sliding(const std::string& shape, const std::vector<double>& q,
                      const std::vector<double>& v) const {
  const double c = std::cos(slope_), s = std::sin(slope_);
  if (pendulum_) {
    const Point tip = tip_velocity(q, v);
    return c * tip.first - s * tip.second;
  }
  for (std::size_t i = 0; i < wheels_.size(); ++i) {
    const Wheel& w = wheels_[i];
    if (w.shape != shape) continue;
    const double vx = v[0] - w.along * std::sin(q[2]) * v[2],
                 vz = v[1] + w.along * std::cos(q[2]) * v[2];
    // How deep the ellipse reaches below its centre, along the plane's normal (s, c).
    const double turn = q[2] + q[3 + i], n_a = s * std::cos(turn) + c * std::sin(turn),
                 n_b = -s * std::sin(turn) + c * std::cos(turn);
    const double depth = std::hypot(w.a * n_a, w.b * n_b);
    return c * vx - s * vz + depth * (v[2] + v[3 + i]);
  }
  return 0;
}

}  // namespace saltus::cli
