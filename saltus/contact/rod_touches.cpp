#include "saltus/contact/rod_touches.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "saltus/contact/finder.h"
#include "saltus/geometry/segments.h"
#include "saltus/geometry/terrain.h"

namespace saltus {

namespace {

constexpr int most_halvings = 60;    // of a root's interval
constexpr double root_width = 1e-9;  // of an interval, as a share of it
constexpr double same_place = 1e-3;  // of a station's distance: two points nearer than this are one
constexpr int most_pieces = 64;      // that an interval is looked at in, over rough ground

bool excludes(const Model& m, int a, int b) {
  return a >= 0 && b >= 0 &&
         std::binary_search(m.excluded.begin(), m.excluded.end(),
                            std::pair(std::min(a, b), std::max(a, b)));
}

// The rod's segment that a body is a station of, or -1.
std::vector<int> rods_of_bodies(const Model& m) {
  std::vector<int> rod(m.bodies.size(), -1);
  for (std::size_t i = 0; i < m.rods.size(); ++i)
    for (int j = 0; j < m.rods[i].stations; ++j) rod[m.rods[i].first + j] = static_cast<int>(i);
  return rod;
}

bool boxes_meet(const Aabb& a, const Aabb& b, double margin) {
  return ((a.low.array() - margin) <= b.high.array()).all() &&
         ((b.low.array() - margin) <= a.high.array()).all();
}

SE3 pose_of_shape(const Model& m, const Workspace& w, int shape) {
  const ContactShape& s = m.shapes[shape];
  return s.body.valid() ? w.X[s.body] * s.frame : s.frame;
}

}  // namespace

RodTouches::RodTouches(const Model& m) {
  touch_of_.assign(m.shapes.size(), -1);
  line_of_.assign(m.shapes.size(), -1);
  if (m.touches == 0) return;
  points_.resize(m.rods.size());
  point_.resize(m.rods.size());
  for (auto* x : {&loaded_, &on_tube_, &placed_}) x->assign(m.touches, 0);
  const std::vector<int> rod_of = rods_of_bodies(m);
  std::vector<std::vector<int>> shapes(m.bodies.size());
  for (std::size_t s = 0; s < m.shapes.size(); ++s)
    if (m.shapes[s].body.valid()) shapes[m.shapes[s].body].push_back(static_cast<int>(s));
  for (std::size_t i = 0; i < m.rods.size(); ++i) {
    const RodElement& r = m.rods[i];
    if (r.touches == 0) continue;
    points_[i].push_back(point_at(*r.segment, 0));
    for (const RodStation& s : r.segment->stations)
      if (s.heavy) points_[i].push_back(point_at(*r.segment, s.X));
    points_[i].push_back(point_at(*r.segment, r.segment->spec.length));
    point_[i] = points_[i].front();
    for (std::size_t k = 1; k < points_[i].size(); ++k)
      widest_ = std::max(widest_, points_[i][k].X - points_[i][k - 1].X);
    const auto begin = static_cast<int>(lines_.size());
    for (int j = 0; j < r.touches; ++j) {
      int line = begin;
      for (const int s : shapes[r.first_touch + j]) {
        const auto* sphere = std::get_if<Sphere>(&m.shapes[s].shape);
        if (!sphere) continue;
        touch_of_[s] = r.touch0 + j;
        line_of_[s] = line++;
        if (j > 0) continue;
        Line& l = lines_.emplace_back();
        l.rod = static_cast<int>(i);
        l.shape = s;
        l.centre = m.shapes[s].frame.r;
        l.radius = sphere->radius;
      }
    }
  }
  for (std::size_t i = 0; i < m.bodies.size(); ++i)
    tube_.push_back(rod_of[i] >= 0 && m.rods[rod_of[i]].touches > 0);
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    Line& l = lines_[k];
    const BodyIndex own = m.shapes[l.shape].body;
    const auto may_meet = [&](int s) {
      int a = l.shape, b = s;
      const int law = m.law_between(a, b);
      return law >= 0 && !m.contact_laws[law].compliant() && !excludes(m, own, m.shapes[s].body);
    };
    for (int s = 0; s < static_cast<int>(m.shapes.size()); ++s) {
      const BodyIndex body = m.shapes[s].body;
      if (body.valid() && tube_[body]) continue;
      if (may_meet(s)) l.others.push_back(s);
    }
    for (std::size_t j = k + 1; j < lines_.size(); ++j)
      if (lines_[j].rod != l.rod && may_meet(lines_[j].shape))
        l.lines.push_back(static_cast<int>(j));
  }
  spots_.resize(lines_.size());
  box_.resize(lines_.size());
  for (std::size_t k = 0; k < lines_.size(); ++k) spots_[k].resize(points_[lines_[k].rod].size());
}

