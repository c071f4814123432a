// Links of constant curvature: elements with several stations.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "saltus/model/builder.h"
#include "saltus/model/validate.h"

namespace saltus {

namespace {

// The nodes of Gauss and Legendre on [0, 1] in rising order, and their weights, which sum to 1:
// Newton on P_n from Chebyshev's guess.
struct GaussPoint {
  double x = 0, weight = 0;
};
std::vector<GaussPoint> gauss_points(int n) {
  std::vector<GaussPoint> points(n);
  for (int i = 0; i < n; ++i) {
    double x = -std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int round = 0; round < 20; ++round) {
      double p = 1, before = 0;
      for (int k = 1; k <= n; ++k) {
        const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
        before = p;
        p = next;
      }
      slope = n * (x * p - before) / (x * x - 1);
      const double step = p / slope;
      x -= step;
      if (std::abs(step) < 1e-15) break;
    }
    points[i] = {0.5 * (1 + x), 1 / ((1 - x * x) * slope * slope)};
  }
  return points;
}

constexpr int most_stations = 64;

}  // namespace

Vec3 round_section(double radius) {
  const double square = radius * radius;
  return {square / 2, square / 4, square / 4};
}

ModelBuilder& ModelBuilder::bend(const BendSpec& bend) {
  const std::string path = fmt::format("bends[{}]", bends_++);
  require(!bend.name.empty() && bend.name != "world", path + ".name",
          "expected a name other than 'world'");
  require(std::isfinite(bend.length) && bend.length > 0, path + ".length",
          fmt::format("expected a positive length, got {}", bend.length));
  require(std::isfinite(bend.mass) && bend.mass > 0, path + ".mass",
          fmt::format("expected a positive number, got {}", bend.mass));
  require(bend.stations >= 1 && bend.stations <= most_stations, path + ".stations",
          fmt::format("expected 1 to {} Gauss points, got {}", most_stations, bend.stations));
  require(bend.section.allFinite() && bend.section.minCoeff() >= 0, path + ".section",
          "expected squared radii of gyration >= 0");
  check_dof(bend.dof, path);
  check_frame(bend.placement, path + ".at");
  const Joint unit = with_unit_axis(Bend{bend.axis, bend.length, 0}, path + ".axis");
  require(std::abs(std::get<Bend>(unit).axis.x()) < 1e-9, path + ".axis",
          "expected a direction across x, along which the link leaves its base");
  const int count = bend.stations + 1;
  const auto points = gauss_points(bend.stations);
  for (int i = 0; i < count; ++i) {
    const bool tip = i == bend.stations;
    BodySpec spec;
    spec.name = bend.name + (tip ? ".tip" : fmt::format(".{}", i + 1));
    require(!body_of_.contains(spec.name), path + ".name",
            fmt::format("the name '{}' is taken", spec.name));
    Bend kind = std::get<Bend>(unit);
    kind.at = tip ? bend.length : bend.length * points[i].x;
    const double mass = tip ? 0 : bend.mass * points[i].weight;
    spec.inertia = {mass, Vec3::Zero(), Mat3((mass * bend.section).asDiagonal())};
    check_inertia(spec.inertia, false, path);
    spec.joint.name = bend.name;
    spec.joint.parent = bend.parent;
    spec.joint.kind = kind;
    spec.joint.placement = bend.placement;
    spec.joint.dofs = {bend.dof};
    spec.station = i;
    spec.stations = count;
    spec.path = path;
    body_of_.emplace(spec.name, bodies_.size());
    bodies_.push_back(spec);
  }
  return *this;
}

}  // namespace saltus
