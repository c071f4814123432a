#include "saltus/simulate/start_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "saltus/contact/finder.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/simulate/run_totals.h"

namespace saltus {

namespace {

constexpr std::size_t most_lines = 4;  // of many alike

bool moves(const Model& m, int body) {
  if (body < 0) return false;
  const int tree = m.tree[body];
  return m.tree_v[tree] < m.tree_v[tree + 1];
}

}  // namespace

std::vector<std::string> overlaps_at(const Model& m, const State& s) {
  Workspace work(m);
  forward_kinematics(m, s.q, s.v, work);
  ContactFinder finder(m);
  std::vector<Contact> contacts;
  finder.find(m, work, 0, contacts);
  std::map<std::pair<int, int>, double> depth;  // of pairs of shapes; hard contacts only
  for (const Contact& c : contacts) {
    if (m.contact_laws[c.law].compliant()) continue;
    double& d = depth[{c.key.a, c.key.b}];
    d = std::max(d, -c.point.gap);
  }
  std::vector<std::pair<double, std::pair<int, int>>> deepest;
  for (const auto& [pair, d] : depth)
    if (d > penetration_allowed) deepest.emplace_back(d, pair);
  std::stable_sort(deepest.begin(), deepest.end(),
                   [](const auto& x, const auto& y) { return x.first > y.first; });
  std::vector<std::string> lines;
  for (const auto& [d, pair] : deepest) {
    if (lines.size() == most_lines) {
      lines.push_back(
          fmt::format("{} more pairs begin inside each other", deepest.size() - most_lines));
      break;
    }
    const Place place{.shape_a = pair.first, .shape_b = pair.second};
    lines.push_back(fmt::format("{} begins {:.3g} m inside", m.name_of(place), d));
  }
  return lines;
}

std::vector<std::string> beyond_limits_at(const Model& m, const State& s) {
  Workspace work(m);
  forward_kinematics(m, s.q, s.v, work);
  std::vector<std::string> lines;
  for (int c = 0; c < static_cast<int>(m.coordinates.size()); ++c) {
    const JointDof& dof = m.coordinates[c].dof;
    const double x = coordinate_value(m, work, s.q, s.turns, CoordinateIndex(c));
    const double beyond = std::max(dof.lower - x, x - dof.upper);
    if (!(beyond > penetration_allowed)) continue;
    if (lines.size() == most_lines) {
      lines.emplace_back("more joints begin beyond their limits");
      break;
    }
    lines.push_back(fmt::format("joint coordinate {} begins {:.3g} {} beyond its limit",
                                m.coordinates[c].name, beyond,
                                m.coordinates[c].rotational ? "rad" : "m"));
  }
  return lines;
}

std::string untouchable(const Model& m) {
  std::vector<std::string> names;
  for (const ContactShape& shape : m.shapes) {
    const auto* row = m.group_law.data() + static_cast<std::ptrdiff_t>(shape.group) * m.groups;
    const bool named =
        std::any_of(row, row + m.groups, [](const GroupLaw& g) { return g.law >= 0; });
    if (moves(m, shape.body) && !named) names.push_back(shape.name);
  }
  if (names.empty() || m.contact_laws.empty()) return "";  // without any rule it is meant so
  return fmt::format("shape '{}'{} can touch nothing: no contact rule names {}", names.front(),
                     names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "",
                     names.size() > 1 ? "them" : "it");
}

double separate(const Model& m, State& s) {
  StepWorkspace w(m);
  Mechanics mech(m, w.result.work, w.scratch.forest, nullptr);
  mech.place(s.q, s.v);
  return project(m, Projection::mass, s.q, s.v, s.turns, w.result.work, mech, w.scratch.finder,
                 w.scratch.projection)
      .penetration;
}

}  // namespace saltus
