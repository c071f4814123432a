// Gathers the contact points of a pair in a local frame, then writes the manifold.
#pragma once
#include <vector>

#include "saltus/geometry/contact_points.h"

namespace saltus {

class Collector {
 public:
  explicit Collector(double margin) : margin_(margin) { points_.clear(); }
  [[nodiscard]] double margin() const { return margin_; }
  [[nodiscard]] bool empty() const { return points_.empty(); }
  [[nodiscard]] double least_gap() const;
  [[nodiscard]] bool has_gap(double gap, double tolerance) const;
  void clear() { points_.clear(); }
  void swap_roles() { swapped_ = !swapped_; }  // what is added as a from now on is b

  // Points of cores with radii about them: gap is the signed distance of the cores along n.
  void add(double gap, const Vec3& on_a, const Vec3& on_b, const Vec3& n, int feature,
           double radius_a = 0, double radius_b = 0);
  // At most max_features of them, sorted by feature, in the frame X maps to; `swapped`: a is b.
  // Of more the deepest is kept and then, one by one, the farthest from those kept.
  void write(const SE3& X, bool swapped, Manifold& out);

 private:
  double margin_;
  bool swapped_ = false;
  static thread_local std::vector<ContactPoint> points_;  // one pair at a time
};

}  // namespace saltus
