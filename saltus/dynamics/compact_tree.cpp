#include "saltus/dynamics/compact_tree.h"

#include <algorithm>
#include <cmath>

#include "saltus/dynamics/joint_motion.h"

namespace saltus {

namespace {

// More velocities in a tree are as cheap by the recursions.
constexpr int most_in_tree = 40, most_in_all = 80;

Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

bool CompactTree::holds(const Model& m, const Tree& tree) {
  if (m.planar || m.nv == 0 || m.nv > most_in_all || !tree.added.empty()) return false;
  for (std::size_t t = 0; t + 1 < m.tree_v.size(); ++t)
    if (m.tree_v[t + 1] - m.tree_v[t] > most_in_tree) return false;
  return true;
}

CompactTree::CompactTree(const Model& model) {
  const Tree tree(model);
  set_links(model, tree);
  set_paths();
  const std::size_t n = links.size();
  poses.resize(n);
  external.resize(n);
  inertia_.resize(n);
  composite_.resize(n);
  motion_.resize(n);
  axis_.assign(model.nv, Vec3::Zero());
  column_.assign(static_cast<std::size_t>(model.nv) * width_, 0.0);
  diagonal_.setZero(model.nv);
  inverse_.setZero(model.nv);
}

void CompactTree::set_links(const Model& model, const Tree& tree) {
  bodies.resize(model.bodies.size());
  // Of each link of the tree: its carrier, its axes and its point there.
  struct Carried {
    int link = -1;
    Mat3 R = Mat3::Identity();
    Vec3 point = Vec3::Zero();
  };
  std::vector<Carried> at(tree.links.size());
  for (std::size_t i = 1; i < tree.links.size(); ++i) {
    const Link& k = tree.links[i];
    const Carried& p = at[k.parent];
    const Vec3 base = p.point + p.R * k.offset;
    const Mat3 placement = p.R * k.placement;
    RigidAtPoint own{k.mass, k.mass * k.com, k.J};
    if (k.joint == JointCase::fixed) {
      at[i] = {p.link, placement * k.body, base};
      if (p.link >= 0) {  // its mass is the carrier's
        CompactLink& to = links[p.link];
        RigidAtPoint sum{to.mass, to.first, to.J};
        own.first = at[i].R * own.first;
        own.J = turned(at[i].R, own.J);
        sum.add_from(own, base);
        to.mass = sum.mass, to.first = sum.first, to.J = sum.J;
      }
    } else {
      CompactLink c;
      c.parent = p.link;
      c.q0 = k.q0, c.v0 = k.v0, c.nv = k.nv, c.linear = k.linear;
      c.joint = k.joint;
      c.mass = k.mass, c.first = own.first, c.J = k.J;
      c.offset = base;
      c.placement = placement;
      c.placement_turned = placement != Mat3::Identity();
      c.body = k.body, c.body_turned = k.body_turned;
      c.axis = k.axis;
      at[i].link = link_count();
      links.push_back(c);
    }
    const SE3 frame{at[i].R, at[i].point - at[i].R * k.point};
    bodies[i - 1] = {at[i].link, k.joint != JointCase::fixed, frame};
    if (at[i].link < 0) still_moment_ += k.mass * (frame * model.bodies[i - 1].rigid.com);
  }
}

void CompactTree::set_paths() {
  int velocities = 0;
  for (CompactLink& k : links) {
    if (k.parent >= 0) k.above = length(k.parent);
    width_ = std::max(width_, k.above + k.nv);
    velocities = std::max(velocities, k.v0 + k.nv);
  }
  path_.assign(static_cast<std::size_t>(link_count()) * width_, 0);
  link_of_.assign(velocities, 0);
  ancestors_.assign(velocities, 0);
  for (int i = 0; i < link_count(); ++i) {
    const CompactLink& k = links[i];
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

void CompactTree::place(const double* q) {
  static const Pose world_pose;
  for (int i = 0; i < link_count(); ++i) {
    const CompactLink& k = links[i];
    const Pose& up = k.parent < 0 ? world_pose : poses[k.parent];
    Pose& x = poses[i];
    Mat3 base;
    if (k.placement_turned)
      base.noalias() = up.R * k.placement;
    else
      base = up.R;
    Mat3 turned_base;
    Mat3& R = k.body_turned ? turned_base : x.R;
    Vec3* axis = axis_.data() + k.v0;
    const double* own = q + k.q0;
    x.r.noalias() = up.R * k.offset;
    const auto translate = [&](int columns) {
      for (int c = 0; c < columns; ++c) {
        axis[c] = base.col(c);
        x.r += own[c] * base.col(c);
      }
    };
    const auto ball = [&](int first, const double* p) {
      R.noalias() = base * detail::rotation(p);
      for (int c = 0; c < 3; ++c) axis[first + c] = R.col(c);
    };
    switch (k.joint) {
      case JointCase::revolute_x:
        detail::turn_columns<0>(base, own[0], R);
        axis[0] = base.col(0);
        break;
      case JointCase::revolute_y:
        detail::turn_columns<1>(base, own[0], R);
        axis[0] = base.col(1);
        break;
      case JointCase::revolute_z:
        detail::turn_columns<2>(base, own[0], R);
        axis[0] = base.col(2);
        break;
      case JointCase::revolute:
        R.noalias() = base * detail::rotation(k.axis, own[0]);
        axis[0].noalias() = base * k.axis;
        break;
      case JointCase::prismatic:
        R = base;
        axis[0].noalias() = base * k.axis;
        x.r += own[0] * axis[0];
        break;
      case JointCase::spherical: ball(0, own); break;
      case JointCase::floating:
        translate(3);
        ball(3, own + 3);
        break;
      case JointCase::planar:
        translate(2);
        detail::turn_columns<2>(base, own[2], R);
        axis[2] = base.col(2);
        break;
      case JointCase::carrier:
        translate(k.nv);
        R = base;
        break;
      case JointCase::fixed: break;  // no link of its own
    }
    if (k.body_turned) x.R.noalias() = turned_base * k.body;
    x.p = up.p + x.r;
  }
}

void CompactTree::turn_inertias() {
  for (int i = 0; i < link_count(); ++i) {
    const CompactLink& k = links[i];
    const Mat3& R = poses[i].R;
    RigidAtPoint& x = inertia_[i];
    x.mass = k.mass;
    x.first.noalias() = R * k.first;
    x.J = turned(R, k.J);
  }
}

// Composite rigid bodies; a column's wrench is carried to the points of its ancestors.
void CompactTree::mass_matrix(const Vec& extra) {
  std::copy(inertia_.begin(), inertia_.end(), composite_.begin());
  for (int i = link_count() - 1; i >= 0; --i) {
    const CompactLink& k = links[i];
    const RigidAtPoint& I = composite_[i];
    for (int c = 0; c < k.nv; ++c) {
      const int at = k.v0 + c;
      double* column = column_.data() + static_cast<std::ptrdiff_t>(at) * width_;
      Vec3 f, n;
      if (c < k.linear) {
        f = I.mass * axis_[at];
        n = cross(I.first, axis_[at]);
        diagonal_[at] = axis_[at].dot(f) + extra[at];
      } else {
        f = cross(axis_[at], I.first);
        n = I.J * axis_[at];
        diagonal_[at] = axis_[at].dot(n) + extra[at];
      }
      for (int b = 0; b < c; ++b) column[k.above + b] = axis_[k.v0 + b].dot(b < k.linear ? f : n);
      for (int j = i; links[j].parent >= 0;) {
        n += cross(poses[j].r, f);
        j = links[j].parent;
        const CompactLink& p = links[j];
        for (int b = 0; b < p.nv; ++b)
          column[p.above + b] = axis_[p.v0 + b].dot(b < p.linear ? f : n);
      }
    }
    if (k.parent >= 0) composite_[k.parent].add_from(I, poses[i].r);
  }
}

bool CompactTree::factor(int& culprit) {
  const int n = static_cast<int>(diagonal_.size());
  for (int k = n - 1; k >= 0; --k) {
    const double pivot = diagonal_[k];
    if (!(pivot > 0) || !std::isfinite(pivot)) {
      culprit = k;
      return false;
    }
    const double inverse = 1 / std::sqrt(pivot);
    inverse_[k] = inverse;
    const int count = ancestors_[k];
    double* __restrict own = column_.data() + static_cast<std::ptrdiff_t>(k) * width_;
    for (int t = 0; t < count; ++t) own[t] *= inverse;
    const int* way = path(link_of_[k]);
    for (int j = count - 1; j >= 0; --j) {
      const double x = own[j];
      double* __restrict other = column_.data() + static_cast<std::ptrdiff_t>(way[j]) * width_;
      for (int t = 0; t < j; ++t) other[t] -= x * own[t];
      diagonal_[way[j]] -= x * x;
    }
  }
  return true;
}

void CompactTree::solve(double* x) const {
  const int n = static_cast<int>(inverse_.size());
  for (int k = n - 1; k >= 0; --k) {
    const double y = x[k] *= inverse_[k];
    const double* own = column_.data() + static_cast<std::ptrdiff_t>(k) * width_;
    const int* way = path(link_of_[k]);
    for (int t = 0; t < ancestors_[k]; ++t) x[way[t]] -= own[t] * y;
  }
  solve_lower(x);
}

void CompactTree::solve_lower(double* x) const {
  const int n = static_cast<int>(inverse_.size());
  for (int k = 0; k < n; ++k) {
    double sum = x[k];
    const double* own = column_.data() + static_cast<std::ptrdiff_t>(k) * width_;
    const int* way = path(link_of_[k]);
    for (int t = 0; t < ancestors_[k]; ++t) sum -= own[t] * x[way[t]];
    x[k] = sum * inverse_[k];
  }
}

void CompactTree::half_solve(int link, int length, double* __restrict w) const {
  const int* way = path(link);
  for (int j = length - 1; j >= 0; --j) {
    const double y = w[j] *= inverse_[way[j]];
    const double* __restrict own = column_.data() + static_cast<std::ptrdiff_t>(way[j]) * width_;
    for (int t = 0; t < j; ++t) w[t] -= own[t] * y;
  }
}

void CompactTree::rows(int link, const Vec3& point, const Mat3& D, double* r0, double* r1,
                       double* r2) const {
  int at = length(link);
  for (int i = link; i >= 0; i = links[i].parent) {
    const CompactLink& k = links[i];
    const Vec3 arm = point - poses[i].p;
    for (int c = k.nv - 1; c >= 0; --c) {
      --at;
      const Vec3& a = axis_[k.v0 + c];
      const Vec3 u = c < k.linear ? a : cross(a, arm);
      r0[at] = D.col(0).dot(u);
      r1[at] = D.col(1).dot(u);
      r2[at] = D.col(2).dot(u);
    }
  }
}

double CompactTree::point_rate(int link, const Vec3& point, const Vec3& direction,
                               const double* v) const {
  double sum = 0;
  for (int i = link; i >= 0; i = links[i].parent) {
    const CompactLink& k = links[i];
    const Vec3 moment = cross(point - poses[i].p, direction);
    for (int c = 0; c < k.nv; ++c)
      sum += v[k.v0 + c] * axis_[k.v0 + c].dot(c < k.linear ? direction : moment);
  }
  return sum;
}

// Newton and Euler in inertial axes: with the velocities alone,
//   a = a_p + alpha_p x r + w_p x (w_p x r + 2 v_rel),  alpha = alpha_p + w_p x w_rel,
//   f = m a + alpha x h + w x (w x h),  n = J alpha + w x J w + h x a,  h the first moment.
void CompactTree::bias(const Model& model, const double* v, double* tau) {
  Motion ground;
  ground.a = -model.gravity;
  for (int i = 0; i < link_count(); ++i) {
    const CompactLink& k = links[i];
    const Motion& p = k.parent < 0 ? ground : motion_[k.parent];
    Motion& m = motion_[i];
    const Vec3& r = poses[i].r;
    Vec3 w_rel = Vec3::Zero(), carried = cross(p.w, r);
    if (k.nv == 1 && k.linear == 0) {
      w_rel = v[k.v0] * axis_[k.v0];
    } else {
      for (int c = 0; c < k.linear; ++c) carried += (2 * v[k.v0 + c]) * axis_[k.v0 + c];
      for (int c = k.linear; c < k.nv; ++c) w_rel += v[k.v0 + c] * axis_[k.v0 + c];
    }
    m.w = p.w + w_rel;
    m.a = p.a + cross(p.alpha, r) + cross(p.w, carried);
    m.alpha = p.alpha + cross(p.w, w_rel);
    const RigidAtPoint& I = inertia_[i];
    // f = m a + (alpha x h + w x (w x h)), the bracket by moments of h.
    m.f = I.mass * m.a + cross(m.alpha, I.first) + m.w.dot(I.first) * m.w -
          m.w.squaredNorm() * I.first;
    m.n = I.J * m.alpha + cross(m.w, I.J * m.w) + cross(I.first, m.a);
    if (has_external) {
      m.f -= external[i].f;
      m.n -= external[i].n;
    }
  }
  for (int i = link_count() - 1; i >= 0; --i) {
    const CompactLink& k = links[i];
    const Motion& m = motion_[i];
    if (k.nv == 1 && k.linear == 0)
      tau[k.v0] = axis_[k.v0].dot(m.n);
    else
      for (int c = 0; c < k.nv; ++c) tau[k.v0 + c] = axis_[k.v0 + c].dot(c < k.linear ? m.f : m.n);
    if (k.parent < 0) continue;
    Motion& p = motion_[k.parent];
    p.f += m.f;
    p.n += m.n + cross(poses[i].r, m.f);
  }
}

void CompactTree::move(const double* v) {
  for (int i = 0; i < link_count(); ++i) {
    const CompactLink& k = links[i];
    Motion& m = motion_[i];
    m.w.setZero();
    m.v.setZero();
    if (k.parent >= 0) {
      const Motion& p = motion_[k.parent];
      m.w = p.w;
      m.v = p.v + cross(p.w, poses[i].r);
    }
    for (int c = 0; c < k.linear; ++c) m.v += v[k.v0 + c] * axis_[k.v0 + c];
    for (int c = k.linear; c < k.nv; ++c) m.w += v[k.v0 + c] * axis_[k.v0 + c];
  }
}

double CompactTree::kinetic_energy(const Model& model, const double* v) const {
  double T = 0;
  for (int i = 0; i < link_count(); ++i) {
    const Motion& m = motion_[i];
    const RigidAtPoint& I = inertia_[i];
    T += 0.5 * I.mass * m.v.squaredNorm() + m.v.dot(cross(m.w, I.first)) + 0.5 * m.w.dot(I.J * m.w);
  }
  for (int k = 0; k < model.nv; ++k) T += 0.5 * model.armature[k] * v[k] * v[k];
  return T;
}

double CompactTree::external_power() const {
  double sum = 0;
  for (int i = 0; i < link_count(); ++i)
    sum += external[i].f.dot(motion_[i].v) + external[i].n.dot(motion_[i].w);
  return sum;
}

double CompactTree::gravity_energy(const Model& model) const {
  Vec3 sum = still_moment_;
  for (int i = 0; i < link_count(); ++i)
    sum += links[i].mass * poses[i].p + poses[i].R * links[i].first;
  return -model.gravity.dot(sum);
}

void CompactTree::publish(const Model& model, Workspace& w) const {
  static const Motion still;
  static const Pose world_pose;
  for (int b = 0; b < model.body_count(); ++b) {
    const CompactPlace& at = bodies[b];
    const Pose& x = at.link < 0 ? world_pose : poses[at.link];
    const Motion& m = at.link < 0 ? still : motion_[at.link];
    const Link& k = w.tree.links[b + 1];
    SE3& X = w.X[b];
    LinkMotion& to = w.motion[b + 1];
    const Vec3 arm = x.R * at.in_link.r;
    X.r = x.p + arm;
    if (at.own) {
      X.R = x.R;
      to.origin = x.p;
      to.v = m.v;
    } else {
      X.R.noalias() = x.R * at.in_link.R;
      const Vec3 point = X.R * k.point;
      to.origin = X.r + point;
      to.v = m.v + cross(m.w, arm + point);
    }
    w.V[b].tail<3>().noalias() = X.R.transpose() * m.w;
    w.V[b].head<3>().noalias() = X.R.transpose() * (m.v + cross(m.w, arm));
    to.R = X.R;
    to.r = to.origin - w.motion[k.parent].origin;
    to.w = m.w;
    const Vec3& w_p = w.motion[k.parent].w;
    const Vec3 carried = cross(w_p, to.r), w_rel = m.w - w_p;
    const Vec3 v_rel = to.v - w.motion[k.parent].v - carried;
    to.c_linear = cross(w_p, carried + 2 * v_rel);
    to.c_angular = cross(w_p, w_rel);
    if (k.nv == 0) continue;
    for (int c = 0; c < k.nv; ++c) {
      if (c < k.linear)
        w.S_I.col(k.v0 + c).head<3>() = axis_[k.v0 + c];
      else
        w.S_I.col(k.v0 + c).tail<3>() = axis_[k.v0 + c];
    }
    if (k.joint != JointCase::floating && k.joint != JointCase::planar) continue;
    for (int c = k.v0; c < k.v0 + k.nv; ++c) {
      const Vec3 angular = X.R.transpose() * w.S_I.col(c).tail<3>();
      w.S.col(c) << X.R.transpose() * w.S_I.col(c).head<3>() - angular.cross(k.point), angular;
    }
    w.bias[b].head<3>() = X.R.transpose() * v_rel.cross(w_rel);
  }
}

}  // namespace saltus
