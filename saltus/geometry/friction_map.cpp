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
