#include "saltus/contact/assembly.h"

#include <algorithm>
#include <cmath>

#include "saltus/contact/elements.h"
#include "saltus/contact/rows.h"
#include "saltus/contact/surface.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus {

Assembly::Assembly(const Model& model) {
  rate_start.setZero(model.lambda_rows);
  steering.setZero(static_cast<Eigen::Index>(model.runners.size()));
  supports.resize(model.supports.size());
  support_tangent.assign(model.supports.size(), Vec3::UnitX());
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

struct Assembler {
  const Model& model;
  const State& state;
  const std::vector<CoordinateTerms>& terms;
  double dt;
  const Workspace& w;
  Assembly& out;

  // Gives the block that was just opened for a slot its impulses of the last step.
  int warm(int slot, int row) {
    const BlockSlot& s = model.slots[slot];
    out.Lambda.segment(row, s.rows) = state.Lambda.segment(s.row, s.rows);
    return row;
  }
  int joint_row(int slot, const Law& law, int c, double sign, double compliance) {
    return warm(slot, open_coordinate(model, w, slot, law, c, sign, compliance, out));
  }

  // Lambda = start - gain (gamma_E - gamma_S) as xi = gamma_E - gamma_S - start/gain + Lambda/gain.
  void impedance(int slot, const Law& law, const Impedance& z, int c) {
    const int row = joint_row(slot, law, c, 1, 1 / z.gain);
    out.b[row] = -terms[c].rate - z.start / z.gain;
  }

  void coordinate(int k, const BlockSlot& s) {
    const Coordinate& c = model.coordinates[s.index];
    if (c.dof.prescribed) {
      const int row = joint_row(k, Bilateral{1}, s.index, 1, 0);
      out.b[row] = -terms[s.index].prescribed_rate;
    } else if (terms[s.index].linear.gain > 0) {
      impedance(k, Bilateral{1}, terms[s.index].linear, s.index);
    }
  }
  void motor(int k, const BlockSlot& s) {
    const Impedance& z = terms[s.index].limited;
    if (z.gain > 0 && !terms[s.index].within) impedance(k, Interval{z.lower, z.upper}, z, s.index);
  }
  void joint_friction(int k, const BlockSlot& s) {
    const double most = model.coordinates[s.index].dof.friction * dt;
    joint_row(k, Interval{-most, most}, s.index, 1, 0);
  }
  void joint_limit(int k, const BlockSlot& s) {
    const Coordinate& c = model.coordinates[s.index];
    const bool upper = s.feature == 1;
    const double gap =
        upper ? c.dof.upper - terms[s.index].value : terms[s.index].value - c.dof.lower;
    if (gap > 0 && !(state.Lambda[s.row] > 0)) return;
    joint_row(k, Unilateral{}, s.index, upper ? -1 : 1, 0);
  }
  void gap_contact(int k, const BlockSlot& s) {
    const GapContact& c = model.gap_contacts[s.index];
    double gap = c.offset;
    for (const GapTerm& t : c.terms) gap += t.gap * terms[t.coordinate].value;
    if (gap > closed_gap && !(state.Lambda[s.row] > 0)) return;
    warm(k, open_gap_contact(model, k, law_of(c), out));
  }
  void support(int k, const BlockSlot& s) {
    const SupportFriction& f = model.supports[s.index];
    const double most = f.load * dt;
    const GivenLoad law{f.mu1 * most, f.mu2 * most, f.mu_back * most, f.rule};
    warm(k, open_support(model, w, k, law, out));
  }
  void runner(int k, const BlockSlot& s) {
    const Runner& r = model.runners[s.index];
    Law law = Bilateral{1};
    // One row does for scales and friction: sliding forward it is -friction, at rest anything up.
    if (s.kind == BlockKind::scale)
      law = Interval{-r.friction * dt, r.scales ? infinity : r.friction * dt};
    warm(k, open_runner(model, w, k, law, out.steering[s.index], out));
  }
  // Springs and drags act by their impulse at the start velocity, which is in the free velocity;
  // the block is what their change adds, -gain (gamma_E - gamma_S).
  void spring(int k, const BlockSlot& s) {
    const Spring& spring = model.springs[s.index];
    const double gain = implicit_gain(spring, dt);
    if (gain == 0) return;
    BlockSource from;
    from.slot = k;
    from.a = spring.a;
    from.b = spring.b;
    const int row = out.open(Bilateral{1}, from, 1 / gain);
    set_pair_row(w, from, spring_row(w, spring).wrench, row, out);
  }
  void drag(int k, const BlockSlot& s) {
    const Drag& drag = model.drags[s.index];
    const double gain = implicit_gain(drag, dt);
    if (gain == 0) return;
    BlockSource from;
    from.slot = k;
    from.b = drag.body;
    const int row = out.open(Bilateral{s.rows}, from, 1 / gain);
    out.wrench_b.middleCols(row, s.rows) = drag_rows(w, drag).leftCols(s.rows);
  }

  void slot(int k) {
    const BlockSlot& s = model.slots[k];
    switch (s.kind) {
      case BlockKind::cut_translation:
      case BlockKind::cut_rotation: warm(k, open_cut(model, w, k, out)); break;
      case BlockKind::coordinate: coordinate(k, s); break;
      case BlockKind::motor: motor(k, s); break;
      case BlockKind::joint_friction: joint_friction(k, s); break;
      case BlockKind::joint_limit: joint_limit(k, s); break;
      case BlockKind::support: support(k, s); break;
      case BlockKind::edge:
      case BlockKind::scale: runner(k, s); break;
      case BlockKind::spring: spring(k, s); break;
      case BlockKind::drag: drag(k, s); break;
      case BlockKind::gap_contact: gap_contact(k, s); break;
    }
  }

  // W_M turned on the way from q_S; by as much again it turns on the way to q_E. So that the rate
  // of a joint or a runner vanishes at the end, it is now the opposite of what v_S would have here.
  void at_the_end(int block) {
    const Block& k = out.blocks[block];
    const BlockSlot& s = model.slots[out.source[block].slot];
    if (s.kind == BlockKind::spring || s.kind == BlockKind::drag)
      out.b.segment(k.row, k.rows) = -out.gamma_S.segment(k.row, k.rows);
    else if (s.kind == BlockKind::edge || s.kind == BlockKind::scale)
      out.b[k.row] = out.gamma_S[k.row] - out.rate_start[s.row];
    else if (out.joints_at_end)
      joint_at_the_end(k, s);
  }
  void joint_at_the_end(const Block& k, const BlockSlot& s) {
    if (s.kind == BlockKind::cut_translation || s.kind == BlockKind::cut_rotation)
      for (int i = 0; i < s.rows; ++i)
        out.b[k.row + i] = out.gamma_S[k.row + i] - out.rate_start[s.row + i];
    else if (s.kind == BlockKind::coordinate && model.coordinates[s.index].dof.prescribed)
      out.b[k.row] += out.gamma_S[k.row] - terms[s.index].rate_start;
  }

  void contact(int k) {
    Contact& c = out.contacts[k];
    if (model.contact_laws[c.law].compliant()) return;  // a force, no row
    c.mode = static_cast<unsigned char>(Mode::open);
    c.Lambda.fill(0);
    const ContactImpulse* last = find_contact(state, c.key);
    if (c.point.gap > closed_gap && !(last && last->Lambda[0] > 0)) return;
    Law law = law_of(model.contact_laws[c.law]);
    const int n = rows_of(law);
    if (n > 1) {
      c.tangent = tangent_of(model, w, c);
      scale_friction(law, friction_share(model, w, c));
    }
    const int row = open_contact(model, w, k, c, law, out);
    if (n > 1) set_drift(model, w, c, row, out);
    if (last)
      for (int i = 0; i < n; ++i) out.Lambda[row + i] = last->Lambda[i];
  }

  // What is left of a block's friction while it slides, mu_d / mu_s.
  [[nodiscard]] double dynamic_of(const BlockSource& s) const {
    if (s.contact >= 0) return model.contact_laws[out.contacts[s.contact].law].dynamic;
    const BlockSlot& slot = model.slots[s.slot];
    if (slot.kind == BlockKind::support) return model.supports[slot.index].dynamic;
    if (slot.kind == BlockKind::joint_friction) return model.coordinates[slot.index].dof.dynamic;
    return 1;
  }
  [[nodiscard]] Mode last_mode(const BlockSource& s) const {
    if (s.contact < 0) return static_cast<Mode>(state.mode[s.slot] & 3U);
    const ContactImpulse* last = find_contact(state, out.contacts[s.contact].key);
    return last ? static_cast<Mode>(last->mode & 3U) : Mode::open;
  }
  // Friction of mu_d for what slipped in the last step, or is new, and moves (P1 eq. A.1, A.2).
  void slide(int block) {
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
  Assembler assembler{model, state, terms, dt, work, out};
  for (int k = 0; k < static_cast<int>(model.slots.size()); ++k) assembler.slot(k);
  for (int k = 0; k < static_cast<int>(out.contacts.size()); ++k) assembler.contact(k);
  for (std::size_t i = 0; i < out.blocks.size(); ++i) {
    const Block& k = out.blocks[i];
    const BlockSource& s = out.source[i];
    for (int r = k.row; r < k.row + k.rows; ++r) out.gamma_S[r] = out.rate(r, s, twists, state.v);
    if (s.slot >= 0) assembler.at_the_end(static_cast<int>(i));
    assembler.slide(static_cast<int>(i));
    if (s.contact >= 0) {
      const ContactLaw& law = model.contact_laws[out.contacts[s.contact].law];
      set_restitution(law, k, out);
      out.source[i].restitution = law.restitution;
    }
    // Restitution acts on approach only.
    if (s.gap) {
      out.source[i].restitution = s.gap->restitution;
      out.restitution[k.row] = s.gap->restitution * std::min(out.gamma_S[k.row], 0.0);
    }
  }
}

void apply_rows(const Assembly& p, std::vector<Vec6>& wrenches, VecRef impulses) {
  std::fill(wrenches.begin(), wrenches.end(), Vec6::Zero());
  impulses.setZero();
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const BlockSource& from = p.source[i];
    for (int r = p.blocks[i].row; r < p.blocks[i].row + p.blocks[i].rows; ++r) {
      const double Lambda = p.Lambda[r];
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
