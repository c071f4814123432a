#include "saltus/integrators/moreau/elements.h"

#include <algorithm>

#include "saltus/contact/elements.h"
#include "saltus/contact/rows/families.h"

namespace saltus {

ElementTerms::ElementTerms(const Model& model)
    : edges(std::any_of(model.runners.begin(), model.runners.end(),
                        [](const Runner& r) { return r.edge; })) {
  const auto n = static_cast<Eigen::Index>(model.springs.size());
  start.setZero(model.lambda_rows);
  for (Vec* x : {&natural, &length, &length_end, &spring_rate}) x->setZero(n);
}

void spring_lengths(const Model& m, const Workspace& w, Vec& lengths) {
  for (std::size_t i = 0; i < m.springs.size(); ++i)
    lengths[static_cast<Eigen::Index>(i)] = spring_row(w, m.springs[i]).length;
}

void element_impulses(const Model& m, const Actuation& act, double t_S, double t_E,
                      const Workspace& w, ElementTerms& terms, std::vector<Vec6>& wrenches) {
  for (int i = 0; i < static_cast<int>(m.springs.size()); ++i) {
    const Signal* l = length_of(act, i);
    terms.natural[i] = l ? mean(*l, t_S, t_E) : m.springs[i].length;
  }
  for (const BlockSlot& slot : m.slots)
    start_impulse(m, w, slot, t_E - t_S, terms.natural, terms.start.segment(slot.row, slot.rows),
                  wrenches);
}

double damper_work(const Model& m, const BlockSlot& slot, double dt, double rate,
                   ElementTerms& terms) {
  terms.spring_rate[slot.index] = rate;
  return -dt * m.springs[slot.index].damping * rate * rate;
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
