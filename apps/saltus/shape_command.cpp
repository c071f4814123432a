// saltus shape: what kind of system a scene is, and where its shape takes it (docs/shape.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "apps/saltus/commands.h"
#include "apps/saltus/shape_picture.h"
#include "apps/saltus/write_file.h"
#include "saltus/base/error.h"
#include "saltus/lie/so3.h"
#include "saltus/studies/shape_study.h"

namespace saltus::cli {

namespace {

struct ShapeArguments {
  std::string scene, output;
  std::vector<std::string> set;
  std::vector<double> at;
  int cells = 61;
  bool json = false, grid = false;
};

std::string text_of(const Vec& v) {
  std::string text;
  for (const double x : v)
    text += fmt::format("{}{:.9g}", text.empty() ? "" : ", ", std::abs(x) < 1e-12 ? 0 : x);
  return "(" + text + ")";
}

void print_matrix(const Mat& m, const std::vector<std::string>& names) {
  for (int i = 0; i < m.rows(); ++i) {
    fmt::print("  {:<12}", i < static_cast<int>(names.size()) ? names[i] : "");
    for (int j = 0; j < m.cols(); ++j)
      fmt::print(" {:>13.6g}", std::abs(m(i, j)) < 1e-12 ? 0 : m(i, j));
    fmt::print("\n");
  }
}

void print_kind(const ShapeReport& r) {
  const ShapeSystem& s = r.system;
  std::vector<std::string> variables, axles;
  for (const ShapeVariable& v : s.space.variables) variables.push_back(v.name);
  for (const ConstraintRow& c : s.medium.rows) axles.push_back(c.name);
  fmt::print("net group       {}, reference {}\n", name_of(s.space.group),
             s.at_centre ? "the centre of mass" : s.model.bodies[s.space.reference].name);
  fmt::print("shape           {} variables: {}\n", s.space.p(), fmt::join(variables, ", "));
  fmt::print("at              {}\n", text_of(r.at));
  fmt::print("connection      {}\n", name_of(s.medium.kind));
  fmt::print("class           {}", name_of(r.kind.kind));
  if (!axles.empty())
    fmt::print(": {} {}, rank {} of {}, {} with the rates", axles.size(),
               s.holds.empty() ? "axles" : "rows", r.kind.rank, s.space.n(), r.kind.rank_all);
  fmt::print("\n");
  if (!axles.empty() && r.kind.H.cols() > 0) {
    fmt::print("\ntwists that the axles leave to dynamics, by columns\n");
    print_matrix(r.kind.H, s.space.components);
  }
  if (!axles.empty() && r.kind.rates.cols() < s.space.p()) {
    fmt::print("\ncompatible rates, by columns\n");
    print_matrix(r.kind.rates, variables);
  }
  if (r.kind.N.cols() > 0) {
    fmt::print("\naxle forces in balance among themselves (lambda_stat), by columns\n");
    print_matrix(r.kind.N, axles);
  }
  if (r.form.regular && s.space.p() > 0) {
    fmt::print("\nA of eta = -A r', a column a shape variable\n");
    print_matrix(r.form.A, s.space.components);
  } else if (s.space.p() > 0) {
    const auto& rows = s.medium.rows;  // those of heights restrict the rates only
    const auto heights = std::count_if(rows.begin(), rows.end(), [](const ConstraintRow& c) {
      return c.disc && c.disc->row == LeaningDisc::Row::off;
    });
    fmt::print("\nno A: {}\n",
               r.kind.kind == ShapeClass::under && r.kind.rank + heights >= r.kind.rank_all
                   ? "the axles leave twists to dynamics"
                   : "the shape is singular");
  }
}

void print_stress(const ShapeReport& r) {
  const RestStress& s = *r.stress;
  std::vector<std::string> variables, rows;
  for (const ShapeVariable& v : r.system.space.variables) variables.push_back(v.name);
  for (const ConstraintRow& c : r.system.medium.rows) rows.push_back(c.name);
  fmt::print("\nat rest{}\n", s.balanced ? "" : ": the rows cannot hold it");
  Mat tau(static_cast<int>(variables.size()), 2), lambda(static_cast<int>(rows.size()), 2);
  tau << s.tau_kin, s.chosen.tau;
  lambda << s.lambda_kin, s.chosen.lambda;
  fmt::print("torques: tau_kin, and with lambda_stat {}\n",
             s.chosen.feasible ? "as chosen" : "(none makes all points hold)");
  print_matrix(tau, variables);
  fmt::print("forces: lambda_kin, and as chosen\n");
  print_matrix(lambda, rows);
  for (const RestStress::Point& p : s.points)
    fmt::print("  {:<12} lacks {:.6g} N of normal force, then {:.6g} N\n", p.name, p.missing_kin,
               p.missing);
  if (!s.chosen.feasible)
    fmt::print("  whatever the stress, some point lacks {:.6g} N\n", -s.chosen.room);
}

void print_gait(const ShapeReport& r, const GaitResult& g) {
  const ShapeSystem& s = r.system;
  fmt::print("\ngait {}: {:.6g} s, {}, by {}\n", g.name, g.duration, g.closed ? "closed" : "open",
             g.way);
  for (const GaitResult::Phase& p : g.phases)
    fmt::print("  {:.6g} .. {:.6g} s  {}: {}\n", p.from, p.to, name_of(p.kind),
               p.held.empty() ? "nothing is held" : fmt::format("{}", fmt::join(p.held, ", ")));
  for (const double t : g.removable)
    fmt::print("  passes a removable singularity at t = {:.9f} s\n", t);
  if (g.obstruction && g.strikes)
    fmt::print("  an impact: at t = {:.9f} s {} would strike at {:.3g} m/s\n", g.obstruction->t,
               fmt::join(g.obstruction->rows, ", "), g.obstruction->residual);
  else if (g.obstruction)
    fmt::print("  not possible: at t = {:.9f} s {} would slip by {:.3g} m/s{}\n", g.obstruction->t,
               fmt::join(g.obstruction->rows, ", "), g.obstruction->residual,
               g.obstruction->singular ? "; the axles have lost rank there" : "");
  if (!g.done && !g.obstruction) fmt::print("  stopped at t = {:.9f} s\n", g.t);
  if (!g.done) return;
  fmt::print("  displacement  {} m, rotation {} rad\n", text_of(g.g.r),
             s.space.group == NetGroup::se2 || s.space.group == NetGroup::circle
                 ? fmt::format("{:.9g}", std::abs(g.turn) < 1e-12 ? 0 : g.turn)
                 : text_of(log_so3(g.g.R)));
  if (g.area)
    fmt::print("  area rule     {} = integral of F over {:.6g}\n", text_of(g.area->F),
               g.area->area);
  if (g.singular_inside) fmt::print("  area rule     none: singular shapes lie within\n");
  if (g.state)
    fmt::print("  momentum      p {} with H' {}\n", text_of(g.state->p),
               text_of(Eigen::Map<const Vec>(g.state->H.data(), g.state->H.size())));
  if (g.cost) {
    fmt::print("  torques       at most {} N m, N\n", text_of(g.cost->largest));
    if (g.cost->largest_lambda.size() > 0)
      fmt::print("  axle forces   at most {} N\n", text_of(g.cost->largest_lambda));
    fmt::print("  work          {:.9g} J\n", g.cost->work);
  }
}

// Gray in the picture.
void print_singular(const ShapeGrid& grid) {
  const auto& cells = grid.heights.cells;
  const auto singular =
      std::count_if(cells.begin(), cells.end(), [](const FormPair& f) { return !f.regular; });
  if (singular > 0)
    fmt::print("{} of {} shapes of the picture are singular: gray\n", singular, cells.size());
}

int show_shape(const ShapeArguments& a) {
  if (!a.output.empty() && std::filesystem::path(a.output).extension() != ".svg")
    throw InputError(a.output, "expected a name that ends in .svg");
  if (a.grid && !a.json) throw InputError("--grid", "expected --json with it; -o draws a picture");
  const Scene scene = load_scene(a.scene, a.set);
  const ShapeReport report = shape_report(scene, a.at, a.grid ? a.cells : 0);
  if (!a.output.empty()) {
    const std::string title = scene.title.empty() ? a.scene : scene.title;
    const ShapeGrid grid = shape_grid(report.system, a.cells);
    write_file(a.output, shape_picture(report, title, grid));
    if (!a.json) print_singular(grid);
  }
  if (a.json) {
    fmt::print("{}\n", to_json(report));
  } else {
    print_kind(report);
    if (report.stress) print_stress(report);
    for (const GaitResult& g : report.gaits) print_gait(report, g);
    if (!report.notes.empty())
      fmt::print("\nnot looked at here: {}\n", fmt::join(report.notes, "; "));
  }
  for (const GaitResult& g : report.gaits)
    if (!g.done) return 1;
  return 0;
}

}  // namespace

void add_shape(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<ShapeArguments>();
  CLI::App* c = app.add_subcommand(
      "shape", "what kind of system a scene is, its connection, and where its gaits take it (P4)");
  c->add_option("scene", a->scene, "scene file (YAML)")->required();
  add_overrides(*c, a->set);
  c->add_option("--at", a->at, "shape to classify: a,b,c; default: the scene's start")
      ->delimiter(',')
      ->check(not_empty);
  c->add_option("--cells", a->cells, "of the picture or grid, a side")
      ->check(not_empty)
      ->check(CLI::Range(2, 1000));
  c->add_option("-o,--output", a->output,
                "height functions over shape.plane, gaits on them (.svg)");
  c->add_flag("--json", a->json, "print everything as JSON");
  c->add_flag("--grid", a->grid,
              "with --json: classes, ranks and height functions over shape.plane as well");
  c->callback([a, &chosen] { chosen = [a] { return show_shape(*a); }; });
}

}  // namespace saltus::cli