RodTouches::Spot RodTouches::spot(const Context& c, const Line& line, const RodPoint& point) const {
  const RodElement& r = c.model.rods[line.rod];
  const auto q = c.q.segment(r.q0, r.size);
  const SE3 X = c.work.X[r.base] * generic::pose_of(pose_at(point, q, c.work.rods[line.rod]));
  const Vec6 xi = strain_at(*r.segment, point, q);
  Spot s;
  s.X = point.X;
  s.centre = X.R * line.centre + X.r;
  s.along = X.R * (xi.head<3>() + xi.tail<3>().cross(line.centre));
  return s;
}

RodTouches::Sample RodTouches::sample(const Context& c, const Line& line, const Spot& at,
                                      int other) const {
  Sample s;
  s.X = at.X;
  s.gap = std::numeric_limits<double>::infinity();
  Manifold found;
  contact_points(Sphere{line.radius}, {Mat3::Identity(), at.centre}, c.model.shapes[other].shape,
                 pose_of_shape(c.model, c.work, other), c.reach, found);
  for (int i = 0; i < found.count; ++i) {
    if (!(found.points[i].gap < s.gap)) continue;
    s.near = true;
    s.gap = found.points[i].gap;
    s.slope = -found.points[i].normal.dot(at.along);
  }
  return s;
}

RodTouches::Sample RodTouches::sample_at(const Context& c, const Line& line, double X, int other) {
  RodPoint& point = point_[line.rod];
  put_point(*c.model.rods[line.rod].segment, X, point);
  return sample(c, line, spot(c, line, point), other);
}

// The minimum between two places whose slopes lead to each other, by false position (Illinois).
RodTouches::Sample RodTouches::least(const Context& c, const Line& line, Sample a, Sample b,
                                     int other) {
  const double width = b.X - a.X;
  Sample best = a.gap < b.gap ? a : b;
  double fa = a.slope, fb = b.slope;
  int side = 0;
  for (int k = 0; k < most_halvings && b.X - a.X > root_width * width; ++k) {
    // A slope that jumps, at an edge, is bisected: false position would creep.
    const double share = k % 4 == 3 ? 0.5 : std::clamp(fa / (fa - fb), 1e-3, 1 - 1e-3);
    const Sample m = sample_at(c, line, a.X + share * (b.X - a.X), other);
    if (!m.near) break;
    if (m.gap < best.gap) best = m;
    if (std::abs(m.slope) < 1e-12) break;
    if (m.slope < 0) {
      a = m, fa = m.slope;
      if (side < 0) fb *= 0.5;
      side = -1;
    } else {
      b = m, fb = m.slope;
      if (side > 0) fa *= 0.5;
      side = 1;
    }
  }
  return best;
}

void RodTouches::find_spots(const Context& c) {
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    const Line& line = lines_[k];
    Aabb& box = box_[k];
    box.low.setConstant(std::numeric_limits<double>::infinity());
    box.high = -box.low;
    double widest = 0;
    for (std::size_t i = 0; i < points_[line.rod].size(); ++i) {
      Spot& s = spots_[k][i] = spot(c, line, points_[line.rod][i]);
      box.low = box.low.cwiseMin(s.centre);
      box.high = box.high.cwiseMax(s.centre);
      if (i > 0) widest = std::max(widest, s.X - spots_[k][i - 1].X);
    }
    // Between its stations a rod leaves the box by less than half of their distance.
    box.low.array() -= line.radius + 0.5 * widest;
    box.high.array() += line.radius + 0.5 * widest;
  }
}

