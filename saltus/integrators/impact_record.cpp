#include "saltus/integrators/impact_record.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/coordinates.h"

namespace saltus {

void ImpactRecord::clear() {
  ImpactRecord fresh;
  fresh.q.swap(q);
  fresh.v_before.swap(v_before);
  fresh.v_after.swap(v_after);
  fresh.parts.swap(parts);
  fresh.parts.clear();
  *this = std::move(fresh);
}

double energy_gained(const ImpactRecord& r) {
  const double claim = std::min(r.bound, 1.0);
  // A share of the energy before is promised of what is left: in a step also after what other
  // forces took from it.
  const double by_law = r.kinetic_before + r.by_law();
  const double after = claim < 1 ? std::min(by_law, r.kinetic_after) : by_law;
  const double missed = after - claim * r.kinetic_before;
  const double rounding = gain_rounding * std::max(r.kinetic_before, r.kinetic_after) + r.slack;
  return missed > rounding ? missed : 0;
}

std::string_view name_of(ImpactPath path) {
  constexpr std::string_view names[] = {"inclusion", "stick", "dissipation (exact)",
                                        "dissipation (NLP)", "fallback"};
  return names[static_cast<int>(path)];
}

namespace {

// Whose work a block's is. Finite forces give no impulse: in a step they are among the others. So,
// for now, are gap contacts.
Account impact_account(const Model& m, const BlockSource& s) {
  switch (const Account account = account_of(m, s)) {
    case Account::contact: return s.gap ? Account::none : account;
    case Account::one_way: return Account::contact;
    case Account::cut: return Account::joint;
    case Account::limit:
    case Account::joint:
    case Account::drive: return account;
    default: return Account::none;
  }
}

}  // namespace

void add_block(const Model& model, const Assembly& rows, int block, const Place& place, int law,
               double feasible, const Velocities& raw, const Velocities& end,
               ImpactRecord& record) {
  const Block& k = rows.blocks[block];
  const BlockSource& source = rows.source[block];
  const Account account = impact_account(model, source);
  const auto Lambda = rows.Lambda.segment(k.row, k.rows);
  if (account == Account::none || Lambda.isZero(0)) return;
  ContactImpact part;
  part.place = place;
  part.feasible = feasible;
  for (int i = 0; i < k.rows; ++i) {
    const int r = k.row + i;
    const double after = rows.rate(r, source, raw.twists, raw.v);
    const double work = Lambda[i] * (0.5 * (rows.gamma_S[r] + after) + rows.drift[r]);
    (i == 0 ? part.work_normal : part.work_tangential) += work;
    record.drives -= Lambda[i] * rows.drift[r];  // of a belt
    if (i > 2) continue;
    part.before[i] = rows.gamma_S[r] + rows.drift[r];
    part.after[i] = rows.rate(r, source, end.twists, end.v) + rows.drift[r];
    part.impulse[i] = Lambda[i];
  }
  const double sum = part.work_normal + part.work_tangential;
  if (account == Account::joint || account == Account::limit) record.joints += sum;
  if (account == Account::drive) record.drives += sum;
  if (account == Account::contact) {
    record.normal += part.work_normal;
    record.tangential += part.work_tangential;
  }
  if (account != Account::contact && account != Account::limit) return;
  if (law >= 0) {
    part.restitution = model.contact_laws[law].restitution;
    part.mu = model.contact_laws[law].mu1;
  }
  record.parts.push_back(part);
}

void add_report(const ImpactReport& r, const IslandProblem& island, ImpactRecord& record) {
  record.share = std::min(record.share, r.s);
  record.attenuation = std::min(record.attenuation, r.attenuation);
  record.bound = std::max(record.bound, r.bound);
  record.path = std::max(record.path, r.path);
  record.slack += r.solve.residual * island.Lambda.head(island.rows).lpNorm<1>();
}

double feasible_of(const IslandProblem& island, std::size_t block) {
  return block < island.feasible.size() ? island.feasible[block]
                                        : std::numeric_limits<double>::quiet_NaN();
}

void attenuate(const Model& model, const Island& island, double factor, VecRef v) {
  for (const int t : island.trees)
    for (int i = model.tree_v[t]; i < model.tree_v[t + 1]; ++i)
      if (!model.prescribed[i]) v[i] *= factor;
}

double kinetic_energy(const Model& model, VecIn v, const Workspace& w,
                      const std::vector<char>& trees) {
  const auto takes_part = [&](BodyIndex body) { return body.valid() && trees[model.tree[body]]; };
  double T = 0;
  for (int i = 0; i < model.body_count(); ++i)
    if (takes_part(BodyIndex(i))) T += 0.5 * w.V[i].dot(model.bodies[i].inertia * w.V[i]);
  for (int c = 0; c < static_cast<int>(model.coordinates.size()); ++c) {
    const Coordinate& k = model.coordinates[c];
    if (k.dof.armature == 0 || !takes_part(k.body)) continue;
    const double rate = coordinate_rate(model, w, v, CoordinateIndex(c));
    T += 0.5 * k.dof.armature * rate * rate;
  }
  return T;
}

}  // namespace saltus
