#include "saltus/analysis/feasible.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/contact/rows/contact.h"
#include "saltus/contact/rows/families.h"
#include "saltus/contact/surface.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "saltus/impacts/chain.h"
#include "saltus/model/validate.h"

namespace saltus {

namespace {

// Shapes nearer than this touch [m]: the state is that of an impact, polished to 1e-11 or so.
constexpr double touching = 1e-8;

struct ImpactRows {
  const Model& model;
  Workspace work;
  Forest mass;
  Assembly rows;
  Islands islands;
  Vec v;

  ImpactRows(const Model& m, VecIn q, VecIn start)
      : model(m), work(m), rows(m), islands(m), v(start) {
    forward_kinematics(m, q, v, work);
    mass.resize(forest_shape(m));
    load_mass(work, Vec::Zero(m.nv), mass);
    require(mass.factor(), "bodies", "the mass matrix is singular");
    for (int k = 0; k < static_cast<int>(m.slots.size()); ++k)
      if (account_of(m, m.slots[k]) == Account::cut)
        open_rows(m, work, k, Bilateral{m.slots[k].rows}, 0, rows);
    ContactFinder finder(m);
    finder.find(m, work, touching, rows.contacts);
    std::vector<Vec6> twists(m.bodies.size());
    mass.twists(v, twists);
    for (int k = 0; k < static_cast<int>(rows.contacts.size()); ++k) {
      Contact& c = rows.contacts[k];
      const ContactLaw& law = m.contact_laws[c.law];
      if (law.compliant()) continue;  // no impulses
      c.tangent = tangent_of(m, work, c);
      open_contact(m, work, k, c, law_of(law), rows);
      rows.source.back().dynamic = law.dynamic;
    }
    for (std::size_t i = 0; i < rows.blocks.size(); ++i)
      for (int r = rows.blocks[i].row; r < rows.blocks[i].row + rows.blocks[i].rows; ++r)
        rows.gamma_S[r] = rows.rate(r, rows.source[i], twists, v);
    islands.partition(m, rows);
  }

  void set_restitution(double e) {
    for (std::size_t i = 0; i < rows.blocks.size(); ++i) {
      const Block& k = rows.blocks[i];
      rows.restitution.segment(k.row, k.rows).setZero();
      if (rows.source[i].contact >= 0)
        rows.restitution[k.row] = e * std::min(rows.gamma_S[k.row], 0.0);
    }
  }
  void form(int island, IslandProblem& out) {
    form_island(model, rows, islands[island], ProxGaussSeidel{}, v, mass, out);
    out.at_impact = true;
  }
  [[nodiscard]] double kinetic(const Vec& velocity, const Island& island) {
    Vec p(model.nv);
    mass.multiply(velocity, p);
    double T = 0;
    for (const int t : island.trees)
      for (int i = model.tree_v[t]; i < model.tree_v[t + 1]; ++i) T += 0.5 * velocity[i] * p[i];
    return T;
  }
  // Along which axis v_t counts as positive: the sign of the row for that.
  [[nodiscard]] double sign_of(int block, int row) const {
    const BlockSource& s = rows.source[block];
    const Vec3 along =
        s.b >= 0 ? Vec3(rows.wrench_b.col(row).head<3>()) : Vec3(rows.wrench_a.col(row).head<3>());
    for (int axis = 0; axis < 3; ++axis)
      if (std::abs(along[axis]) > 1e-6) return along[axis] > 0 ? 1 : -1;
    return 1;
  }
};

struct Slice {
  const DissipationProblem& d;
  const SlipPoint& point;
  Vec2 along;  // unit, in the point's tangential directions

