#include "saltus/geometry/broad_phase.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "saltus/base/error.h"

namespace saltus {

namespace {

constexpr double ordinary = 4;  // times the mean size

std::size_t most_columns(std::size_t objects) { return 2 * objects + 1; }

bool overlap(const Aabb& a, const Aabb& b) {
  return a.low[0] <= b.high[0] && b.low[0] <= a.high[0] && a.low[1] <= b.high[1] &&
         b.low[1] <= a.high[1] && a.low[2] <= b.high[2] && b.low[2] <= a.high[2];
}

}  // namespace

BroadPhase::BroadPhase(std::vector<BroadObject> objects, std::vector<char> allowed, int groups)
    : objects_(std::move(objects)),
      allowed_(std::move(allowed)),
      groups_(groups),
      is_plane_(objects_.size(), 0),
      is_large_(objects_.size(), 0),
      keys_(objects_.size()),
      column_of_(objects_.size()),
      start_(objects_.size() + 1) {
  SALTUS_ASSERT(allowed_.size() == static_cast<std::size_t>(groups) * groups);
  for (std::size_t i = 0; i < keys_.size(); ++i) keys_[i].object = static_cast<int>(i);
  large_.reserve(objects_.size());
  entries_.reserve(objects_.size());
  column_.reserve(most_columns(objects_.size()) + 1);
}

bool BroadPhase::may_pair(int i, int j) const {
  const BroadObject &a = objects_[i], &b = objects_[j];
  return a.body != b.body && allowed_[static_cast<std::size_t>(a.group) * groups_ + b.group];
}

void BroadPhase::add(int i, int j) {
  if (may_pair(i, j)) found_.push_back({std::min(i, j), std::max(i, j)});
}

// Sweep along the axis in which most objects are bounded and their positions spread most; strips
// along the next.
void BroadPhase::choose_axes(std::span<const Aabb> boxes) {
  int bounded[3] = {0, 0, 0};
  double low[3], high[3];
  std::fill_n(low, 3, std::numeric_limits<double>::infinity());
  std::fill_n(high, 3, -std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (is_plane_[i]) continue;
    for (int k = 0; k < 3; ++k) {
      if (!std::isfinite(boxes[i].high[k] - boxes[i].low[k])) continue;
      ++bounded[k];
      low[k] = std::min(low[k], boxes[i].low[k]);
      high[k] = std::max(high[k], boxes[i].low[k]);
    }
  }
  std::iota(axis_, axis_ + 3, 0);
  std::sort(axis_, axis_ + 3, [&](int a, int b) {
    if (bounded[a] != bounded[b]) return bounded[a] > bounded[b];
    const double spread_a = high[a] - low[a], spread_b = high[b] - low[b];
    return spread_a != spread_b ? spread_a > spread_b : a < b;
  });
}

void BroadPhase::find_large(std::span<const Aabb> boxes) {
  const int x = axis_[0], y = axis_[1];
  double sum_x = 0, sum_y = 0;
  int count = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const double dx = boxes[i].high[x] - boxes[i].low[x], dy = boxes[i].high[y] - boxes[i].low[y];
    is_large_[i] = !std::isfinite(dx + dy);
    if (is_plane_[i] || is_large_[i]) continue;
    sum_x += dx;
    sum_y += dy;
    ++count;
  }
  const double most_x = ordinary * sum_x / count, most_y = ordinary * sum_y / count;
  large_.clear();
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (is_plane_[i]) continue;
    const double dx = boxes[i].high[x] - boxes[i].low[x], dy = boxes[i].high[y] - boxes[i].low[y];
    if (!(dx <= most_x && dy <= most_y)) is_large_[i] = 1;
    if (is_large_[i]) large_.push_back(static_cast<int>(i));
  }
}

int BroadPhase::Strips::of(double low) const {
  if (count == 1) return 0;
  return std::min(static_cast<int>((low - origin) * per_width), count - 1);
}

// Strips a little wider than the widest object: rounding then moves no partner two strips on.
void BroadPhase::cut_strips(std::span<const Aabb> boxes) {
  auto left = static_cast<double>(most_columns(boxes.size()) - 1);
  for (int s = 0; s < 2; ++s) {
    const int k = axis_[s + 1];
    double low = std::numeric_limits<double>::infinity(), high = -low, width = 0;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (is_plane_[i] || is_large_[i]) continue;
      low = std::min(low, boxes[i].low[k]);
      high = std::max(high, boxes[i].low[k]);
      width = std::max(width, boxes[i].high[k] - boxes[i].low[k]);
    }
    strips_[s] = {};
    const double spread = high - low;
    if (!(std::isfinite(spread) && std::isfinite(width) && spread > 0)) continue;
    width = std::max(width * (1 + 1e-9), spread / left);
    strips_[s] = {low, 1 / width, std::max(1, static_cast<int>(std::min(spread / width, left)))};
    left = std::max(1.0, std::floor(left / strips_[s].count));
  }
}

// Insertion while the last order is nearly right, a full sort where it is not.
void BroadPhase::sort_keys(std::span<const Aabb> boxes) {
  const auto before = [](const Key& a, const Key& b) {
    return a.low != b.low ? a.low < b.low : a.object < b.object;
  };
  for (Key& key : keys_) {
    const double low = boxes[key.object].low[axis_[0]];
    key.low = std::isfinite(low) ? low : 0;
  }
  std::size_t moves = 0;
  for (std::size_t k = 1; k < keys_.size(); ++k) {
    if (!before(keys_[k], keys_[k - 1])) continue;
    const Key key = keys_[k];
    std::size_t m = k;
    for (; m > 0 && before(key, keys_[m - 1]); --m) keys_[m] = keys_[m - 1];
    keys_[m] = key;
    moves += k - m;
    if (moves <= 8 * keys_.size()) continue;
    std::sort(keys_.begin(), keys_.end(), before);
    return;
  }
}

