#include "saltus/contact/assembly.h"

#include <algorithm>
#include <cmath>

#include "saltus/contact/rows/contact.h"
#include "saltus/contact/rows/families.h"
#include "saltus/contact/surface.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

Assembly::Assembly(const Model& model) {
  rate_start.setZero(model.lambda_rows);
  steering.setZero(static_cast<Eigen::Index>(model.runners.size()));
  supports.resize(model.supports.size());
  support_tangent.assign(model.supports.size(), Vec3::UnitX());
  for (const Cable& c : model.cables) {
    CableRow& row = cables.emplace_back();
    row.natural = c.length;
    for (const int v : c.velocities) row.run.terms.push_back({.coordinate = {}, .velocity = v});
  }
  blocks.reserve(model.slots.size());
  source.reserve(model.slots.size());
  grow(std::max(model.lambda_rows, 64));
}

void Assembly::grow(int needed) {
  if (needed <= b.size()) return;
  const int capacity = std::max(needed, 2 * static_cast<int>(b.size()));
  wrench_a.conservativeResize(6, capacity);
  wrench_b.conservativeResize(6, capacity);
  for (Vec* x : {&b, &restitution, &gamma_S, &drift, &Lambda}) x->conservativeResize(capacity);
}

void Assembly::clear() {
  blocks.clear();
  source.clear();
  sliding.clear();
  rows = 0;
}

int Assembly::open(const Law& law, const BlockSource& from, double compliance, double length) {
  const int row = rows, n = rows_of(law);
  grow(rows + n);
  blocks.push_back({law, row, n, compliance, length});
  source.push_back(from);
  rows += n;
  b.segment(row, n).setZero();
  restitution.segment(row, n).setZero();
  drift.segment(row, n).setZero();
  Lambda.segment(row, n).setZero();
  return row;
}

double Assembly::rate(int row, const BlockSource& s, const std::vector<Vec6>& twists,
                      VecIn v) const {
  if (s.velocity >= 0) return s.sign * v[s.velocity];
  double sum = 0;
  if (s.gap)
    for (const GapTerm& t : s.gap->terms) sum += coefficient(t, wrench_b.col(row)) * v[t.velocity];
  if (s.b >= 0) sum += wrench_b.col(row).dot(twists[s.b]);
  if (s.a >= 0) sum += wrench_a.col(row).dot(twists[s.a]);
  return sum;
}

Place Assembly::place(int block) const {
  if (block < 0) return {};
  const BlockSource& s = source[block];
  if (s.contact < 0) return {s.slot, -1, -1, 0};
  const ContactKey& key = contacts[s.contact].key;
  return {-1, key.a, key.b, key.feature};
}

namespace {

// A wrench about the inertial origin, about another point.
Vec6 about(const Vec6& wrench, const Vec3& point) {
  return join(wrench.head<3>(), wrench.tail<3>() - point.cross(wrench.head<3>()));
}

}  // namespace

void set_pair_row(const Workspace& w, const BlockSource& s, const Vec6& wrench, int row,
                  Assembly& out) {
  if (s.b >= 0) out.wrench_b.col(row) = about(wrench, w.X[s.b].r);
  if (s.a >= 0) out.wrench_a.col(row) = -about(wrench, w.X[s.a].r);
}

void set_contact_rows(const Model&, const Workspace& w, const Contact& c, int row, int count,
                      Assembly& out, int first) {
  const BlockSource& s = out.source.back();
  const Vec3& n = c.point.normal;
  const Vec3 direction[3] = {n, c.tangent, n.cross(c.tangent)};
  for (int i = 0; i < count; ++i) {
    const int kind = first + i;
    if (kind < 3) {
      const Vec3& d = direction[kind];
      if (s.b >= 0) out.wrench_b.col(row + i) = join(d, (c.point.on_b - w.X[s.b].r).cross(d));
      if (s.a >= 0) out.wrench_a.col(row + i) = join(-d, -(c.point.on_a - w.X[s.a].r).cross(d));
    } else {  // rolling about T1, T2, drilling about n: moments
      const Vec3& d = direction[kind == 5 ? 0 : kind - 2];
      if (s.b >= 0) out.wrench_b.col(row + i) = join(Vec3::Zero(), d);
      if (s.a >= 0) out.wrench_a.col(row + i) = join(Vec3::Zero(), -d);
    }
  }
}

Law law_of(const ContactLaw& law) {
  if (law.rolling > 0 || law.drilling > 0)
    return RollingCoulomb{law.mu1, law.mu2, law.rolling, law.drilling};
  // The rows are the velocity of b against a: where a carries the axes, its forward is their back.
  const bool of_a = law.axes == FrictionAxes::a && law.mu_back >= 0;
  if (law.mu1 > 0 || law.mu2 > 0)
    return Coulomb{of_a ? law.mu_back : law.mu1, law.mu2, of_a ? law.mu1 : law.mu_back, law.rule};
  return Unilateral{};
}

void scale_friction(Law& law, double share) {
  const auto both_ways = [&](double& forward, double& across, double& back) {
    forward *= share;
    across *= share;
    if (back >= 0) back *= share;
  };
  if (auto* interval = std::get_if<Interval>(&law)) {
    interval->lower *= share;
    interval->upper *= share;
  }
  if (auto* given = std::get_if<GivenLoad>(&law)) both_ways(given->a, given->b, given->back);
  if (auto* coulomb = std::get_if<Coulomb>(&law))
    both_ways(coulomb->mu1, coulomb->mu2, coulomb->back);
  if (auto* rolling = std::get_if<RollingCoulomb>(&law)) {
    rolling->mu1 *= share;
    rolling->mu2 *= share;
  }
}

