// What P4's creatures cost, what kind they are, and how they look while they move.
#include <array>
#include <utility>

#include "apps/saltus/papers/p4.h"
#include "apps/saltus/papers/study.h"

namespace saltus::cli {

namespace {

ShapeReport shape_of_scene(const std::string& name, const std::vector<std::string>& set = {}) {
  return shape_report(load_scene(fmt::format("{}/p4/{}.yaml", scene_folder(), name), set), {});
}

void torques_of(Page& page) {
  page.section(
      "Torques",
      "Inverse dynamics of given joints (P4 eq. 25 to 28): lambda_kin of least norm, and the "
      "torques that go with it.");
  References rows(page);
  const auto add = [&](const std::string& what, const Vec& ours, const std::vector<double>& known,
                       double allowed) {
    for (std::size_t i = 0; i < known.size(); ++i)
      rows.add(fmt::format("{} {}", what, i + 1), ours[static_cast<Eigen::Index>(i)], known[i],
               allowed);
  };
  const ShapeSystem three = shape_of_scene("acm-3").system;
  for (const NamedPath& g : three.gaits) {
    if (g.name != "G1") continue;
    const ShapeInstant now = instant(g.shape, 1);
    const Vec eta = net_twist(three.model, three.space, three.medium, now.r, now.rdot).eta;
    const Torques t = torques(three.model, three.space, three.forces, now, eta);
    add("3 modules, t = 1: axle", t.lambda, {-0.4981499365247, 1.0179334015712, -0.493331397744},
        1e-11);
    add("joint", t.tau, {-0.2680668530869, -0.2598714084491}, 1e-11);
    rows.add("power = dE/dt", t.power, 0.0255484072941, 1e-11);
  }
  rows.show("saltus shape scenes/p4/acm-3.yaml");
  const ShapeSystem five = shape_of_scene("acm-5").system;
  const auto vec = [](const std::vector<double>& x) {
    return Vec(Eigen::Map<const Vec>(x.data(), static_cast<Eigen::Index>(x.size())));
  };
  const ShapeInstant now{
      vec({0.3221088436188, -0.2641669663605, -0.4845189071864, -0.0336817752515}),
      vec({0.3824210936422, 0.4245183316229, -0.1186531175407, -0.5043992878411}),
      vec({-0.3221088436188, 0.2641669663605, 0.4872205484286, 0.040429553198})};
  const Torques t = torques(five.model, five.space, five.forces, now,
                            vec({0.6669329386708, 0, -0.4129591980243}));
  add("5 modules, two stresses left open: axle", t.lambda,
      {-0.1904539733299, 0.0723279253421, 0.0766865441055, -0.0291800673063, 0.0784444186943},
      1e-10);
  add("joint", t.tau, {0.0510773726639, 0.2085589623958, 0.3040793559175, 0.1486498480312}, 1e-10);
  rows.add("power = dE/dt", t.power, -0.0029886735683, 1e-10);
  rows.add("stresses of the axles among themselves", static_cast<double>(t.stat.cols()), 2);
  rows.show("build/release/tests/shape_dynamics_test --gtest_filter=Torques*");
}

void walking(Page& page) {
  page.section(
      "Feet on the ground",
      "P4's remark on walking: with its feet held a quadruped is a system of another class, "
      "from flight to four feet.");
  std::vector<std::vector<std::string>> rows;
  const std::vector<std::pair<std::string, int>> stances = {
      {"[]", 0}, {"[lf]", 3}, {"[lf, rh]", 5}, {"[lf, rf, lh]", 6}, {"[lf, rf, lh, rh]", 6}};
  for (const auto& [held, rank] : stances) {
    const Classification kind = shape_of_scene("quadruped", {"shape.held=" + held}).kind;
    const bool ok = kind.rank == rank;
    page.judge(ok);
    rows.push_back({held, std::string(name_of(kind.kind)), fmt::format("{}", kind.rank),
                    fmt::format("{}{}", rank, ok ? "" : " MISSED")});
  }
  page.grid({"held", "class", "rank of 6", "expected"}, rows,
            "saltus shape scenes/p4/quadruped.yaml --set 'shape.held=[lf, rh]'");
}

void pressed(Page& page) {
  page.section(
      "Feasible lambda_stat",
      "A snake between three pegs, at rest: the least forces carry its weight by friction of "
      "pegs that nothing presses. The stress of least torque within the cones holds.");
  const ShapeReport r = shape_of_scene("peg-snake");
  std::vector<std::vector<std::string>> rows;
  for (const RestStress::Point& p : r.stress->points) {
    page.judge(p.missing_kin > 1 && p.missing <= 1e-9);
    rows.push_back(
        {p.name, fmt::format("{:.4f}", p.missing_kin), fmt::format("{:.1e}", p.missing)});
  }
  page.grid({"peg", "lacks with lambda_kin [N]", "with lambda_stat [N]"}, rows,
            "saltus shape scenes/p4/peg-snake.yaml");
}

struct Portrait {
  std::string scene, about;
  std::vector<std::string> set;
  int across = 0, up = 1;  // axes of the picture
};

const std::vector<Portrait>& portraits() {
  static const std::vector<Portrait> all = {
      {"p4/free-chain", "Three free links: no momentum, and yet a turn", {}},
      {"p4/acm-3", "Wheeled snake, three modules", {}},
      {"p4/acm-21", "Wheeled snake, twenty-one modules", {}},
      {"p4/acm-slip", "Wheeled snake whose axles slip", {}},
      {"p4/unicycle", "Unicycle", {}},
      {"p4/snakeboard", "Snakeboard", {}},
      {"p4/skater", "Skater who jumps, turns and lands", {}, 0, 2},
      {"p4/quadruped", "Quadruped in flight", {}, 0, 2},
      {"p4/purcell", "Purcell's swimmer", {}},
      {"p4/purcell-five", "Purcell's swimmer with five links", {}},
      {"p4/ellipses", "Ellipses in a perfect fluid", {}},
      {"p4/viscous-chain", "Chain with drag and inertia", {}},
      {"p4/continuous-snake", "Continuous snake on ideal edges", {"time.step=0.004", "metrics=[]"}},
      {"p4/earthworm", "Earthworm: a wave of extension", {}},
      {"water/lamprey", "Lamprey of rigid links", {"time.end=2", "metrics=[]"}},
      {"water/turning-fish", "Turning fish", {"time.end=2", "metrics=[]"}},
      {"water/vortex-fish", "Dead fish in a vortex street", {"time.end=1", "metrics=[]"}},
      {"water/flyer", "Hovering flyer", {"time.end=0.2", "metrics=[]"}, 0, 2},
      {"water/caterpillar", "Caterpillar", {"time.end=1.5", "metrics=[]"}},
      {"water/octopus", "Octopus that crawls", {"time.end=1.5", "metrics=[]"}, 0, 2},
      {"water/amphibious-snake", "Amphibious snake in the water", {"time.end=0.5", "metrics=[]"}}};
  return all;
}

// Five instants, from light to dark.
Plot portrait(const Study& s, const Portrait& p) {
  constexpr int instants = 5;
  const std::array<const char*, instants> shades = {"#c6dcf7", "#9bc1ef", "#6aa0e2", "#3a7bd0",
                                                    "#0b4fa8"};
  const std::array<const char*, 3> axes = {"x [m]", "y [m]", "z [m]"};
  Plot plot;
  plot.title = p.about;
  plot.equal_axes = true;
  plot.x_label = axes[static_cast<std::size_t>(p.across)];
  plot.y_label = axes[static_cast<std::size_t>(p.up)];
  const std::size_t last = s.t().size() - 1;
  for (int k = 0; k < instants; ++k)
    for (const auto& line :
         s.skeleton(last * static_cast<std::size_t>(k) / (instants - 1), p.across, p.up))
      plot.curves.push_back({"", line, shades[static_cast<std::size_t>(k)], ""});
  return plot;
}

}  // namespace

void p4_creatures(Page& page, const std::string& folder) {
  torques_of(page);
  walking(page);
  pressed(page);
  page.section(
      "The creatures",
      "Each by its scene, at five instants from light to dark; the run files are beside this "
      "page (saltus view runs/...).");
  for (const Portrait& p : portraits()) {
    std::string name = "p4-look-" + p.scene;
    for (char& c : name)
      if (c == '/') c = '-';
    const Study s(folder, name, p.scene, p.set);
    page.plot(portrait(s, p), p.about, s.command());
  }
}

}  // namespace saltus::cli
