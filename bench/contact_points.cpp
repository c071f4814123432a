// Cost of the contact points of a pair that rests or nearly touches.
#include "saltus/geometry/contact_points.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "saltus/geometry/hull.h"

namespace saltus {
namespace {

ConvexHull ball(int points) {  // Fibonacci's
  std::vector<Vec3> p;
  for (int i = 0; i < points; ++i) {
    const double z = 1 - (2 * i + 1.0) / points, t = i * std::numbers::pi * (3 - std::sqrt(5.0));
    const double r = std::sqrt(1 - z * z);
    p.emplace_back(0.5 * r * std::cos(t), 0.5 * r * std::sin(t), 0.5 * z);
  }
  return convex_hull(p);
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list{Sphere{0.5},        Capsule{0.5, 0.5},    Box{{.5, .5, .5}},
                                       Cylinder{0.5, 0.5}, ConvexHull(ball(30)), HalfSpace{}};
  return list;
}

// The second shape 1 mm above the first, turned by `turn` about two axes.
void pair(benchmark::State& state, const Shape& a, const Shape& b, double turn) {
  SE3 X;
  X.R = (Eigen::AngleAxisd(turn, Vec3::UnitZ()) * Eigen::AngleAxisd(turn, Vec3::UnitX()))
            .toRotationMatrix();
  const double top = std::holds_alternative<HalfSpace>(a) ? 0 : bounds(a, SE3()).high[2];
  X.r[2] = top - bounds(b, X).low[2] + 1e-3;
  Manifold m;
  for (auto _ : state) {
    contact_points(a, SE3(), b, X, 0.01, m);
    benchmark::DoNotOptimize(m);
  }
  state.counters["points"] = m.count;
}

void add_all() {
  for (const double turn : {0.0, 0.4})
    for (std::size_t i = 0; i < shapes().size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        const Shape &a = shapes()[i], &b = shapes()[j];
        if (!can_touch(a, b)) continue;
        const std::string name = std::string(name_of(a)) + "/" + std::string(name_of(b)) +
                                 (turn > 0 ? "/turned" : "/resting");
        benchmark::RegisterBenchmark(name.c_str(),
                                     [&a, &b, turn](benchmark::State& s) { pair(s, a, b, turn); });
      }
}

}  // namespace
}  // namespace saltus

int main(int argc, char** argv) {
  saltus::add_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
