// Fluids of a ModelBuilder: on bodies, and along links and rods.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/model/builder.h"
#include "saltus/model/validate.h"
#include "saltus/rods/gauss.h"

namespace saltus {

namespace {

void check_symmetric(const Mat6& K, const std::string& path) {
  const double scale = K.norm();
  require(K.allFinite() && (K - K.transpose()).norm() <= 1e-12 * scale, path,
          "expected a symmetric 6 x 6 matrix");
  const double least = Eigen::SelfAdjointEigenSolver<Mat6>(K).eigenvalues()[0];
  require(least >= -1e-12 * scale, path,
          fmt::format("expected no negative eigenvalue, got {:.6g}", least));
}

void check_fluid(const Fluid& f, const std::string& path) {
  check_symmetric(f.resistance, path + ".resistance");
  check_symmetric(f.added, path + ".added_mass");
  require(f.quadratic.allFinite() && (f.quadratic.array() >= 0).all(), path + ".quadratic",
          "expected numbers >= 0");
  require(f.lift >= 0 && std::isfinite(f.lift), path + ".volume", "expected a number >= 0");
  require(f.centre.allFinite(), path + ".centre", "expected three finite numbers");
  require(f.surface.half >= 0 && std::isfinite(f.surface.half) && std::isfinite(f.surface.height),
          path + ".surface", "expected a height and a half extent >= 0");
  const FluidEnd& end = f.end;
  require(end.point.allFinite() && std::abs(end.outward.norm() - 1) < 1e-9 && end.added.allFinite(),
          path + ".end", "expected a point and a direction out of the body");
  // Inertia that comes and goes would not be inertia.
  require(f.surface.half == 0 || (f.added.isZero(0) && end.added.isZero(0)), path + ".surface",
          "expected no added mass at a surface: it does not change with the depth");
}

void check_section(const FluidSection& s, double X, const std::string& path) {
  for (const auto& [x, key] :
       {std::pair{&s.resistance, "resistance"}, {&s.drag, "drag"}, {&s.added, "added_mass"}})
    require(x->allFinite() && (x->array() >= 0).all(), fmt::format("{}.{}", path, key),
            fmt::format("expected numbers >= 0, got {:.6g}, {:.6g}, {:.6g} at X = {:.6g} m", x->x(),
                        x->y(), x->z(), X));
  require(s.displaced >= 0 && std::isfinite(s.displaced), path + ".displaced",
          fmt::format("expected a number >= 0, got {:.6g} at X = {:.6g} m", s.displaced, X));
}

// Of `share` of the length around a point of the body's x-direction, spread over `span`: forces at
// the point, and couples k span^2/12 about it.
Mat6 spread(const Vec3& per_length, double share, double span, const Vec3& point) {
  const Vec3 k = share * per_length;
  const double arm = span * span / 12;
  const Vec6 own = join(k, Vec3(0, arm * k.z(), arm * k.y()));
  const Mat6 A = adjoint(SE3::translation(point).inverse());
  return A.transpose() * own.asDiagonal() * A;
}

Fluid section_of(const FluidAlong& along, double X, double share, double span, const Vec3& point,
                 const std::string& path) {
  const FluidSection s = along.section(X);
  check_section(s, X, path);
  Fluid f;
  f.centre = point;
  f.resistance = spread(s.resistance, share, span, point);
  f.added = spread(s.added, share, span, point);
  f.quadratic.head<3>() = share * s.drag;
  f.lift = share * s.displaced;
  f.flow = along.flow;
  f.surface = along.surface;
  return f;
}

}  // namespace

ModelBuilder& ModelBuilder::fluid(const Fluid& fluid, const std::string& body) {
  const std::string path = fmt::format("fluids[{}]", fluids_.size());
  check_fluid(fluid, path);
  Fluid placed = fluid;
  if (const auto spec = body_of_.find(body); spec != body_of_.end()) {
    // Of a body with added mass of its own, that moves against the flow too.
    Mat6& added = bodies_[spec->second].added;
    bool first = !added.isZero(0);
    for (const FluidSpec& f : fluids_) first = first && f.body != body;
    if (first) placed.added += added;
    added += fluid.added;
  }
  fluids_.push_back({placed, body});
  return *this;
}

ModelBuilder& ModelBuilder::fluid_along(const FluidAlong& along, const std::string& body,
                                        double length, const Vec3& middle, int points) {
  const std::string path = fmt::format("fluids[{}]", fluids_.size());
  require(std::isfinite(length) && length > 0, path + ".length", "expected a positive length [m]");
  require(points >= 1 && points <= 64, path + ".points", "expected 1 to 64");
  for (const GaussPoint& g : gauss_points(points)) {
    const Vec3 point = middle + Vec3((g.x - 0.5) * length, 0, 0);
    fluid(section_of(along, g.x * length, g.weight * length, points == 1 ? length : 0, point, path),
          body);
  }
  return *this;
}

ModelBuilder& ModelBuilder::fluid_along(const FluidAlong& along, const std::string& rod) {
  const std::string path = fmt::format("fluids[{}]", fluids_.size());
  double begin = 0;  // of the segment
  bool any = false;
  for (const SegmentPlace& place : segments_) {
    if (place.rod != rod) continue;
    any = true;
    std::size_t i = body_of_.at(place.first);
    const int stations = bodies_[i].stations;
    for (int k = 0; k < stations; ++k, ++i) {
      const std::string name = bodies_[i].name;
      const auto& piece = std::get<RodPiece>(bodies_[i].joint.kind);
      if (piece.station > piece.segment->tip()) continue;  // it has no share of the length
      const RodStation& station = piece.segment->stations[piece.station];
      if (!station.heavy) continue;
      // Its share of the length is that of its mass.
      const double share =
          station.inertia(0, 0) / properties_at(piece.segment->spec, station.X).inertia(0, 0);
      require(std::isfinite(share), path + ".rods",
              fmt::format("expected a rod with mass, '{}' has none", rod));
      fluid(section_of(along, begin + station.X, share, 0, Vec3::Zero(), path), name);
    }
    begin += std::get<RodPiece>(bodies_[body_of_.at(place.first)].joint.kind).segment->spec.length;
  }
  require(any, path + ".rods", fmt::format("no rod is called '{}'", rod));
  return *this;
}

}  // namespace saltus
