// The broad phase against all pairs, with any history.
#include "saltus/geometry/broad_phase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/check.h"
#include "tests/support/random.h"

namespace saltus {
namespace {

using test::Random;
using test::seeds;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Scene {
  std::vector<BroadObject> objects;
  std::vector<char> allowed;
  int groups = 3;
  std::vector<BroadPlane> planes;
};

Scene random_scene(Random& random, int count) {
  Scene s;
  for (int i = 0; i < count; ++i)
    s.objects.push_back({random.integer(-1, count / 2), random.integer(0, s.groups - 1)});
  s.allowed.assign(9, 0);
  for (int g = 0; g < 3; ++g)
    for (int h = 0; h <= g; ++h) s.allowed[3 * g + h] = s.allowed[3 * h + g] = random.chance(0.7);
  for (int i = 0; count >= 3 && i < 3; ++i)
    s.planes.push_back({i * (count / 3), random.direction(), random.uniform(-1, 1)});
  return s;
}

std::vector<Aabb> random_boxes(Random& random, int count) {
  const Vec3 room(random.log_uniform(0.1, 10), random.log_uniform(0.1, 10),
                  random.log_uniform(0.1, 10));
  const bool grid = random.chance(0.3);  // equal coordinates
  std::vector<Aabb> boxes;
  for (int i = 0; i < count; ++i) {
    Vec3 c = random.vector3().cwiseProduct(room);
    if (grid) c = (c * 4).array().round() / 4;
    Vec3 h = grid ? Vec3(Vec3::Constant(0.125)) : Vec3(random.vector3().cwiseAbs());
    if (random.chance(0.05)) h *= 20;
    if (random.chance(0.1)) h[random.integer(0, 2)] = infinity;
    boxes.push_back({c - 0.3 * h, c + 0.3 * h});
  }
  return boxes;
}

std::vector<IndexPair> all_pairs(const Scene& s, const std::vector<Aabb>& boxes) {
  std::vector<IndexPair> pairs;
  const auto plane_of = [&](int i) -> const BroadPlane* {
    for (const auto& p : s.planes)
      if (p.object == i) return &p;
    return nullptr;
  };
  const auto below = [&](const BroadPlane& p, const Aabb& box) {
    double lowest = 0;
    for (int k = 0; k < 3; ++k)
      if (p.normal[k] != 0) lowest += p.normal[k] * (p.normal[k] > 0 ? box.low[k] : box.high[k]);
    return lowest <= p.offset;
  };
  for (int i = 0; i < static_cast<int>(boxes.size()); ++i)
    for (int j = i + 1; j < static_cast<int>(boxes.size()); ++j) {
      const BroadObject &a = s.objects[i], &b = s.objects[j];
      if (a.body == b.body || !s.allowed[a.group * s.groups + b.group]) continue;
      const auto *p = plane_of(i), *q = plane_of(j);
      bool meet = true;
      if (p && q) {
        meet = false;
      } else if (p || q) {
        meet = below(p ? *p : *q, boxes[p ? j : i]);
      } else {
        for (int k = 0; k < 3; ++k)
          meet = meet && boxes[i].low[k] <= boxes[j].high[k] && boxes[j].low[k] <= boxes[i].high[k];
      }
      if (meet) pairs.push_back({i, j});
    }
  return pairs;
}

TEST(BroadPhase, IsAllPairsWithAnyHistory) {
  std::size_t found = 0;
  for (const auto seed : seeds(1, 300)) {
    Random random(seed);
    const int count = random.integer(0, 120);
    const Scene s = random_scene(random, count);
    BroadPhase old(s.objects, s.allowed, s.groups);
    for (int step = 0; step < 6; ++step) {
      const auto boxes = random_boxes(random, count);
      const auto expected = all_pairs(s, boxes);
      BroadPhase fresh(s.objects, s.allowed, s.groups);
      EXPECT_EQ(old.find(boxes, s.planes), expected) << "seed " << seed << ", step " << step;
      EXPECT_EQ(fresh.find(boxes, s.planes), expected) << "seed " << seed;
      found += expected.size();
    }
  }
  std::printf("[  COUNT   ] %zu pairs\n", found);
}

TEST(BroadPhase, SmallMotions) {
  for (const auto seed : seeds(1, 5)) {
    Random random(seed);
    const int count = 400;
    Scene s = random_scene(random, count);
    BroadPhase phase(s.objects, s.allowed, s.groups);
    auto boxes = random_boxes(random, count);
    for (int step = 0; step < 50; ++step) {
      for (Aabb& box : boxes) {
        const Vec3 d = random.vector3(0.02);
        box.low += d;
        box.high += d;
      }
      EXPECT_EQ(phase.find(boxes, s.planes), all_pairs(s, boxes)) << seed;
    }
  }
}

TEST(BroadPhase, NotANumberPairsWithNothing) {
  BroadPhase phase({{0, 0}, {1, 0}, {2, 0}}, {1}, 1);
  const Vec3 nan = Vec3::Constant(std::nan("")), zero = Vec3::Zero(), one = Vec3::Ones();
  const std::vector<Aabb> boxes{{zero, one}, {nan, nan}, {zero, one}};
  EXPECT_EQ(phase.find(boxes, {}), (std::vector<IndexPair>{{0, 2}}));
}

}  // namespace
}  // namespace saltus
