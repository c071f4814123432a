#include "saltus/integrators/moreau/projection.h"

#include <algorithm>
#include <cmath>

#include "saltus/contact/rows/contact.h"
#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/solvers/soft_rows.h"
#include "saltus/solvers/stick.h"

namespace saltus {

namespace {

// Newton's method converges quadratically from gaps of O(dt^2): one or two rounds reach rounding.
constexpr int max_rounds = 12;
constexpr int heap_rounds = 1;
constexpr double joint_target = 1e-12;         // [m]
constexpr double contact_target = closed_gap;  // [m]
// Open by g, rows that depend on each other where the joints are closed seem independent by about
// g^2; a correction along them would be of the size of g itself.
constexpr double rank_tolerance = 1e-8;
// Held contacts are far more than the freedom there is, and their gaps need not agree: by this
// share of its own G each may give way, or a disagreement of a nanometre would move a stack by
// millimetres.
constexpr double held_compliance = 1e-4;
// Rounds that no longer halve the violation only wander. Where contacts only push, so many of them
// are borne, unless one moves a coordinate by more than most_move times the violation: between a
// joint's limit and points that stick, a step may be anything.
constexpr double least_progress = 0.5;
constexpr int patience = 4;
// A round by the step's own rows leaves O(dt |v|) of what was there; more than this, and the rows
// have turned too far.
constexpr double step_progress = 0.1;
constexpr double most_move = 100;

}  // namespace

ProjectionWorkspace::ProjectionWorkspace(const Model& model)
    : assembly(model),
      islands(model),
      zero(Vec::Zero(model.nv)),
      displacement(Vec::Zero(model.nv)),
      before(Vec::Zero(model.nq)),
      target(Vec::Zero(static_cast<Eigen::Index>(model.coordinates.size()))) {
  for (std::size_t k = 0; k < model.slots.size(); ++k)
    if (level_of(model, model.slots[k]) != Level::none) slots.push_back(static_cast<int>(k));
}

namespace {

// Whether all rows have a compliance, and the problem is given in velocities.
bool gives_way(const Inclusion& p) {
  return (p.has_M || !p.has_G) && std::all_of(p.blocks.begin(), p.blocks.end(),
                                              [](const Block& k) { return k.compliance > 0; });
}

struct Violation {
  double joint = 0, penetration = 0, contact = 0;  // contact: also gaps of persistent contacts
  bool only_held = true;                           // all that is to be corrected are held contacts
  Place deepest;
  [[nodiscard]] double excess() const {  // above 1: to be corrected
    return std::max(joint / joint_target, contact / contact_target);
  }
};

struct Corrector {
  const Model& model;
  VecIn v;
  const std::vector<std::int32_t>& turns;
  Workspace& w;
  Mechanics& mech;
  ContactFinder& finder;
  ProjectionWorkspace& p;
  bool joints_only = false;
  bool heap = false;       // an island was too large for a factor
  bool one_sided = false;  // contacts only push: where holding them does not do
  bool may_pull = false;   // held contacts as much as it takes: where pushing alone does not do
  bool refused = false;    // held contacts would have pulled
  bool fine = false;       // little but joints is left to close: to their own target
  const StepRows* step = nullptr;  // while its rows and factor are those of the mechanics

  [[nodiscard]] const HeldContact* held(const ContactKey& key) const {
    const auto at =
        std::lower_bound(p.held.begin(), p.held.end(), key,
                         [](const HeldContact& c, const ContactKey& k) { return c.key < k; });
    return at != p.held.end() && at->key == key ? &*at : nullptr;
  }

  // The gap contact of a slot.
  [[nodiscard]] const HeldContact* held_slot(int slot) const {
    return one_sided ? nullptr : held({-1, slot, 0});
  }

  // Rotations weigh by the model's length.
  [[nodiscard]] double length_of(const BlockSlot& s) const {
    return is_angular(model, s) ? model.length_scale : 1;
  }

