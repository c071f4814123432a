#include "saltus/geometry/friction_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"

namespace saltus {

double FrictionMap::at(double x, double y) const {
  const auto value = [&](int i, int j) { return factors[static_cast<std::size_t>(j) * nx + i]; };
  const double u = (x - origin.x()) / dx, w = (y - origin.y()) / dy;
  if (between == Between::cells)
    return value(static_cast<int>(std::clamp(std::floor(u), 0.0, nx - 1.0)),
                 static_cast<int>(std::clamp(std::floor(w), 0.0, ny - 1.0)));
  const double cu = std::clamp(u, 0.0, nx - 1.0), cw = std::clamp(w, 0.0, ny - 1.0);
  const int i = std::min(static_cast<int>(cu), std::max(nx - 2, 0)),
            j = std::min(static_cast<int>(cw), std::max(ny - 2, 0));
  const int i1 = std::min(i + 1, nx - 1), j1 = std::min(j + 1, ny - 1);
  const double s = cu - i, t = cw - j;
  return (1 - t) * ((1 - s) * value(i, j) + s * value(i1, j)) +
         t * ((1 - s) * value(i, j1) + s * value(i1, j1));
}

double FrictionPatch::at(const Vec2& p) const {
  const Vec2 d = p - corner;
  return c[0] + c[1] * d.x() + c[2] * d.y() + c[3] * d.x() * d.y();
}

double FrictionPatch::room(const Vec2& p) const {
  return std::min((p - low).minCoeff(), (high - p).minCoeff());
}

namespace {

// Cells with the same factor, as far as they fill a rectangle: along x first.
FrictionPatch equal_cells(const FrictionMap& m, int i, int j) {
  const auto value = [&](int k, int l) {
    return m.factors[static_cast<std::size_t>(l) * m.nx + k];
  };
  FrictionPatch p;
  p.i = i;
  p.j = j;
  p.c[0] = value(i, j);
  int i0 = i, i1 = i, j0 = j, j1 = j;
  while (i0 > 0 && value(i0 - 1, j) == p.c[0]) --i0;
  while (i1 < m.nx - 1 && value(i1 + 1, j) == p.c[0]) ++i1;
  const auto same_row = [&](int l) {
    for (int k = i0; k <= i1; ++k)
      if (value(k, l) != p.c[0]) return false;
    return true;
  };
  while (j0 > 0 && same_row(j0 - 1)) --j0;
  while (j1 < m.ny - 1 && same_row(j1 + 1)) ++j1;
  if (i0 > 0) p.low.x() = m.origin.x() + i0 * m.dx;
  if (j0 > 0) p.low.y() = m.origin.y() + j0 * m.dy;
  if (i1 < m.nx - 1) p.high.x() = m.origin.x() + (i1 + 1) * m.dx;
  if (j1 < m.ny - 1) p.high.y() = m.origin.y() + (j1 + 1) * m.dy;
  return p;
}

// What is between four nodes, or beyond the outermost.
FrictionPatch between_nodes(const FrictionMap& m, int i, int j) {
  const auto node = [](int k) { return std::max(k, 0); };
  const int i1 = std::min(i + 1, m.nx - 1), j1 = std::min(j + 1, m.ny - 1);
  const auto value = [&](int k, int l) {
    return m.factors[static_cast<std::size_t>(node(l)) * m.nx + node(k)];
  };
  FrictionPatch p;
  p.i = i;
  p.j = j;
  p.corner = m.origin + Vec2(node(i) * m.dx, node(j) * m.dy);
  const double f = value(i, j), x = i < 0 ? 0 : (value(i1, j) - f) / m.dx,
               y = j < 0 ? 0 : (value(i, j1) - f) / m.dy;
  const double xy =
      i < 0 || j < 0 ? 0 : (value(i1, j1) - value(i1, j) - value(i, j1) + f) / (m.dx * m.dy);
  p.c = {f, x, y, xy};
  if (i >= 0) p.low.x() = m.origin.x() + i * m.dx;
  if (j >= 0) p.low.y() = m.origin.y() + j * m.dy;
  if (i < m.nx - 1) p.high.x() = m.origin.x() + (i + 1) * m.dx;
  if (j < m.ny - 1) p.high.y() = m.origin.y() + (j + 1) * m.dy;
  return p;
}

int index_along(double u, double heading, double slack, int was, int least, int most) {
  const double edge = std::round(u);
  double k = std::floor(u);
  if (std::abs(u - edge) <= slack && edge > least && edge <= most)
    k = heading > 0 || (heading == 0 && was >= edge) ? edge : edge - 1;
  return static_cast<int>(std::clamp(k, static_cast<double>(least), static_cast<double>(most)));
}

}  // namespace

FrictionPatch patch_of(const FrictionMap& m, int i, int j) {
  if (m.between == FrictionMap::Between::bilinear) return between_nodes(m, i, j);
  return equal_cells(m, std::max(i, 0), std::max(j, 0));
}

FrictionPatch patch_at(const FrictionMap& m, const Vec2& p, const Vec2& heading, double slack,
                       const FrictionPatch& was) {
  const int least = m.between == FrictionMap::Between::cells ? 0 : -1;
  const Vec2 at = (p - m.origin).cwiseQuotient(Vec2(m.dx, m.dy));
  return patch_of(m, index_along(at.x(), heading.x(), slack / m.dx, was.i, least, m.nx - 1),
                  index_along(at.y(), heading.y(), slack / m.dy, was.j, least, m.ny - 1));
}

std::shared_ptr<const FrictionMap> friction_map(FrictionMap map) {
  if (map.nx < 1 || map.ny < 1 ||
      map.factors.size() != static_cast<std::size_t>(map.nx) * static_cast<std::size_t>(map.ny))
    throw InputError(
        fmt::format("expected {} x {} factors, got {}", map.nx, map.ny, map.factors.size()));
  if (!(map.dx > 0 && map.dy > 0 && std::isfinite(map.dx) && std::isfinite(map.dy)))
    throw InputError("expected a positive spacing");
  for (std::size_t k = 0; k < map.factors.size(); ++k)
    if (!(map.factors[k] >= 0 && std::isfinite(map.factors[k])))
      throw InputError(fmt::format("expected factors >= 0, got {} in row {}, column {}",
                                   map.factors[k], k / map.nx + 1, k % map.nx + 1));
  return std::make_shared<const FrictionMap>(std::move(map));
}

}  // namespace saltus
