// Impacts of the event-driven integrator: impulses by the scene's law where something closes or
// where a drive's rate jumps, and sequences of impacts that accumulate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/events/event_driven.h"

namespace saltus {

std::string EventIntegrator::places_of(const Island& island) const {
  std::string text;
  for (const int b : island.blocks)
    if (text.size() < 200)
      text += (text.empty() ? "" : ", ") + model_.name_of(impact_elements_[b].place());
  return text;
}

// Contacts that come out slipping have mu_d from now on; whether there is one. P1's chain has a
// rule of its own.
bool EventIntegrator::let_slide(const Island& island, const IslandProblem& solved) {
  bool any = false;
  for (std::size_t i = 0; i < island.blocks.size(); ++i) {
    Block& k = problem_.blocks[island.blocks[i]];
    BlockSource& source = problem_.source[island.blocks[i]];
    const int row = solved.blocks()[i].row;
    if (source.dynamic == 1 || mode_of(k, solved.Lambda.segment(row, k.rows)) != Mode::slip)
      continue;
    scale_friction(k.law, source.dynamic);
    source.dynamic = 1;
    any = true;
  }
  return any;
}

// The rows of an impact, and the velocities that they start with, without restitution.
void EventIntegrator::pose_impact(const EventMode& trial) {
  const Vec& gamma = now_.gamma;
  problem_.clear();
  problem_.contacts.clear();
  impact_elements_.clear();
  int block = 0;
  for (std::size_t i = 0; i < trial.elements.size(); ++i) {
    const Element& e = trial.elements[i];
    if (now_.row[i] < 0) continue;
    const int from = block++;
    Law law = law_of_element(model_, e, now_.share[i]);
    if (e.kind == Element::Kind::friction) {
      if (!std::isinf(e.set[0].backward)) continue;  // finite forces give no impulse
      law = Unilateral{};
    }
    const int row = take_rows(law, from, e.compliance);
    impact_elements_.push_back(e);
    const auto drift = dynamics_.rows().drift.segment(now_.row[i], e.rows);
    problem_.drift.segment(row, e.rows) = drift;
    problem_.gamma_S.segment(row, e.rows) = gamma.segment(now_.row[i], e.rows) - drift;
    problem_.b.segment(row, e.rows) = dynamics_.prescribed_offset(here_.t, e) + drift;
    if (e.compliance > 0) problem_.b[row] -= gamma[now_.row[i]];  // armature: Lambda = -a dgamma
    if (e.is_contact()) problem_.source.back().dynamic = model_.contact_laws[e.law].dynamic;
  }
}

// The velocities after the impulses of problem_.
void EventIntegrator::apply_impact(const Vec& v_free, ModeChange& change) {
  impulse_.setZero(model_.nv);
  apply_rows(problem_, problem_.Lambda, wrenches_, impulse_);
  Vec dv = Vec::Zero(model_.nv);
  dynamics_.mass().solve(-1, impulse_.data(), wrenches_.data(), dv.data(), nullptr);
  here_.v = v_free + dv;
  change.impact = true;
  begin_record(v_free, change.record);
}

// Impulses where something closes, or where a drive's rate jumps.
bool EventIntegrator::impact(const EventMode& trial, ModeChange& change, std::string& why) {
  const Vec v_free = here_.v;
  pose_impact(trial);
  for (std::size_t b = 0; b < impact_elements_.size(); ++b) {
    const Element& e = impact_elements_[b];
    Block& k = problem_.blocks[b];
    if (e.is_contact())
      set_restitution(model_.contact_laws[e.law], k, problem_);
    else if (e.kind == Element::Kind::normal)
      problem_.restitution[k.row] = e.restitution * std::min(problem_.gamma_S[k.row], 0.0);
    if (e.kind == Element::Kind::normal) problem_.source[b].restitution = e.restitution;
  }
  partition();
  AutoSolver solver;
  solver.tolerance = 1e-13 * std::max(scales_.velocity, here_.v.lpNorm<Eigen::Infinity>());
  const Solver chosen = solver;
  impact_reports_.resize(islands_.count());
  for (int i = 0; i < islands_.count(); ++i) {
    IslandProblem& p = island_problems_[i];
    const Solver formed = is_dense(options_.impact) ? Solver{ProxGaussSeidel{}} : chosen;
    form_island(model_, problem_, islands_[i], formed, v_free, dynamics_.mass(), p);
    p.at_impact = true;
    ImpactReport& r = impact_reports_[i];
    r = resolve(options_.impact, chosen, dynamics_.mass(), p);
    if (!std::holds_alternative<ChainImpact>(options_.impact) && let_slide(islands_[i], p)) {
      form_island(model_, problem_, islands_[i], formed, v_free, dynamics_.mass(), p);
      p.at_impact = true;
      r = resolve(options_.impact, chosen, dynamics_.mass(), p);
    }
    store_impulses(islands_[i], p, problem_);
    change.share = std::min(change.share, r.s);
    // At rounding a residual may miss so tight a tolerance; a thousand times of it is an error.
    if (r.solve.residual > 1e3 * solver.tolerance) {
      why = fmt::format("the impact has no solution (residual {:.1e} m/s at {})", r.solve.residual,
                        places_of(islands_[i]));
      return false;
    }
  }
  apply_impact(v_free, change);
  return true;
}

// An impact without collision: where forces contradict (Painleve), velocities jump. The inclusion
// of measures decides: that of a time step of length eps, v+ = v + eps a_free + M^-1 W Lambda, with
// the laws of a step, as eps -> 0. Its small impulses eps lambda are just the forces that do not
// exist. With eps = 0 no impulse at all is a solution too, so that its limit is taken from the last
// two eps: the impulses are linear in it while nothing opens or begins to slip.
bool EventIntegrator::jump_out(const EventMode& trial, ModeChange& change, std::string& why) {
  constexpr double sizes[] = {1e-6, 1e-8, 1e-10, 1e-12};  // eps, of the time scale
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, trial, now_) || !free_motion(trial, now_)) {
    why = "the mass matrix is singular or a contact is lost";
    return false;
  }
  change.kinetic_before = kinetic_energy(model_, here_.v, dynamics_.work());
  const Vec v_before = here_.v;
  pose_impact(trial);
  const Vec offset = problem_.b.head(problem_.rows);
  Vec bias(problem_.rows);
  for (std::size_t b = 0, i = 0; b < impact_elements_.size(); ++b) {
    while (trial.elements[i].place() != impact_elements_[b].place()) ++i;
    bias.segment(problem_.blocks[b].row, problem_.blocks[b].rows) =
        dynamics_.bias().segment(now_.row[i], problem_.blocks[b].rows);
  }
  partition();
  impact_reports_.assign(islands_.count(), {});
  AutoSolver solver;
  solver.tolerance = 1e-13 * std::max(scales_.velocity, here_.v.lpNorm<Eigen::Infinity>());
  std::vector<Vec> before(islands_.count());
  for (const double eps : sizes) {
    const double h = eps * scales_.time();
    const Vec v_free = v_before + h * dynamics_.a_free();
    problem_.b.head(problem_.rows) = offset + h * bias;
    for (int i = 0; i < islands_.count(); ++i) {
      IslandProblem& p = island_problems_[i];
      before[i] = p.Lambda.head(p.rows);
      form_island(model_, problem_, islands_[i], solver, v_free, dynamics_.mass(), p);
      impact_reports_[i].solve = solve_island(solver, dynamics_.mass(), p);
      store_impulses(islands_[i], p, problem_);
      if (impact_reports_[i].solve.residual <= 1e3 * solver.tolerance) continue;
      why = fmt::format("an impact without collision has no solution (residual {:.1e} m/s at {})",
                        impact_reports_[i].solve.residual, places_of(islands_[i]));
      return false;
    }
  }
  problem_.b.head(problem_.rows) = offset;
  for (int i = 0; i < islands_.count(); ++i) {
    IslandProblem& p = island_problems_[i];
    Vec limit = p.Lambda.head(p.rows);
    limit += (limit - before[i]) / (sizes[2] / sizes[3] - 1);
    p.Lambda.head(p.rows) = limit;
    store_impulses(islands_[i], p, problem_);
  }
  apply_impact(v_before, change);
  // Slips that have just begun are slow, and so is the jump that ends them.
  if ((here_.v - v_before).lpNorm<Eigen::Infinity>() <= 10 * bands_.velocity * scales_.velocity) {
    here_.v = v_before;
    why = "an impact without collision changes nothing";
    return false;
  }
  for (std::size_t b = 0; b < impact_elements_.size(); ++b)
    if (impact_elements_[b].kind != Element::Kind::bilateral &&
        !problem_.Lambda.segment(problem_.blocks[b].row, problem_.blocks[b].rows).isZero(0))
      change.causes.push_back({Cause::jam, impact_elements_[b].place(), 0});
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, trial, now_)) return false;
  change.kinetic_after = kinetic_energy(model_, here_.v, dynamics_.work());
  return true;
}