  Violation measure(VecIn q) {
    Violation worst;
    Vec6 gap;
    if (!joints_only)
      finder.find(model, w, contact_margin(model), p.assembly.contacts);
    else
      p.assembly.contacts.clear();
    for (const int k : p.slots) {
      const BlockSlot& s = model.slots[k];
      const Level level = level_of(model, s);
      if (level == Level::joint) {
        slot_gaps(model, w, q, turns, p.target, s, gap.head(s.rows));
        worst.joint = std::max(worst.joint, length_of(s) * gap.head(s.rows).cwiseAbs().maxCoeff());
        worst.only_held = false;
      } else if (joints_only) {
        continue;
      } else if (level == Level::limit) {
        const double g = slot_gap(model, w, q, turns, s);
        worst.contact = std::max(worst.contact, -g);
        if (-g > contact_target) worst.only_held = false;
      } else if (level == Level::contact) {
        const double g = slot_gap(model, w, q, turns, s);
        if (-g > worst.penetration) {
          worst.penetration = -g;
          worst.deepest = {k, -1, -1, 0};
        }
        const bool is_held = held_slot(k);
        worst.contact = std::max(worst.contact, is_held ? std::abs(g) : -g);
        if (is_held || -g > contact_target) worst.only_held = false;
      }
    }
    for (const Contact& c : p.assembly.contacts) {
      if (model.contact_laws[c.law].compliant()) continue;
      const double g = c.point.gap;
      if (-g > worst.penetration) {
        worst.penetration = -g;
        worst.deepest = {-1, c.key.a, c.key.b, c.key.feature};
      }
      const bool is_held = !one_sided && held(c.key);
      worst.contact = std::max(worst.contact, is_held ? std::abs(g) : -g);
      if (!is_held && -g > contact_target) worst.only_held = false;
    }
    return worst;
  }

  // Blocks of the correction problem: velocities are displacements [m], offsets gaps.
  void add_contact(int k) {
    Contact& c = p.assembly.contacts[k];
    if (model.contact_laws[c.law].compliant()) return;
    const HeldContact* h = held(c.key);
    if (!h && c.point.gap >= 0 && !one_sided) return;
    BlockSource from;
    from.contact = k;
    from.a = model.shapes[c.key.a].body;
    from.b = model.shapes[c.key.b].body;
    const bool stays = h && h->sticking, holds = h && !one_sided;
    if (stays) c.tangent = tangent_of(model, w, c);
    const int n = stays && holds ? 3 : 1;
    const int row = p.assembly.open(holds ? Law(Bilateral{n}) : Law(Unilateral{}), from);
    set_contact_rows(model, w, c, row, n, p.assembly);
    p.assembly.b[row] = c.point.gap;
    if (stays && !holds) {
      const int tangential = p.assembly.open(Bilateral{2}, from);
      set_contact_rows(model, w, c, tangential, 2, p.assembly, 1);
    }
  }

  // Rows of a slot; displacements along them are weighed alike.
  void add_slot(int k, const Law& law, VecIn gap) {
    const int row = open_rows(model, w, k, law, 0, p.assembly);
    p.assembly.blocks.back().length = 1;
    p.assembly.b.segment(row, gap.size()) = gap;
  }

  void assemble_gaps(VecIn q) {
    p.assembly.clear();
    Vec6 gap;
    for (const int k : p.slots) {
      const BlockSlot& s = model.slots[k];
      const Level level = level_of(model, s);
      if (level == Level::joint) {
        slot_gaps(model, w, q, turns, p.target, s, gap.head(s.rows));
        add_slot(k, Bilateral{s.rows}, gap.head(s.rows));
      } else if (joints_only) {
        continue;
      } else {
        gap[0] = slot_gap(model, w, q, turns, s);
        const HeldContact* h = level == Level::contact ? held_slot(k) : nullptr;
        const bool closed = gap[0] < 0 || h || (level == Level::limit && one_sided);
        if (!closed) continue;
        add_slot(k, h ? Law(Bilateral{h->sticking ? 2 : 1}) : Law(Unilateral{}), gap.head(1));
      }
    }
    for (int k = 0; k < static_cast<int>(p.assembly.contacts.size()); ++k) add_contact(k);
    p.assembly.gamma_S.head(p.assembly.rows).setZero();
  }

  [[nodiscard]] bool holds(int block) const {  // a held contact
    return p.assembly.source[block].contact >= 0 &&
           std::holds_alternative<Bilateral>(p.assembly.blocks[block].law);
  }

  // Held contacts of an island that has more of them than freedom, by their bodies' own compliance.
  void soften_held(const Island& island) {
    if (island.rows <= island.velocities) return;
    for (const int i : island.blocks)
      if (holds(i))
        p.assembly.blocks[i].compliance = held_compliance * mech.own_compliance(p.assembly, i);
  }

