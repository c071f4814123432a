// Cost of the broad phase: spheres in a box, links among pegs.
#include "saltus/geometry/broad_phase.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

namespace saltus {
namespace {

constexpr int steps = 64;  // poses that move on a little, gone through over and over

struct Scene {
  std::vector<BroadObject> objects;
  std::vector<char> allowed;
  int groups = 1;
  std::vector<BroadPlane> planes;
  std::vector<std::vector<Aabb>> boxes;  // one a step
};

class Uniform {
 public:
  double operator()(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11U) * 0x1p-53;
  }

 private:
  std::mt19937_64 engine_{1};
};

void run(benchmark::State& state, const Scene& scene) {
  BroadPhase phase(scene.objects, scene.allowed, scene.groups);
  std::size_t pairs = 0;
  int step = 0;
  for (auto _ : state) {
    const auto& boxes = scene.boxes[step < steps ? step : 2 * steps - 1 - step];  // there and back
    pairs = phase.find(boxes, scene.planes).size();
    benchmark::DoNotOptimize(pairs);
    step = (step + 1) % (2 * steps);
  }
  state.counters["pairs"] = static_cast<double>(pairs);
}

void spheres_in_a_box(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const double radius = 0.05, pitch = 0.105;
  const int side = static_cast<int>(std::ceil(std::cbrt(n)));
  Uniform uniform;
  Scene scene;
  scene.allowed = {1};
  std::vector<Vec3> x, v;
  for (int i = 0; i < n; ++i) {
    scene.objects.push_back({i, 0});
    const int column = i % side, row = i / side % side, layer = i / side / side;
    x.emplace_back(pitch * Vec3(column, row, layer) +
                   0.01 * Vec3(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)));
    v.emplace_back(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
  }
  for (int k = 0; k < 5; ++k) {  // floor and walls
    scene.objects.push_back({-1, 0});
    const Vec3 normal = k == 0  ? Vec3::UnitZ()
                        : k % 2 ? Vec3(Vec3::Unit((k - 1) / 2))
                                : Vec3(-Vec3::Unit((k - 1) / 2));
    scene.planes.push_back({n + k, normal, k == 0 || k % 2 ? -0.06 : -(side * pitch)});
  }
  for (int s = 0; s < steps; ++s) {
    auto& boxes = scene.boxes.emplace_back();
    for (int i = 0; i < n; ++i) {
      const Vec3 c = x[i] + 0.001 * s * v[i];
      boxes.push_back({c.array() - radius - 1e-3, c.array() + radius + 1e-3});
    }
    for (int k = 0; k < 5; ++k) boxes.push_back(bounds(HalfSpace{}, SE3::identity()));
  }
  run(state, scene);
}
BENCHMARK(spheres_in_a_box)->Arg(1000)->Arg(10000)->Unit(benchmark::kMicrosecond);

// Links follow a curve; pegs stand along a long strip or in a square round a coiled snake.
void links_among_pegs(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const bool coiled = state.range(1) != 0;
  Uniform uniform;
  Scene scene;
  scene.groups = 2;
  scene.allowed = {0, 1, 1, 0};  // links touch pegs only
  const Capsule link{0.05, 0.04};
  const double length = 0.1;
  std::vector<SE3> pegs;
  for (int i = 0; i < n; ++i) scene.objects.push_back({i, 0});
  const double half = coiled ? 0.5 * std::sqrt(n * length * 0.15) : 0.5 * n * length;
  for (int i = 0; i < n; ++i) {
    scene.objects.push_back({-1, 1});
    pegs.push_back(SE3::translation(
        {uniform(-half, half), coiled ? uniform(-half, half) : uniform(-0.5, 0.5), 0}));
  }
  for (int s = 0; s < steps; ++s) {
    auto& boxes = scene.boxes.emplace_back();
    for (int i = 0; i < n; ++i) {
      const double along = i * length + 0.002 * s;
      SE3 X;
      double heading = 0;
      if (coiled) {  // a spiral whose turns are 0.15 m apart
        const double turn = std::sqrt(4 * M_PI * along / 0.15), radius = 0.15 * turn / (2 * M_PI);
        X.r = Vec3(radius * std::cos(turn), radius * std::sin(turn), 0);
        heading = turn + M_PI / 2;
      } else {
        X.r = Vec3(along - half, 0.3 * std::sin(along), 0);
        heading = std::atan(0.3 * std::cos(along));
      }
      X.R = Eigen::AngleAxisd(heading, Vec3::UnitZ()).toRotationMatrix();
      Aabb box = bounds(link, X);
      boxes.push_back({box.low.array() - 1e-3, box.high.array() + 1e-3});
    }
    for (const SE3& X : pegs) boxes.push_back(bounds(Peg{0.02}, X));
  }
  run(state, scene);
}
BENCHMARK(links_among_pegs)
    ->ArgsProduct({{1000, 10000}, {0, 1}})
    ->ArgNames({"n", "coiled"})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace saltus

BENCHMARK_MAIN();