RodTouches::Valley RodTouches::valley(const Context& c, int line, int other, int touch,
                                      const Vec& X) {
  const Line& l = lines_[line];
  const RodElement& r = c.model.rods[l.rod];
  Valley v;
  v.high = r.segment->spec.length;
  for (const RodPoint& p : points_[l.rod]) {
    if (p.X < X[touch]) v.low = std::max(v.low, p.X);
    if (p.X > X[touch]) v.high = std::min(v.high, p.X);
  }
  for (int j = 0; j < r.touches; ++j) {
    const double there = X[r.touch0 + j];
    if (there < 0) continue;
    if (there < X[touch]) v.low = std::max(v.low, there);
    if (there > X[touch]) v.high = std::min(v.high, there);
  }
  const double width = v.high - v.low, d = same_place * width;
  if (!(X[touch] - d > v.low && X[touch] + d < v.high)) return v;
  v.here = sample_at(c, l, X[touch], other);
  const Sample before = sample_at(c, l, X[touch] - d, other),
               after = sample_at(c, l, X[touch] + d, other);
  if (!v.here.near || !before.near || !after.near) return v;
  // Of a rod that lies there the gap is no valley: such a point stays where it is.
  v.curvature = (after.slope - before.slope) / (2 * d);
  v.isolated = 0.125 * v.curvature * width * width > touch_depth;
  return v;
}

// A place that carries load: to the minimum whose slope it stands on.
void RodTouches::follow(const Context& c, int line, int other, int touch, Vec& X) {
  const Valley v = valley(c, line, other, touch, X);
  if (!v.isolated) return;
  const Line& l = lines_[line];
  const RodElement& r = c.model.rods[l.rod];
  const std::vector<RodPoint>& points = points_[l.rod];
  const Sample& here = v.here;
  double low = v.low, high = v.high;
  if (here.slope == 0) return;
  Sample end = sample_at(c, l, here.slope < 0 ? high : low, other);
  if (end.near && (here.slope < 0) == (end.slope < 0)) {  // it went over the next station
    double next = here.slope < 0 ? r.segment->spec.length : 0;
    for (const RodPoint& p : points)
      if (here.slope < 0 ? p.X > high : p.X < low)
        next = here.slope < 0 ? std::min(next, p.X) : std::max(next, p.X);
    (here.slope < 0 ? high : low) = next;
    end = sample_at(c, l, next, other);
  }
  if (!end.near || (here.slope < 0) == (end.slope < 0)) return;
  X[touch] = here.slope < 0 ? least(c, l, here, end, other).X : least(c, l, end, here, other).X;
}

// Minima of a line against a shape, between stations and places that are taken.
void RodTouches::scan_shape(const Context& c, int line, int other, const Vec& X, double depth) {
  const Line& l = lines_[line];
  const RodElement& r = c.model.rods[l.rod];
  samples_.clear();
  bool any = false;
  for (const Spot& s : spots_[line]) {
    samples_.push_back(sample(c, l, s, other));
    any = any || samples_.back().near;
  }
  if (!any) return;
  for (int j = 0; j < r.touches; ++j)
    if (const double there = X[r.touch0 + j]; there >= 0)
      samples_.push_back(sample_at(c, l, there, other));
  if (const auto* field = std::get_if<HeightField>(&c.model.shapes[other].shape)) {
    const double cell = std::min(field->terrain->dx, field->terrain->dy);
    for (std::size_t i = 1; i < spots_[line].size(); ++i) {
      const double from = spots_[line][i - 1].X, width = spots_[line][i].X - from;
      const int pieces = std::clamp(static_cast<int>(std::ceil(2 * width / cell)), 1, most_pieces);
      for (int k = 1; k < pieces; ++k)
        samples_.push_back(sample_at(c, l, from + k * width / pieces, other));
    }
  }
  std::sort(samples_.begin(), samples_.end(),
            [](const Sample& a, const Sample& b) { return a.X < b.X; });
  for (std::size_t i = 0; i + 1 < samples_.size(); ++i) {
    const Sample &a = samples_[i], &b = samples_[i + 1];
    if (!a.near || !b.near || !(a.slope < 0 && b.slope > 0)) continue;
    const double width = b.X - a.X, top = std::min(a.gap, b.gap);
    // Where the tangents meet: below it no valley goes; half of that depth again for what is none.
    const double t = (b.gap - a.gap - b.slope * width) / (a.slope - b.slope);
    const double bottom = a.gap + a.slope * std::clamp(t, 0.0, width);
    if (2 * (top - bottom) < depth || bottom - (top - bottom) > c.reach) continue;
    const Sample found = least(c, l, a, b, other);
    if (found.gap < top - depth) minima_.push_back({l.rod, found.X, found.gap, false});
  }
}