  // Whether a held contact pulls too much, against one that is not held or a limit.
  bool pulls() {
    const bool pushed =
        std::any_of(p.assembly.blocks.begin(), p.assembly.blocks.end(), [&](const Block& k) {
          return std::holds_alternative<Unilateral>(k.law) && p.assembly.Lambda[k.row] > 0;
        });
    if (!pushed) return false;
    const double most = most_pull * p.assembly.b.head(p.assembly.rows).lpNorm<Eigen::Infinity>();
    for (int i = 0; i < static_cast<int>(p.assembly.blocks.size()); ++i) {
      if (!holds(i)) continue;
      const double Lambda = p.assembly.Lambda[p.assembly.blocks[i].row];
      if (Lambda < 0 && -Lambda * mech.own_compliance(p.assembly, i) > most) return true;
    }
    return false;
  }

  void solve_islands() {
    AutoSolver automatic;
    automatic.tolerance = 0.1 * (fine ? joint_target : contact_target);
    automatic.max_iterations = 500;
    automatic.newton_iterations = 100;
    automatic.rounds = 0;  // rows that depend on others may ask for what no displacement does
    const Solver solver = automatic;
    automatic.max_iterations = 30;
    const Solver swept = automatic;  // large heaps
    ProxGaussSeidel direct;          // nothing but joints and held contacts: one factor
    direct.tolerance = automatic.tolerance;
    p.islands.partition(model, p.assembly);
    for (int i = 0; i < p.islands.count(); ++i) {
      if (i >= static_cast<int>(p.problems.size())) {
        p.problems.emplace_back();
        p.problems.back().work.rank_tolerance = rank_tolerance;
      }
      IslandProblem& problem = p.problems[i];
      soften_held(p.islands[i]);
      mech.form(p.assembly, p.islands[i], solver, p.zero, false, problem);
      heap = heap || problem.route == Route::sparse;
      const std::vector<Block>& blocks = problem.blocks();
      const bool bilateral = std::all_of(blocks.begin(), blocks.end(), [](const Block& k) {
        return std::holds_alternative<Bilateral>(k.law);
      });
      // What the solver leaves is measured again and, if it matters, corrected in the next round.
      Forest& mass = mech.forest().mass;
      if (bilateral && problem.route == Route::dense && gives_way(problem.problem)) {
        solve_soft(problem.problem, problem.Lambda.head(problem.rows), problem.work.newton);
      } else if (bilateral && problem.route == Route::dense) {
        if (!problem.problem.has_G || problem.rows > most_sticking_rows ||
            !solve_bilateral(problem.problem, rank_tolerance, problem.Lambda.head(problem.rows),
                             problem.work))
          (void)solve_island(direct, mass, problem);
      } else {
        (void)solve_island(problem.route == Route::sparse ? swept : solver, mass, problem);
      }
      store_impulses(p.islands[i], problem, p.assembly);
    }
  }

  // False, and nothing moved, where held contacts pull: they are better left.
  bool correct(VecRef q) {
    assemble_gaps(q);
    int culprit = -1;
    if (!mech.factor(p.zero, culprit)) return true;
    mech.open_rows(p.assembly);
    solve_islands();
    if (!one_sided && !may_pull && pulls()) return false;
    mech.respond(p.assembly, p.assembly.Lambda, p.displacement);
    advance(model, q, p.displacement, 1.0);
    mech.place(q, v);
    return true;
  }

  // Which blocks of the step have to close how far.
  void read_held_gaps() {
    p.gaps.assign(step->rows.blocks.size(), {});
    for (const Contact& c : p.assembly.contacts) {
      if (model.contact_laws[c.law].compliant()) continue;
      const HeldContact* h = held(c.key);
      if (h) p.gaps[h->block] = {h->sticking ? 3 : 1, c.point.gap};
    }
  }

  // Whether the step's rows serve: no heap, and in no island more held rows than freedom.
  [[nodiscard]] bool rows_serve() const {
    for (int i = 0; i < step->islands.count(); ++i) {
      if (step->problems[i].route == Route::sparse) return false;
      int rows = 0;
      for (const int b : step->islands[i].blocks) rows += p.gaps[b].rows;
      if (rows > step->islands[i].velocities) return false;
    }
    return true;
  }