  [[nodiscard]] Vec impulses(double speed) const {
    Vec x = Vec::Zero(d.unknowns());
    for (int j = 0; j < point.dims; ++j) x[point.speed[j]] = speed * along[j];
    return d.p0 + d.P * x;
  }
};

}  // namespace

std::vector<FeasibleCurve> feasible_curves(const Model& model, VecIn q, VecIn v,
                                           const ChainImpact& law,
                                           const std::vector<double>& restitutions, double reach,
                                           int samples) {
  check_impact_law(law, model, "impact");
  if (const ContactShape* s = first_surface(model))
    throw InputError("impact", fmt::format("expected surfaces without a friction map or a velocity "
                                           "of their own, shape '{}' has one",
                                           s->name));
  ImpactRows rows(model, q, v);
  const double fastest = rows.rows.gamma_S.head(rows.rows.rows).lpNorm<Eigen::Infinity>();
  if (!(reach > 0)) reach = 4 * fastest;
  std::vector<FeasibleCurve> all;
  IslandProblem problem;
  for (int i = 0; i < rows.islands.count(); ++i)
    for (const double e : restitutions) {
      rows.set_restitution(e);
      rows.form(i, problem);
      std::vector<int> blocks;
      const DissipationProblem d = slip_problem(law, rows.mass, problem, blocks);
      const std::optional<ImpactReport> report = resolve_chain(law, rows.mass, problem);
      Vec gamma(problem.Lambda.size());
      end_rates(rows.mass, problem, gamma);
      store_impulses(rows.islands[i], problem, rows.rows);
      const Vec after = problem.problem.v_free + problem.problem.Y.leftCols(problem.rows) *
                                                     problem.Lambda.head(problem.rows);
      Vec full = rows.v;
      for (std::size_t t = 0; t < problem.trees.size(); ++t) {
        const int first = model.tree_v[problem.trees[t]],
                  n = model.tree_v[problem.trees[t] + 1] - first;
        full.segment(first, n) = after.segment(problem.offset[t], n);
      }
      const double factor = report ? report->attenuation : 1;
      const double ratio = factor * factor * rows.kinetic(full, rows.islands[i]) /
                           rows.kinetic(rows.v, rows.islands[i]);
      for (std::size_t k = 0; k < blocks.size(); ++k) {
        const SlipPoint& point = d.points[k];
        if (point.dims == 0 || !d.plain()) continue;
        const int local = blocks[k], block = rows.islands[i].blocks[local];
        const int row = problem.problem.blocks[local].row;
        // In space the slice lies along the velocity before.
        Vec2 along = Vec2::UnitX();
        const int first = point.dims == 1 && problem.problem.W.col(row + 1).isZero(0) ? 2 : 1;
        if (point.dims == 2 && problem.gamma_S.segment(row + 1, 2).norm() > 0)
          along = problem.gamma_S.segment(row + 1, 2).normalized();
        else
          along *= rows.sign_of(block, rows.rows.blocks[block].row + first);
        const auto speed = [&](const Vec& rates) {
          return point.dims == 2 ? along.dot(Vec2(rates.segment(row + 1, 2)))
                                 : along[0] * rates[row + first];
        };
        FeasibleCurve c;
        c.contact = rows.rows.place(block);
        c.restitution = e;
        c.mu_s = point.mu_s;
        c.mu_d = point.mu_d;
        c.mu_f = point.mu_f;
        c.sticking_pulls = d.p0[point.normal] < 0;
        c.before = speed(problem.gamma_S);
        const Slice slice{d, point, along};
        for (int s = 0; s <= samples; ++s) {
          const double at = reach * (2.0 * s / samples - 1);
          const Vec p = slice.impulses(at);
          c.v.push_back(at);
          c.p_n.push_back(p[point.normal]);
          c.mu.push_back(tangential(point, p).norm() / std::abs(p[point.normal]));
        }
        c.chosen_v = report ? factor * speed(gamma) : std::nan("");
        const double n = problem.Lambda[row];
        c.chosen_mu =
            report && n > 0 ? problem.Lambda.segment(row + 1, 2).norm() / n : std::nan("");
        c.energy_ratio = ratio;
        c.path = report ? report->path : ImpactPath::fallback;
        all.push_back(std::move(c));
      }
    }
  return all;
}

}  // namespace saltus
