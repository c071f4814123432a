// Gathers the contact points of a pair in a local frame, then writes the manifold.
#pragma once
#include <algorithm>
#include <cstdint>
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
  [[nodiscard]] std::size_t size() const { return points_.size(); }
  // Whether a point found from the `first` on lies on a within `tolerance` of p.
  [[nodiscard]] bool any_near(std::size_t first, const Vec3& p, double tolerance) const;
  // Of too many points, those that touch are kept before those that are only near.
  void closed_first() { closed_first_ = true; }
  // What is added between the two knows nothing of what was there before; its features become
  // first + stride feature, and of its points those that `keep` accepts remain.
  void begin_part(std::int64_t first, std::int64_t stride);
  template <class Keep>
  void end_part(const Keep& keep) {
    points_.erase(std::remove_if(points_.begin(), points_.end(),
                                 [&](const ContactPoint& p) { return !keep(p); }),
                  points_.end());
    join_part();
  }
  void swap_roles() { swapped_ = !swapped_; }  // what is added as a from now on is b

  // Points of cores with radii about them: gap is the signed distance of the cores along n.
  void add(double gap, const Vec3& on_a, const Vec3& on_b, const Vec3& n, int feature,
           double radius_a = 0, double radius_b = 0);
  // At most max_features of them, sorted by feature, in the frame X maps to; `swapped`: a is b.
  // Of more the deepest is kept and then, one by one, the farthest from those kept.
  void write(const SE3& X, bool swapped, Manifold& out);

 private:
  void join_part();
  double margin_;
  bool swapped_ = false, closed_first_ = false;
  std::int64_t first_ = 0, stride_ = 1;                   // of the part at hand
  static thread_local std::vector<ContactPoint> before_;  // the part at hand
  static thread_local std::vector<ContactPoint> points_;  // one pair at a time
};

}  // namespace saltus
