#include "saltus/runs/run_impacts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "saltus/base/error.h"
#include "saltus/runs/run_rows.h"

namespace saltus {

namespace {

using Json = nlohmann::ordered_json;

AuditedContact contact_at(const Json& header, const Rows& p, std::size_t r) {
  return {.name = place_name(header, place_at(p, r)),
          .before = p.three("before", r),
          .after = p.three("after", r),
          .impulse = p.three("impulse", r),
          .work_normal = p.at("work_normal", r),
          .work_tangential = p.at("work_tangential", r),
          .restitution = p.at("restitution", r),
          .mu = p.at("mu", r),
          .feasible = p.at("feasible", r)};
}

AuditedImpact impact_at(const std::vector<std::string>& paths, const Rows& i, std::size_t k) {
  AuditedImpact a;
  a.t = i.at("t", k);
  a.before = i.at("kinetic_before", k);
  a.after = i.at("kinetic_after", k);
  a.normal = i.at("work_normal", k);
  a.tangential = i.at("work_tangential", k);
  a.joints = i.at("work_joints", k);
  a.drives = i.at("work_drives", k);
  a.forces = i.at("work_forces", k);
  a.attenuated = i.at("attenuated", k);
  a.accumulated = i.at("accumulated", k);
  a.gained = i.at("gained", k);
  a.share = i.at("restitution_share", k);
  a.attenuation = i.at("attenuation", k);
  a.bound = i.at("bound", k);
  a.path = paths.at(static_cast<std::size_t>(i.at("path", k)));
  a.contacts = static_cast<int>(i.at("contacts", k));
  return a;
}

ImpactHistory read_history_of_impacts(const RunReader& run) {
  const Json header = Json::parse(run.header());
  ImpactHistory h{.law = header.at("impact_law"), .impacts = {}};
  const std::vector<std::string> paths = header.at("impact_paths");
  // Of a run that is being written the impacts are read first: their contacts are there.
  const Rows impacts(run, "impacts"), parts(run, "impact_contacts");
  std::size_t p = 0;
  for (std::size_t k = 0; k < impacts.count; ++k) {
    AuditedImpact& a = h.impacts.emplace_back(impact_at(paths, impacts, k));
    for (; p < static_cast<std::size_t>(impacts.at("contact_end", k)); ++p)
      a.parts.push_back(contact_at(header, parts, p));
  }
  return h;
}

}  // namespace

bool has_impacts(const RunReader& run) { return has_table(run, "impacts"); }

ImpactHistory read_impacts(const RunReader& run, const std::string& path) {
  if (!has_impacts(run))
    throw InputError(
        fmt::format("{}: has no table of impacts: saltus {} wrote it, which recorded none; run the "
                    "scene again",
                    path, run.version()));
  try {
    return read_history_of_impacts(run);
  } catch (const Json::exception& e) {
    throw InputError(fmt::format("{}: the header is damaged: {}", path, e.what()));
  } catch (const std::out_of_range&) {
    throw InputError(fmt::format("{}: the tables of impacts are damaged", path));
  }
}

Balance read_balance(const RunReader& run, const std::string& path) {
  const std::size_t n = run.rows("frames");
  if (n == 0) throw InputError(fmt::format("{}: the run has no frames", path));
  const auto column = [&](const std::string& name) { return run.read("frames", name, 0, n); };
  const auto largest = [](const std::vector<double>& x) {
    return std::abs(*std::max_element(
        x.begin(), x.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  };
  Balance b;
  const auto t = column("t"), T = column("kinetic"), V = column("potential");
  b.start = t.front();
  b.end = t.back();
  b.change = T.back() + V.back() - T.front() - V.front();
  b.kinetic = largest(T);
  b.potential = largest(V);
  b.impacts = column("work_impacts").back();
  std::vector<double> left(n);
  for (std::size_t i = 0; i < n; ++i) left[i] = T[i] + V[i] - T[0] - V[0];
  constexpr std::array<std::array<const char*, 2>, 10> lines{
      {{"motors", "drives: motors"},
       {"prescribed", "drives: prescribed motion"},
       {"muscles", "drives: natural lengths"},
       {"external", "user forces"},
       {"dampers", "dampers and drags"},
       {"contacts", "contacts, normal"},
       {"friction", "friction"},
       {"joints", "joints, limits, edges"},
       {"correction", "position correction"},
       {"integrator", "integrator error"}}};
  for (const auto& [name, about] : lines) {
    const auto work = column(fmt::format("work_{}", name));
    for (std::size_t i = 0; i < n; ++i) left[i] -= work[i];
    b.lines.push_back({name, about, work.back(), largest(work)});
  }
  b.unaccounted = largest(left);
  return b;
}

std::vector<StepError> worst_steps(const RunReader& run, std::size_t most) {
  const std::size_t n = run.rows("steps");
  const auto t = run.read("steps", "t", 0, n), error = run.read("steps", "energy_error", 0, n);
  std::vector<StepError> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = {t[i], error[i]};
  const auto last = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, n));
  std::partial_sort(all.begin(), last, all.end(), [](const StepError& a, const StepError& b) {
    return std::abs(a.error) != std::abs(b.error) ? std::abs(a.error) > std::abs(b.error)
                                                  : a.t < b.t;
  });
  all.erase(last, all.end());
  return all;
}

}  // namespace saltus
