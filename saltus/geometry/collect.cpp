#include "saltus/geometry/collect.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace saltus {

thread_local std::vector<ContactPoint> Collector::points_;
thread_local std::vector<ContactPoint> Collector::before_;

namespace {

constexpr double touching = 1e-7;  // gaps up to it carry load: corrected ones are smaller [m]

// The deepest first, then always the farthest from those chosen, until `most` of the first `count`
// points are in front.
void spread(std::vector<ContactPoint>& p, int count, int most) {
  constexpr double clearly = 1 + 1e-6;  // ties go to the lower feature, whatever the rounding
  int deepest = 0;
  for (int i = 1; i < count; ++i)
    if (p[i].gap < p[deepest].gap - 1e-9) deepest = i;
  std::swap(p[0], p[deepest]);
  for (int k = 1; k < most; ++k) {
    int best = k;
    double farthest = -1;
    for (int i = k; i < count; ++i) {
      double distance = std::numeric_limits<double>::infinity();
      for (int j = 0; j < k; ++j)
        distance = std::min(distance, (p[i].on_a - p[j].on_a).squaredNorm());
      if (distance > farthest * clearly) {
        farthest = distance;
        best = i;
      }
    }
    std::swap(p[k], p[best]);
  }
}

}  // namespace

bool Collector::any_near(std::size_t first, const Vec3& p, double tolerance) const {
  return std::any_of(
      points_.begin() + static_cast<std::ptrdiff_t>(first), points_.end(),
      [&](const ContactPoint& q) { return (q.on_a - p).squaredNorm() <= tolerance * tolerance; });
}

void Collector::begin_part(std::int64_t first, std::int64_t stride) {
  std::swap(points_, before_);
  points_.clear();
  first_ = first;
  stride_ = stride;
}

void Collector::join_part() {
  for (ContactPoint p : points_) {
    p.feature = static_cast<int>((first_ + stride_ * p.feature) & 0x7fffffff);
    if (std::none_of(before_.begin(), before_.end(),
                     [&](const ContactPoint& q) { return q.feature == p.feature; }))
      before_.push_back(p);
  }
  std::swap(points_, before_);
}

double Collector::least_gap() const {
  double least = std::numeric_limits<double>::infinity();
  for (const ContactPoint& p : points_) least = std::min(least, p.gap);
  return least;
}

bool Collector::has_gap(double gap, double tolerance) const {
  return std::any_of(points_.begin(), points_.end(),
                     [&](const ContactPoint& p) { return std::abs(p.gap - gap) <= tolerance; });
}

void Collector::add(double gap, const Vec3& on_a, const Vec3& on_b, const Vec3& n, int feature,
                    double radius_a, double radius_b) {
  gap -= radius_a + radius_b;
  if (!(gap <= margin_)) return;
  for (const ContactPoint& p : points_)
    if (p.feature == feature) return;
  const Vec3 p = on_a + radius_a * n, q = on_b - radius_b * n;
  if (swapped_) {
    points_.push_back({gap, q, p, -n, feature});
  } else {
    points_.push_back({gap, p, q, n, feature});
  }
}

void Collector::write(const SE3& X, bool swapped, Manifold& out) {
  auto& p = points_;
  const auto by_feature = [](const ContactPoint& a, const ContactPoint& b) {
    return a.feature < b.feature;
  };
  std::sort(p.begin(), p.end(), by_feature);
  const int count = static_cast<int>(p.size());
  out.count = std::min(count, max_features);
  if (count > max_features) {
    // Those that touch come first, in the order of their features; then the nearest.
    const auto rank = [](const ContactPoint& x) { return std::max(x.gap, touching); };
    if (closed_first_)
      std::sort(p.begin(), p.end(), [&](const ContactPoint& x, const ContactPoint& y) {
        return rank(x) != rank(y) ? rank(x) < rank(y) : x.feature < y.feature;
      });
    int closed = count;
    while (closed_first_ && closed > 0 && p[closed - 1].gap > touching) --closed;
    if (closed >= max_features) spread(p, closed, max_features);
    std::sort(p.begin(), p.begin() + max_features, by_feature);
  }
  for (int i = 0; i < out.count; ++i) {
    ContactPoint& to = out.points[i];
    to = p[i];
    to.on_a = X * p[i].on_a;
    to.on_b = X * p[i].on_b;
    to.normal = X.R * p[i].normal;
    if (!swapped) continue;
    std::swap(to.on_a, to.on_b);
    to.normal = -to.normal;
  }
}

}  // namespace saltus
