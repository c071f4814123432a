#include "saltus/simulate/step_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "saltus/geometry/contact_points.h"

namespace saltus {

namespace {

// What was told of the start is told again only where it became so many times worse.
constexpr double much_worse = 1.5;

// Thinner things stand for points [m].
constexpr double point_width = 1e-6;

double least_width(const Model& m, const ContactShape& s) {
  const Aabb box = bounds(s.shape, SE3{});
  const Vec3 size = box.high - box.low;
  return m.planar ? size.head<2>().minCoeff() : size.minCoeff();
}

Vec3 middle(const Aabb& box, const Vec3& of_frame) {
  const Vec3 mean = 0.5 * (box.low + box.high);
  return mean.allFinite() ? mean : of_frame;
}

bool shape_moves(const Model& m, int shape) {
  const BodyIndex body = m.shapes[shape].body;
  return body.valid() && m.tree_v[m.tree[body]] < m.tree_v[m.tree[body] + 1];
}

}  // namespace

StepWatch::StepWatch(const Model& m) : bodies_(m.body_count()) {
  const auto shapes = static_cast<int>(m.shapes.size());
  for (const ContactShape& s : m.shapes) width_.push_back(least_width(m, s));
  // Of each group the thinnest thing that rests.
  std::vector<int> thinnest(m.groups, -1);
  for (int i = 0; i < shapes; ++i) {
    int& least = thinnest[m.shapes[i].group];
    if (!shape_moves(m, i) && (least < 0 || width_[i] < width_[least])) least = i;
  }
  for (int i = 0; i < shapes; ++i) {
    if (!shape_moves(m, i)) continue;
    const Aabb box = bounds(m.shapes[i].shape, m.shapes[i].frame);
    Mover mover{i, m.shapes[i].body.value, middle(box, m.shapes[i].frame.r),
                std::numeric_limits<double>::infinity(), -1};
    for (int g = 0; g < m.groups; ++g) {
      const int other = thinnest[g];
      if (other < 0) continue;
      int a = i, b = other;
      if (m.law_between(a, b) < 0) continue;
      if (const double room = width_[i] + width_[other]; room < mover.room) {
        mover.room = room;
        mover.partner = other;
      }
    }
    if (mover.partner >= 0) movers_.push_back(mover);
  }
}

void StepWatch::find_turn(const Workspace& w, double dt, double t, Worst& turn) const {
  double most = 0;
  int of = -1;
  for (int i = 0; i < bodies_; ++i)
    if (const double rate = w.V[i].tail<3>().squaredNorm(); rate > most) {
      most = rate;
      of = i;
    }
  const double angle = std::sqrt(most) * dt;
  if (angle > turn_allowed) ++turn.steps;
  if (angle > turn.value) turn = {angle, t, of, turn.steps};
}

void StepWatch::find_travel(const Workspace& w, double dt, double t, Worst& travel) const {
  double most = 0;
  int of = -1;
  for (std::size_t k = 0; k < movers_.size(); ++k) {
    const Mover& s = movers_[k];
    const Vec6& V = w.V[s.body];
    const Vec3 v = V.head<3>() + V.tail<3>().cross(s.at);
    if (const double share = v.squaredNorm() / (s.room * s.room); share > most) {
      most = share;
      of = static_cast<int>(k);
    }
  }
  const double share = std::sqrt(most) * dt;
  if (share > 1) ++travel.steps;
  if (share > travel.value) travel = {share, t, of, travel.steps};
}

// Of the thinner of two shapes; of a point what it meets.
double StepWatch::half_width(const Place& at) const {
  const auto [thin, thick] = std::minmax({width_[at.shape_a], width_[at.shape_b]});
  return 0.5 * (thin > point_width ? thin : thick);
}

void StepWatch::look(const StepResult& step, const State& end, double dt) {
  find_turn(step.work, dt, end.t, turn_);
  find_travel(step.work, dt, end.t, travel_);
  if (end.step == 1) return;  // a start inside each other is told as such
  Worst now;
  for (const Contact& c : step.assembly.contacts) {
    if (!(c.point.gap < 0) || c.key.a < 0 || c.key.b < 0) continue;
    const Place at{.shape_a = c.key.a, .shape_b = c.key.b};
    const double half = half_width(at), share = half > 0 ? -c.point.gap / half : 0;
    if (!(share > now.value)) continue;
    now.value = share;
    if (share > depth_.value) deepest_ = at;
  }
  if (now.value > 1) ++depth_.steps;
  if (now.value > depth_.value) depth_ = {now.value, end.t, 0, depth_.steps};
}

namespace {

std::string steps_text(std::int64_t steps) {
  return steps > 1 ? fmt::format("; so did {} steps", steps) : "";
}

}  // namespace

std::vector<std::string> StepWatch::start(const Model& m, const Workspace& w, double dt) {
  std::vector<std::string> told;
  Worst turn, travel;
  find_turn(w, dt, 0, turn);
  find_travel(w, dt, 0, travel);
  if (turn.value > turn_allowed) {
    turn_told_ = turn.value;
    told.push_back(fmt::format(
        "body '{}' turns by {:.3g} rad a step (expected at most {:g}): a time.step of {:.2g} s or "
        "less resolves {:.3g} rad/s",
        m.bodies[turn.of].name, turn.value, turn_allowed, turn_allowed * dt / turn.value,
        turn.value / dt));
  }
  if (travel.value > 1) {
    travel_told_ = travel.value;
    const Mover& s = movers_[travel.of];
    told.push_back(fmt::format(
        "shape '{}' moves by {:.3g} m a step, more than it and '{}' are thick together, {:.3g} m: "
        "it may pass through; with a time.step of {:.2g} s or less it cannot",
        m.shapes[s.shape].name, travel.value * s.room, m.shapes[s.partner].name, s.room,
        dt / travel.value));
  }
  return told;
}

std::vector<std::string> StepWatch::lines(const Model& m, double dt) const {
  std::vector<std::string> told;
  if (turn_.value > std::max(turn_allowed, much_worse * turn_told_))
    told.push_back(fmt::format(
        "body '{}' turned by {:.3g} rad in the step to t = {:.6g} s (expected at most {:g}{}): "
        "a time.step of {:.2g} s or less resolves that",
        m.bodies[turn_.of].name, turn_.value, turn_.t, turn_allowed, steps_text(turn_.steps),
        turn_allowed * dt / turn_.value));
  if (travel_.value > std::max(1.0, much_worse * travel_told_)) {
    const Mover& s = movers_[travel_.of];
    told.push_back(fmt::format(
        "shape '{}' moved by {:.3g} m in the step to t = {:.6g} s, more than it and '{}' are thick "
        "together, {:.3g} m{}: it may have passed through; with a time.step of {:.2g} s or less it "
        "could not",
        m.shapes[s.shape].name, travel_.value * s.room, travel_.t, m.shapes[s.partner].name, s.room,
        steps_text(travel_.steps), dt / travel_.value));
  }
  if (depth_.value > 1) {
    const double half = half_width(deepest_);
    told.push_back(fmt::format(
        "{} was {:.3g} m deep in the middle of the step to t = {:.6g} s, of the {:.3g} m that the "
        "thinner is thick{}: a time.step of {:.2g} s or less would have seen it in time",
        m.name_of(deepest_), depth_.value * half, depth_.t, 2 * half, steps_text(depth_.steps),
        dt / depth_.value));
  }
  return told;
}

}  // namespace saltus
