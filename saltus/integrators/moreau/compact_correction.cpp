// The position correction of the lean step.
#include <algorithm>
#include <cmath>

#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/compact_step.h"

namespace saltus {

namespace {

// Corrections with the metric of the mid-point: each leaves O(dt^2) of the gap, and its square.
constexpr int most_corrections = 8;
// Those of contacts that persist are smaller, and the step's own matrix does for a metric. Where
// one has closed it may be a millimetre, and what the metric makes of it shows [of the length].
constexpr double large_correction = 1e-5;

}  // namespace

CompactStep::Excess CompactStep::measure(const Stepper& k) {
  Excess x;
  contacts_.find(k.m, tree_, end_);
  std::size_t held = 0;
  const std::vector<HeldContact>& list = k.w.projection.held;  // sorted as the contacts are
  for (const Contact& c : end_) {
    while (held < list.size() && list[held].key < c.key) ++held;
    const bool is_held = held < list.size() && list[held].key == c.key;
    const double g = c.point.gap, miss = is_held ? std::abs(g) : -g;
    x.all = std::max(x.all, miss);
    if (!is_held && miss > closed_gap) x.new_ones = true;
    if (-g > x.penetration) {
      x.penetration = -g;
      x.deepest = {-1, c.key.a, c.key.b, c.key.feature};
    }
  }
  for (const BlockSlot& s : k.m.slots)
    if (s.kind == BlockKind::joint_limit)
      if (const double miss = -slot_gap(k.m, k.w.work, k.s.q, k.s.turns, s); miss > closed_gap) {
        x.all = std::max(x.all, miss);
        x.limits = true;
      }
  return x;
}

void CompactStep::project(Stepper& k, StepReport& report) {
  ProjectionReport& p = report.projection;
  Excess now = measure(k);
  p.raw_penetration = now.penetration;
  if (now.all > closed_gap) {
    k.w.projection.before = k.s.q;
    first_new_ = static_cast<int>(held_normals_.size());
    if (!correct(k, now, p)) {  // in the general way, from where the step ended
      for (std::size_t i = first_new_; i < held_normals_.size(); ++i)
        std::erase_if(k.w.projection.held,
                      [&](const HeldContact& h) { return h.key == held_normals_[i].key; });
      k.s.q = k.w.projection.before;
      forward_kinematics(k.m, k.s.q, k.s.v, k.w.work);
      p = saltus::project(k.m, k.o.projection, k.s.q, k.s.v, k.s.turns, k.w.work, k.w.mass,
                          k.w.finder, k.w.projection);
      k.let_go();
      tree_.place(k.s.q.data());
      return;
    }
  }
  p.penetration = now.penetration;
  p.deepest = now.deepest;
  k.let_go(end_);
}

// Contacts that penetrate and are not held are pushed to where they touch: a row more each, with
// the poses of the end.
bool CompactStep::hold_new_ones(Stepper& k) {
  std::vector<HeldContact>& list = k.w.projection.held;
  for (const Contact& c : end_) {
    if (!(c.point.gap < -closed_gap)) continue;
    const auto at =
        std::lower_bound(list.begin(), list.end(), c.key,
                         [](const HeldContact& h, const ContactKey& key) { return h.key < key; });
    if (at != list.end() && at->key == c.key) continue;
    const CompactPair& pair = contacts_.pair_of(c.key);
    const double sign = pair.b_moves ? 1 : -1;
    const int row = contacts_.add_row(tree_, pair.link, pair.b_moves ? c.point.on_b : c.point.on_a,
                                      sign * c.point.normal);
    if (row < 0) return false;
    list.insert(at, {c.key, false});
    held_.push_back(row);
    held_normals_.push_back({c.key, row, pair.link, sign});
  }
  return true;
}

// Gaps of the held contacts at the end, and their rows there; false if one is out of sight.
bool CompactStep::held_gaps() {
  gap_.setZero();
  normals_.clear();
  for (const HeldNormal& h : held_normals_) {
    const Contact* at = find_contact(end_, h.key);
    if (!at) return false;
    gap_[h.row] = at->point.gap;
    normals_.push_back(
        {h.row, h.link, h.sign > 0 ? at->point.on_b : at->point.on_a, h.sign * at->point.normal});
  }
  return true;
}

// y = what closes the gaps by the rows at hand and the metric that is set.
void CompactStep::closing_move(Vec& y) {
  contacts_.correct(held_, gap_, x_);
  contacts_.apply(tree_, x_, y);
  for (HeldNormal& h : held_normals_) h.push += x_[h.row];
}

// Whether what is only to be pushed would be pulled, or what is held pulls too much against it.
bool CompactStep::pulls(double gap) const {
  if (static_cast<int>(held_normals_.size()) == first_new_) return false;
  for (int i = 0; i < static_cast<int>(held_normals_.size()); ++i) {
    const HeldNormal& h = held_normals_[i];
    const double most = i < first_new_ ? most_pull * gap : 0;
    if (!(-h.push * contacts_.compliance(h.row) <= most)) return true;
  }
  return false;
}

// The metric of the general correction: M of the end, without gains.
bool CompactStep::exact_metric(const Stepper& k) {
  tree_.turn_inertias();
  tree_.mass_matrix(k.m.armature);
  int culprit = -1;
  if (!tree_.factor(culprit)) return false;
  contacts_.renew(tree_);
  return true;
}

// Held contacts are closed, those that stick in place, by the rows and the metric of the mid-point;
// what that leaves by the rows of the end is corrected with it.
bool CompactStep::correct(Stepper& k, Excess& now, ProjectionReport& p) {
  if (now.limits) return false;
  if (now.all > large_correction * k.m.length_scale && !exact_metric(k)) return false;
  for (; now.all > closed_gap && p.iterations < most_corrections; ++p.iterations) {
    if (now.limits || (now.new_ones && !hold_new_ones(k))) return false;
    if (held_.empty() || !contacts_.factor_held(held_) || !held_gaps()) return false;
    closing_move(y_);
    for (const Normal& n : normals_)
      gap_[n.row] += tree_.point_rate(n.link, n.point, n.direction, y_.data());
    closing_move(mean_);
    y_ += mean_;
    if (pulls(now.all)) return false;
    advance(k.m, k.s.q, y_, 1.0);
    tree_.place(k.s.q.data());
    const double before = now.all;
    now = measure(k);
    if (!now.new_ones && !(now.all < 0.5 * before)) return false;
  }
  return now.all <= closed_gap;
}

}  // namespace saltus
