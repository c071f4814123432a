// The page of P4: the values of our models of its systems, ours beside the references, the same
// motion three ways, and the height functions. P4 prints no figure of its own.
#include "apps/saltus/papers/p4.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <numbers>

#include "apps/saltus/papers/page.h"
#include "apps/saltus/papers/papers.h"
#include "apps/saltus/papers/study.h"
#include "apps/saltus/shape_picture.h"
#include "apps/saltus/write_file.h"
#include "saltus/studies/rod_study.h"
#include "saltus/studies/shape_study.h"

namespace saltus::cli {

namespace {

ShapeReport creature(const std::string& name, const std::vector<double>& at = {}) {
  return shape_report(load_scene(fmt::format("{}/p4/{}.yaml", scene_folder(), name), {}), at);
}

std::string command_of(const std::string& name) {
  return fmt::format("saltus shape scenes/p4/{}.yaml", name);
}

const GaitResult& gait_of(const ShapeReport& r, const std::string& name) {
  for (const GaitResult& each : r.gaits)
    if (each.name == name) return each;
  throw std::runtime_error(fmt::format("no gait is called '{}'", name));
}

void mechanical(Page& page) {
  page.section("Momentum alone", "Free chain and falling cat: total momentum is zero (P4 eq. 14).");
  References rows(page);
  const ShapeReport chain = creature("free-chain");
  rows.pose("circle about (1, 1)", gait_of(chain, "aside"), -0.0171766214049, 0.0049064920844,
            -0.0564793909203);
  rows.add("circle about zero, turn", gait_of(chain, "around zero").turn, 0, 1e-12);
  const ShapeSystem& s = chain.system;
  const int i = s.space.variable("a1"), j = s.space.variable("a2");
  Vec r = Vec::Zero(s.space.p());
  r[i] = std::numbers::pi / 2;
  r[j] = -std::numbers::pi / 4;
  rows.add("F(pi/2, -pi/4), rotation", curvature(s.model, s.space, s.medium, r, i, j)[2],
           -0.0182233347546704, 1e-13);
  rows.show(command_of("free-chain"));
  const Mat3 R = gait_of(creature("falling-cat"), "flip").g.R;
  rows.add("half turn of the cat, R11", R(0, 0), -1);
  rows.add("R22", R(1, 1), -0.50864387757156);
  rows.add("R23", R(1, 2), -0.86097700655068);
  rows.show(command_of("falling-cat"));
}

void kinematic(Page& page) {
  page.section("Axles alone", "Wheeled snake and unicycle: the axles decide (P4 eq. 17, 18).");
  References rows(page);
  const ShapeReport three = creature("acm-3", {0.3, -0.8});
  rows.add("A(.3, -.8), Vx of r1", three.form.A(0, 0), -0.369976551427, 1e-12);
  rows.add("Vx of r2", three.form.A(0, 1), -0.5134586606261, 1e-12);
  rows.add("Om of r1", three.form.A(2, 0), 0.6232539006215, 1e-12);
  rows.add("Om of r2", three.form.A(2, 1), 0.1552033732753, 1e-12);
  rows.pose("gait G1", gait_of(three, "G1"), -0.21717303612214, -0.12801531131089, 0);
  rows.pose("serpenoid, through two removable singularities", gait_of(three, "serpenoid"),
            3.8325578566662, -1.3680780745987, 0);
  rows.show(command_of("acm-3"));
  const ShapeReport wheels = creature("unicycle");
  rows.pose("wheel loop", gait_of(wheels, "loop"), 0, 0.07345046286577639, 0);
  rows.pose("rates 6 and 2", gait_of(wheels, "arc"), -0.05717038886265, 0.59450220141332,
            3.33333333333333);
  rows.show(command_of("unicycle"));
}

void mixed(Page& page) {
  page.section("Between",
               "Snakeboard and trikke: axles, and the momentum that they leave (P4 eq. "
               "19, 20).");
  References rows(page);
  const ShapeReport board = creature("snakeboard");
  const GaitResult& drive = gait_of(board, "drive");
  rows.pose("snakeboard after 6 pi", drive, 1.0776520406, -0.0033000857, -0.1743768713);
  rows.add("its P along the board", drive.state->P[0], 0.7045274430);
  rows.show(command_of("snakeboard"));
  // The reference starts at rest, Vx = 0, with what the gait makes of p; the scene with p = 0.
  const ShapeSystem trikke = creature("trikke").system;
  const ReducedMotion sway =
      reduced_motion(trikke.model, trikke.space, trikke.forces, trikke.gaits.front().shape,
                     {{}, Vec(Vec::Zero(3))}, {2 * std::numbers::pi});
  const ReducedState& end = sway.at.at(0);
  rows.add("trikke from rest, after 2 pi, x", end.g.r.x(), 0.896970068954);
  rows.add("y", end.g.r.y(), -0.009083980385);
  rows.add("turn", end.turn, -0.0859056137759);
  // p of the reference is for H = (L cos phi - c, 0, sin phi), with phi = 0 there: .9 P along x.
  rows.add("its p", 0.9 * end.P[0], 9.0779775229253);
  rows.show("build/release/tests/shape_dynamics_test --gtest_filter=*Trikke");
}

void swimmers(Page& page, const std::string& folder) {
  page.section("Fluids",
               "Stokes drag alone, and momentum with added mass; no inertia, or no drag.");
  References rows(page);
  const auto height = [&](const std::string& name, double at, double x, double turn) {
    const ShapeReport c = creature(name);
    const ShapeSystem& s = c.system;
    const int i = s.space.variable("a1"), j = s.space.variable("a2");
    Vec r = Vec::Zero(s.space.p());
    r[i] = r[j] = at;
    const Vec F = curvature(s.model, s.space, s.medium, r, i, j);
    rows.add(fmt::format("{}: F({:g}, {:g}), x", name, at, at), F[0], x, 1e-11);
    rows.add("its turn", F[2], turn, 1e-11);
  };
  height("purcell", 0, -5.0 / 81, 0);
  height("purcell", 0.5, -0.0758043952454, -0.0475958413753);
  height("ellipses", 0, -1.240559156633, 0);
  height("ellipses", 0.5, -1.401014793602, -0.2901531483535);
  const ShapeReport three = creature("purcell");
  const GaitResult& circle = gait_of(three, "circle");
  rows.add("circle of radius 1: integral of F", circle.area->F[0], -0.1557543226283);
  rows.add("of d1 B2 - d2 B1 alone", circle.area->dB[0], -0.4007940712534);
  rows.pose("five links, a wave", gait_of(creature("purcell-five"), "wave"), -0.2939484379995,
            -0.0341027858900, 0);
  rows.show(command_of("purcell"));
  for (const char* name : {"purcell", "ellipses", "free-chain"}) {
    const std::string file = fmt::format("p4-{}.svg", name);
    const ShapeReport seen = creature(name);
    write_file(fmt::format("{}/{}", folder, file),
               shape_picture(seen, name, shape_grid(seen.system, 41)));
    page.text(fmt::format("Height functions: runs/{}", file));
  }
}

// The end of a run of a planar creature.
struct End {
  double x, y, turn;
};
End end_of_run(const std::string& folder, const std::string& scene, const std::string& how,
               std::vector<std::string> set) {
  set.push_back("integrator.type=" + how);
  const Study s(folder, fmt::format("p4-{}-{}", scene, how), "p4/" + scene, set);
  return {s.metric("x"), s.metric("y"), s.metric("turn")};
}

void three_ways(Page& page, const std::string& folder) {
  page.section("The same motion three ways",
               "Connection or reduced dynamics (saltus shape) against runs: the connection as an "
               "integrator, and the full equations with multipliers, event-driven.");
  References rows(page);
  const auto compare = [&](const std::string& scene, const std::string& gait, bool connection,
                           std::vector<std::string> set) {
    const ShapeReport report = creature(scene);
    const GaitResult& exact = gait_of(report, gait);
    const auto against = [&](const std::string& how, double allowed) {
      const End e = end_of_run(folder, scene, how, set);
      rows.add(fmt::format("{}, {}: x", scene, how), e.x, exact.g.r.x(), allowed);
      rows.add("y", e.y, exact.g.r.y(), allowed);
      rows.add("turn", e.turn, exact.turn, allowed);
    };
    if (connection) against("connection", 1e-9);
    set.push_back("integrator.tolerance=1e-11");
    against("event-driven", 1e-8);
  };
  compare("free-chain", "aside", false, {"time.step=0.01"});
  compare("snakeboard", "drive", false, {"time.step=0.031415926535897934"});
  rows.show("saltus run scenes/p4/snakeboard.yaml --set integrator.type=event-driven");
  const End viscous = end_of_run(folder, "viscous-chain", "event-driven", {});
  rows.add("drag and inertia, first cycle: x", viscous.x, -0.0692927877139);
  rows.add("y", viscous.y, 0.0920995999679);
  rows.add("turn", viscous.turn, 0.1671368898463);
  rows.show("saltus run scenes/p4/viscous-chain.yaml --set integrator.type=event-driven");
  for (const char* scene : {"acm-3", "purcell-five", "purcell", "unicycle"}) {
    const ShapeReport report = creature(scene);
    const GaitResult& exact = report.gaits[scene == std::string("acm-3") ? 1 : 0];
    const End e = end_of_run(folder, scene, "connection", {});
    rows.add(fmt::format("{}, integrator: connection: x", scene), e.x, exact.g.r.x());
    rows.add("y", e.y, exact.g.r.y());
    rows.add("turn", e.turn, exact.turn);
  }
  rows.show("saltus run scenes/p4/acm-3.yaml");
}

// Errors of time stepping against the connection, and their order.
void orders(Page& page, const std::string& folder) {
  page.section("Time stepping", "The free chain by Moreau's scheme, against the connection.");
  const ShapeReport report = creature("free-chain");
  const GaitResult& exact = gait_of(report, "aside");
  std::vector<std::vector<std::string>> rows;
  double last = 0;
  for (const double dt : {0.04, 0.02, 0.01}) {
    const End e = end_of_run(folder, "free-chain", "moreau", {fmt::format("time.step={}", dt)});
    const double error = std::hypot(e.x - exact.g.r.x(), e.y - exact.g.r.y(), e.turn - exact.turn);
    const double order = last > 0 ? std::log2(last / error) : std::nan("");
    if (last > 0) page.judge(order > 1.8);
    rows.push_back({fmt::format("{:g}", dt), fmt::format("{:.3e}", error),
                    last > 0 ? fmt::format("{:.2f}", order) : ""});
    last = error;
  }
  page.grid({"step [s]", "error", "order"}, rows, "saltus run scenes/p4/free-chain.yaml");
}

void rods(Page& page) {
  page.section(
      "Rods",
      "Section 8: Cosserat rods by strain coefficients, at rest (docs/rods.md). What touches is "
      "worked out by its free part, closed by what holds at a lift-off.");
  References rows(page);
  const auto add = [&](const std::vector<RodFigure>& figures) {
    for (const RodFigure& f : figures) rows.add(f.what, f.ours, f.reference, f.allowed);
    rows.show("build/release/tests/rod_study_test");
  };
  add(beam_figures());
  add(contact_figures());
}

}  // namespace

std::string p4_page(const std::string& folder, int& misses) {
  Page page("P4: shape moves the body",
            "Boyer and Porez: Multibody system dynamics for bio-inspired locomotion, sections 2 to "
            "9. The paper prints no parameter, gait or result: the models are ours (scenes/p4, "
            "scenes/water, docs/shape.md, docs/fluids.md), the references were recomputed by two "
            "independent methods.");
  mechanical(page);
  kinematic(page);
  mixed(page);
  swimmers(page, folder);
  three_ways(page, folder);
  orders(page, folder);
  rods(page);
  p4_water(page, folder);
  p4_creatures(page, folder);
  page.section("What the paper leaves unsaid, and what we take", "");
  page.list(
      {"Fig. 8's flowchart is lost: rebuilt from section 7 (saltus/analysis/net_recursion.h).",
       "(27), (28): the inverse of A' is the least norm; the power does not depend on it.",
       "r1 = r2 of the wheeled snake is a singularity of three rows, removable where r1' + "
       "r2' = 0.",
       "p and eta_r depend on the choice of H and J, the motion does not."});
  misses = page.misses();
  return page.html();
}

}  // namespace saltus::cli
