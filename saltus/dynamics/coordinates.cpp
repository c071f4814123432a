#include "saltus/dynamics/coordinates.h"

#include <cmath>
#include <numbers>

#include "saltus/dynamics/joint_kinematics.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/preconditions.h"
#include "saltus/lie/so3.h"

namespace saltus {

CutFrames cut_frames(const Model&, const Workspace& w, const Cut& cut) {
  return {cut.parent.valid() ? w.X[cut.parent] * cut.placement : cut.placement,
          cut.child.valid() ? w.X[cut.child] * cut.in_body : cut.in_body};
}

namespace {

Vec3 angular_velocity(const Workspace& w, BodyIndex body) {
  return body.valid() ? Vec3(w.X[body].R * w.V[body].tail<3>()) : Vec3::Zero();
}

// Rates are taken at the child's joint point, so they are the exact derivatives of gaps in the
// parent's frame even while the joint is open.
Vec6 translation_wrench(const Vec3& direction, const Vec3& point) {
  return join(direction, point.cross(direction));
}

// The same row applied to the velocities of the last forward_kinematics.
double relative_rate(const Workspace& w, const Cut& cut, const Vec6& wrench) {
  const auto along = [&](BodyIndex body) {
    return body.valid() ? wrench.dot(twist_to_parent(w.X[body], w.V[body])) : 0.0;
  };
  return along(cut.child) - along(cut.parent);
}

// Direction of a cut coordinate in the inertial frame; rotational ones act as pure moments.
Vec6 coordinate_wrench(const Model& model, const Workspace& w, const Coordinate& c) {
  const Cut& cut = model.cuts[c.cut];
  const CutFrames f = cut_frames(model, w, cut);
  Vec3 axis = cut.axis;
  if (nv_of(cut.joint) > 1) axis = Vec3::Unit(c.rotational ? 2 : c.component);
  const Vec3 a = f.parent.R * axis;
  return c.rotational ? join(Vec3::Zero(), a) : translation_wrench(a, f.child.r);
}

}  // namespace

double coordinate_value(const Model& model, const Workspace& w, VecIn q,
                        const std::vector<std::int32_t>& turns, CoordinateIndex index) {
  SALTUS_ASSERT(has(model, index) && q.size() == model.nq);
  SALTUS_ASSERT(turns.size() == model.coordinates.size());
  const Coordinate& c = model.coordinates[index];
  if (c.q_index >= 0) return q[c.q_index];
  const Cut& cut = model.cuts[c.cut];
  const CutFrames f = cut_frames(model, w, cut);
  Vec3 values = Vec3::Zero();
  joint_coordinates(cut.joint, f.parent.inverse() * f.child, values.head(nq_of(cut.joint)));
  return values[c.component] + 2 * std::numbers::pi * turns[index];
}

double coordinate_rate(const Model& model, const Workspace& w, VecIn v, CoordinateIndex index) {
  SALTUS_ASSERT(has(model, index) && v.size() == model.nv);
  const Coordinate& c = model.coordinates[index];
  if (c.v_index >= 0) return v[c.v_index];
  const Cut& cut = model.cuts[c.cut];
  const Vec6 wrench = coordinate_wrench(model, w, c);
  const Vec3 p = cut_frames(model, w, cut).child.r;
  if (c.rotational)
    return wrench.tail<3>().dot(angular_velocity(w, cut.child) - angular_velocity(w, cut.parent));
  return wrench.head<3>().dot(point_velocity(w, cut.child, p) - point_velocity(w, cut.parent, p));
}

CoordinateRow coordinate_row(const Model& model, const Workspace& w, CoordinateIndex index) {
  SALTUS_ASSERT(has(model, index));
  const Coordinate& c = model.coordinates[index];
  if (c.v_index >= 0) return {c.v_index, -1, -1, Vec6::Zero()};
  const Cut& cut = model.cuts[c.cut];
  return {-1, cut.parent, cut.child, coordinate_wrench(model, w, c)};
}

void cut_translation_gap(const Model& model, const Workspace& w, const Cut& cut, VecRef gap) {
  const CutFrames f = cut_frames(model, w, cut);
  const Vec3 d = f.parent.R.transpose() * (f.child.r - f.parent.r);
  for (int i = 0; i < cut.translations; ++i) gap[i] = cut.axes.col(i).dot(d);
}

void cut_translation_wrenches(const Model& model, const Workspace& w, const Cut& cut,
                              Columns6& wrenches) {
  const CutFrames f = cut_frames(model, w, cut);
  for (int i = 0; i < cut.translations; ++i)
    wrenches.col(i) = translation_wrench(f.parent.R * cut.axes.col(i), f.child.r);
}

namespace {

// Two directions across the axis, in the parent's joint frame.
std::pair<Vec3, Vec3> across(const Vec3& axis) {
  const Vec3 u = axis.unitOrthogonal();
  return {u, axis.cross(u)};
}

}  // namespace

void cut_rotation_gap(const Model& model, const Workspace& w, const Cut& cut, VecRef gap) {
  if (cut.rotations == 0) return;
  const CutFrames f = cut_frames(model, w, cut);
  const Mat3 R = f.parent.R.transpose() * f.child.R;
  if (cut.rotation == RotationRows::tilt) {
    const auto [u, s] = across(cut.axis);
    const Vec3 turned = R * cut.axis;  // the axis as the child carries it
    gap[0] = u.dot(turned);
    gap[1] = s.dot(turned);
  } else {
    const Vec3 e = log_so3(R);
    if (cut.rotations == 1)
      gap[0] = e.z();
    else
      gap = e;
  }
}

void cut_rotation_wrenches(const Model& model, const Workspace& w, const Cut& cut,
                           Columns6& wrenches) {
  if (cut.rotations == 0) return;
  const CutFrames f = cut_frames(model, w, cut);
  const auto add = [&](int i, const Vec3& axis) { wrenches.col(i) = join(Vec3::Zero(), axis); };
  if (cut.rotation == RotationRows::tilt) {
    const auto [u, s] = across(cut.axis);
    const Vec3 turned = f.child.R * cut.axis;
    add(0, turned.cross(f.parent.R * u));  // d(u.n)/dt = u.(w x n) = w.(n x u)
    add(1, turned.cross(f.parent.R * s));
  } else if (cut.rotations == 1) {
    add(0, f.parent.R.col(2));
  } else {
    // With e = log R and w the relative angular velocity in the parent: de/dt = dexp(-e)^-1 w.
    const Mat3 rate = dexp_inv_so3(-log_so3(f.parent.R.transpose() * f.child.R));
    for (int i = 0; i < 3; ++i) add(i, f.parent.R * rate.row(i).transpose());
  }
}

void cut_translation_rate(const Model& model, const Workspace& w, const Cut& cut, VecRef rate) {
  Columns6 wrenches;
  cut_translation_wrenches(model, w, cut, wrenches);
  for (int i = 0; i < cut.translations; ++i) rate[i] = relative_rate(w, cut, wrenches.col(i));
}

void cut_rotation_rate(const Model& model, const Workspace& w, const Cut& cut, VecRef rate) {
  Columns6 wrenches;
  cut_rotation_wrenches(model, w, cut, wrenches);
  for (int i = 0; i < cut.rotations; ++i) rate[i] = relative_rate(w, cut, wrenches.col(i));
}

void update_turns(const Model& model, const Workspace& w, VecIn q, VecIn before,
                  std::vector<std::int32_t>& turns) {
  for (std::size_t i = 0; i < model.coordinates.size(); ++i) {
    const Coordinate& c = model.coordinates[i];
    if (!c.cut.valid() || !c.rotational) continue;
    const double now = coordinate_value(model, w, q, turns, CoordinateIndex(static_cast<int>(i)));
    const double jump = std::round((now - before[static_cast<int>(i)]) / (2 * std::numbers::pi));
    turns[i] -= static_cast<std::int32_t>(jump);
  }
}

}  // namespace saltus
