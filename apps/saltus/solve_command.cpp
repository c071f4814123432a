// saltus solve: inclusion problems from files, by the solver of choice, with the literature's
// residual beside ours.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltus/commands.h"
#include "saltus/base/error.h"
#include "saltus/problems/problem_file.h"
#include "saltus/solvers/conflict.h"
#include "saltus/solvers/indeterminacy.h"
#include "saltus/solvers/literature.h"
#include "saltus/solvers/solve.h"

namespace saltus::cli {

namespace {

struct SolveArguments {
  std::vector<std::string> files;
  std::string solver = "auto", output;
  double tolerance = 0;
  int max_iterations = 0, repeat = 1;
  bool json = false, history = false, least_norm = false, cold = false;
};

struct Solved {
  SolveReport report;
  LiteratureResidual literature;
  Conflict conflict;  // where it did not converge
  double seconds = 0, cpu_seconds = 0;
};

Solver choose(const SolveArguments& a, double tolerance) {
  Solver solver;
  if (a.solver == "auto")
    solver = AutoSolver{};
  else if (a.solver == "newton")
    solver = Newton{};
  else if (a.solver == "jor")
    solver = ProxJacobi{};
  else
    solver = ProxGaussSeidel{};
  std::visit(
      [&](ProxOptions& o) {
        o.tolerance = tolerance;
        o.history = a.history;
        o.least_norm = a.least_norm;
        if (a.max_iterations > 0)
          o.max_iterations = a.max_iterations;
        else if (a.solver == "newton")
          o.max_iterations = 1000;
      },
      solver);
  return solver;
}

// Newton from a solution down to rounding; kept while the literature's residual falls.
void refine(const Inclusion& p, VecRef Lambda, double tolerance, SolverWorkspace& work, Solved& s) {
  Newton o;
  o.tolerance = 0;
  o.max_iterations = 3;
  Vec trial(p.rows);
  for (int k = 0; k < 5; ++k) {
    trial = Lambda;
    const SolveReport mine = solve(p, trial, o, work);
    s.report.iterations += mine.iterations;
    s.report.newton += mine.iterations;
    const LiteratureResidual now = literature_residual(p, trial, work);
    const Residual judged = residual(p, trial, work);
    if (!(now.relative < s.literature.relative) || judged.value > tolerance) break;
    Lambda = trial;
    s.literature = now;
    note(judged, tolerance, s.report);
  }
}

// Dense factors of the rows: of more they are not worth their time.
constexpr int most_counted = 1500, most_proved = 900;

Solved solve_once(const SolveArguments& a, const ProblemFile& file, VecRef Lambda, double tolerance,
                  SolverWorkspace& work) {
  Solved s;
  const std::clock_t cpu = std::clock();
  const auto begin = std::chrono::steady_clock::now();
  s.report = solve_problem(file, Lambda, choose(a, tolerance), work);
  s.literature = judge(file, Lambda, work).literature;
  if (!file.is_large() && file.rows() <= most_counted) {
    s.report.indeterminate = indeterminacy(file.problem, Lambda);
    if (s.report.converged && s.report.residual <= tolerance &&
        (a.solver == "auto" || a.solver == "newton"))
      refine(file.problem, Lambda, tolerance, work, s);
  }
  if (file.global) {  // by M as the file has it
    const ProblemVerdict verdict = judge(file, Lambda, work);
    const bool enough = file.indefinite > 0 && s.report.converged;
    note(verdict.residual, tolerance, s.report);
    s.report.converged = s.report.converged || enough;
    s.literature = verdict.literature;
  }
  s.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  s.cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  return s;
}

Solved solve_file(const SolveArguments& a, ProblemFile& file, SolverWorkspace& work) {
  const double tolerance = a.tolerance > 0      ? a.tolerance
                           : file.tolerance > 0 ? file.tolerance
                                                : 1e-10;
  if (const Inclusion& p = file.problem; !file.is_large())
    work.reserve(p.rows, static_cast<int>(p.blocks.size()), static_cast<int>(p.W.rows()));
  if (a.cold) file.Lambda.setZero();
  const Vec start = file.Lambda;
  Solved s = solve_once(a, file, file.Lambda, tolerance, work);
  for (int k = 1; k < a.repeat; ++k) {  // the same bits; the least time counts
    file.Lambda = start;
    const Solved again = solve_once(a, file, file.Lambda, tolerance, work);
    s.seconds = std::min(s.seconds, again.seconds);
    s.cpu_seconds = std::min(s.cpu_seconds, again.cpu_seconds);
  }
  if (!s.report.converged && !file.is_large() && file.rows() <= most_proved)
    s.conflict = find_conflict(file.problem, 10 * tolerance);
  return s;
}

std::string kind_of(const ProblemFile& f) {
  if (f.format == "saltus") return "saltus";
  return fmt::format("{} {}{} {}D", f.format, f.global ? "global" : "local",
                     f.rolling ? " rolling" : "", f.dimension == 5 ? 3 : f.dimension);
}

nlohmann::ordered_json to_json(const SolveArguments& a, const ProblemFile& f, const Solved& s,
                               const SolverWorkspace& work) {
  const SolveReport& r = s.report;
  nlohmann::ordered_json j = {{"file", f.path},
                              {"title", f.title},
                              {"kind", kind_of(f)},
                              {"blocks", f.blocks().size()},
                              {"rows", f.rows()},
                              {"asymmetry", f.asymmetry},
                              {"indefinite", f.indefinite},
                              {"sparse", f.is_large()},
                              {"solver", a.solver},
                              {"finished_by", r.solver},
                              {"before", r.before},
                              {"before_gave_up", text_of(r.before_gave_up)},
                              {"converged", r.converged},
                              {"iterations", r.iterations},
                              {"sweeps", r.sweeps},
                              {"newton", r.newton},
                              {"seconds", s.seconds},
                              {"cpu_seconds", s.cpu_seconds},
                              {"residual_m_s", r.residual},
                              {"normal_m_s", r.normal},
                              {"tangential_m_s", r.tangential},
                              {"rotational_rad_s", r.rotational},
                              {"worst_block", r.worst_block},
                              {"indeterminate", r.indeterminate},
                              {"literature_absolute", s.literature.absolute},
                              {"literature_relative", s.literature.relative}};
  if (!s.conflict.blocks.empty())
    j["no_solution"] = {{"miss", s.conflict.miss}, {"blocks", s.conflict.blocks}};
  if (a.history) j["history"] = work.history;
  return j;
}

void print(const SolveArguments& a, const ProblemFile& f, const Solved& s,
           const SolverWorkspace& work) {
  const SolveReport& r = s.report;
  fmt::print("{}\n  {}, {} blocks, {} rows{}\n", f.title, kind_of(f), f.blocks().size(), f.rows(),
             f.is_large() ? fmt::format(", {} entries", f.large.G.nonZeros()) : "");
  if (f.asymmetry > 1e-12)
    fmt::print("  {} asymmetric to {:.1e} of its largest entry: taken as it stands\n",
               f.global ? "mass matrix" : "matrix", f.asymmetry);
  if (f.indefinite > 0)
    fmt::print(
        "  matrix indefinite by up to {:.0e} of its largest entry, as lost digits leave it: solved "
        "and judged as it stands\n",
        f.indefinite);
  fmt::print("  {} by {}: {} iterations ({} sweeps, {} Newton) in {:.3g} ms\n",
             r.converged ? "converged" : "NOT converged", r.solver, r.iterations, r.sweeps,
             r.newton, 1e3 * s.seconds);
  fmt::print(
      "  residual {:.2e} m/s (normal {:.1e} m/s, tangential {:.1e} m/s, rotational {:.1e} "
      "rad/s)\n",
      r.residual, r.normal, r.tangential, r.rotational);
  if (!r.converged && r.worst_block >= 0)
    fmt::print("  worst at {}\n", f.names[static_cast<std::size_t>(r.worst_block)]);
  if (!s.conflict.blocks.empty()) {
    fmt::print(
        "  has no solution: no velocity meets these blocks, the nearest misses by {:.2e} m/s\n",
        s.conflict.miss);
    for (const int block : s.conflict.blocks)
      fmt::print("    {}\n", f.names[static_cast<std::size_t>(block)]);
  }
  fmt::print("  residual of the literature {:.2e} relative, {:.2e} absolute\n",
             s.literature.relative, s.literature.absolute);
  if (r.indeterminate > 0)
    fmt::print("  impulses are indeterminate: {} of their directions move nothing\n",
               r.indeterminate);
  if (a.history)
    for (std::size_t k = 0; k < work.history.size(); ++k)
      fmt::print("  {:>6} {:.6e}\n", k, work.history[k]);
}

int solve_files(const SolveArguments& a) {
  bool all = true;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& path : a.files) {
    ProblemFile file = read_problem(path);
    SolverWorkspace work;
    const Solved s = solve_file(a, file, work);
    all = all && s.report.converged;
    if (a.json)
      list.push_back(to_json(a, file, s, work));
    else
      print(a, file, s, work);
    if (!a.output.empty() && file.is_large())
      throw InputError(a.output, fmt::format("expected a problem of fewer rows than the {} of {}, "
                                             "whose matrix is sparse",
                                             file.rows(), path));
    if (!a.output.empty())
      write_problem(a.output, file.problem, file.Lambda, file.names,
                    a.tolerance > 0 ? a.tolerance : file.tolerance, file.title);
  }
  if (a.json) fmt::print("{}\n", list.size() == 1 ? list[0].dump(2) : list.dump(2));
  return all ? 0 : 1;
}

}  // namespace

