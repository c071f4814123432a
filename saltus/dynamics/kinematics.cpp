#include "saltus/dynamics/kinematics.h"

#include <cmath>
#include <numbers>

#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/joint_kinematics.h"
#include "saltus/dynamics/joint_motion.h"
#include "saltus/dynamics/preconditions.h"
#include "saltus/lie/so3.h"
#include "saltus/model/joint_traits.h"

namespace saltus {

namespace {

// How much of the kinematics: poses; velocities too; and what the body's own frame sees.
enum class Detail { poses, velocities, all };

// The velocities of a link from its parent's and its joint's.
inline void carry(const LinkMotion& p, const Vec3& v_rel, const Vec3& w_rel, LinkMotion& m) {
  const Vec3 carried = p.w.cross(m.r);
  m.w = p.w + w_rel;
  m.v = p.v + carried + v_rel;
  m.c_linear = p.w.cross(carried + 2 * v_rel);
  m.c_angular = p.w.cross(w_rel);
}

// What the velocities of a link with stations add while its base rests: of a bend's station
// d2r/dq2 v^2; of a rod's the rate of its twist, in its own axes, turns with it.
inline void add_own_acceleration(const Workspace& w, const Link& k, int i, const double* v,
                                 LinkMotion& m) {
  if (k.rod < 0) {
    m.c_linear += (v[k.v0] * v[k.v0]) * w.curvature[i];
    return;
  }
  const Vec6 &V = w.rods[k.rod].twist[k.place], &rate = w.rods[k.rod].bias[k.place];
  m.c_linear += m.R * (rate.head<3>() + V.tail<3>().cross(V.head<3>()));
  m.c_angular += m.R * rate.tail<3>();
}

// The whole segment with its first station.
template <Detail detail>
void shape_segment(const Link& k, const double* q, const double* v, Workspace& w) {
  const RodSegment& segment = *w.plan->rods[k.rod];
  RodShape& shape = w.rods[k.rod];
  reconstruct<double>(segment, Eigen::Map<const Vec>(q + k.q0, k.nv), shape);
  columns<double>(segment, shape);
  if constexpr (detail != Detail::poses)
    rates<double>(segment, Eigen::Map<const Vec>(v + k.v0, k.nv), shape);
}

// From the root outwards, in inertial axes.
template <Detail detail>
void move_all(const Model& model, const double* q, const double* v, Workspace& w) {
  const int n = model.body_count();
  for (int i = 1; i <= n; ++i) {
    const Link& k = w.plan->links[i];
    const LinkMotion& p = w.motion[k.parent];
    LinkMotion& m = w.motion[i];
    JointMotion j;
    if (k.rod >= 0) {
      if (k.station == 0) shape_segment<detail>(k, q, v, w);
      rod_station(k, p.R * k.placement, w.rods[k.rod], w.S_I, j);
    } else if (k.placement_turned)
      joint_motion(k, p.R * k.placement, q + k.q0, v + k.v0, w.S_I, j);
    else
      joint_motion(k, p.R, q + k.q0, v + k.v0, w.S_I, j);
    if (k.body_turned)
      m.R.noalias() = j.R * k.body;
    else
      m.R = j.R;
    m.r = p.R * k.offset + j.moved;
    m.origin = p.origin + m.r;
    if constexpr (detail == Detail::poses) continue;
    carry(p, j.v_rel, j.w_rel, m);
    if (k.mixed) {
      w.curvature[i] = j.curvature;
      add_own_acceleration(w, k, i, v, m);
    }
    if constexpr (detail == Detail::all) {
      SE3& X = w.X[i - 1];
      X.R = m.R;
      X.r = m.origin - m.R * k.point;
      Vec6& V = w.V[i - 1];
      const Vec3 turning = m.R.transpose() * m.w;
      V.tail<3>() = turning;
      V.head<3>() = m.R.transpose() * m.v - turning.cross(k.point);
      // Columns that turn against the body; those of other joints are constant there.
      if (k.joint == JointCase::planar || k.joint == JointCase::floating || k.mixed) {
        for (int c = k.s0; c < k.s0 + k.nv; ++c) {
          const Vec3 angular = m.R.transpose() * w.S_I.col(c).tail<3>();
          w.S.col(c) << m.R.transpose() * w.S_I.col(c).head<3>() - angular.cross(k.point), angular;
        }
        if (k.rod >= 0) {
          w.bias[i - 1] = w.rods[k.rod].bias[k.place];
          continue;
        }
        w.bias[i - 1].head<3>() = m.R.transpose() * j.v_rel.cross(j.w_rel);
        if (k.mixed)
          w.bias[i - 1].head<3>() += (v[k.v0] * v[k.v0]) * (m.R.transpose() * j.curvature);
      }
    }
  }
}

}  // namespace

void put_touches(const Model& model, VecIn X, Workspace& w) {
  SALTUS_ASSERT(X.size() == model.touches);
  for (std::size_t i = 0; i < model.rods.size(); ++i) {
    const RodElement& r = model.rods[i];
    for (int j = 0; j < r.touches; ++j) {
      RodPoint& point = w.rods[i].touch[j];
      const double to = X[r.touch0 + j];
      if (to == point.X) continue;
      w.idle[r.first_touch + j] = to < 0;
      if (to < 0)
        point.X = -1;
      else
        put_point(*r.segment, to, point);
    }
  }
}

void forward_kinematics(const Model& model, VecIn q, VecIn v, Workspace& w) {
  SALTUS_ASSERT(fits(model, q, v));
  SALTUS_ASSERT(fits(model, w));
  move_all<Detail::all>(model, q.data(), v.data(), w);
}

void move_links(const Model& model, VecIn q, VecIn v, Workspace& w) {
  SALTUS_ASSERT(fits(model, q, v));
  SALTUS_ASSERT(fits(model, w));
  move_all<Detail::velocities>(model, q.data(), v.data(), w);
}

void renew_velocities(const Model& model, VecIn v, Workspace& w) {
  SALTUS_ASSERT(v.size() == model.nv);
  SALTUS_ASSERT(fits(model, w));
  const int n = model.body_count();
  for (int i = 1; i <= n; ++i) {
    const Link& k = w.plan->links[i];
    if (k.rod >= 0 && k.station == 0)
      rates<double>(*w.plan->rods[k.rod], v.segment(k.v0, k.nv), w.rods[k.rod]);
    Vec3 v_rel = Vec3::Zero(), w_rel = Vec3::Zero();
    for (int c = 0; c < (k.mixed ? k.nv : k.linear); ++c)
      v_rel += v[k.v0 + c] * w.S_I.col(k.s0 + c).head<3>();
    for (int c = k.linear; c < k.nv; ++c) w_rel += v[k.v0 + c] * w.S_I.col(k.s0 + c).tail<3>();
    carry(w.motion[k.parent], v_rel, w_rel, w.motion[i]);
    if (k.mixed) add_own_acceleration(w, k, i, v.data(), w.motion[i]);
  }
}

void place_links(const Model& model, VecIn q, Workspace& w) {
  SALTUS_ASSERT(q.size() == model.nq);
  SALTUS_ASSERT(fits(model, w));
  move_all<Detail::poses>(model, q.data(), w.scratch_v.data(), w);
}

SE3 pose_in_parent(const Model& model, const Workspace& w, BodyIndex body) {
  SALTUS_ASSERT(has(model, body) && body.valid());
  SALTUS_ASSERT(fits(model, w));
  const BodyIndex parent = model.bodies[body].parent;
  return parent.valid() ? w.X[parent].inverse() * w.X[body] : w.X[body];
}

void world_columns(const Model& model, Workspace& w) {
  SALTUS_ASSERT(fits(model, w));
  for (int i = 0; i < model.body_count(); ++i) {
    const Vec3& point = w.motion[i + 1].origin;
    const Body& b = model.bodies[i];
    for (int c = b.s0; c < b.s0 + b.nv; ++c) {
      const Vec3 angular = w.S_I.col(c).tail<3>();
      w.S0.col(c) << w.S_I.col(c).head<3>() + point.cross(angular), angular;
    }
  }
}

void advance(const Model& model, VecRef q, VecIn v, double dt) {
  SALTUS_ASSERT(fits(model, q, v));
  for (const Body& b : model.bodies) {
    if (b.nv == 0 || b.station > 0) continue;
    if (b.nv == 1)
      q[b.q0] += dt * v[b.v0];
    else
      joint_advance(b.joint, q.segment(b.q0, b.nq), v.segment(b.v0, b.nv), dt);
  }
}

// advance() turns by R exp(x), so R'Rdot = dexp(x) xdot is the angular velocity in the body.
void local_rates(const Model& model, VecIn x, VecIn v, VecRef rates) {
  SALTUS_ASSERT(x.size() == model.nv && v.size() == model.nv && rates.size() == model.nv);
  rates = v;
  for (const Body& b : model.bodies) {
    const int first = quaternion_at(b.joint);
    if (first < 0) continue;
    const int k = b.v0 + first;
    rates.segment<3>(k) = dexp_inv_so3(x.segment<3>(k)) * v.segment<3>(k);
  }
}

void point_jacobian(const Model& model, const Workspace& w, BodyIndex body, const Vec3& p,
                    Eigen::Ref<Mat6X> J) {
  SALTUS_ASSERT(has(model, body));
  SALTUS_ASSERT(fits(model, w));
  SALTUS_ASSERT(J.cols() == model.nv);
  J.setZero();
  for (int i = body; i >= 0; i = model.bodies[i].parent) {
    const Body& b = model.bodies[i];
    for (int c = 0; c < b.nv; ++c) {
      const Vec3 angular = w.S0.col(b.s0 + c).tail<3>();
      J.col(b.v0 + c) << w.S0.col(b.s0 + c).head<3>() + angular.cross(p), angular;
    }
  }
}

Vec3 point_velocity(const Workspace& w, BodyIndex body, const Vec3& p) {
  SALTUS_ASSERT(body < static_cast<int>(w.X.size()));
  if (!body.valid()) return Vec3::Zero();
  const SE3& X = w.X[body];
  const Vec3 r = X.R.transpose() * (p - X.r);
  return X.R * (w.V[body].head<3>() + w.V[body].tail<3>().cross(r));
}

void add_wrench_row(const Model& model, const Workspace& w, BodyIndex body, const Vec6& wrench,
                    double sign, VecRef column) {
  SALTUS_ASSERT(has(model, body));
  SALTUS_ASSERT(column.size() == model.nv);
  for (int i = body; i >= 0; i = model.bodies[i].parent) {
    const Body& b = model.bodies[i];
    for (int c = 0; c < b.nv; ++c) column[b.v0 + c] += sign * w.S0.col(b.s0 + c).dot(wrench);
  }
}

const Joint& own_joint(const Model& model, BodyIndex body) {
  const Body& b = model.bodies[body];
  return b.cut.valid() ? model.cuts[b.cut].joint : b.joint;
}

Posture zero_posture(const Model& model) {
  Posture p;
  for (int i = 0; i < model.body_count(); ++i) {
    const Joint& j = own_joint(model, BodyIndex(i));
    p.q.emplace_back(Vec::Zero(nq_of(j)));
    p.v.emplace_back(Vec::Zero(nv_of(j)));
    if (const int w = quaternion_at(j); w >= 0) p.q.back()[w] = 1;
  }
  return p;
}

void set_posture(const Model& model, const Posture& posture, State& state) {
  SALTUS_ASSERT(posture.q.size() == model.bodies.size() && posture.v.size() == model.bodies.size());
  SALTUS_ASSERT(fits(model, state));
  const int n = model.body_count();
  std::vector<SE3> X(n);
  std::vector<Vec6> V(n);
  Columns6 S;
  for (int i = 0; i < n; ++i) {
    const Body& b = model.bodies[i];
    const bool cut = b.cut.valid();
    const Joint& joint = own_joint(model, BodyIndex(i));
    const BodyIndex parent = cut ? model.cuts[b.cut].parent : b.parent;
    const SE3& placement = cut ? model.cuts[b.cut].placement : b.placement;
    const SE3& in_body = cut ? model.cuts[b.cut].in_body : b.in_body;
    SE3 X_J;
    Vec6 bias;
    const Vec &q = posture.q[i - b.station], &v = posture.v[i - b.station];
    Vec6 V_J;
    if (const auto* rod = std::get_if<RodPiece>(&joint)) {
      RodShape shape;
      shape.resize(*rod->segment);
      reconstruct<double>(*rod->segment, q, shape);
      rates<double>(*rod->segment, v, shape);
      X_J = generic::pose_of(shape.pose[rod->station]);
      V_J = shape.twist[rod->station];
    } else {
      joint_kinematics(joint, q, v, X_J, S, bias);
      V_J = S.leftCols(nv_of(joint)) * v;
    }
    const SE3 X_pb = placement * X_J * in_body.inverse();
    X[i] = parent.valid() ? X[parent] * X_pb : X_pb;
    V[i] = twist_to_parent(in_body, V_J);
    if (parent.valid()) V[i] += twist_to_body(X_pb, V[parent]);
    if (cut) {
      joint_coordinates(b.joint, X[i], state.q.segment(b.q0, b.nq));
      joint_velocities(b.joint, state.q.segment(b.q0, b.nq), V[i], state.v.segment(b.v0, b.nv));
    } else {
      state.q.segment(b.q0, b.nq) = q;
      state.v.segment(b.v0, b.nv) = v;
    }
  }
  // The pose of a cut joint tells its angle up to full turns.
  Workspace work(model);
  forward_kinematics(model, state.q, state.v, work);
  for (std::size_t c = 0; c < model.coordinates.size(); ++c) {
    const Coordinate& k = model.coordinates[c];
    if (!k.cut.valid() || !k.rotational) continue;
    state.turns[c] = 0;
    const double angle =
        coordinate_value(model, work, state.q, state.turns, CoordinateIndex(static_cast<int>(c)));
    if (model.of_loop(k)) continue;  // it starts within half a turn
    const double missing = posture.q[k.body][k.component] - angle;
    state.turns[c] = static_cast<std::int32_t>(std::lround(missing / (2 * std::numbers::pi)));
  }
}

}  // namespace saltus
