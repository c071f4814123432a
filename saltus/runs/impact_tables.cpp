#include "saltus/runs/impact_tables.h"

#include <algorithm>
#include <numeric>

#include "saltus/runs/run_rows.h"

namespace saltus {

namespace {

using Type = ColumnType;

TableSpec part_table() {
  return with_place("impact_contacts",
                    {{"before", Type::f64, 3, "m/s", "relative velocity N, T1, T2"},
                     {"after", Type::f64, 3, "m/s", ""},
                     {"impulse", Type::f64, 3, "N s", "N, T1, T2, on the second"},
                     {"work_normal", Type::f64, 1, "J", "impulse times mean velocity"},
                     {"work_tangential", Type::f64, 1, "J", "rolling and drilling included"},
                     {"restitution", Type::f64, 1, "", "asked for"},
                     {"mu", Type::f64, 1, "", "coefficient of friction"},
                     {"feasible", Type::f64, 1, "", "P1's mu_f; nan: not computed"}});
}

TableSpec state_table(const Model& m) {
  return {"impact_states",
          {{"q", Type::f64, m.nq, "", "coordinates; time stepping: mid-point of the step"},
           {"v_before", Type::f64, m.nv, "", "velocities"},
           {"v_after", Type::f64, m.nv, "", ""}}};
}

TableSpec impact_table() {
  return {"impacts",
          {{"t", Type::f64, 1, "s", "time stepping: the end of its step"},
           {"step", Type::i64, 1, "", "steps taken when it was recorded"},
           {"kinetic_before", Type::f64, 1, "J", "of the trees that take part"},
           {"kinetic_after", Type::f64, 1, "J", ""},
           {"work_normal", Type::f64, 1, "J", "of all contacts"},
           {"work_tangential", Type::f64, 1, "J", ""},
           {"work_joints", Type::f64, 1, "J", "of bilateral rows and limits"},
           {"work_drives", Type::f64, 1, "J", "of prescribed motion"},
           {"work_forces", Type::f64, 1, "J", "time stepping: of all else in the step"},
           {"attenuated", Type::f64, 1, "J", "by P1's attenuation of velocities"},
           {"accumulated", Type::f64, 1, "J", "by the rest of a sequence that was passed"},
           {"gained", Type::f64, 1, "J", "by the law beyond its claim; 0: none"},
           {"slack", Type::f64, 1, "J", "what residual and step forces may add"},
           {"restitution_share", Type::f64, 1, "", "1: as asked; less: capped by energy"},
           {"attenuation", Type::f64, 1, "", "P1's factor on velocities"},
           {"bound", Type::f64, 1, "", "the law's claim T+ <= bound T-; inf: none"},
           {"path", Type::u8, 1, "", "of header.impact_paths"},
           {"contacts", Type::i32, 1, "", "how many took part"},
           {"contact_end", Type::i64, 1, "", "end of the impact's rows in impact_contacts"}}};
}

// The parts that are kept, in their order.
std::vector<std::size_t> largest(const std::vector<ContactImpact>& parts) {
  std::vector<std::size_t> kept(parts.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  if (kept.size() <= most_parts) return kept;
  std::stable_sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) {
    return parts[a].impulse.norm() > parts[b].impulse.norm();
  });
  kept.resize(most_parts);
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace

TableSpec with_place(const char* name, const std::vector<Column>& columns) {
  TableSpec table{
      name,
      {{"kind", Type::u8, 1, "", "0 contact of two shapes, 1 element, 2 nowhere"},
       {"a", Type::i32, 1, "", "first shape, of header.shapes; element: of header.elements"},
       {"b", Type::i32, 1, "", "second shape; element: -1"},
       {"feature", Type::i32, 1, "", "which of the pair's points"}}};
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  return table;
}

PlaceRow::PlaceRow(const Place& p) {
  if (p.slot >= 0) {
    kind = 1;
    a = p.slot;
  } else if (p.shape_a >= 0) {
    kind = 0;
    a = p.shape_a;
    b = p.shape_b;
    feature = p.feature;
  }
}

std::vector<TableSpec> impact_tables(const Model& model) {
  return {part_table(), state_table(model), impact_table()};
}

void ImpactWriter::append(const ImpactRecord& r, std::int64_t step, RunWriter& to) {
  for (const std::size_t i : largest(r.parts)) {
    const ContactImpact& c = r.parts[i];
    const PlaceRow p(c.place);
    to.append(first_, 1,
              {&p.kind, &p.a, &p.b, &p.feature, c.before.data(), c.after.data(), c.impulse.data(),
               &c.work_normal, &c.work_tangential, &c.restitution, &c.mu, &c.feasible});
    ++parts_;
  }
  if (impacts_++ < states_)
    to.append(first_ + 1, 1, {r.q.data(), r.v_before.data(), r.v_after.data()});
  const double gained = energy_gained(r);
  const auto path = static_cast<std::uint8_t>(r.path);
  const auto contacts = static_cast<std::int32_t>(r.parts.size());
  to.append(first_ + 2, 1,
            {&r.t, &step, &r.kinetic_before, &r.kinetic_after, &r.normal, &r.tangential, &r.joints,
             &r.drives, &r.forces, &r.attenuated, &r.accumulated, &gained, &r.slack, &r.share,
             &r.attenuation, &r.bound, &path, &contacts, &parts_});
}

std::vector<std::size_t> ImpactWriter::resume(const RunReader& from, std::int64_t step) {
  const std::size_t n = rows_until(from, "impacts", step),
                    end = end_of(from, "impacts", "contact_end", n);
  impacts_ = static_cast<std::int64_t>(n);
  parts_ = static_cast<std::int64_t>(end);
  return {end, std::min(n, static_cast<std::size_t>(std::max<std::int64_t>(0, states_))), n};
}

}  // namespace saltus
