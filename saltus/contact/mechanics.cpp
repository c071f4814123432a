#include "saltus/contact/mechanics.h"

#include <algorithm>

#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/energy.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "saltus/solvers/stick.h"

namespace saltus {

// --- forest -----------------------------------------------------------------------------------

ForestStorage::ForestStorage(const Model& model)
    : wrenches(model.bodies.size(), Vec6::Zero()),
      impulses(Vec::Zero(model.nv)),
      planar_(model),
      q_(Vec::Zero(model.nq)),
      v_(Vec::Zero(model.nv)) {
  mass.resize(forest_shape(model));
}

void ForestStorage::place(const Model& m, Workspace& w, VecIn q, VecIn v) {
  q_ = q;
  v_ = v;
  forward_kinematics(m, q_, v_, w);
}

bool ForestStorage::factor(const Model&, Workspace& w, VecIn extra, int& culprit) {
  load_mass(w, extra, mass);
  if (mass.factor()) return true;
  culprit = mass.culprit();
  return false;
}

void ForestStorage::load_bias(const Model& m, Workspace& w) {
  if (PlanarBias::holds(m, w)) planar_.load(m, w);
}

void ForestStorage::bias(const Model& m, Workspace& w, VecIn v, VecRef tau) {
  if (PlanarBias::holds(m, w)) return planar_.compute(m, v, tau);
  renew_velocities(m, v, w);
  bias_force(m, w);
  tau = w.tau_bias;
}

void ForestStorage::solve(VecIn b, Vec& x) { mass.solve(-1, b.data(), nullptr, x.data(), nullptr); }

void ForestStorage::twists(VecIn v, std::vector<Vec6>& V) { mass.twists(v, V); }

void ForestStorage::respond(const Assembly& rows, VecIn Lambda, Vec& x) {
  apply_rows(rows, Lambda, wrenches, impulses);
  mass.solve(-1, impulses.data(), wrenches.data(), x.data(), nullptr);
}

void ForestStorage::form(const Model& m, const Assembly& rows, const Island& island,
                         const Solver& solver, VecIn v_free, bool, IslandProblem& out) {
  form_island(m, rows, island, solver, v_free, mass, out);
}

void ForestStorage::renew(const Model& m, const Assembly& rows, const Island& island, VecIn v_free,
                          IslandProblem& out) {
  renew_free(m, rows, island, v_free, mass, out);
}

double ForestStorage::own_compliance(const Assembly& rows, int block) {
  if (!omega_known_) mass.compliance();
  omega_known_ = true;
  const BlockSource& from = rows.source[block];
  const int row = rows.blocks[block].row;
  double own = 0;
  if (from.a >= 0) own += mass.compliance_along(from.a, rows.wrench_a.col(row));
  if (from.b >= 0) own += mass.compliance_along(from.b, rows.wrench_b.col(row));
  return own;
}

double ForestStorage::kinetic_energy(const Model& m, Workspace& w, VecIn v) {
  if (v != v_) publish(m, w, v);
  return saltus::kinetic_energy(m, v, w);
}

void ForestStorage::publish(const Model& m, Workspace& w, VecIn v) {
  v_ = v;
  forward_kinematics(m, q_, v_, w);
}

// --- paths ------------------------------------------------------------------------------------

PathStorage::PathStorage(SharedPlan plan)
    : tree_(std::move(plan)), rows_(tree_), diagonal_(Vec::Zero(tree_.plan().velocities)) {}

bool PathStorage::holds(const Model& m, std::string* why) { return holds(m, Plan(m), why); }

bool PathStorage::holds(const Model& m, const Plan& plan, std::string* why) {
  const auto no = [&](const char* what) {
    if (why) *why = what;
    return false;
  };
  if (!m.cuts.empty() || m.has_loops) return no("it has cuts or loops");
  if (m.has_elements()) return no("it has springs, drags, runners, wheels or cables");
  if (!m.fluids.empty()) return no("it is in a fluid");
  if (m.any_prescribed) return no("it has prescribed coordinates");
  if (!m.gap_contacts.empty()) return no("it has gap contacts");
  if (m.has_compliant) return no("it has compliant contacts");
  if (m.planar) return no("it is planar");
  if (m.has_stations) return no("it has elements with several stations");
  for (const ContactLaw& l : m.contact_laws)
    if (l.rolling > 0 || l.drilling > 0) return no("it has rolling or drilling friction");
  if (!plan.paths) return no("its trees are too large, or have added mass");
  if (!touches_still_only(m)) return no("bodies that move may touch each other");
  return true;
}

void PathStorage::place(const Model&, Workspace& w, VecIn q, VecIn) {
  tree_.place(q.data());
  tree_.publish_poses(w.X);
}

bool PathStorage::factor(const Model& m, Workspace&, VecIn extra, int& culprit) {
  tree_.turn_inertias();
  diagonal_ = extra + m.armature;
  tree_.mass_matrix(diagonal_);
  return tree_.factor(culprit);
}

// External wrenches, from the bodies to the links that carry them.
void PathStorage::load_bias(const Model& m, Workspace& w) {
  tree_.has_external = false;
  const Eigen::Map<const Vec> all(w.external.front().data(), 6 * std::ssize(w.external));
  if (all.cwiseAbs().sum() == 0) return;
  for (PathTree::Wrench& f : tree_.external) f = {};
  for (int b = 0; b < m.body_count(); ++b) {
    const Vec6& F = w.external[b];
    const int link = tree_.plan().bodies[b].link;
    if (link < 0 || (F.array() == 0).all()) continue;
    const SE3& X = w.X[b];
    const Vec3 f = X.R * F.head<3>(), n = X.R * F.tail<3>();
    tree_.external[link].f += f;
    tree_.external[link].n += n + (X.r - tree_.point(link)).cross(f);
    tree_.has_external = true;
  }
}

void PathStorage::bias(const Model& m, Workspace&, VecIn v, VecRef tau) {
  tree_.bias(m.gravity, v.data(), tau.data());
}

void PathStorage::solve(VecIn b, Vec& x) {
  x = b;
  tree_.solve(x.data());
}

void PathStorage::twists(VecIn v, std::vector<Vec6>& V) { tree_.twists(v.data(), V); }

void PathStorage::form(const Model& m, const Assembly& rows, const Island& island,
                       const Solver& solver, VecIn v_free, bool full, IslandProblem& out) {
  const bool newton =
      std::holds_alternative<AutoSolver>(solver) || std::holds_alternative<Newton>(solver);
  // With many more rows than velocities Newton and Gauss-Seidel work on velocities.
  const bool redundant =
      newton && island.rows > std::max(most_sticking_rows, 2 * island.velocities);
  const bool on_velocity =
      redundant || (!newton && options_of(solver).on == ProxOptions::On::velocity);
  rows_.form(m, tree_, rows, island, v_free, full || on_velocity, out);
  out.problem.has_G = !on_velocity;
}

double PathStorage::kinetic_energy(const Model&, Workspace&, VecIn v) {
  tree_.move(v.data());
  return tree_.kinetic_energy(v.data());
}

void PathStorage::publish(const Model&, Workspace& w, VecIn v) {
  tree_.move(v.data());
  tree_.publish(w);
}

}  // namespace saltus