// The nearest places of two tubes, where either of them is between stations.
void RodTouches::scan_tube(const Context& c, int a, int b, double depth) {
  const Line &la = lines_[a], &lb = lines_[b];
  const double radius = la.radius + lb.radius;
  RodPoint &pa = point_[la.rod], &pb = point_[lb.rod];
  const RodSegment &sa = *c.model.rods[la.rod].segment, &sb = *c.model.rods[lb.rod].segment;
  for (std::size_t i = 0; i + 1 < spots_[a].size(); ++i)
    for (std::size_t k = 0; k + 1 < spots_[b].size(); ++k) {
      const Spot &a0 = spots_[a][i], &a1 = spots_[a][i + 1], &b0 = spots_[b][k],
                 &b1 = spots_[b][k + 1];
      const double wa = a1.X - a0.X, wb = b1.X - b0.X;
      const SegmentNearest chord =
          nearest(segment_between(a0.centre, a1.centre), segment_between(b0.centre, b1.centre));
      if (chord.distance - radius > c.reach + 0.25 * (wa + wb)) continue;
      const double length_a = (a1.centre - a0.centre).norm(),
                   length_b = (b1.centre - b0.centre).norm();
      double x = a0.X + (length_a > 0 ? 0.5 + chord.s / length_a : 0.5) * wa;
      double y = b0.X + (length_b > 0 ? 0.5 + chord.t / length_b : 0.5) * wb;
      Spot at, bt;
      // Gauss and Newton on the distance of the centres, within the pieces.
      for (int round = 0; round < 20; ++round) {
        put_point(sa, std::clamp(x, a0.X, a1.X), pa);
        at = spot(c, la, pa);
        put_point(sb, std::clamp(y, b0.X, b1.X), pb);
        bt = spot(c, lb, pb);
        const Vec3 d = bt.centre - at.centre;
        const double aa = at.along.squaredNorm(), bb = bt.along.squaredNorm(),
                     ab = at.along.dot(bt.along), da = d.dot(at.along), db = d.dot(bt.along);
        const double det = aa * bb - ab * ab;
        const bool across = det > 1e-6 * aa * bb;
        double dx = across ? (bb * da - ab * db) / det : da / aa;
        double dy = across ? (ab * da - aa * db) / det : -(db - ab * dx) / bb;
        // At a bound the other goes alone.
        if ((at.X + dx <= a0.X || at.X + dx >= a1.X)) {
          dx = std::clamp(at.X + dx, a0.X, a1.X) - at.X;
          dy = (ab * dx - db) / bb;
        }
        if (bt.X + dy <= b0.X || bt.X + dy >= b1.X) {
          dy = std::clamp(bt.X + dy, b0.X, b1.X) - bt.X;
          dx = std::clamp(at.X + (da + ab * dy) / aa, a0.X, a1.X) - at.X;
        }
        x = at.X + dx;
        y = std::clamp(bt.X + dy, b0.X, b1.X);
        if (std::abs(dx) <= root_width * wa && std::abs(dy) <= root_width * wb) break;
      }
      const double gap = (bt.centre - at.centre).norm() - radius;
      if (gap > c.reach) continue;
      double top = std::numeric_limits<double>::infinity();
      for (const Spot* p : {&a0, &a1})
        for (const Spot* s : {&b0, &b1})
          top = std::min(top, (s->centre - p->centre).norm() - radius);
      if (!(gap < top - depth)) continue;
      const auto inside = [](const Spot& s, const Spot& s0, const Spot& s1) {
        const double edge = same_place * (s1.X - s0.X);
        return s.X - s0.X > edge && s1.X - s.X > edge;
      };
      if (inside(at, a0, a1)) minima_.push_back({la.rod, at.X, gap, true});
      if (inside(bt, b0, b1)) minima_.push_back({lb.rod, bt.X, gap, true});
    }
}

void RodTouches::scan(const Context& c, const Vec& X, double depth) {
  minima_.clear();
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    const Line& line = lines_[k];
    for (const int s : line.others)
      if (boxes_meet(box_[k], bounds(c.model.shapes[s].shape, pose_of_shape(c.model, c.work, s)),
                     c.reach))
        scan_shape(c, static_cast<int>(k), s, X, depth);
    for (const int j : line.lines)
      if (boxes_meet(box_[k], box_[j], c.reach)) scan_tube(c, static_cast<int>(k), j, depth);
  }
}

