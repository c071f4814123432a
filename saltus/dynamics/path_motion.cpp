// Poses, velocities, inertias and energies of a PathTree.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "saltus/dynamics/joint_motion.h"
#include "saltus/dynamics/packed_ops.h"
#include "saltus/dynamics/path_tree.h"

namespace saltus {

namespace {

// R = P turned about the base's axis a; b, c follow it cyclically.
template <int a>
SALTUS_INLINE void turn_columns(const Pack3x3& P, double sin, double cos, Pack3x3& R) {
  constexpr int b = (a + 1) % 3, c = (a + 2) % 3;
  R.c[a] = P.c[a];
  R.c[b] = cos * P.c[b] + sin * P.c[c];
  R.c[c] = cos * P.c[c] - sin * P.c[b];
}

// Adds `b`, whose point lies at r from a's: with h the first moment of b and s = h + m r,
//   J += J_b + (h + s) . r 1 - h r' - r s'.
SALTUS_INLINE void add_from(PackedInertia& a, const PackedInertia& b, const Pack& r) {
  const Pack s = b.first + b.mass * r;
  const double d = dot(b.first + s, r);
  a.J.c[0] += b.J.c[0] + Pack{d, 0, 0, 0} - b.first * r[0] - r * s[0];
  a.J.c[1] += b.J.c[1] + Pack{0, d, 0, 0} - b.first * r[1] - r * s[1];
  a.J.c[2] += b.J.c[2] + Pack{0, 0, d, 0} - b.first * r[2] - r * s[2];
  a.first += s;
  a.mass += b.mass;
}

}  // namespace

SALTUS_VECTORIZED void PathTree::turn_angles(const double* q) {
  for (std::size_t i = 0; i < sin_.size(); ++i) {
    Pack x;
    bool near = true;
    for (int r = 0; r < 4; ++r) {
      x[r] = q[paths_->angles[4 * i + r]];
      near = near && std::abs(x[r]) < most_angle;
    }
    if (near) {
      sincos(x, sin_[i], cos_[i]);
      continue;
    }
    for (int r = 0; r < 4; ++r) {
      sin_[i][r] = std::sin(x[r]);
      cos_[i][r] = std::cos(x[r]);
    }
  }
}

SALTUS_VECTORIZED void PathTree::place(const double* q) {
  turn_angles(q);
  moves_ = false;
  const Pose ground{pack(Mat3(Mat3::Identity())), {}, {}};
  for (int i = 0; i < paths_->link_count(); ++i) {
    const PathLink& k = paths_->links[i];
    const Pose& up = k.parent < 0 ? ground : poses_[k.parent];
    Pose& x = poses_[i];
    const Pack3x3 base = k.placement_turned ? up.R * k.placement : up.R;
    Pack3x3 R;
    Pack r = up.R * k.offset;
    Pack* axis = axis_.data() + k.v0;
    const double* own = q + k.q0;
    const double sin = k.angle < 0 ? 0 : sin_[k.angle / 4][k.angle % 4],
                 cos = k.angle < 0 ? 1 : cos_[k.angle / 4][k.angle % 4];
    const auto translate = [&](int columns) {
      for (int c = 0; c < columns; ++c) {
        axis[c] = base.c[c];
        r += own[c] * base.c[c];
      }
    };
    const auto ball = [&](int first, const double* p) {
      R = base * pack(detail::rotation(p));
      for (int c = 0; c < 3; ++c) axis[first + c] = R.c[c];
    };
    switch (k.joint) {
      case JointCase::revolute_x:
        turn_columns<0>(base, sin, cos, R);
        axis[0] = base.c[0];
        break;
      case JointCase::revolute_y:
        turn_columns<1>(base, sin, cos, R);
        axis[0] = base.c[1];
        break;
      case JointCase::revolute_z:
        turn_columns<2>(base, sin, cos, R);
        axis[0] = base.c[2];
        break;
      case JointCase::revolute:
        R = base * pack(detail::rotation(unpack(k.axis), own[0]));
        axis[0] = base * k.axis;
        break;
      case JointCase::prismatic:
        R = base;
        axis[0] = base * k.axis;
        r += own[0] * axis[0];
        break;
      case JointCase::spherical: ball(0, own); break;
      case JointCase::floating:
        translate(3);
        ball(3, own + 3);
        break;
      case JointCase::planar:
        translate(2);
        turn_columns<2>(base, sin, cos, R);
        axis[2] = base.c[2];
        break;
      case JointCase::carrier:
        translate(k.nv);
        R = base;
        break;
      case JointCase::fixed:  // no link of its own
      case JointCase::bend:   // not held
      case JointCase::rod:    // not held
        break;
    }
    x.R = k.body_turned ? R * k.body : R;
    x.r = r;
    x.p = up.p + r;
  }
}

Vec3 PathTree::point(int link) const { return unpack(poses_[link].p); }

SALTUS_VECTORIZED void PathTree::turn_inertias() {
  for (int i = 0; i < paths_->link_count(); ++i) {
    const PackedInertia& I = paths_->links[i].inertia;
    const Pack3x3& R = poses_[i].R;
    inertia_[i] = {I.mass, R * I.first, turned(R, I.J)};
  }
}

// Composite rigid paths_->bodies; a column's wrench is carried to the points of its ancestors.
SALTUS_VECTORIZED void PathTree::mass_matrix(const Vec& extra) {
  std::copy(inertia_.begin(), inertia_.end(), composite_.begin());
  for (int i = paths_->link_count() - 1; i >= 0; --i) {
    const PathLink& k = paths_->links[i];
    const PackedInertia& I = composite_[i];
    for (int c = 0; c < k.nv; ++c) {
      const int at = k.v0 + c;
      double* column = column_.data() + static_cast<std::ptrdiff_t>(at) * paths_->width;
      Pack f, n;
      if (c < k.linear) {
        f = I.mass * axis_[at];
        n = cross(I.first, axis_[at]);
      } else {
        f = cross(axis_[at], I.first);
        n = I.J * axis_[at];
      }
      column[k.above + c] = dot(axis_[at], c < k.linear ? f : n) + extra[at];
      for (int b = 0; b < c; ++b) column[k.above + b] = dot(axis_[k.v0 + b], b < k.linear ? f : n);
      for (int j = i; paths_->links[j].parent >= 0;) {
        n += cross(poses_[j].r, f);
        j = paths_->links[j].parent;
        const PathLink& p = paths_->links[j];
        for (int b = 0; b < p.nv; ++b)
          column[p.above + b] = dot(axis_[p.v0 + b], b < p.linear ? f : n);
      }
    }
    if (k.parent >= 0) add_from(composite_[k.parent], I, poses_[i].r);
  }
}

// An entry is the column along the row's wrench, taken about the column's own point:
// linear a . f, angular a . (n + (origin - p) x f); a lane a row.
SALTUS_VECTORIZED void PathTree::rows(int link, const Vec3& origin, const double* wrench, int count,
                                      Pack* w) const {
  Pack f[3] = {}, n[3] = {};
  for (int r = 0; r < count; ++r)
    for (int c = 0; c < 3; ++c) {
      f[c][r] = wrench[6 * r + c];
      n[c][r] = wrench[6 * r + 3 + c];
    }
  int at = paths_->length(link);
  for (int i = link; i >= 0; i = paths_->links[i].parent) {
    const PathLink& k = paths_->links[i];
    const Pack& p = poses_[i].p;
    const double x = origin[0] - p[0], y = origin[1] - p[1], z = origin[2] - p[2];
    const Pack m0 = n[0] + y * f[2] - z * f[1], m1 = n[1] + z * f[0] - x * f[2],
               m2 = n[2] + x * f[1] - y * f[0];
    for (int c = k.nv - 1; c >= 0; --c) {
      const Pack& a = axis_[k.v0 + c];
      w[--at] = c < k.linear ? a[0] * f[0] + a[1] * f[1] + a[2] * f[2]
                             : a[0] * m0 + a[1] * m1 + a[2] * m2;
    }
  }
}

// Newton and Euler in inertial axes: with the velocities alone,
//   a = a_p + alpha_p x r + w_p x (w_p x r + 2 v_rel),  alpha = alpha_p + w_p x w_rel,
//   f = m a + alpha x h + w x (w x h),  n = J alpha + w x J w + h x a,  h the first moment.
SALTUS_VECTORIZED void PathTree::bias(const Vec3& gravity, const double* v, double* tau) {
  moves_ = false;  // it uses the same room
  Motion ground;
  ground.a = -pack(gravity);
  for (int i = 0; i < paths_->link_count(); ++i) {
    const PathLink& k = paths_->links[i];
    const Motion& p = k.parent < 0 ? ground : motion_[k.parent];
    Motion& m = motion_[i];
    const Pack& r = poses_[i].r;
    Pack w_rel{}, carried = cross(p.w, r);
    for (int c = 0; c < k.linear; ++c) carried += (2 * v[k.v0 + c]) * axis_[k.v0 + c];
    for (int c = k.linear; c < k.nv; ++c) w_rel += v[k.v0 + c] * axis_[k.v0 + c];
    const Pack w = p.w + w_rel;
    const Pack a = p.a + cross(p.alpha, r) + cross(p.w, carried);
    const Pack alpha = p.alpha + cross(p.w, w_rel);
    const PackedInertia& I = inertia_[i];
    m.w = w;
    m.a = a;
    m.alpha = alpha;
    m.f = I.mass * a + cross(alpha, I.first) + cross(w, cross(w, I.first));
    m.n = I.J * alpha + cross(w, I.J * w) + cross(I.first, a);
    if (has_external) {
      m.f -= pack(external[i].f);
      m.n -= pack(external[i].n);
    }
  }
  for (int i = paths_->link_count() - 1; i >= 0; --i) {
    const PathLink& k = paths_->links[i];
    const Motion& m = motion_[i];
    for (int c = 0; c < k.nv; ++c) tau[k.v0 + c] = dot(axis_[k.v0 + c], c < k.linear ? m.f : m.n);
    if (k.parent < 0) continue;
    Motion& p = motion_[k.parent];
    p.f += m.f;
    p.n += m.n + cross(poses_[i].r, m.f);
  }
}

SALTUS_VECTORIZED void PathTree::move(const double* v) {
  const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(moved_.size());
  if (moves_ && std::memcmp(moved_.data(), v, bytes) == 0) return;
  std::memcpy(moved_.data(), v, bytes);
  moves_ = true;
  const Motion ground;
  for (int i = 0; i < paths_->link_count(); ++i) {
    const PathLink& k = paths_->links[i];
    const Motion& p = k.parent < 0 ? ground : motion_[k.parent];
    Pack w = p.w, u = p.v + cross(p.w, poses_[i].r);
    for (int c = 0; c < k.linear; ++c) u += v[k.v0 + c] * axis_[k.v0 + c];
    for (int c = k.linear; c < k.nv; ++c) w += v[k.v0 + c] * axis_[k.v0 + c];
    motion_[i].w = w;
    motion_[i].v = u;
  }
}

// With the inertias of the links, in body axes.
SALTUS_VECTORIZED double PathTree::kinetic_energy(const double* v) const {
  double T = 0;
  for (int i = 0; i < paths_->link_count(); ++i) {
    const PackedInertia& I = paths_->links[i].inertia;
    const Pack &w = motion_[i].w, &u = motion_[i].v;
    const Pack turning = transposed_times(poses_[i].R, w);
    T += dot(0.5 * I.mass * u + cross(w, poses_[i].R * I.first), u) +
         0.5 * dot(turning, I.J * turning);
  }
  for (int k = 0; k < paths_->velocities; ++k) T += 0.5 * plan_->armature[k] * v[k] * v[k];
  return T;
}

SALTUS_VECTORIZED void PathTree::twists(const double* v, std::vector<Vec6>& V) {
  move(v);
  for (std::size_t b = 0; b < paths_->bodies.size(); ++b) {
    const PathPlace& at = paths_->bodies[b];
    if (at.link < 0) {
      V[b].setZero();
      continue;
    }
    const Motion& m = motion_[at.link];
    const Pack u = m.v + cross(m.w, poses_[at.link].R * pack(at.in_link.r));
    for (int c = 0; c < 3; ++c) {
      V[b][c] = u[c];
      V[b][3 + c] = m.w[c];
    }
  }
}

SALTUS_VECTORIZED void PathTree::publish_poses(std::vector<SE3>& X) const {
  for (std::size_t b = 0; b < paths_->bodies.size(); ++b) {
    const PathPlace& at = paths_->bodies[b];
    if (at.link < 0) {
      X[b] = at.in_link;
      continue;
    }
    const Pose& x = poses_[at.link];
    X[b].R = unpack(at.own ? x.R : x.R * pack(at.in_link.R));
    X[b].r = unpack(x.p + x.R * pack(at.in_link.r));
  }
}

SALTUS_VECTORIZED void PathTree::publish(Workspace& w) const {
  const Motion still;
  const Pose ground{pack(Mat3(Mat3::Identity())), {}, {}};
  for (std::size_t b = 0; b < paths_->bodies.size(); ++b) {
    const PathPlace& at = paths_->bodies[b];
    const Pose& x = at.link < 0 ? ground : poses_[at.link];
    const Motion& m = at.link < 0 ? still : motion_[at.link];
    const Link& k = plan_->links[b + 1];
    SE3& X = w.X[b];
    LinkMotion& to = w.motion[b + 1];
    const Pack arm = x.R * pack(at.in_link.r);
    const Pack3x3 R = at.own ? x.R : x.R * pack(at.in_link.R);
    const Pack origin = x.p + arm, v = m.v + cross(m.w, arm);
    const Pack point = at.own ? -arm : R * pack(k.point);
    const Pack link_origin = at.own ? x.p : origin + point;
    const Pack link_v = at.own ? m.v : v + cross(m.w, point);
    X.R = unpack(R);
    X.r = unpack(origin);
    w.V[b].tail<3>() = unpack(transposed_times(R, m.w));
    w.V[b].head<3>() = unpack(transposed_times(R, v));
    to.R = X.R;
    to.origin = unpack(link_origin);
    to.v = unpack(link_v);
    to.w = unpack(m.w);
    const LinkMotion& up = w.motion[k.parent];
    const Pack r = link_origin - pack(up.origin), w_p = pack(up.w);
    const Pack carried = cross(w_p, r), w_rel = m.w - w_p, v_rel = link_v - pack(up.v) - carried;
    to.r = unpack(r);
    to.c_linear = unpack(cross(w_p, carried + 2.0 * v_rel));
    to.c_angular = unpack(cross(w_p, w_rel));
    for (int c = 0; c < k.nv; ++c) {
      const Vec3 axis = unpack(axis_[k.v0 + c]);
      if (c < k.linear)
        w.S_I.col(k.v0 + c).head<3>() = axis;
      else
        w.S_I.col(k.v0 + c).tail<3>() = axis;
    }
    if (k.joint != JointCase::floating && k.joint != JointCase::planar) continue;
    for (int c = k.v0; c < k.v0 + k.nv; ++c) {
      const Vec3 angular = X.R.transpose() * w.S_I.col(c).tail<3>();
      w.S.col(c) << X.R.transpose() * w.S_I.col(c).head<3>() - angular.cross(k.point), angular;
    }
    w.bias[b].head<3>() = unpack(transposed_times(R, cross(v_rel, w_rel)));
  }
}

}  // namespace saltus