// The books of the impact just solved, while its rows are at hand; then the attenuation of P1.
void EventIntegrator::begin_record(const Vec& v_before, ImpactRecord& record) {
  std::vector<Vec6> twists(wrenches_.size()), end_twists(wrenches_.size());
  const Vec v_raw = here_.v;
  struck_.assign(model_.tree_begin.size(), 0);
  for (int i = 0; i < islands_.count(); ++i) {
    const IslandProblem& p = island_problems_[i];
    if (p.Lambda.head(p.rows).isZero(0)) continue;
    for (const int t : islands_[i].trees) struck_[t] = 1;
    if (const double e = impact_reports_[i].attenuation; e != 1)
      attenuate(model_, islands_[i], e, here_.v);
  }
  dynamics_.mass().twists(v_raw, twists);
  dynamics_.mass().twists(here_.v, end_twists);
  for (int i = 0; i < islands_.count(); ++i) {
    const IslandProblem& p = island_problems_[i];
    if (p.Lambda.head(p.rows).isZero(0)) continue;
    add_report(impact_reports_[i], p, record);
    for (std::size_t k = 0; k < islands_[i].blocks.size(); ++k) {
      const int block = islands_[i].blocks[k];
      const Element& e = impact_elements_[block];
      add_block(model_, problem_, block, e.place(), e.is_contact() ? e.law : -1, feasible_of(p, k),
                {v_raw, twists}, {here_.v, end_twists}, record);
    }
  }
  record.drives += drive_work(v_before, v_raw);
  record.t = here_.t;
  record.q = here_.q;
  record.v_before = v_before;
  record.v_after = here_.v;
  record.kinetic_before = kinetic_energy(model_, v_before, dynamics_.work(), struck_);
  if (v_raw != here_.v) {
    forward_kinematics(model_, here_.q, v_raw, work_);
    record.attenuated = -kinetic_energy(model_, v_raw, work_, struck_);
  }
  forward_kinematics(model_, here_.q, here_.v, work_);
  record.kinetic_after = kinetic_energy(model_, here_.v, work_, struck_);
  if (v_raw != here_.v) record.attenuated += record.kinetic_after;
}