SlipRows slip_rows(const Law& law) {
  if (std::holds_alternative<Interval>(law)) return {0, 1};
  if (std::holds_alternative<GivenLoad>(law)) return {0, 2};
  if (std::holds_alternative<Coulomb>(law) || std::holds_alternative<RollingCoulomb>(law))
    return {1, 2};
  return {};
}

Law law_of(const GapContact& c) { return c.mu > 0 ? Law(Coulomb2{c.mu}) : Law(Unilateral{}); }

namespace {

// Ten times the solvers' tolerance: what sticks may move that fast, and so may a contact on the
// boundary of its friction that others keep at rest [m/s], [rad/s].
constexpr double resting_speed = 1e-9;

struct Assembler : Opening {
  void contact(int k) const {
    Contact& c = out.contacts[k];
    if (model.contact_laws[c.law].compliant()) return;  // a force, no row
    c.mode = static_cast<unsigned char>(Mode::open);
    c.Lambda.fill(0);
    const ContactImpulse* last = find_contact(state, c.key);
    if (c.point.gap > closed_gap && !(last && last->Lambda[0] > 0)) return;
    Law law = law_of(model.contact_laws[c.law]);
    const int n = rows_of(law);
    if (n > 1) {
      c.tangent = tangent_of(model, work, c);
      scale_friction(law, friction_share(model, work, c));
    }
    const int row = open_contact(model, work, k, c, law, out);
    if (n > 1) set_drift(model, work, c, row, out);
    if (last)
      for (int i = 0; i < n; ++i) out.Lambda[row + i] = last->Lambda[i];
  }

  // What is left of a block's friction while it slides, mu_d / mu_s.
  [[nodiscard]] double dynamic_of(const BlockSource& s) const {
    if (s.contact >= 0) return model.contact_laws[out.contacts[s.contact].law].dynamic;
    return dynamic_share(model, model.slots[s.slot]);
  }
  [[nodiscard]] Mode last_mode(const BlockSource& s) const {
    if (s.contact < 0) return static_cast<Mode>(state.mode[s.slot] & 3U);
    const ContactImpulse* last = find_contact(state, out.contacts[s.contact].key);
    return last ? static_cast<Mode>(last->mode & 3U) : Mode::open;
  }
  // Friction of mu_d for what slipped in the last step, or is new, and moves (P1 eq. A.1, A.2).
  void slide(int block) const {
    const double share = dynamic_of(out.source[block]);
    if (share == 1) return;
    Block& k = out.blocks[block];
    const SlipRows slip = slip_rows(k.law);
    if (slip.count == 0) return;
    if (last_mode(out.source[block]) == Mode::stick ||
        (out.gamma_S + out.drift).segment(k.row + slip.first, slip.count).norm() <= resting_speed)
      return;
    out.sliding.push_back({block, k.law});
    scale_friction(k.law, share);
  }
};

}  // namespace

void set_restitution(const ContactLaw& law, const Block& k, Assembly& out) {
  out.restitution.segment(k.row, k.rows).setZero();
  if (!(out.gamma_S[k.row] < 0)) return;
  out.restitution[k.row] = law.restitution * out.gamma_S[k.row];
  for (int r = 1; r < std::min(k.rows, 3); ++r)
    out.restitution[k.row + r] =
        law.tangential_restitution * (out.gamma_S[k.row + r] + out.drift[k.row + r]);
}

void assemble(const Model& model, const State& state, const std::vector<CoordinateTerms>& terms,
              double dt, const Workspace& work, const std::vector<Vec6>& twists, Assembly& out) {
  out.clear();
  const Assembler assembler{{model, state, terms, dt, work, out}};
  // A bounce that weight ends within the step cannot be told from rest: there, contacts are
  // inelastic. Bounced, a body at rest would fall and be lifted out of what it fell into for ever.
  const double shortest_bounce = 0.5 * dt * model.gravity.norm();  // m/s, after the impact
  for (int k = 0; k < static_cast<int>(model.slots.size()); ++k) open_slot(assembler, k);
  for (int k = 0; k < static_cast<int>(out.contacts.size()); ++k) assembler.contact(k);
  for (std::size_t i = 0; i < out.blocks.size(); ++i) {
    const Block& k = out.blocks[i];
    const BlockSource& s = out.source[i];
    for (int r = k.row; r < k.row + k.rows; ++r) out.gamma_S[r] = out.rate(r, s, twists, state.v);
    if (s.slot >= 0) set_end_offset(assembler, static_cast<int>(i));
    assembler.slide(static_cast<int>(i));
    if (s.contact >= 0) {
      const ContactLaw& law = model.contact_laws[out.contacts[s.contact].law];
      set_restitution(law, k, out);
      out.source[i].restitution = law.restitution;
      if (out.gamma_S[k.row] < 0 && -out.restitution[k.row] < shortest_bounce)
        out.restitution[k.row] = out.source[i].restitution = 0;
    }
  }
}

void apply_rows(const Assembly& p, VecIn impulse, std::vector<Vec6>& wrenches, VecRef impulses) {
  std::fill(wrenches.begin(), wrenches.end(), Vec6::Zero());
  impulses.setZero();
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const BlockSource& from = p.source[i];
    for (int r = p.blocks[i].row; r < p.blocks[i].row + p.blocks[i].rows; ++r) {
      const double Lambda = impulse[r];
      if (from.velocity >= 0) impulses[from.velocity] += from.sign * Lambda;
      if (from.gap)
        for (const GapTerm& t : from.gap->terms)
          impulses[t.velocity] += coefficient(t, p.wrench_b.col(r)) * Lambda;
      if (from.a >= 0) wrenches[from.a] += Lambda * p.wrench_a.col(r);
      if (from.b >= 0) wrenches[from.b] += Lambda * p.wrench_b.col(r);
    }
  }
}

}  // namespace saltus
