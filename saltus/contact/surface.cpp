#include "saltus/contact/surface.h"

#include <algorithm>

#include "saltus/geometry/friction_map.h"

namespace saltus {

namespace {

SE3 pose_of(const Workspace& w, const ContactShape& s) {
  return s.body.valid() ? w.X[s.body] * s.frame : s.frame;
}

bool moves(const ContactShape& s) { return !s.surface.velocity.isZero(0); }

}  // namespace

Vec2 place_on_map(const Workspace& w, const ContactShape& s, const Vec3& at) {
  const SE3 X = pose_of(w, s);
  return (X.R.transpose() * (at - X.r)).head<2>();
}

double friction_share(const Model& model, const Workspace& w, const Contact& c) {
  double share = 1;
  const auto scale = [&](const ContactShape& s, const Vec3& at) {
    if (!s.surface.friction) return;
    const Vec2 p = place_on_map(w, s, at);
    share *= s.surface.friction->at(p.x(), p.y());
  };
  scale(model.shapes[c.key.a], c.point.on_a);
  scale(model.shapes[c.key.b], c.point.on_b);
  return share;
}

Vec3 belt_velocity(const Model& model, const Workspace& w, const Contact& c) {
  const ContactShape &a = model.shapes[c.key.a], &b = model.shapes[c.key.b];
  if (!moves(a) && !moves(b)) return Vec3::Zero();
  return pose_of(w, b).R * b.surface.velocity - pose_of(w, a).R * a.surface.velocity;
}

void set_drift(const Model& model, const Workspace& w, const Contact& c, int row, Assembly& out) {
  if (!moves(model.shapes[c.key.a]) && !moves(model.shapes[c.key.b])) return;
  const Vec3 u = belt_velocity(model, w, c);
  out.drift[row + 1] = c.tangent.dot(u);
  out.drift[row + 2] = c.point.normal.cross(c.tangent).dot(u);
  out.b.segment<2>(row + 1) += out.drift.segment<2>(row + 1);
}

const ContactShape* first_surface(const Model& model) {
  const auto at = std::find_if(model.shapes.begin(), model.shapes.end(),
                               [](const auto& s) { return moves(s) || s.surface.friction; });
  return at == model.shapes.end() ? nullptr : &*at;
}

}  // namespace saltus
