// Which pairs of boxes overlap: sweep and prune in columns.
//
// Objects are kept sorted along one axis and dealt into columns across the other two, as wide as an
// ordinary object; each column is swept against itself and its neighbours. Large and unbounded
// objects (more than four times the mean, or infinite) are tested against all. The order of the
// last call is where the next sort starts; it is a total order, so the result is a function of the
// boxes alone.
#pragma once
#include <span>
#include <vector>

#include "saltus/geometry/contact_points.h"

namespace saltus {

struct BroadObject {
  int body = -1;  // two objects of one body never pair; -1: the world
  int group = 0;
};
struct BroadPlane {  // a half-space among the objects; its box is not looked at
  int object = 0;
  Vec3 normal = Vec3::UnitZ();  // outward, unit
  double offset = 0;            // the solid has normal . p <= offset [m]
};
struct IndexPair {
  int i = 0, j = 0;  // i < j
  friend bool operator==(const IndexPair&, const IndexPair&) = default;
};

class BroadPhase {
 public:
  BroadPhase() = default;
  // allowed[g * groups + h]: objects of groups g and h may touch; symmetric.
  BroadPhase(std::vector<BroadObject> objects, std::vector<char> allowed, int groups);

  // Pairs that may touch and whose boxes (inflated by the caller) overlap or meet, sorted by
  // (i, j); valid until the next call. One box an object. Allocates only to grow.
  const std::vector<IndexPair>& find(std::span<const Aabb> boxes,
                                     std::span<const BroadPlane> planes);

 private:
  struct Key {
    double low = 0;
    int object = 0;
  };
  struct Entry {                 // of a column, in the order of the sweep
    double low = 0, high = 0;    // along the sweep
    double low1 = 0, high1 = 0;  // across
    double low2 = 0, high2 = 0;
    int object = 0;
  };
  struct Strips {  // cuts an axis into `count` intervals
    double origin = 0, per_width = 0;
    int count = 1;
    [[nodiscard]] int of(double low) const;
  };
  [[nodiscard]] bool may_pair(int i, int j) const;
  void add(int i, int j);
  void choose_axes(std::span<const Aabb> boxes);
  void find_large(std::span<const Aabb> boxes);
  void cut_strips(std::span<const Aabb> boxes);
  void sort_keys(std::span<const Aabb> boxes);
  void deal_columns(std::span<const Aabb> boxes);
  void sweep_columns();
  void sweep(int column);
  void sweep(int column, int other);
  void pair_large(std::span<const Aabb> boxes);
  void pair_planes(std::span<const Aabb> boxes, std::span<const BroadPlane> planes);
  void sort_pairs();

  std::vector<BroadObject> objects_;
  std::vector<char> allowed_;
  int groups_ = 0;
  int axis_[3] = {0, 1, 2};  // of the sweep, and across
  Strips strips_[2];         // across
  std::vector<char> is_plane_, is_large_;
  std::vector<int> large_;
  std::vector<Key> keys_;       // objects in the order of the sweep; kept for the next call
  std::vector<int> column_of_;  // of each object
  std::vector<int> column_;     // first entry of each column, and the end
  std::vector<Entry> entries_;
  std::vector<IndexPair> found_, pairs_;
  std::vector<int> start_;  // of each i in pairs_
};

}  // namespace saltus