// Work of the impulses that keep prescribed velocities: what M dv = W Lambda + drive lacks.
double EventIntegrator::drive_work(const Vec& v_before, const Vec& v_after) {
  if (!model_.any_prescribed) return 0;
  Vec need(model_.nv), rows(model_.nv);
  dynamics_.mass().multiply(v_after - v_before, need);
  dynamics_.mass().gather(wrenches_, rows);
  need -= rows + impulse_;
  double work = 0;
  for (int i = 0; i < model_.nv; ++i)
    if (model_.prescribed[i]) work += need[i] * 0.5 * (v_before[i] + v_after[i]);
  return work;
}

// Prescribed velocities as their signals have them from now on; the others follow by the impulses
// of the drives.
bool EventIntegrator::impose_drives(std::string& why) {
  Vec jump = Vec::Zero(model_.nv);
  for (const Prescribed& p : actuation_.prescribed) {
    const Coordinate& c = model_.coordinates[p.coordinate];
    if (c.q_index < 0) continue;
    const double r = value(p.r, here_.t);
    if (std::abs(r - here_.q[c.q_index]) > touching_gap * (c.rotational ? 1 : scales_.length)) {
      why = fmt::format("the prescribed motion of '{}' jumps from {:.6g} to {:.6g}", c.name,
                        here_.q[c.q_index], r);
      return false;
    }
    here_.q[c.q_index] = r;
  }
  for (const PrescribedRotation& p : actuation_.rotations) {
    const Body& b = model_.bodies[p.body];
    Vec q = here_.q;
    place_prescribed(model_, actuation_, here_.t, q);
    const double turned = Quat(q[b.q0], q[b.q0 + 1], q[b.q0 + 2], q[b.q0 + 3])
                              .angularDistance(Quat(here_.q[b.q0], here_.q[b.q0 + 1],
                                                    here_.q[b.q0 + 2], here_.q[b.q0 + 3]));
    if (turned > touching_gap) {
      why = fmt::format("the prescribed rotation of '{}' jumps by {:.6g} rad", b.name, turned);
      return false;
    }
    here_.q.segment<4>(b.q0) = q.segment<4>(b.q0);
  }
  jump = here_.v;
  prescribe_rates(model_, actuation_, here_.t, jump);
  jump -= here_.v;
  if (jump.isZero(0)) return true;
  storage_.place(model_, work_, here_.q, here_.v);
  int culprit = -1;
  if (!storage_.factor(model_, work_, Vec::Zero(model_.nv), culprit)) {
    why = "the mass matrix is singular";
    return false;
  }
  Vec right(model_.nv), dv(model_.nv);
  storage_.mass.multiply(jump, right);
  storage_.solve(-right, dv);
  here_.v += dv + jump;
  return true;
}

