#include "saltus/dynamics/path_plan.h"

#include <algorithm>

#include "saltus/dynamics/packed_ops.h"
#include "saltus/dynamics/plan.h"

namespace saltus {

namespace {

// More velocities in a tree are as cheap by the recursions.
constexpr int most_in_tree = 56, most_in_all = 80;

}  // namespace

bool PathPlan::holds(const Plan& plan) {
  const ForestShape& f = plan.forest;
  if (f.planar || f.unknowns == 0 || f.unknowns > most_in_all || !plan.added.empty()) return false;
  for (const Link& k : plan.links)
    if (k.mixed) return false;
  for (int t = 0; t < f.trees(); ++t)
    if (f.unknown_begin[t + 1] - f.unknown_begin[t] > most_in_tree) return false;
  return true;
}

PathPlan::PathPlan(const Plan& plan) : velocities(plan.forest.unknowns) {
  set_links(plan);
  set_angles();
  set_paths();
  set_segments();
}

void PathPlan::set_links(const Plan& plan) {
  bodies.resize(plan.links.size() - 1);
  // Of each link of the plan: its carrier, its axes and its point there.
  struct Carried {
    int link = -1;
    Mat3 R = Mat3::Identity();
    Vec3 point = Vec3::Zero();
  };
  std::vector<Carried> at(plan.links.size());
  std::vector<RigidAtPoint> inertias;
  for (std::size_t i = 1; i < plan.links.size(); ++i) {
    const Link& k = plan.links[i];
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

void PathPlan::set_angles() {
  for (PathLink& k : links) {
    const bool planar = k.joint == JointCase::planar;
    if (!planar && k.joint != JointCase::revolute_x && k.joint != JointCase::revolute_y &&
        k.joint != JointCase::revolute_z)
      continue;
    k.angle = static_cast<int>(angles.size());
    angles.push_back(planar ? k.q0 + 2 : k.q0);
  }
  while (angles.size() % 4 != 0) angles.push_back(angles.back());
}

void PathPlan::set_paths() {
  for (PathLink& k : links) {
    if (k.parent >= 0) k.above = length(k.parent);
    width = std::max(width, k.above + k.nv);
  }
  width = (width + 3) / 4 * 4;
  path.assign(static_cast<std::size_t>(link_count()) * width, 0);
  link_of.assign(velocities, 0);
  ancestors.assign(velocities, 0);
  for (int i = 0; i < link_count(); ++i) {
    const PathLink& k = links[i];
    int* own = path.data() + i * width;
    if (k.parent >= 0) std::copy_n(path_of(k.parent), k.above, own);
    for (int c = 0; c < k.nv; ++c) {
      own[k.above + c] = k.v0 + c;
      link_of[k.v0 + c] = i;
      ancestors[k.v0 + c] = k.above + c;
    }
  }
  common.assign(static_cast<std::size_t>(link_count()) * link_count(), 0);
  for (int a = 0; a < link_count(); ++a)
    for (int b = 0; b < link_count(); ++b) {
      const int most = std::min(length(a), length(b));
      int& n = common[a * link_count() + b];
      while (n < most && path_of(a)[n] == path_of(b)[n]) ++n;
    }
}

// Chains of links whose velocities follow each other are segments; a new one begins at the root and
// where a tree branches. In a vector of Packs each begins with a Pack.
void PathPlan::set_segments() {
  std::vector<int> children(links.size() + 1, 0);
  for (const PathLink& k : links) ++children[k.parent + 1];
  place_of.assign(link_of.size(), 0);
  segment_start.assign(link_of.size(), 0);
  int next = 0;
  for (const PathLink& k : links) {
    const bool goes_on = k.parent >= 0 && children[k.parent + 1] == 1 &&
                         links[k.parent].v0 + links[k.parent].nv == k.v0;
    if (!goes_on) next = (next + 3) / 4 * 4;
    for (int c = 0; c < k.nv; ++c) {
      segment_start[k.v0 + c] = goes_on ? segment_start[k.v0 - 1] : k.above;
      place_of[k.v0 + c] = next++;
    }
  }
  packs = (next + 3) / 4;
  for (std::size_t k = 0; k < ancestors.size(); ++k) {
    first_piece.push_back(static_cast<int>(pieces.size()));
    own_piece.push_back(first_piece.back());
    const int* way = path_of(link_of[k]);
    for (int t = 0; t < ancestors[k]; ++t) {
      if (t == segment_start[k]) own_piece.back() = static_cast<int>(pieces.size());
      const int place = place_of[way[t]];
      if (place % 4 == 0) pieces.push_back({t, 0, place / 4});
      ++pieces.back().count;
    }
    if (segment_start[k] == ancestors[k]) own_piece.back() = static_cast<int>(pieces.size());
  }
  first_piece.push_back(static_cast<int>(pieces.size()));
}

}  // namespace saltus
