#include "saltus/integrators/moreau/elements.h"

#include <algorithm>

#include "saltus/contact/elements.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

ElementTerms::ElementTerms(const Model& model)
    : edges(std::any_of(model.runners.begin(), model.runners.end(),
                        [](const Runner& r) { return r.edge; })) {
  const auto n = static_cast<Eigen::Index>(model.springs.size());
  start.setZero(model.lambda_rows);
  for (Vec* x : {&natural, &length, &length_end, &spring_rate}) x->setZero(n);
}

void runner_rates(const Model& m, const Actuation& act, double t, const Workspace& w,
                  Vec& rate_start) {
  if (m.runners.empty()) return;
  for (const BlockSlot& s : m.slots) {
    if (s.kind != BlockKind::edge && s.kind != BlockKind::scale) continue;
    const Runner& r = m.runners[s.index];
    const RunnerRows rows = runner_rows(m, w, r, steering_angle(act, s.index, t));
    const Vec3 v = point_velocity(w, r.body, w.X[r.body] * r.point);
    rate_start[s.row] = (s.kind == BlockKind::edge ? rows.across : rows.along).head<3>().dot(v);
  }
}

void spring_lengths(const Model& m, const Workspace& w, Vec& lengths) {
  for (std::size_t i = 0; i < m.springs.size(); ++i)
    lengths[static_cast<Eigen::Index>(i)] = spring_row(w, m.springs[i]).length;
}

namespace {

struct Impulses {
  const Model& m;
  const Workspace& w;
  std::vector<Vec6>& wrenches;

  // A wrench about the inertial origin, on a body's own.
  void add(BodyIndex body, const Vec6& wrench, double impulse) {
    if (!body.valid()) return;
    const Vec3 f = impulse * wrench.head<3>();
    wrenches[body] += join(f, impulse * wrench.tail<3>() - w.X[body].r.cross(f));
  }
  [[nodiscard]] double rate(BodyIndex body, const Vec6& wrench) const {
    return body.valid() ? wrench.dot(twist_to_parent(w.X[body], w.V[body])) : 0.0;
  }
};

}  // namespace

void element_impulses(const Model& m, const Actuation& act, double t_S, double t_E,
                      const Workspace& w, ElementTerms& terms, std::vector<Vec6>& wrenches) {
  const double dt = t_E - t_S;
  Impulses impulses{m, w, wrenches};
  for (const BlockSlot& slot : m.slots) {
    if (slot.kind == BlockKind::spring) {
      const Spring& s = m.springs[slot.index];
      const Signal* l = length_of(act, slot.index);
      const double natural = terms.natural[slot.index] = l ? mean(*l, t_S, t_E) : s.length;
      const SpringRow row = spring_row(w, s);
      const double rate = impulses.rate(s.b, row.wrench) - impulses.rate(s.a, row.wrench);
      const double start = -dt * (s.stiffness * (row.length - natural) + s.damping * rate);
      terms.start[slot.row] = start;
      impulses.add(s.b, row.wrench, start);
      impulses.add(s.a, row.wrench, -start);
    } else if (slot.kind == BlockKind::drag) {
      const Drag& d = m.drags[slot.index];
      const Vec3 arm = w.X[d.body].R * d.point;
      const Vec3 force = -d.coefficient * point_velocity(w, d.body, w.X[d.body].r + arm);
      terms.start.segment(slot.row, slot.rows) = dt * force.head(slot.rows);
      Vec3 impulse = Vec3::Zero();
      impulse.head(slot.rows) = dt * force.head(slot.rows);
      wrenches[d.body] += join(impulse, arm.cross(impulse));
    }
  }
}

void element_work(const Model& m, const BlockSlot& slot, double dt, double Lambda, double sum,
                  double rate, ElementTerms& terms, EnergyTerms& e) {
  switch (slot.kind) {
    case BlockKind::edge: e.joints += sum; break;
    case BlockKind::scale: (Lambda < 0 ? e.friction : e.contacts) += sum; break;
    case BlockKind::drag: e.dampers += sum; break;
    default:
      terms.spring_rate[slot.index] = rate;
      e.dampers -= dt * m.springs[slot.index].damping * rate * rate;
  }
}

double muscle_work(const Model& m, const Actuation& act, double t_S, double t_E,
                   const ElementTerms& terms) {
  double work = 0;
  for (const NaturalLength& n : act.lengths) {
    const double c = m.springs[n.spring].stiffness, l_S = value(n.length, t_S),
                 l_E = value(n.length, t_E);
    const double r = 0.5 * (terms.length[n.spring] + terms.length_end[n.spring]),
                 l = 0.5 * (l_S + l_E);
    // The mean natural length tells when in the step it changed, the rate where the spring was.
    const double way = (t_E - t_S) * terms.spring_rate[n.spring];
    work += c * (way * (terms.natural[n.spring] - l) - (l_E - l_S) * (r - l));
  }
  return work;
}

}  // namespace saltus
