#include "saltus/analysis/shape_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "saltus/base/error.h"

namespace saltus {

Vec shape_at(const ShapePath& path, double t) {
  Vec r = path.base;
  for (std::size_t i = 0; i < path.r.size(); ++i) r[path.variable[i]] = value(path.r[i], t);
  return r;
}

Vec shape_rate(const ShapePath& path, double t) {
  Vec r = Vec::Zero(path.base.size());
  for (std::size_t i = 0; i < path.r.size(); ++i) r[path.variable[i]] = rate(path.r[i], t);
  return r;
}

Vec shape_acceleration(const ShapePath& path, double t) {
  Vec r = Vec::Zero(path.base.size());
  for (std::size_t i = 0; i < path.r.size(); ++i) r[path.variable[i]] = acceleration(path.r[i], t);
  return r;
}

std::vector<double> shape_pieces(const ShapePath& path) {
  std::vector<double> times = {path.start};
  while (true) {
    double next = path.end;
    for (const Signal& s : path.r) next = std::min(next, next_break(s, times.back()));
    times.push_back(next);
    if (next >= path.end) return times;
  }
}

void check_limits(const ShapeSpace& space, const ShapePath& path) {
  constexpr int samples = 512;
  for (int k = 0; k <= samples; ++k) {
    const double t = path.start + (path.end - path.start) * k / samples;
    const Vec r = shape_at(path, t);
    for (int i = 0; i < space.p(); ++i) {
      const ShapeVariable& v = space.variables[i];
      const double slack = 1e-12 * (1 + std::abs(r[i]));
      if (r[i] < v.lower - slack || r[i] > v.upper + slack)
        throw InputError(
            fmt::format("'{}' leaves its limits {:.6g} .. {:.6g} at t = {:.6g} s: "
                        "{:.6g}",
                        v.name, v.lower, v.upper, t, r[i]));
    }
  }
}

}  // namespace saltus
