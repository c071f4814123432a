// saltus audit: the energy balance of a run and its impacts, the worst first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltus/commands.h"
#include "apps/saltus/impacts_json.h"
#include "saltus/base/error.h"
#include "saltus/runs/run_impacts.h"

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;

struct AuditArguments {
  std::string run;
  std::size_t worst = 5;
  double tolerance = 0;  // 0: the integrator's
  bool json = false, strict = false;
};

struct Audit {
  std::string title, integrator;
  ImpactHistory history;
  ImpactAudit impacts;
  Balance balance;
  std::vector<StepError> steps;
  double tolerance = 0;
  [[nodiscard]] bool closes() const { return balance.error() <= tolerance; }
};

void print_balance(const Audit& a) {
  const Balance& b = a.balance;
  fmt::print("energy balance from {:.6g} to {:.6g} s [J]\n", b.start, b.end);
  for (const BalanceLine& line : b.lines)
    if (line.largest > 0 || line.name == "integrator")
      fmt::print("  {:<28} {:>16.9g}\n", line.about, line.work);
  fmt::print("  {:<28} {:>16.9g}   (of which at impacts {:.9g})\n", "sum", b.sum(), b.impacts);
  fmt::print("  {:<28} {:>16.9g}\n", "change of T + V", b.change);
  fmt::print(
      "The balance {}: integrator error at most {:.2e} of the {:.6g} J moved, tolerance {:g}\n",
      a.closes() ? "closes" : "DOES NOT CLOSE", b.error(), b.moved(), a.tolerance);
  if (!a.steps.empty() && a.steps.front().error != 0)
    fmt::print("Worst step: {:.3e} J that no force accounts for, at t = {:.6g} s\n",
               a.steps.front().error, a.steps.front().t);
}

void print_contact(const AuditedContact& c) {
  fmt::print("      {}: work {:.6g} J normal, {:.6g} J tangential\n", c.name, c.work_normal,
             c.work_tangential);
  fmt::print(
      "        v_N {:.6g} -> {:.6g} m/s (e = {:g}), v_T ({:.6g}, {:.6g}) -> ({:.6g}, {:.6g})"
      " m/s, impulse ({:.6g}, {:.6g}, {:.6g}) N s, mu = {:g}",
      c.before[0], c.after[0], c.restitution, c.before[1], c.before[2], c.after[1], c.after[2],
      c.impulse[0], c.impulse[1], c.impulse[2], c.mu);
  if (std::isfinite(c.feasible)) fmt::print(", mu_f = {:.6g}", c.feasible);
  fmt::print("\n");
}

void print_impact(const AuditedImpact& i, const std::string& law) {
  fmt::print("  t = {:<16.9f} T {:.6g} -> {:.6g} J, law {:+.6g} J ({:+.4g} %)", i.t, i.before,
             i.after, i.by_law(), 100 * i.relative());
  const auto tell = [](const char* what, double x) {
    if (x != 0) fmt::print(", {} {:+.4g} J", what, x);
  };
  tell("joints", i.joints);
  tell("drives", i.drives);
  tell("other forces", i.forces);
  tell("attenuation", i.attenuated);
  tell("accumulation", i.accumulated);
  if (i.share < 1) fmt::print(", restitution capped to {:.4g}", i.share);
  fmt::print(", {}\n", i.path);
  if (const std::string what = complaint(i, law); !what.empty()) fmt::print("    ! {}\n", what);
  for (const AuditedContact& c : i.parts) print_contact(c);
  if (const int more = i.contacts - static_cast<int>(i.parts.size()); more > 0)
    fmt::print("      and {} contacts with smaller impulses\n", more);
}