  // The impulses that close the held contacts of a dense island.
  bool close_held(int i) {
    const Island& island = step->islands[i];
    IslandProblem& problem = step->problems[i];
    std::vector<int>& rows = problem.work.direct_rows;
    rows.clear();
    auto c = problem.work.xi.head(problem.rows);
    for (std::size_t j = 0; j < island.blocks.size(); ++j) {
      const ProjectionWorkspace::HeldGap& gap = p.gaps[island.blocks[j]];
      const int row = problem.problem.blocks[j].row;
      for (int r = row; r < row + gap.rows; ++r) {
        rows.push_back(r);
        c[r] = r == row ? gap.gap : 0;
      }
    }
    auto x = problem.work.next.head(problem.rows);
    if (!solve_rows(problem.problem, c, dependent_row, x, problem.work)) return false;
    for (std::size_t j = 0; j < island.blocks.size(); ++j) {
      const Block& to = step->rows.blocks[island.blocks[j]];
      p.impulse.segment(to.row, to.rows) = x.segment(problem.problem.blocks[j].row, to.rows);
    }
    return true;
  }

  // The same as a problem of its own, for long trees, whose G nobody forms.
  void copy_held_rows() {
    p.assembly.clear();
    for (std::size_t b = 0; b < p.gaps.size(); ++b) {
      const int n = p.gaps[b].rows, from = step->rows.blocks[b].row;
      if (n == 0) continue;
      const int row = p.assembly.open(Bilateral{n}, step->rows.source[b]);
      p.assembly.wrench_a.middleCols(row, n) = step->rows.wrench_a.middleCols(from, n);
      p.assembly.wrench_b.middleCols(row, n) = step->rows.wrench_b.middleCols(from, n);
      p.assembly.b[row] = p.gaps[b].gap;
    }
    p.assembly.gamma_S.head(p.assembly.rows).setZero();
  }

  // Held contacts alone are closed by the rows of the step itself, in the metric that the step was
  // solved in, M(q_M) with its gains: the rows turn by O(dt |v|) from there to the end, and by so
  // much a round is better than the one before. False, and nothing moved, where that does not do.
  bool correct_held(VecRef q, const Violation& now) {
    if (!step || one_sided || may_pull || joints_only || !now.only_held) return false;
    read_held_gaps();
    if (!rows_serve()) return false;
    bool dense = true;
    for (int i = 0; i < step->islands.count(); ++i)
      dense = dense && step->problems[i].route == Route::dense;
    if (dense) {  // G is there, and often its factor
      if (p.impulse.size() < step->rows.rows) p.impulse.setZero(step->rows.Lambda.size());
      for (int i = 0; i < step->islands.count(); ++i)
        if (!close_held(i)) return false;
      p.assembly.clear();
      p.islands.clear();
      mech.respond(step->rows, p.impulse, p.displacement);
    } else {
      copy_held_rows();
      solve_islands();
      mech.respond(p.assembly, p.assembly.Lambda, p.displacement);
    }
    advance(model, q, p.displacement, 1.0);
    mech.place(q, v);
    return true;
  }

  // Of the last round, turns times the model's length [m]: links turn about their own axis by far
  // more than gaps close.
  [[nodiscard]] double largest_move() const {
    double most = 0;
    for (int k = 0; k < model.nv; ++k)
      most = std::max(
          most, std::abs(p.displacement[k]) * (model.rotational[k] ? model.length_scale : 1.0));
    return most;
  }

  // Corrects until all is closed and open as it should be. If that fails, q is the best that it
  // was, and `now`, measured before, what is left there. Contacts that only push may get worse at
  // first: what a large step runs into is found in the next round.
  bool close(VecRef q, Violation& now, int& iterations) {
    Violation best = now;
    p.before = q;
    int stalled = 0;
    // A large heap is corrected by sweeps, a part of its gaps a step; the report says what is left.
    for (int round = 0; now.excess() > 1 && round < (heap ? heap_rounds : max_rounds); ++round) {
      fine = std::max(now.contact, 0.1 * now.joint) <= contact_target;
      const bool by_step = correct_held(q, now);
      if (!by_step) {
        step = nullptr;  // what follows factors anew
        if (!correct(q)) {
          refused = true;
          break;
        }
      }
      const double last = now.excess();
      now = measure(q);
      ++iterations;
      if (by_step && now.excess() > step_progress * last) {
        step = nullptr;
        if (!(now.excess() < best.excess())) {
          q = p.before;
          mech.place(q, v);
          now = measure(q);
        }
        best = now;
        p.before = q;
        continue;
      }
      stalled = now.excess() <= least_progress * best.excess() ? 0 : stalled + 1;
      if (now.excess() < best.excess()) {
        best = now;
        p.before = q;
      }
      const double moved = largest_move();
      const bool far = moved > most_move * std::max(best.joint, best.contact);
      if (moved == 0 || stalled > (one_sided && !far ? patience : 0)) break;
    }
    if (now.excess() > best.excess()) {
      q = p.before;
      mech.place(q, v);
      now = best;
    }
    return now.excess() <= 1;
  }