void add_solve(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<SolveArguments>();
  CLI::App* c = app.add_subcommand("solve", "one inclusion problem from a file, or several");
  c->add_option("files", a->files, "Siconos .dat, FCLIB .hdf5 or saltus .json")->required();
  c->add_option("-s,--solver", a->solver, "auto (default), newton, sor or jor")
      ->check(CLI::IsMember({"auto", "newton", "sor", "jor"}));
  c->add_option("--tolerance", a->tolerance, "on the residual [m/s]; default: the file's, or 1e-10")
      ->check(CLI::PositiveNumber);
  c->add_option("--max-iterations", a->max_iterations, "of the solver")->check(CLI::PositiveNumber);
  c->add_option("--repeat", a->repeat, "solve so many times and give the least time")
      ->check(CLI::PositiveNumber);
  c->add_flag("--least-norm", a->least_norm, "of indeterminate impulses the smallest");
  c->add_flag("--cold", a->cold, "without the file's warm start");
  c->add_flag("--json", a->json, "one JSON object, or a list of them");
  c->add_flag("--history", a->history, "the residual of every iteration");
  c->add_option("-o,--output", a->output, "write the problem with its solution as a saltus .json");
  c->callback([a, &chosen] { chosen = [a] { return solve_files(*a); }; });
}

}  // namespace saltus::cli
