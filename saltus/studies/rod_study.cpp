#include "saltus/studies/rod_study.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <tuple>

#include "saltus/lie/so3.h"
#include "saltus/rods/gauss.h"
#include "saltus/rods/statics.h"

namespace saltus {

namespace {

constexpr double pi = std::numbers::pi;

RodProperties diagonal(const Vec6& stiffness, const Vec6& inertia) {
  RodProperties p;
  p.stiffness = stiffness.asDiagonal();
  p.inertia = inertia.asDiagonal();
  return p;
}

// Inextensible, unshearable, EI = rhoA = 1, in the plane.
SegmentSpec planar_rod(double length, int functions, int cells) {
  SegmentSpec spec;
  spec.length = length;
  spec.basis = {{Strain::bend_z, BasisKind::legendre, functions}};
  spec.cells = cells;
  spec.points = 3;
  Vec6 mass;
  mass << 1, 1, 1, 0, 0, 0;
  spec.given = [mass](double) { return diagonal(Vec6::Ones(), mass); };
  return spec;
}

struct RodRest {
  Vec3 tip = Vec3::Zero();
  Mat3 turned = Mat3::Identity();  // of the tip
  double angle = 0;                // of it, in the plane
  double steepest = 0;             // largest angle of a station
  Vec6 root = Vec6::Zero();        // stress there, in its frame
};

RodRest rest_of(const SegmentSpec& spec, const RodLoads& loads, const SE3& base = {},
                const Vec& guess = {}) {
  const Rod rod = make_rod({spec});
  RodState state;
  state.base = base;
  state.q = guess.size() > 0 ? guess : Vec(Vec::Zero(rod.size));
  state.v = Vec::Zero(rod.size);
  RodRest r;
  if (!equilibrium(rod, base, loads, state.q).converged) {
    r.tip.setConstant(std::nan(""));
    r.angle = r.steepest = std::nan("");
    r.root.setConstant(std::nan(""));
    return r;
  }
  RodWork work;
  work.resize(rod);
  rod_motion(rod, state, work);
  const auto angle = [](const SE3& X) { return std::atan2(X.R(1, 0), X.R(0, 0)); };
  const SE3 tip = rod_tip(rod, work);
  r.tip = tip.r;
  r.turned = tip.R;
  r.angle = angle(tip);
  for (int i = 0; i <= rod.segments[0].tip(); ++i)
    r.steepest = std::max(r.steepest, std::abs(angle(rod_pose(work, 0, i))));
  r.root = internal_wrench(rod, state, loads, work, Vec6::Zero(), Vec::Zero(rod.size), 0, 0);
  return r;
}

// A root of n equations near x by Newton with central differences.
Vec root_of(const std::function<Vec(const Vec&)>& error, Vec x) {
  for (int k = 0; k < 7; ++k) {
    Mat J(x.size(), x.size());
    for (int c = 0; c < x.size(); ++c) {
      const Vec d = 1e-5 * std::abs(x[c]) * Vec::Unit(x.size(), c);
      J.col(c) = (error(x + d) - error(x - d)) / (2 * d[c]);
    }
    x -= J.partialPivLu().solve(error(x));
  }
  return x;
}

using Figures = std::vector<RodFigure>;

void add_elastica(Figures& all) {
  for (const Vec4& row :
       {Vec4(1, .30172077, .05643324, .46135195), Vec4(10, .81060902, .55499560, 1.43028554)}) {
    const RodRest r = rest_of(planar_rod(1, 14, 48), {.tip_force = Vec3(0, -row[0], 0)});
    const std::string name = fmt::format("elastica, P L^2/EI = {:g}: ", row[0]);
    all.push_back({name + "w/L", -r.tip.y(), row[1], 6e-9});
    all.push_back({name + "u/L", 1 - r.tip.x(), row[2], 6e-9});
    all.push_back({name + "tip angle", -r.angle, row[3], 6e-9});
  }
}

void add_roll_up(Figures& all) {
  const RodRest r = rest_of(planar_rod(1, 1, 1), {.tip_moment = Vec3(0, 0, 2 * pi)});
  all.push_back({"rolled up by 2 pi EI/L: tip from the root", r.tip.norm(), 0, 1e-12});
}

void add_bend(Figures& all) {  // R = 100, 1 x 1, E = 1e7, nu = 0, P = 600 out of the plane
  SegmentSpec spec;
  spec.length = 100 * pi / 4;
  for (int c = 0; c < 6; ++c)
    spec.basis.push_back({static_cast<Strain>(c), BasisKind::legendre, 8});
  const double E = 1e7, G = 5e6, I = 1.0 / 12;
  Vec6 H;
  H << E, G, G, G * 2 * I, E * I, E * I;
  spec.given = [H](double) { return diagonal(H, Vec6::Ones()); };
  const Vec6 rest = (Vec6() << 1, 0, 0, 0, 0, -0.01).finished();
  spec.rest = [rest](double) { return rest; };
  spec.cells = 24;
  const RodRest r =
      rest_of(spec, {.tip_force = Vec3(0, 0, 600)}, {exp_so3(Vec3(0, 0, pi / 2)), Vec3::Zero()});
  all.push_back({"bend of 45 degrees: tip, along", r.tip.y(), 47.15044, 1.1e-5});
  all.push_back({"aside", r.tip.x(), 15.68480, 1.1e-5});
  all.push_back({"along the load", r.tip.z(), 53.47486, 1.1e-5});
}

void add_princeton(Figures& all) {  // the table prints no shear stiffness: 2e-6 of it is left
  SegmentSpec spec;
  spec.length = 0.508;
  for (const Strain c : {Strain::torsion, Strain::bend_y, Strain::bend_z})
    spec.basis.push_back({c, BasisKind::legendre, 7});
  Vec6 H;
  H << 1, 1, 1, 3.101700, 36.21784, 2.427361;
  spec.given = [H](double) { return diagonal(H, Vec6::Ones()); };
  spec.cells = 16;
  const double P = 4.448 / std::numbers::sqrt2;
  const RodRest r = rest_of(spec, {.tip_force = Vec3(0, P, -P)});
  all.push_back({"Princeton beam: u along", r.tip.x() - 0.508, -.003751, 2.5e-6});
  all.push_back({"aside", r.tip.y(), .056086, 2.5e-6});
  all.push_back({"across", r.tip.z(), -.003972, 2.5e-6});
  all.push_back({"twist", std::abs(log_so3(r.turned)[0]), .00673, 3e-5});
}

void add_timoshenko(Figures& all) {  // small deflections: at a thousandth of the load
  const GivenSection s = section_moments(CircleSection{.25});
  const double E = 1e6, GA = 27.0 / 28 * 1e4 * s.area, share = 1e-3;
  SegmentSpec spec;
  spec.length = 3;
  for (const Strain c : {Strain::stretch, Strain::shear_y, Strain::bend_z})
    spec.basis.push_back({c, BasisKind::legendre, 3});
  Vec6 H;
  H << E * s.area, GA, GA, 1, E * s.I_y, E * s.I_z;
  spec.given = [H](double) { return diagonal(H, Vec6::Ones()); };
  spec.cells = 8;
  const RodRest r = rest_of(spec, {.tip_force = Vec3(0, -15 * share, 0)});
  all.push_back({"Timoshenko: tip", -r.tip.y() / share, .06777, 6e-6});
}

void add_tree(Figures& all) {
  const auto arm = [](double angle, double P, double& moment) {
    const SE3 base{exp_so3(Vec3(0, 0, angle)), 0.1 * Vec3(std::cos(angle), std::sin(angle), 0)};
    const RodRest r = rest_of(planar_rod(1, 12, 48),
                              {.gravity = Vec3(0, -1, 0), .tip_force = Vec3(0, -P, 0)}, base);
    moment += wrench_to_parent(base, r.root)[5];
    return r.tip;
  };
  for (const auto& [phi, P, x0, y0, x1, y1] :
       {std::tuple(-pi / 4, 0.0, .7181943935, -.8321895527, .8422571844, .7058181587),
        std::tuple(-pi / 2, 0.2, 0.0, -1.1, 1.0912463953, -.1234714020)}) {
    double moment = 0;
    Vec3 tips[4];
    for (int k = 0; k < 4; ++k) tips[k] = arm(phi + k * pi / 2, k == 0 ? P : 0, moment);
    const std::string name = fmt::format("tree of four rods, P = {:g}: ", P);
    all.push_back({name + "arm 0, x", tips[0].x(), x0, 2e-9});
    all.push_back({"y", tips[0].y(), y0, 2e-9});
    all.push_back({"arm 1, x", tips[1].x(), x1, 2e-9});
    all.push_back({"y", tips[1].y(), y1, 2e-9});
    all.push_back({"moment about the pin", moment, 0, 1e-9});
  }
}

// --- contact ------------------------------------------------------------------------------------

RodRest heavy(double length, double R, const SE3& base = {}) {
  return rest_of(planar_rod(length, 12, 48),
                 {.gravity = Vec3(0, -1, 0), .tip_force = Vec3(0, R, 0)}, base);
}

void add_lowered(Figures& all) {
  struct Row {
    double h, l, R, shear, x, slope;
  };
  for (const Row& row :
       {Row{.01, 0.9211837872, 0.3070488548, 0.6141349324, 0.9211093450, .01929939},
        Row{.10, 1.6396451952, 0.5458491901, 1.0937960052, 1.6354564103, .10852184},
        Row{.50, 2.4762797381, 0.8134745283, 1.6628052098, 2.4058003532, .36256241}}) {
    const auto error = [&](const Vec& x) -> Vec {
      const RodRest r = heavy(x[0], x[1]);
      return Vec2(r.tip.y() + row.h, r.angle);
    };
    const Vec x = root_of(error, Vec2(1.01 * row.l, 0.99 * row.R));
    const RodRest r = heavy(x[0], x[1]);
    const std::string name = fmt::format("lowered onto a plane, h = {:g}: ", row.h);
    all.push_back({name + "free length", x[0], row.l, 2e-9});
    all.push_back({"lift-off force", x[1], row.R, 2e-9});
    all.push_back(
        {"clamp moment, sqrt(2 EI w h)", std::abs(r.root[5]), std::sqrt(2 * row.h), 2e-9});
    all.push_back({"clamp shear", -r.root[1], row.shear, 2e-9});
    all.push_back({"run", r.tip.x(), row.x, 2e-9});
    all.push_back({"largest slope (of 145 stations)", r.steepest, row.slope, 2e-6});
  }
  const Vec R = root_of([](const Vec& x) -> Vec { return Vec::Constant(1, heavy(2, x[0]).angle); },
                        Vec::Constant(1, 2.0 / 3));
  all.push_back({"L = 2: line contact below h2", -heavy(2, R[0]).tip.y(), 0.2194579306, 2e-10});
}

void add_cylinder(Figures& all) {
  const RodRest point = heavy(1, 0);
  all.push_back({"over a cylinder, a = r = 1: apex curvature", std::abs(point.root[5]), .4969333999,
                 1.1e-10});
  all.push_back({"tip, x", point.tip.x(), .9912463953, 1.1e-10});
  all.push_back({"y", point.tip.y(), -.1234714020, 1.1e-10});
  const auto free_part = [](double phi) {
    const SE3 base{exp_so3(Vec3(0, 0, -phi)), Vec3(std::sin(phi), std::cos(phi) - 1, 0)};
    return heavy(2 - phi, 0, base);
  };
  const auto error = [&](const Vec& x) -> Vec {
    return Vec::Constant(1, std::abs(free_part(x[0]).root[5]) - 1);
  };
  const double phi = root_of(error, Vec::Constant(1, .38))[0];
  const RodRest r = free_part(phi);
  all.push_back({"a = 2, r = 1: phi of the arc", phi, 0.3825969385, 2e-10});
  all.push_back({"point force at lift-off", std::abs(r.root[1]), 1.5004619858, 2e-10});
  all.push_back({"tension there", r.root[0], 0.6038265420, 2e-10});
  all.push_back({"tip, x", r.tip.x(), 1.5343889413, 2e-10});
  all.push_back({"y", r.tip.y(), -1.1761282945, 2e-10});
}

// A part of a column against a wall, clamped at its root, with the force (-P, -R) at its end; from
// a half sine of curvature.
RodRest column(double length, double P, double R, double curvature) {
  SegmentSpec spec = planar_rod(length, 12, 48);
  const Rod rod = make_rod({spec});
  Vec guess = Vec::Zero(rod.size);
  for (const GaussPoint& p : gauss_points(30)) {
    const Mat6X B = basis_at(rod.segments[0], p.x * length);
    for (int k = 0; k < rod.size; ++k)
      guess[k] += (2 * k + 1) * p.weight * B(5, k) * curvature * std::sin(pi * p.x);
  }
  return rest_of(spec, {.tip_force = Vec3(-P, -R, 0)}, {}, guess);
}

void add_walls(Figures& all) {  // L = 1, the wall at d = .02
  const double d = .02;
  const auto quarter = [&](double P) { return column(.25, P, 0, 2 * d * pi * pi); };
  const double P = root_of(
      [&](const Vec& x) -> Vec { return Vec::Constant(1, quarter(x[0]).tip.y() / d - 0.5); },
      Vec::Constant(1, 39.5))[0];
  all.push_back(
      {"between walls, d = .02: first touch, P (4 pi^2 = 39.478)", P, 39.497922290, 2e-8});
  all.push_back({"shortening", 4 * (.25 - quarter(P).tip.x()), .0009875700, 5e-10});
  // Half of the free part: level in the middle of the gap, and no moment where it touches a line.
  const auto half = [&](double l, double load, double R) {
    return column(l / 2, load, R, 2 * pi * d / (l * l));
  };
  const auto off = [&](double l, double load, double R) -> Vec {
    const RodRest r = half(l, load, R);
    return Vec2((r.tip.y() - d / 2) / d, r.root[5]);
  };
  const auto add = [&](const char* what, double l, double load, double R) {
    all.push_back(
        {fmt::format("{}: shortening", what), 2 * (l - 2 * half(l, load, R).tip.x()), 0, 1e-8});
    return &all.back();
  };
  const Vec point = root_of([&](const Vec& x) { return off(.5, x[0], x[1]); }, Vec2(158, 6.3));
  all.push_back({"point to line: P (16 pi^2 = 157.914)", point[0], 157.8187917, 2e-6});
  all.push_back({"contact force", 2 * std::abs(point[1]), 12.64068660, 2e-7});
  add("point to line", .5, point[0], point[1])->reference = .0012011422;
  const double P25 = 25 * pi * pi;
  const Vec line = root_of([&](const Vec& x) { return off(x[0], P25, x[1]); }, Vec2(.4, 12.4));
  all.push_back({"line, P = 25 pi^2: free length", line[0], .3998118743, 1e-8});
  all.push_back({"force of each lift-off", std::abs(line[1]), 12.36605326, 2e-7});
  add("line", line[0], P25, line[1])->reference = .0015029423;
  const auto load = [](double l) { return std::pow(2 * pi / (1 - 2 * l), 2); };
  const Vec flat =
      root_of([&](const Vec& x) { return off(x[0], load(x[0]), x[1]); }, Vec2(.3332, 21.3));
  all.push_back({"the flat part buckles: P (36 pi^2 = 355.306)", load(flat[0]), 354.9848075, 4e-6});
  all.push_back({"force of each lift-off", std::abs(flat[1]), 21.3617294, 3e-7});
  add("buckling off", flat[0], load(flat[0]), flat[1])->reference = .0018042738;
}

}  // namespace

std::vector<RodFigure> beam_figures() {
  Figures all;
  add_elastica(all);
  add_roll_up(all);
  add_bend(all);
  add_princeton(all);
  add_timoshenko(all);
  add_tree(all);
  return all;
}

std::vector<RodFigure> contact_figures() {
  Figures all;
  add_lowered(all);
  add_cylinder(all);
  add_walls(all);
  return all;
}

}  // namespace saltus