// A counting sort: entries of a column stay in the order of the sweep.
void BroadPhase::deal_columns(std::span<const Aabb> boxes) {
  const int x = axis_[0], y = axis_[1], z = axis_[2];
  column_.assign(static_cast<std::size_t>(strips_[0].count) * strips_[1].count + 1, 0);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (is_plane_[i] || is_large_[i]) continue;
    const int s = strips_[0].of(boxes[i].low[y]), t = strips_[1].of(boxes[i].low[z]);
    column_of_[i] = s * strips_[1].count + t;
    ++column_[column_of_[i]];
  }
  std::partial_sum(column_.begin(), column_.end(), column_.begin());
  entries_.resize(column_.back());
  for (auto key = keys_.rbegin(); key != keys_.rend(); ++key) {
    const int i = key->object;
    if (is_plane_[i] || is_large_[i]) continue;
    const Aabb& box = boxes[i];
    entries_[--column_[column_of_[i]]] = {box.low[x], box.high[x], box.low[y], box.high[y],
                                          box.low[z], box.high[z], i};
  }
}

namespace {

template <class Entry>
bool meet(const Entry& a, const Entry& b) {  // across the sweep
  return (a.low1 <= b.high1) & (b.low1 <= a.high1) & (a.low2 <= b.high2) & (b.low2 <= a.high2);
}

}  // namespace

void BroadPhase::sweep(int column) {
  const int end = column_[column + 1];
  for (int k = column_[column]; k < end; ++k)
    for (int m = k + 1; m < end && entries_[m].low <= entries_[k].high; ++m)
      if (meet(entries_[k], entries_[m])) add(entries_[k].object, entries_[m].object);
}

// Two sorted lists: whichever begins next meets those of the other that begin within it.
void BroadPhase::sweep(int column, int other) {
  int k = column_[column], m = column_[other];
  const int end_k = column_[column + 1], end_m = column_[other + 1];
  while (k < end_k && m < end_m) {
    const bool first = entries_[k].low <= entries_[m].low;
    const Entry& a = entries_[first ? k++ : m++];
    const int end = first ? end_m : end_k;
    for (int i = first ? m : k; i < end && entries_[i].low <= a.high; ++i)
      if (meet(a, entries_[i])) add(a.object, entries_[i].object);
  }
}

void BroadPhase::sweep_columns() {
  const int rows = strips_[0].count, width = strips_[1].count;
  for (int s = 0; s < rows; ++s)
    for (int t = 0; t < width; ++t) {
      const int c = s * width + t;
      if (column_[c] == column_[c + 1]) continue;
      sweep(c);
      if (t + 1 < width) sweep(c, c + 1);
      if (s + 1 == rows) continue;
      if (t > 0) sweep(c, c + width - 1);
      sweep(c, c + width);
      if (t + 1 < width) sweep(c, c + width + 1);
    }
}

void BroadPhase::pair_large(std::span<const Aabb> boxes) {
  for (const int i : large_)
    for (int j = 0; j < static_cast<int>(boxes.size()); ++j) {
      if (is_plane_[j] || (is_large_[j] && j <= i)) continue;
      if (overlap(boxes[i], boxes[j])) add(i, j);
    }
}

void BroadPhase::pair_planes(std::span<const Aabb> boxes, std::span<const BroadPlane> planes) {
  for (const BroadPlane& p : planes)
    for (int j = 0; j < static_cast<int>(boxes.size()); ++j) {
      if (is_plane_[j]) continue;
      double lowest = 0;  // of the box along the normal; no 0 * infinity
      for (int k = 0; k < 3; ++k)
        if (p.normal[k] != 0)
          lowest += p.normal[k] * (p.normal[k] > 0 ? boxes[j].low[k] : boxes[j].high[k]);
      if (lowest <= p.offset) add(p.object, j);
    }
}

// By i with a counting sort, then by j within the few of each i.
void BroadPhase::sort_pairs() {
  std::fill(start_.begin(), start_.end(), 0);
  for (const IndexPair& p : found_) ++start_[p.i + 1];
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  pairs_.resize(found_.size());
  for (const IndexPair& p : found_) pairs_[start_[p.i]++] = p;  // start_[i] is now the end of i
  int begin = 0;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    std::sort(pairs_.begin() + begin, pairs_.begin() + start_[i],
              [](const IndexPair& a, const IndexPair& b) { return a.j < b.j; });
    begin = start_[i];
  }
}

const std::vector<IndexPair>& BroadPhase::find(std::span<const Aabb> boxes,
                                               std::span<const BroadPlane> planes) {
  SALTUS_ASSERT(boxes.size() == objects_.size());
  std::fill(is_plane_.begin(), is_plane_.end(), 0);
  for (const BroadPlane& p : planes) is_plane_[p.object] = 1;
  found_.clear();
  choose_axes(boxes);
  find_large(boxes);
  cut_strips(boxes);
  sort_keys(boxes);
  deal_columns(boxes);
  sweep_columns();
  pair_large(boxes);
  pair_planes(boxes, planes);
  sort_pairs();
  return pairs_;
}

}  // namespace saltus