void print_impacts(const Audit& a) {
  const auto& all = a.history.impacts;
  fmt::print("\n{} impacts under the law '{}'", all.size(), a.history.law);
  for (const PathCount& p : a.impacts.paths) fmt::print(", {}: {}", p.path, p.count);
  if (all.empty()) {
    fmt::print("\n");
    return;
  }
  fmt::print("; {} gained energy beyond the law's claim", a.impacts.gained);
  if (a.impacts.fallbacks > 0) fmt::print("; {} FELL BACK to the capped law", a.impacts.fallbacks);
  fmt::print("\nworst by relative gain\n");
  for (const std::size_t i : a.impacts.worst) print_impact(all[i], a.history.law);
  const auto listed = [&](std::size_t i) { return std::ranges::count(a.impacts.worst, i) > 0; };
  if (std::ranges::all_of(a.impacts.losses, listed)) return;
  fmt::print("largest losses besides\n");
  for (const std::size_t i : a.impacts.losses)
    if (!listed(i)) print_impact(all[i], a.history.law);
}

Json audit_json(const Audit& a) {
  const Balance& b = a.balance;
  Json j = {{"title", a.title}, {"integrator", a.integrator}, {"impact_law", a.history.law}};
  Json works = Json::object();
  for (const BalanceLine& line : b.lines) works[line.name] = line.work;
  j["balance"] = {{"start", b.start},     {"end", b.end},       {"works", works},
                  {"impacts", b.impacts}, {"sum", b.sum()},     {"change", b.change},
                  {"moved", b.moved()},   {"error", b.error()}, {"tolerance", a.tolerance},
                  {"closes", a.closes()}};
  j["worst_steps"] = Json::array();
  for (const StepError& s : a.steps) j["worst_steps"].push_back({{"t", s.t}, {"error", s.error}});
  const auto list = [&](const std::vector<std::size_t>& picked) {
    Json impacts = Json::array();
    for (const std::size_t i : picked)
      impacts.push_back(impact_json(a.history.impacts[i], a.history.law));
    return impacts;
  };
  j["impacts"] = {{"count", a.history.impacts.size()}, {"gained", a.impacts.gained},
                  {"fallbacks", a.impacts.fallbacks},  {"paths", Json::object()},
                  {"worst", list(a.impacts.worst)},    {"losses", list(a.impacts.losses)}};
  for (const PathCount& p : a.impacts.paths) j["impacts"]["paths"][p.path] = p.count;
  return j;
}

int audit_run(const AuditArguments& args) {
  const RunReader run(args.run);
  Audit a;
  a.history = read_impacts(run, args.run);
  a.balance = read_balance(run, args.run);
  const auto header = Json::parse(run.header());
  a.title = header.value("title", "");
  if (a.title.empty()) a.title = args.run;
  a.integrator = header.value("integrator", "moreau");
  a.impacts = audit_impacts(a.history, args.worst);
  a.steps = worst_steps(run, args.worst);
  a.tolerance = args.tolerance > 0               ? args.tolerance
                : a.integrator == "event-driven" ? event_closure
                                                 : stepping_closure;
  if (args.json) {
    fmt::print("{}\n", audit_json(a).dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    fmt::print("{}: {}\n", a.title, a.integrator);
    print_balance(a);
    print_impacts(a);
  }
  return args.strict && (a.impacts.gained > 0 || !a.closes()) ? 1 : 0;
}

}  // namespace

void add_audit(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<AuditArguments>();
  CLI::App* c = app.add_subcommand("audit", "energy balance of a run, and its impacts");
  c->add_option("run", a->run, "run file")->required();
  c->add_option("--worst", a->worst, "how many impacts and steps of each kind are listed")
      ->check(CLI::Range(0, 1'000'000));
  c->add_option("--tolerance", a->tolerance, "of the balance, relative to the energy moved")
      ->check(CLI::PositiveNumber);
  c->add_flag("--strict", a->strict,
              "exit with 1 if an impact gained energy or books do not close");
  c->add_flag("--json", a->json, "as JSON");
  c->callback([a, &chosen] { chosen = [a] { return audit_run(*a); }; });
}

}  // namespace saltus::cli