  // P0 section VI-C: orientations and the first link kept.
  void close_joints_from_root(VecRef q) {
    for (const Cut& cut : model.cuts) {
      if (cut.loop) continue;  // moving one body does not close it
      const CutFrames f = cut_frames(model, w, cut);
      const Vec3 d = f.parent.R.transpose() * (f.child.r - f.parent.r);
      Vec3 blocked = Vec3::Zero();
      for (int i = 0; i < cut.translations; ++i)
        blocked += cut.axes.col(i).dot(d) * cut.axes.col(i);
      const Body& child = model.bodies[cut.child];
      const int n = model.planar ? 2 : 3;
      q.segment(child.q0, n) -= (f.parent.R * blocked).head(n);
      mech.place(q, v);
    }
  }
};

}  // namespace

ProjectionReport project(const Model& model, Projection kind, VecRef q, VecIn v,
                         const std::vector<std::int32_t>& turns, Workspace& work, Mechanics& mech,
                         ContactFinder& finder, ProjectionWorkspace& scratch,
                         const StepRows* step) {
  Corrector corrector{model, v, turns, work, mech, finder, scratch};
  corrector.step = step;
  Violation now = corrector.measure(q);
  ProjectionReport report;
  report.raw_penetration = now.penetration;
  report.raw_joint_gap = now.joint;
  if (kind == Projection::root_fixed) {
    corrector.close_joints_from_root(q);
    now = corrector.measure(q);
    report.iterations = 1;
  } else if (kind == Projection::mass) {
    if (!corrector.close(q, now, report.iterations) && !corrector.heap) {
      corrector.one_sided = true;
      now = corrector.measure(q);
      if (!corrector.close(q, now, report.iterations) && corrector.refused) {
        corrector.one_sided = false;
        corrector.may_pull = true;
        now = corrector.measure(q);
        (void)corrector.close(q, now, report.iterations);
      }
    }
  }
  report.penetration = now.penetration;
  report.joint_gap = now.joint;
  report.deepest = now.deepest;
  return report;
}

void still_joints(const Model& model, VecIn q, VecRef v, const std::vector<std::int32_t>& turns,
                  Workspace& work, Mechanics& mech, ContactFinder& finder,
                  std::vector<Vec6>& twists, ProjectionWorkspace& scratch) {
  Corrector corrector{model, v, turns, work, mech, finder, scratch, true, false};
  Assembly& rows = scratch.assembly;
  rows.contacts.clear();
  corrector.assemble_gaps(q);
  // Rotors of cut coordinates are no part of the forest: a row each, Lambda = -a (change of rate).
  const std::size_t joints = rows.blocks.size();
  for (int k = 0; k < static_cast<int>(model.slots.size()); ++k)
    if (const ModeForm form = mode_form(model, model.slots[k]); form.compliance > 0)
      rows.b[open_rows(model, work, k, Bilateral{1}, form.compliance, rows)] = 0;
  int culprit = -1;
  if (!mech.factor(scratch.zero, culprit)) return;
  mech.twists(v, twists);  // of the forest that was factored here
  for (std::size_t i = 0; i < joints; ++i) {
    const Block& k = rows.blocks[i];
    const BlockSource& from = rows.source[i];
    const bool drive = account_of(model, from) == Account::drive;  // it keeps its rate
    for (int r = k.row; r < k.row + k.rows; ++r)
      rows.b[r] = drive ? 0 : rows.rate(r, from, twists, v);
  }
  mech.open_rows(rows);
  corrector.solve_islands();
  mech.respond(rows, rows.Lambda, scratch.displacement);
  v += scratch.displacement;
}

ProjectionReport close_joints(const Model& model, VecRef q, VecIn v,
                              const std::vector<std::int32_t>& turns, Workspace& work,
                              Mechanics& mech, ContactFinder& finder,
                              ProjectionWorkspace& scratch) {
  Corrector corrector{model, v, turns, work, mech, finder, scratch, true, false};
  ProjectionReport report;
  report.raw_joint_gap = report.joint_gap = corrector.measure(q).joint;
  while (report.joint_gap > joint_target && report.iterations < max_rounds) {
    (void)corrector.correct(q);
    report.joint_gap = corrector.measure(q).joint;
    ++report.iterations;
  }
  return report;
}

}  // namespace saltus