// A start that no motion could have led to.
bool EventIntegrator::admissible_start(const EventMode& trial, std::string& why) {
  for (const Contact& c : found_)
    if (c.point.gap < -1e-8 * scales_.length) {
      why = fmt::format("{} starts {:.3g} m deep in penetration",
                        model_.name_of(Place{-1, c.key.a, c.key.b, c.key.feature}), -c.point.gap);
      return false;
    }
  for (int k = 0; k < static_cast<int>(model_.slots.size()); ++k) {
    const BlockSlot& s = model_.slots[k];
    if (level_of(model_, s) != Level::contact) continue;
    const double gap = slot_gap(model_, dynamics_.work(), here_.q, here_.turns, s);
    if (gap >= -1e-8 * scales_.length) continue;
    why = fmt::format("{} starts {:.3g} m deep in penetration", model_.name_of({.slot = k}), -gap);
    return false;
  }
  for (std::size_t i = 0; i < trial.elements.size(); ++i) {
    const Element& e = trial.elements[i];
    const int row = now_.row[i];
    if (row < 0 || e.kind != Element::Kind::friction || !std::isinf(e.set[0].backward)) continue;
    if (now_.gamma[row] < -bands_.velocity * scales_.velocity) {
      why = fmt::format("{} starts backwards ({:.3g} m/s), which its scales forbid",
                        model_.name_of(e.place()), now_.gamma[row]);
      return false;
    }
  }
  return true;
}

