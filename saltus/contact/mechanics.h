// What a step asks of a mechanism, and the two storages that answer.
//
//   forest   articulated inertias, nodes of any kind: any size, O(n)     (solvers/forest.h)
//   paths    M = L' L along the branches of small trees: contacts with what does not move, one path
//            a block                                                     (dynamics/path_tree.h)
//
// The step (integrators/moreau/) and its correction are written once over this; results agree to
// rounding. Configuration and velocities are the caller's; a storage keeps what it derives from the
// last place(), factor() and open_rows().
#pragma once
#include <concepts>
#include <string>
#include <utility>

#include "saltus/contact/islands.h"
#include "saltus/contact/path_rows.h"
#include "saltus/dynamics/planar_bias.h"
#include "saltus/dynamics/storage.h"

namespace saltus {

template <class S>
concept MechanicsStorage = requires(S& s, const Model& m, Workspace& w, VecIn x, VecRef y, Vec& z,
                                    std::vector<Vec6>& twists, const Assembly& rows,
                                    const Island& island, const Solver& solver,
                                    IslandProblem& problem, int& culprit) {
  { S::kind } -> std::convertible_to<Storage>;
  s.place(m, w, x, x);                                   // q, v: poses of the bodies
  { s.factor(m, w, x, culprit) } -> std::same_as<bool>;  // M + diag(x)
  s.load_bias(m, w);                                     // once for many bias()
  s.bias(m, w, x, y);                                    // quadratic terms, gravity, external
  s.solve(x, z);                                         // z = M^-1 x
  s.twists(x, twists);                                   // inertial axes at bodies' origins
  s.open_rows(w, rows);                                  // what the next four need
  s.respond(rows, x, z);                                 // z = M^-1 W x of the rows opened last
  s.form(m, rows, island, solver, x, true, problem);     // x: free velocity
  s.renew(m, rows, island, x, problem);                  // the same rows, another free velocity
  { s.own_compliance(rows, 0) } -> std::convertible_to<double>;  // of a block's first row
  { s.kinetic_energy(m, w, x) } -> std::convertible_to<double>;  // at the last place()
  s.publish(m, w, x);  // the Workspace as forward_kinematics(q, x) leaves it
};

class ForestStorage {
 public:
  static constexpr Storage kind = Storage::forest;
  explicit ForestStorage(const Model& model);
  void place(const Model& m, Workspace& w, VecIn q, VecIn v);
  [[nodiscard]] bool factor(const Model& m, Workspace& w, VecIn extra, int& culprit);
  void load_bias(const Model& m, Workspace& w);
  void bias(const Model& m, Workspace& w, VecIn v, VecRef tau);
  void solve(VecIn b, Vec& x);
  void twists(VecIn v, std::vector<Vec6>& V);
  void open_rows(const Workspace&, const Assembly&) { omega_known_ = false; }
  void respond(const Assembly& rows, VecIn Lambda, Vec& x);
  void form(const Model& m, const Assembly& rows, const Island& island, const Solver& solver,
            VecIn v_free, bool full, IslandProblem& out);
  void renew(const Model& m, const Assembly& rows, const Island& island, VecIn v_free,
             IslandProblem& out);
  [[nodiscard]] double own_compliance(const Assembly& rows, int block);
  [[nodiscard]] double kinetic_energy(const Model& m, Workspace& w, VecIn v);
  void publish(const Model& m, Workspace& w, VecIn v);

  Forest mass;  // M and its factor
  // Of respond(): wrenches on bodies and impulses on velocities, for who accounts for drives.
  std::vector<Vec6> wrenches;
  Vec impulses;

