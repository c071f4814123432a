// The energy audit of a run (docs/audit.md): where its energy came from and went, whether the books
// close, and which impacts gained energy. Plain data: what a run file's tables hold.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace saltus {

struct AuditedContact {
  std::string name;
  std::array<double, 3> before{}, after{}, impulse{};  // N, T1, T2 [m/s], [N s]
  double work_normal = 0, work_tangential = 0;         // [J]
  double restitution = 0, mu = 0, feasible = 0;
};

struct AuditedImpact {
  double t = 0;                               // [s]
  double before = 0, after = 0;               // kinetic energy [J]
  double normal = 0, tangential = 0;          // work of contacts [J]
  double joints = 0, drives = 0, forces = 0;  // [J]
  double attenuated = 0, accumulated = 0;     // [J]
  double gained = 0;                          // by the law beyond its claim [J]
  double share = 1, attenuation = 1, bound = 1;
  std::string path;
  int contacts = 0;                   // that took part
  std::vector<AuditedContact> parts;  // the largest of them

  [[nodiscard]] double by_law() const { return normal + tangential + attenuated + accumulated; }
  // What the law adds to the kinetic energy as a share of it; T+/T- - 1 where nothing else acts.
  [[nodiscard]] double relative() const { return before > 0 ? by_law() / before : 0; }
};

struct ImpactHistory {
  std::string law;  // its name
  std::vector<AuditedImpact> impacts;
};

// "gains 21.8 %: newton's law promises nothing"; empty: it keeps its claim.
[[nodiscard]] std::string complaint(const AuditedImpact& impact, const std::string& law);

struct PathCount {
  std::string path;
  std::int64_t count = 0;
};
struct ImpactAudit {
  std::size_t gained = 0, fallbacks = 0;
  std::vector<PathCount> paths;            // in the order of their appearance
  std::vector<std::size_t> worst, losses;  // impacts: largest relative gain, largest loss [J]
};
[[nodiscard]] ImpactAudit audit_impacts(const ImpactHistory& history, std::size_t most);

// A line of the balance: the work of something from the start to the end of the run.
struct BalanceLine {
  std::string name;  // as in EnergyTerms
  std::string about;
  double work = 0;     // at the end [J]
  double largest = 0;  // of its absolute values at the frames [J]
};
struct Balance {
  std::vector<BalanceLine> lines;  // correction and integrator last
  double impacts = 0;              // part of the lines before [J]
  double start = 0, end = 0;       // of the run [s]
  double change = 0;               // of kinetic + potential energy [J]
  double kinetic = 0;              // the largest at the frames [J]
  double potential = 0;            // likewise
  double unaccounted = 0;  // largest change at a frame that the lines do not make up: rounding [J]
  [[nodiscard]] double sum() const;
  [[nodiscard]] double integrator() const;  // largest at the frames [J]
  // By which errors are judged: the largest kinetic energy and every force's largest work [J].
  [[nodiscard]] double moved() const;
  // What rounding makes of energies of this size, and solvers of things at rest [J].
  [[nodiscard]] double rounding() const { return 1e-12 * (kinetic + potential); }
  // Error of the scheme beyond that as a share of the energy moved.
  [[nodiscard]] double error() const;
};

// The balance closes when its error is at most this. Event-driven steps have a tolerance of 1e-12
// each; time stepping is of second order between impacts and meets each within one step.
inline constexpr double event_closure = 1e-9, stepping_closure = 1e-3;

}  // namespace saltus