// Velocities that the touching elements allow.
bool EventIntegrator::settle_velocities(EventMode& trial, ModeChange& change, std::string& why) {
  const double before_drives = kinetic_energy(model_, here_.v, work_);  // touching() was here
  if (!impose_drives(why)) return false;
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, trial, now_)) {
    why = "the mass matrix is singular";
    return false;
  }
  if (change.causes.front().cause == Cause::start && !admissible_start(trial, why)) return false;
  change.kinetic_before = change.kinetic_after = kinetic_energy(model_, here_.v, dynamics_.work());
  change.driven = change.kinetic_before - before_drives;
  const double band = bands_.velocity * scales_.velocity;
  bool closes = false;
  for (std::size_t i = 0; i < trial.elements.size(); ++i) {
    const Element& e = trial.elements[i];
    const int row = now_.row[i];
    if (row < 0) continue;
    if (e.kind == Element::Kind::normal) closes = closes || now_.gamma[row] < -band;
    if (e.kind == Element::Kind::friction && std::isinf(e.set[0].backward))
      closes = closes || now_.gamma[row] < -band;
    if (e.kind == Element::Kind::bilateral && e.compliance == 0)
      closes = closes || (now_.gamma.segment(row, e.rows) + dynamics_.prescribed_offset(here_.t, e))
                                 .lpNorm<Eigen::Infinity>() > 1e3 * band;
  }
  if (!closes) return true;
  if (!impact(trial, change, why)) return false;
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, trial, now_)) return false;
  change.kinetic_after = kinetic_energy(model_, here_.v, dynamics_.work());
  return true;
}

// Contacts that leave so slowly that they come back at once, again and again, are closed: of all
// those flights together, t / (1 - ratio), nothing would be seen.
void EventIntegrator::pass_accumulation(EventMode& trial, ModeChange& change) {
  flight_ = infinity;
  if (!dynamics_.prepare(here_.t, here_.q, here_.v, trial, now_) || !free_motion(trial, now_))
    return;
  if (change.impact) impact_times_.push_back(here_.t);
  if (impact_times_.size() > 3) impact_times_.erase(impact_times_.begin());
  double slow = 0;
  for (std::size_t i = 0; i < trial.elements.size(); ++i) {
    const Element& e = trial.elements[i];
    const int row = now_.row[i];
    if (row < 0 || e.kind != Element::Kind::normal) continue;
    const double speed = now_.gamma[row], back = -dynamics_.row_free()[row];
    if (!(speed > bands_.velocity * scales_.velocity) || !(back > 0)) continue;
    const double flight = 2 * speed / back;
    const double least = accumulation_speed * std::sqrt(back * scales_.length);
    flight_ = std::min(flight_, 1.25 * flight);
    if (!change.impact || speed > least) continue;
    // Of one bouncing contact the restitution tells the rest; else the last intervals do.
    double left = flight / (1 - e.restitution);
    if (e.restitution == 0) {
      if (impact_times_.size() < 3) continue;
      const double last = impact_times_[2] - impact_times_[1];
      const double ratio = last / (impact_times_[1] - impact_times_[0]);
      if (!(ratio < 1)) continue;
      left = last * ratio / (1 - ratio);
    }
    if (!(e.restitution < 1)) continue;
    change.causes.push_back({Cause::accumulation, e.place(), here_.t + left});
    slow = std::max(slow, least);
  }
  if (slow == 0) return;
  flight_ = infinity;
  // With them rests whatever else touches and is as slow.
  EventMode held = trial;
  for (std::size_t i = 0; i < held.elements.size(); ++i) {
    Element& e = held.elements[i];
    const int row = now_.row[i];
    e.closed = row >= 0 && std::abs(now_.gamma[row]) <= slow;
    for (int k = 0; k < e.sets; ++k)
      e.set[k].slips = row < 0 || set_velocity(e.set[k], now_.gamma, row).norm() > slow;
  }
  if (dynamics_.prepare(here_.t, here_.q, here_.v, held, now_))
    (void)dynamics_.rest_rows(here_.t, held, here_.v, now_);
  forward_kinematics(model_, here_.q, here_.v, work_);
  const double rested = kinetic_energy(model_, here_.v, work_);
  change.record.accumulated = rested - change.kinetic_after;
  change.record.kinetic_after += change.record.accumulated;
  change.record.v_after = here_.v;
  change.kinetic_after = rested;
}

}  // namespace saltus
