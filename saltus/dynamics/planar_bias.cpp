#include "saltus/dynamics/planar_bias.h"

namespace saltus {

PlanarBias::PlanarBias(const Model& model)
    : nodes_(model.bodies.size() + 1), s_(2, model.nv), turn_(model.nv) {
  s_.setZero();
  turn_.setZero();
}

bool PlanarBias::holds(const Model& model, const Workspace& w) {
  return model.planar && w.plan->added.empty() && !model.has_stations;
}

void PlanarBias::load(const Model& model, const Workspace& w) {
  for (int i = 1; i <= model.body_count(); ++i) {
    const Link& k = w.plan->links[i];
    const LinkMotion& m = w.motion[i];
    Node& x = nodes_[i];
    x.parent = k.parent, x.v0 = k.v0, x.linear = k.linear, x.nv = k.nv;
    x.m = k.mass;
    const Vec6& F = w.external[i - 1];
    const Vec3 f = m.R * F.head<3>();
    for (int j = 0; j < 2; ++j) {
      x.r[j] = m.r[j];
      x.mc[j] = k.mass * m.R.row(j).dot(k.com);
      x.f[j] = f[j];
    }
    x.n = m.R.row(2).dot(F.tail<3>() - k.point.cross(F.head<3>()));
    for (int c = k.v0; c < k.v0 + k.nv; ++c) {
      s_.col(c) = w.S_I.col(c).head<2>();
      turn_[c] = w.S_I(5, c);
    }
  }
}

void PlanarBias::compute(const Model& model, VecIn v, VecRef tau) {
  const int n = static_cast<int>(nodes_.size());
  nodes_[0].a[0] = -model.gravity.x();
  nodes_[0].a[1] = -model.gravity.y();
  for (int i = 1; i < n; ++i) {
    Node& x = nodes_[i];
    const Node& p = nodes_[x.parent];
    double v_rel[2] = {0, 0};
    x.w = p.w;
    for (int c = x.v0; c < x.v0 + x.linear; ++c)
      for (int j = 0; j < 2; ++j) v_rel[j] += v[c] * s_(j, c);
    for (int c = x.v0 + x.linear; c < x.v0 + x.nv; ++c) x.w += v[c] * turn_[c];
    const double square = p.w * p.w, own = x.w * x.w;
    x.a[0] = p.a[0] - square * x.r[0] - 2 * p.w * v_rel[1];
    x.a[1] = p.a[1] - square * x.r[1] + 2 * p.w * v_rel[0];
    for (int j = 0; j < 2; ++j) x.sum_f[j] = x.m * x.a[j] - own * x.mc[j] - x.f[j];
    x.sum_n = x.mc[0] * x.a[1] - x.mc[1] * x.a[0] - x.n;
  }
  for (int i = n - 1; i >= 1; --i) {
    const Node& x = nodes_[i];
    for (int c = x.v0; c < x.v0 + x.linear; ++c)
      tau[c] = s_(0, c) * x.sum_f[0] + s_(1, c) * x.sum_f[1];
    for (int c = x.v0 + x.linear; c < x.v0 + x.nv; ++c) tau[c] = turn_[c] * x.sum_n;
    Node& p = nodes_[x.parent];
    for (int j = 0; j < 2; ++j) p.sum_f[j] += x.sum_f[j];
    p.sum_n += x.sum_n + x.r[0] * x.sum_f[1] - x.r[1] * x.sum_f[0];
  }
}

}  // namespace saltus
