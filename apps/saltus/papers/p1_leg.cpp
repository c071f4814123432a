// Chapter 6: the jumping leg, in the completion of scenes/p1/leg*.yaml.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/saltus/capability_picture.h"
#include "apps/saltus/papers/p1.h"

namespace saltus::cli {

namespace {

constexpr double leg_gravity = 9.81;

struct Posture {
  const char* name;
  std::array<double, 6> q;  // q4 ... q9 [rad], Table 6.2
};
constexpr Posture guess{"guess", {0, 0, 0, 0, 0.09, -0.61}};
constexpr Posture optimum{"printed optimum", {0.52, -0.5, -0.46, 0.15, 0.03, 0.67}};

// R = R3(q6) R2(q5) R1(q4), as a quaternion.
Quat turned(const Posture& p) {
  return Quat(Eigen::AngleAxisd(p.q[2], Vec3::UnitZ()) * Eigen::AngleAxisd(p.q[1], Vec3::UnitY()) *
              Eigen::AngleAxisd(p.q[0], Vec3::UnitX()));
}

// Clear of the ground: the pin alone holds the foot, and the height changes nothing.
std::vector<std::string> start_of(const Posture& p) {
  const Quat R = turned(p);
  return {fmt::format("initial.body.q=[0,1,0,{:.17g},{:.17g},{:.17g},{:.17g}]", R.w(), R.x(), R.y(),
                      R.z()),
          fmt::format("initial.coxa={:.17g}", p.q[3]), fmt::format("initial.femur={:.17g}", p.q[4]),
          fmt::format("initial.tibia={:.17g}", p.q[5])};
}

std::string scene_path(const char* name) {
  return fmt::format("{}/p1/{}.yaml", scene_folder(), name);
}

CapabilityRequest request_of(const Vec3& direction) {
  CapabilityRequest r;
  r.point = "body";
  r.pins = {"tibia:0,-0.09,0"};
  r.direction = direction;
  return r;
}

CapabilityReport ask(const char* scene, const Posture& p, const Vec3& direction) {
  return capability_of(load_scene(scene_path(scene), start_of(p)), request_of(direction));
}

const Vec3 up_and_forward = Vec3(-1, 1, 0).normalized();
constexpr const char* asking =
    "saltus capability scenes/p1/leg-jump.yaml --point body --pin tibia:0,-0.09,0 --direction "
    "-1,1,0 --set initial.body.q=[0,1,0,1,0,0,0]";

void capabilities(Page& page) {
  page.section(
      "Chapter 6: what the motors of the leg can do",
      "Theirs: Figs 6.1 to 6.13 are lost, and the text prints neither joint axes nor inertias, "
      "pulley ratios or gains; it says that capabilities are mostly below 200 m/s^2. So this leg "
      "is a completion (scenes/p1/leg-jump.yaml), and figures of the thesis cannot be met. The "
      "references are recomputations of the completion by two methods. 'directional' is P1's (6.4) "
      "to (6.6) with both bounds; 'free' the linear program over the torques.");
  const CapabilityReport a = ask("leg-jump", guess, up_and_forward),
                         b = ask("leg-jump", guess, Vec3::UnitY()),
                         c = ask("leg-jump", optimum, up_and_forward);
  // 1e-7 of 100 m/s^2, the digits of the recomputation.
  constexpr double digits = 1e-9;
  const auto row = [](const char* what, double ours, double reference) {
    return FigureRow{what, ours, reference, "recomputed", digits, "m/s^2"};
  };
  page.table(
      {row("guess, along (-1, 1, 0): directional", a.directional.value, 112.93271340),
       row("guess, along (-1, 1, 0): free", a.free.value, 233.43681685),
       row("guess, upwards: directional", b.directional.value, 265.37402916),
       row("guess, upwards: free", b.free.value, 379.06885745),
       row("printed optimum, along (-1, 1, 0): directional", c.directional.value, 268.13124865),
       row("printed optimum, along (-1, 1, 0): free", c.free.value, 910.92762478)},
      asking);
  const Vec3 tau(0, 0.4, 1.2);
  const Vec3 first = a.stance.acceleration(tau);
  const Vec F = a.stance.Fs * tau + a.stance.F0;
  // The pin's rows are along its normal, upwards, and across it: lengths do not depend on which.
  page.table({{"torques (0, 0.4, 1.2) N m: acceleration along x", first.x(), 52.459435,
               "recomputed", 1e-8, "m/s^2"},
              {"acceleration along y", first.y(), 158.330130, "recomputed", 1e-8, "m/s^2"},
              {"foot force", F.norm(), std::hypot(1.8415986, 34.1755752), "recomputed", 1e-8, "N"}},
             asking);
  for (const auto& [report, name] : {std::pair{&a, "guess"}, std::pair{&c, "printed optimum"}}) {
    Plot p = outline_plots(*report).front();
    p.title = fmt::format("accelerations of the body, {}", name);
    page.plot(p, "All that the torques can give, seen along the lateral axis.", asking);
  }
  const CapabilityField field = capability_field(
      load_scene(scene_path("leg-jump"), start_of(guess)), request_of(up_and_forward),
      {"femur", -1.2, 1.2, 33}, {"tibia", -1.5, 1.5, 41});
  Plot map = field_plots(field).front();
  map.title = "directional, along (-1, 1, 0), over femur and tibia: " + map.title;
  page.plot(map,
            "Theirs, Fig. 6.1: several separate ridges. The other angles are those of the guess; "
            "empty: no torques within 2.5 N m do it.",
            "saltus capability scenes/p1/leg-jump.yaml --point body --pin tibia:0,-0.09,0 "
            "--direction -1,1,0 --set initial.body.q=[0,1,0,1,0,0,0] --field femur=-1.2:1.2:33 "
            "--field tibia=-1.5:1.5:41 -o map.svg");
}

std::string value_text(const Capability& c) {
  return c.feasible ? fmt::format("{:.2f}", c.value) : "infeasible";
}

// What an optimised posture is worth, and how much of it the springs are.
void springs(Page& page) {
  page.section("Table 6.2: posture or preload?",
               "The printed springs (5 N m/rad) outweigh motors of 2.5 N m: at Table 6.2's "
               "postures they pull with up to 7.3 N m and store the energy below before any motor "
               "works. So a posture is judged without springs.");
  std::vector<std::vector<std::string>> rows;
  for (const Posture& p : {guess, optimum}) {
    const CapabilityReport bare = ask("leg-jump", p, up_and_forward),
                           sprung = ask("leg-springs", p, up_and_forward);
    const double rest[3] = {0, 0.43633231299858238, -0.78539816339744831};
    double stored = 0;
    for (int i = 0; i < 3; ++i) stored += 2.5 * std::pow(p.q[3 + i] - rest[i], 2);  // ks / 2
    rows.push_back({p.name, value_text(bare.directional), value_text(bare.free),
                    value_text(sprung.directional), value_text(sprung.free),
                    fmt::format("{:.3f}", stored)});
  }
  page.grid({"posture", "no springs: directional [m/s^2]", "free", "springs: directional", "free",
             "stored [J]"},
            rows, asking);
  page.text(
      "Without springs the printed optimum is 2.4 times better than the guess, as the thesis "
      "claims in kind; it is far from the best posture of the completion, which "
      "python/examples/jump_posture.py looks for from random starts.");
}

void jumps(Page& page, const std::string& folder) {
  const Study jump(folder, "leg-jump", "p1/leg-jump", {});
  page.section("The jump",
               "From the guess at rest with torques (0, 0.4, 1.2) N m; the foot sticks until it "
               "pushes no more, then the leg flies. Theirs: jumps of 2 cm and of 40 cm.");
  double lift_off = NAN;
  for (const ModeSample& m : jump.modes())
    if (m.t > 0 && m.members.empty() && std::isnan(lift_off)) lift_off = m.t;
  const double rate = (jump.metric("com_end") - jump.metric("com_middle")) / 0.01 +
                      leg_gravity / 2 * 0.01;  // at 0.01 s
  const double speed = rate + leg_gravity * (0.01 - lift_off);
  const double rise =
      jump.metric("com_middle") + rate * rate / (2 * leg_gravity) - jump.metric("com_start");
  // Friction of 1e5 stands for a pinned foot: where the load vanishes it slips, by 1/mu.
  constexpr double pinned = 1e-5;
  page.table(
      {{"lift-off", lift_off, 0.00534470, "recomputed", pinned, "s"},
       {"velocity of the centre of mass upwards there", speed, 0.8086744, "recomputed", pinned,
        "m/s"},
       {"rise of the centre of mass to the apex", rise, 0.0358109, "recomputed", pinned, "m"}},
      jump.command());
  const auto& energy = jump.summary()["energy"];
  page.judge(std::abs(energy["integrator"].get<double>()) < 1e-9);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [scene, what] :
       {std::pair{"leg", "no springs"}, std::pair{"leg-springs", "springs of 5 N m/rad"}}) {
    const Study s(folder, scene, fmt::format("p1/{}", scene), {});
    const auto& e = s.summary()["energy"];
    const double gained = s.metric("apex") - s.metric("com_start");
    const double lost = e["contacts"].get<double>() + e["friction"].get<double>();
    page.judge(lost <= 1e-9 && s.summary()["impacts_that_gained"] == 0);
    rows.push_back({what, fmt::format("{:.4f}", gained),
                    fmt::format("{:.4f}", e["motors"].get<double>()), fmt::format("{:.4f}", lost)});
    Plot p = plot_over_time(fmt::format("the leg jumps and lands, {}", what), "height [m]");
    p.curves = {{"body", pairs_of(s.t(), s.body("body", 1)), "#1f6feb", ""},
                {"tibia", pairs_of(s.t(), s.body("tibia", 1)), "#cf222e", ""}};
    page.plot(p, "On ground of friction 0.5, motors for 5 ms; it lands by the impact law.",
              s.command());
  }
  page.grid({"with friction and landing", "rise of the centre of mass [m]", "work of motors [J]",
             "contacts and friction [J]"},
            rows, "saltus run scenes/p1/leg.yaml");
  page.text("Contacts and friction never give energy: their sum is not positive in either run.");
}

}  // namespace

void add_leg(Page& page, const std::string& folder) {
  capabilities(page);
  springs(page);
  jumps(page, folder);
}

}  // namespace saltus::cli
