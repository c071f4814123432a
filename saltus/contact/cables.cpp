#include "saltus/contact/cables.h"

#include <algorithm>

namespace saltus {

namespace {

Vec3 place(const Workspace& work, const CablePoint& p) {
  return p.body.valid() ? work.X[p.body] * p.point : p.point;
}

// From point k to the next one; none where they coincide, or there is no next.
Vec3 direction(const Workspace& work, const Cable& c, std::size_t k) {
  if (k + 1 >= c.points.size()) return Vec3::Zero();
  const Vec3 d = place(work, c.points[k + 1]) - place(work, c.points[k]);
  const double length = d.norm();
  return length > 0 ? Vec3(d / length) : Vec3::Zero();
}

// dr = pull . dp of point k.
Vec3 stretch(const Workspace& work, const Cable& c, std::size_t k) {
  const Vec3 before = k > 0 ? direction(work, c, k - 1) : Vec3::Zero();
  return before - direction(work, c, k);
}

// Adds what a wrench about the inertial origin on a body is to the velocities of its path.
template <class Add>
void along_path(const Model& model, const Workspace& work, BodyIndex body, const Vec6& wrench,
                const Add& add) {
  for (int i = body; i >= 0; i = model.bodies[i].parent) {
    const Body& b = model.bodies[i];
    const SE3& X = work.X[i];
    const Vec3 f = wrench.head<3>();
    const Vec6 here =
        join(Vec3(X.R.transpose() * f), Vec3(X.R.transpose() * (wrench.tail<3>() - X.r.cross(f))));
    for (int k = 0; k < b.nv; ++k) add(b.v0 + k, work.S.col(b.s0 + k).dot(here));
  }
}

template <class Add>
void each_velocity(const Model& model, const Workspace& work, const Cable& c, const Add& add) {
  for (std::size_t k = 0; k < c.points.size(); ++k) {
    const BodyIndex body = c.points[k].body;
    if (!body.valid()) continue;
    const Vec3 d = stretch(work, c, k);
    along_path(model, work, body, join(d, place(work, c.points[k]).cross(d)), add);
  }
  for (const GapTerm& p : c.pulleys) add(p.velocity, p.gap);
}

}  // namespace

double straight_length(const Workspace& work, const Cable& c) {
  double r = 0;
  for (std::size_t k = 0; k + 1 < c.points.size(); ++k)
    r += (place(work, c.points[k + 1]) - place(work, c.points[k])).norm();
  return r;
}

Vec6 stretch_wrench(const Workspace& work, const Cable& c, BodyIndex body) {
  Vec6 sum = Vec6::Zero();
  for (std::size_t k = 0; k < c.points.size(); ++k)
    if (c.points[k].body == body) {
      const Vec3 d = stretch(work, c, k);
      sum += join(d, place(work, c.points[k]).cross(d));
    }
  return sum;
}

void stretch_terms(const Model& model, const Workspace& work, const Cable& c, double factor,
                   GapContact& run) {
  for (GapTerm& t : run.terms) t.gap = 0;
  each_velocity(model, work, c, [&](int velocity, double x) {
    const auto at =
        std::lower_bound(c.velocities.begin(), c.velocities.end(), velocity) - c.velocities.begin();
    run.terms[static_cast<std::size_t>(at)].gap += factor * x;
  });
}

Vec stretch_column(const Model& model, const Workspace& work, const Cable& c) {
  Vec column = Vec::Zero(model.nv);
  each_velocity(model, work, c, [&](int velocity, double x) { column[velocity] += x; });
  return column;
}

double spring_tension(const Cable& c, double length, double natural) {
  const double force = c.stiffness * (length - natural);
  return c.lower < 0 ? force : std::max(0.0, force);
}

double spring_energy(const Cable& c, double length, double natural) {
  return 0.5 * (length - natural) * spring_tension(c, length, natural);
}

double damper_work(const Cable& c, const CableRow& row, double dt, double Lambda, double gamma_S,
                   double gamma_mean) {
  const double middle = row.length - 0.5 * dt * (gamma_mean - gamma_S);
  return (Lambda - dt * spring_tension(c, middle, row.natural)) * gamma_mean;
}

}  // namespace saltus