 private:
  PlanarBias planar_;
  Vec q_, v_;                 // of the last place() or publish()
  bool omega_known_ = false;  // Forest::compliance() of this factor
};

class PathStorage {
 public:
  static constexpr Storage kind = Storage::paths;
  explicit PathStorage(SharedPlan plan);
  // Whether the model is one for it; if not, `why` says what of it is in the way.
  [[nodiscard]] static bool holds(const Model& model, std::string* why = nullptr);
  [[nodiscard]] static bool holds(const Model& model, const Plan& plan, std::string* why = nullptr);
  void place(const Model& m, Workspace& w, VecIn q, VecIn v);
  [[nodiscard]] bool factor(const Model& m, Workspace& w, VecIn extra, int& culprit);
  void load_bias(const Model& m, Workspace& w);
  void bias(const Model& m, Workspace& w, VecIn v, VecRef tau);
  void solve(VecIn b, Vec& x);
  void twists(VecIn v, std::vector<Vec6>& V);
  void open_rows(const Workspace& w, const Assembly& rows) { rows_.open(w, tree_, rows); }
  void respond(const Assembly& rows, VecIn Lambda, Vec& x) {
    rows_.respond(tree_, rows, Lambda, x);
  }
  void form(const Model& m, const Assembly& rows, const Island& island, const Solver& solver,
            VecIn v_free, bool full, IslandProblem& out);
  void renew(const Model& m, const Assembly& rows, const Island& island, VecIn v_free,
             IslandProblem& out) {
    rows_.renew(m, rows, island, v_free, tree_, out);
  }
  [[nodiscard]] double own_compliance(const Assembly&, int block) const {
    return rows_.own_compliance(block);
  }
  [[nodiscard]] double kinetic_energy(const Model& m, Workspace& w, VecIn v);
  void publish(const Model& m, Workspace& w, VecIn v);
  [[nodiscard]] const PathPlan& paths() const { return tree_.plan(); }

 private:
  PathTree tree_;
  PathRows rows_;
  Vec diagonal_;
};

static_assert(MechanicsStorage<ForestStorage> && MechanicsStorage<PathStorage>);

// The storage of a step; the only place that asks which it is.
class Mechanics {
 public:
  // `paths` null: the forest.
  Mechanics(const Model& model, Workspace& work, ForestStorage& forest, PathStorage* paths)
      : m_(model), w_(work), forest_(forest), paths_(paths) {}
  [[nodiscard]] Storage storage() const { return paths_ ? PathStorage::kind : ForestStorage::kind; }

  void place(VecIn q, VecIn v) {
    each([&](auto& s) { s.place(m_, w_, q, v); });
  }
  [[nodiscard]] bool factor(VecIn extra, int& culprit) {
    return each([&](auto& s) { return s.factor(m_, w_, extra, culprit); });
  }
  void load_bias() {
    each([&](auto& s) { s.load_bias(m_, w_); });
  }
  void bias(VecIn v, VecRef tau) {
    each([&](auto& s) { s.bias(m_, w_, v, tau); });
  }
  void solve(VecIn b, Vec& x) {
    each([&](auto& s) { s.solve(b, x); });
  }
  void twists(VecIn v, std::vector<Vec6>& V) {
    each([&](auto& s) { s.twists(v, V); });
  }
  void open_rows(const Assembly& rows) {
    each([&](auto& s) { s.open_rows(w_, rows); });
  }
  void respond(const Assembly& rows, VecIn Lambda, Vec& x) {
    each([&](auto& s) { s.respond(rows, Lambda, x); });
  }
  void form(const Assembly& rows, const Island& island, const Solver& solver, VecIn v_free,
            bool full, IslandProblem& out) {
    each([&](auto& s) { s.form(m_, rows, island, solver, v_free, full, out); });
  }
  void renew(const Assembly& rows, const Island& island, VecIn v_free, IslandProblem& out) {
    each([&](auto& s) { s.renew(m_, rows, island, v_free, out); });
  }
  [[nodiscard]] double own_compliance(const Assembly& rows, int block) {
    return each([&](auto& s) { return s.own_compliance(rows, block); });
  }
  [[nodiscard]] double kinetic_energy(VecIn v) {
    return each([&](auto& s) { return s.kinetic_energy(m_, w_, v); });
  }
  void publish(VecIn v) {
    each([&](auto& s) { s.publish(m_, w_, v); });
  }
  // Cuts, springs, prescribed velocities: of models that only the forest holds.
  [[nodiscard]] ForestStorage& forest() { return forest_; }

 private:
  template <class F>
  auto each(const F& f) -> decltype(f(std::declval<ForestStorage&>())) {
    return paths_ ? f(*paths_) : f(forest_);
  }
  const Model& m_;
  Workspace& w_;
  ForestStorage& forest_;
  PathStorage* paths_;
};

}  // namespace saltus