bool RodTouches::is_tube(const Model& m, int shape) const {
  const BodyIndex body = m.shapes[shape].body;
  return body.valid() && tube_[body];
}

void RodTouches::find_loaded(const Model& m, const State& state) {
  std::fill(loaded_.begin(), loaded_.end(), 0);
  std::fill(on_tube_.begin(), on_tube_.end(), 0);
  for (const ContactImpulse& k : state.contacts)
    for (const auto& [shape, other] : {std::pair(k.key.a, k.key.b), std::pair(k.key.b, k.key.a)})
      if (const int j = touch_of_[shape]; j >= 0) {
        loaded_[j] = 1;
        if (is_tube(m, other)) on_tube_[j] = 1;
      }
}

// The deepest first to places that are free, or carry nothing; one that is at a minimum already
// stands for it. With `follow` one that is loaded against another rod goes to its minimum if that
// is no further than a station away.
bool RodTouches::assign(const Model& m, bool follow, Vec& X, double& deepest) {
  std::sort(minima_.begin(), minima_.end(), [](const Minimum& a, const Minimum& b) {
    return std::tie(a.gap, a.rod, a.X) < std::tie(b.gap, b.rod, b.X);
  });
  std::fill(placed_.begin(), placed_.end(), 0);
  bool any = false;
  for (const Minimum& found : minima_) {
    const RodElement& r = m.rods[found.rod];
    const double apart = r.segment->spec.length / static_cast<double>(points_[found.rod].size());
    int to = -1, spare = -1;
    double nearest = apart;
    bool known = false;
    for (int j = r.touch0; j < r.touch0 + r.touches; ++j) {
      if (X[j] < 0) {
        if (to < 0) to = j;
        continue;
      }
      if (!loaded_[j] && !placed_[j] && spare < 0) spare = j;
      const double off = std::abs(X[j] - found.X);
      if (off <= same_place * apart) known = true;
      if (!follow || !found.of_tube || !on_tube_[j] || placed_[j] || !(off < nearest)) continue;
      nearest = off;
      to = j;
    }
    if (known) continue;
    deepest = std::max(deepest, -found.gap);
    if (to < 0) to = spare;
    if (to < 0) continue;
    X[to] = found.X;
    placed_[to] = 1;
    any = true;
  }
  return any;
}

bool RodTouches::choose(const Model& m, const Workspace& w, VecIn q, double margin, State& state) {
  // Stations that far off may have the margin between them.
  const Context c{m, w, q, margin + widest_};
  find_spots(c);
  before_ = state.touches;
  find_loaded(m, state);
  for (int j = 0; j < m.touches; ++j)
    if (!loaded_[j]) state.touches[j] = -1;
  for (const ContactImpulse& k : state.contacts)
    for (const auto& [shape, other] : {std::pair(k.key.a, k.key.b), std::pair(k.key.b, k.key.a)})
      if (touch_of_[shape] >= 0 && !is_tube(m, other))
        follow(c, line_of_[shape], other, touch_of_[shape], state.touches);
  scan(c, state.touches, touch_depth);
  std::erase_if(minima_, [&](const Minimum& x) { return x.gap > margin; });
  double left = 0;
  (void)assign(m, true, state.touches, left);
  return state.touches != before_;
}

RodTouches::Run RodTouches::run(const Model& m, const Workspace& w, VecIn q, const ContactKey& key,
                                const Vec& touches) {
  const Context c{m, w, q, widest_};
  for (const auto& [shape, other] : {std::pair(key.a, key.b), std::pair(key.b, key.a)}) {
    const int touch = touch_of_[shape];
    if (touch < 0 || touches[touch] < 0 || line_of_[shape] < 0 || is_tube(m, other)) continue;
    const Valley v = valley(c, line_of_[shape], other, touch, touches);
    return {v.isolated, v.here.slope, v.curvature};
  }
  return {};
}

bool RodTouches::add_missing(const Model& m, const Workspace& w, const State& state, Vec& touches,
                             double& deepest) {
  const Context c{m, w, state.q, widest_};
  find_loaded(m, state);
  find_spots(c);
  scan(c, touches, touch_depth);
  std::erase_if(minima_, [](const Minimum& x) { return !(x.gap < -touch_depth); });
  deepest = 0;
  return assign(m, false, touches, deepest);
}

}  // namespace saltus
