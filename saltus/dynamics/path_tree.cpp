#include "saltus/dynamics/path_tree.h"

#include <algorithm>
#include <cmath>

#include "saltus/dynamics/packed_ops.h"

namespace saltus {

namespace {

// More velocities in a tree are as cheap by the recursions.
constexpr int most_in_tree = 40, most_in_all = 80;

}  // namespace

bool PathTree::holds(const Model& m, const Tree& tree) {
  if (m.has_stations || m.planar || m.nv == 0 || m.nv > most_in_all || !tree.added.empty())
    return false;
  for (std::size_t t = 0; t + 1 < m.tree_v.size(); ++t)
    if (m.tree_v[t + 1] - m.tree_v[t] > most_in_tree) return false;
  return true;
}

PathTree::PathTree(const Model& model) {
  const Tree tree(model);
  set_links(model, tree);
  set_angles();
  set_paths();
  set_segments();
  const std::size_t n = links.size();
  poses_.resize(n);
  external.resize(n);
  inertia_.resize(n);
  composite_.resize(n);
  motion_.resize(n);
  axis_.assign(model.nv, Pack{});
  column_.assign(static_cast<std::size_t>(model.nv) * width_ + 4, 0.0);
  inverse_.setZero(model.nv);
  moved_.setZero(model.nv);
}

void PathTree::set_links(const Model& model, const Tree& tree) {
  bodies.resize(model.bodies.size());
  // Of each link of the tree: its carrier, its axes and its point there.
  struct Carried {
    int link = -1;
    Mat3 R = Mat3::Identity();
    Vec3 point = Vec3::Zero();
  };
  std::vector<Carried> at(tree.links.size());
  std::vector<RigidAtPoint> inertias;
  for (std::size_t i = 1; i < tree.links.size(); ++i) {
    const Link& k = tree.links[i];
    const Carried& p = at[k.parent];
    const Vec3 base = p.point + p.R * k.offset;
    const Mat3 placement = p.R * k.placement;
    RigidAtPoint own{k.mass, k.mass * k.com, k.J};
    if (k.joint == JointCase::fixed) {
      at[i] = {p.link, placement * k.body, base};
      if (p.link >= 0) {  // its mass is the carrier's
        own.first = at[i].R * own.first;
        own.J = turned(at[i].R, own.J);
        inertias[p.link].add_from(own, base);
      }
    } else {
      PathLink c;
      c.parent = p.link;
      c.q0 = k.q0, c.v0 = k.v0, c.nv = k.nv, c.linear = k.linear;
      c.joint = k.joint;
      c.offset = pack(base);
      c.placement = pack(placement);
      c.placement_turned = placement != Mat3::Identity();
      c.body = pack(k.body), c.body_turned = k.body_turned;
      c.axis = pack(k.axis);
      at[i].link = link_count();
      links.push_back(c);
      inertias.push_back(own);
    }
    const SE3 frame{at[i].R, at[i].point - at[i].R * k.point};
    bodies[i - 1] = {at[i].link, k.joint != JointCase::fixed, frame};
  }
  for (std::size_t i = 0; i < links.size(); ++i) {
    const RigidAtPoint& I = inertias[i];
    links[i].inertia = {I.mass, pack(I.first), pack(I.J.matrix())};
  }
}

void PathTree::set_angles() {
  for (PathLink& k : links) {
    const bool planar = k.joint == JointCase::planar;
    if (!planar && k.joint != JointCase::revolute_x && k.joint != JointCase::revolute_y &&
        k.joint != JointCase::revolute_z)
      continue;
    k.angle = static_cast<int>(angles_.size());
    angles_.push_back(planar ? k.q0 + 2 : k.q0);
  }
  while (angles_.size() % 4 != 0) angles_.push_back(angles_.back());
  sin_.assign(angles_.size() / 4, Pack{});
  cos_ = sin_;
}

void PathTree::set_paths() {
  int velocities = 0;
  for (PathLink& k : links) {
    if (k.parent >= 0) k.above = length(k.parent);
    width_ = std::max(width_, k.above + k.nv);
    velocities = std::max(velocities, k.v0 + k.nv);
  }
  width_ = (width_ + 3) / 4 * 4;
  path_.assign(static_cast<std::size_t>(link_count()) * width_, 0);
  link_of_.assign(velocities, 0);
  ancestors_.assign(velocities, 0);
  for (int i = 0; i < link_count(); ++i) {
    const PathLink& k = links[i];
    int* own = path_.data() + i * width_;
    if (k.parent >= 0) std::copy_n(path(k.parent), k.above, own);
    for (int c = 0; c < k.nv; ++c) {
      own[k.above + c] = k.v0 + c;
      link_of_[k.v0 + c] = i;
      ancestors_[k.v0 + c] = k.above + c;
    }
  }
  common_.assign(static_cast<std::size_t>(link_count()) * link_count(), 0);
  for (int a = 0; a < link_count(); ++a)
    for (int b = 0; b < link_count(); ++b) {
      const int most = std::min(length(a), length(b));
      int& n = common_[a * link_count() + b];
      while (n < most && path(a)[n] == path(b)[n]) ++n;
    }
}

// Chains of links whose velocities follow each other are segments; a new one begins at the root and
// where a tree branches. In a vector of Packs each begins with a Pack.
void PathTree::set_segments() {
  std::vector<int> children(links.size() + 1, 0);
  for (const PathLink& k : links) ++children[k.parent + 1];
  place_of_.assign(link_of_.size(), 0);
  segment_start_.assign(link_of_.size(), 0);
  int next = 0;
  for (const PathLink& k : links) {
    const bool goes_on = k.parent >= 0 && children[k.parent + 1] == 1 &&
                         links[k.parent].v0 + links[k.parent].nv == k.v0;
    if (!goes_on) next = (next + 3) / 4 * 4;
    for (int c = 0; c < k.nv; ++c) {
      segment_start_[k.v0 + c] = goes_on ? segment_start_[k.v0 - 1] : k.above;
      place_of_[k.v0 + c] = next++;
    }
  }
  work_.assign((next + 3) / 4, Pack{});
  for (std::size_t k = 0; k < ancestors_.size(); ++k) {
    first_piece_.push_back(static_cast<int>(pieces_.size()));
    own_piece_.push_back(first_piece_.back());
    const int* way = path(link_of_[k]);
    for (int t = 0; t < ancestors_[k]; ++t) {
      if (t == segment_start_[k]) own_piece_.back() = static_cast<int>(pieces_.size());
      const int place = place_of_[way[t]];
      if (place % 4 == 0) pieces_.push_back({t, 0, place / 4});
      ++pieces_.back().count;
    }
    if (segment_start_[k] == ancestors_[k]) own_piece_.back() = static_cast<int>(pieces_.size());
  }
  first_piece_.push_back(static_cast<int>(pieces_.size()));
  packed_.assign(pieces_.size(), Pack{});
}

// Column k of L is brought under its ancestors', diagonals included: with x = L(k, j),
// column j loses x times the first j + 1 entries of column k. What a Pack adds beyond is cleared
// when that column's turn comes.
SALTUS_VECTORIZED bool PathTree::factor(int& culprit) {
  const int n = static_cast<int>(inverse_.size());
  for (int k = n - 1; k >= 0; --k) {
    double* __restrict own = column_.data() + static_cast<std::ptrdiff_t>(k) * width_;
    const int count = ancestors_[k];
    const double pivot = own[count];
    if (!(pivot > 0) || !std::isfinite(pivot)) {
      culprit = k;
      return false;
    }
    const double inverse = 1 / std::sqrt(pivot);
    inverse_[k] = inverse;
    for (int t = count; t < width_; ++t) own[t] = 0;
    for (int t = 0; t < count; t += 4) *reinterpret_cast<LoosePack*>(own + t) *= inverse;
    const int* way = path(link_of_[k]);
    for (int j = 0; j < count; ++j) {
      const double x = own[j];
      double* __restrict other = column_.data() + static_cast<std::ptrdiff_t>(way[j]) * width_;
      for (int t = 0; t <= j; t += 4)
        *reinterpret_cast<LoosePack*>(other + t) -=
            x * *reinterpret_cast<const LoosePack*>(own + t);
    }
  }
  pack_columns();
  return true;
}

SALTUS_VECTORIZED void PathTree::pack_columns() {
  static constexpr Pack first[5] = {{}, {1}, {1, 1}, {1, 1, 1}, {1, 1, 1, 1}};
  for (std::size_t k = 0; k < ancestors_.size(); ++k) {
    const double* own = column_.data() + static_cast<std::ptrdiff_t>(k) * width_;
    for (int p = first_piece_[k]; p < first_piece_[k + 1]; ++p)
      packed_[p] =
          first[pieces_[p].count] * *reinterpret_cast<const LoosePack*>(own + pieces_[p].at);
  }
}

SALTUS_VECTORIZED void PathTree::solve(double* x) const {
  const int n = static_cast<int>(inverse_.size());
  Pack* const work = work_.data();
  auto* const entries = reinterpret_cast<double*>(work);
  for (int k = 0; k < n; ++k) entries[place_of_[k]] = x[k];
  for (int k = n - 1; k >= 0; --k) {
    const double y = x[k] = entries[place_of_[k]] * inverse_[k];
    for (int p = first_piece_[k]; p < first_piece_[k + 1]; ++p)
      work[pieces_[p].pack] -= packed_[p] * y;
  }
  solve_lower(x);
}

// What is above a segment is known when it begins, so that only its own entries wait for each
// other.
SALTUS_VECTORIZED void PathTree::solve_lower(double* x) const {
  const int n = static_cast<int>(inverse_.size());
  auto* const entries = reinterpret_cast<double*>(work_.data());
  for (int k = 0; k < n; ++k) {
    double sum = x[k];
    if (first_piece_[k] < own_piece_[k]) {
      Pack above{};
      for (int p = first_piece_[k]; p < own_piece_[k]; ++p)
        above += packed_[p] * work_[pieces_[p].pack];
      sum -= (above[0] + above[1]) + (above[2] + above[3]);
    }
    const double* own = column_.data() + static_cast<std::ptrdiff_t>(k) * width_;
    for (int t = segment_start_[k], at = k - ancestors_[k] + t; t < ancestors_[k]; ++t, ++at)
      sum -= own[t] * x[at];
    entries[place_of_[k]] = x[k] = sum * inverse_[k];
  }
}

SALTUS_VECTORIZED void PathTree::half_solve(int link, int length, Pack* w) const {
  const int* way = path(link);
  for (int j = length - 1; j >= 0; --j) {
    const Pack y = w[j] *= inverse_[way[j]];
    const double* own = column_.data() + static_cast<std::ptrdiff_t>(way[j]) * width_;
    for (int t = 0; t < j; ++t) w[t] -= own[t] * y;
  }
}

}  // namespace saltus
