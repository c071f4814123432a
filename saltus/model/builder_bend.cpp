// Links of constant curvature: elements with several stations.
#include <fmt/format.h>

#include <cmath>

#include "saltus/model/builder.h"
#include "saltus/model/validate.h"
#include "saltus/rods/gauss.h"

namespace saltus {

namespace {

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
