#include "saltus/geometry/cylinder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace saltus {

namespace {

constexpr double standing = 0.05;             // sine of the tilt below which a cap's rim is carried
constexpr double upright = 1e-10;             // below, the lowest point has no direction
constexpr double lying = 0.1;                 // sine between axis and plane
constexpr double facing = 0.95;               // cosine between the direction and a face that rests
constexpr double flat_to_rim = 1e-3;          // sine below which a rim and an edge cross in a plane
constexpr double along = 1e-4;                // sine below which a side lies along an edge
constexpr double clearly_better_axis = 1e-8;  // over size, as between faces and edges of polytopes
constexpr double on_the_rim = 1e-7;           // over size

double side(const Vec3& n, const Vec3& u) { return (n - n.dot(u) * u).norm(); }

double lowest(const PlacedCylinder& b, const Vec3& n) {  // min n . p
  return n.dot(b.centre) - b.half_length * std::abs(n.dot(b.axis())) - b.radius * side(n, b.axis());
}

// The rim points that a plane of normal n (towards the cylinder) may carry; 0 and 1: the lowest of
// the + and - cap, 2 to 5 and 6 to 9: fixed on the + and - rim.
template <class Emit>
void rim_points(const PlacedCylinder& b, const Vec3& n, const Emit& emit) {
  const Vec3 u = b.axis(), down = n.dot(u) * u - n;
  const double sine = down.norm();
  for (int cap = 0; cap < 2; ++cap) {
    const Vec3 centre = b.centre + (cap ? -1 : 1) * b.half_length * u;
    if (sine > upright) emit(Vec3(centre + b.radius / sine * down), cap);
    if (sine > standing || (n.dot(u) > 0) != (cap == 1)) continue;
    for (int k = 0; k < 4; ++k)
      emit(Vec3(centre + (k < 2 ? 1 : -1) * b.radius * b.R.col(1 + k % 2)), 2 + 4 * cap + k);
  }
}

// The directions n across the unit vector e in which a line along e, seen from which the cylinder's
// centre is at d, is separated most, locally: n = cos x f1 + sin x f2 has the separation
//   A cos x + B sin x - h k |cos x| - r w,  w^2 = 1 - k^2 cos^2 x,
// with kinks where it meets the side (cos x = 0), and is stationary where it meets a rim.
struct EdgeFamily {
  Vec3 f1, f2;
  double A, B, h, r, k2, c2;  // c2 = 1 - k2

  [[nodiscard]] double slope(double sx, double cx) const {
    const double w = std::sqrt(sx * sx + c2 * cx * cx), sign = cx < 0 ? -1 : 1;
    return -(A - sign * h) * sx + B * cx - r * k2 * sx * cx / std::max(w, 1e-300);
  }
  // The root of the slope between low, where it is positive, and high.
  [[nodiscard]] Vec3 root(double low, double high) const {
    double x = 0.5 * (low + high);
    for (int i = 0; i < 80; ++i) {
      const double sx = std::sin(x), cx = std::cos(x), w = std::sqrt(sx * sx + c2 * cx * cx);
      const double f = slope(sx, cx), sign = cx < 0 ? -1 : 1;
      const double df = -(A - sign * h) * cx - B * sx -
                        r * k2 * ((cx * cx - sx * sx) / w - k2 * sx * sx * cx * cx / (w * w * w));
      (f > 0 ? low : high) = x;
      double next = x - f / df;
      if (!(df < 0 && next > low && next < high)) next = 0.5 * (low + high);
      if (std::abs(next - x) < 1e-16) break;
      x = next;
    }
    return std::cos(x) * f1 + std::sin(x) * f2;
  }
};

template <class Emit>
void across_edge(const Vec3& e, const Vec3& d, const PlacedCylinder& b, const Emit& emit) {
  constexpr int quarter = 12;  // samples in a quarter of the circle
  static const auto circle = [] {
    std::array<Vec2, quarter + 1> points;
    for (int i = 0; i <= quarter; ++i) {
      const double x = i * std::numbers::pi / (2 * quarter);
      points[i] = Vec2(std::cos(x), std::sin(x));
    }
    points[quarter][0] = 0;
    return points;
  }();
  const Vec3 u = b.axis();
  const double c = u.dot(e);
  Vec3 f1 = u - c * e;
  const double k = f1.norm();
  if (k < 1e-9) {  // along the axis: every direction meets the side
    const Vec3 radial = d - d.dot(e) * e;
    const Vec3 n = radial.norm() > 0 ? Vec3(radial.normalized()) : e.unitOrthogonal();
    emit(n);
    emit(Vec3(-n));
    return;
  }
  f1 /= k;
  const Vec3 f2 = e.cross(f1);
  emit(f2);
  emit(Vec3(-f2));
  for (const double end : {1.0, -1.0}) {  // of the cylinder: x from -pi/2 to pi/2 about it
    const EdgeFamily family{end * f1,          f2,       end * d.dot(f1), d.dot(f2),
                            b.half_length * k, b.radius, k * k,           c * c};
    bool rising = false;
    for (int i = -quarter; i <= quarter; ++i) {
      const Vec2& p = circle[std::abs(i)];
      const bool now = family.slope(i < 0 ? -p[1] : p[1], p[0]) > 0;
      const double width = std::numbers::pi / (2 * quarter);
      if (rising && !now) emit(family.root((i - 1) * width, i * width));
      rising = now;
    }
  }
}

struct Best {
  enum Kind { none, face, cap, edge, vertex } kind = none;
  double gap = -infinity;
  Vec3 n = Vec3::UnitZ();
  int i = 0;
};

// --- against a polytope or a segment
// --------------------------------------------------------------

struct PolytopeCylinder {
  const Placed& a;
  const PlacedCylinder& b;
  Collector& out;
  double size, enough;
  double least = -infinity;  // solids apart have no point nearer than their distance

  [[nodiscard]] double highest(const Vec3& n) const {  // of a
    double most = -infinity;
    for (const Vec3& v : a.v) most = std::max(most, n.dot(v));
    return most;
  }
  void add(double gap, const Vec3& on_a, const Vec3& on_b, const Vec3& n, int feature) const {
    if (gap >= least) out.add(gap, on_a, on_b, n, feature, a.radius, 0);
  }
  // Features: 0 nearest; 1 to 10 rim points; then vertices, crossings with the side, with the rim,
  // and edges along the side.
  [[nodiscard]] int vertex_feature(int i) const { return 16 + i; }
  [[nodiscard]] int side_feature(int e) const { return 16 + a.vertices() + e; }
  [[nodiscard]] int rim_feature(int e) const { return 16 + a.vertices() + a.edges() + 2 * e; }
  [[nodiscard]] int along_feature(int e) const { return 16 + a.vertices() + 3 * a.edges() + 5 * e; }

  // Whether no direction between the normals of an edge's faces, along which the edge is the
  // highest of a, separates by more than `gap`: n . (c - x) bounds it, of any c of the cylinder and
  // x of the edge, and over the arc that is largest at an end, or at most an end's over cos(half
  // the arc).
  [[nodiscard]] bool is_ruled_out(int edge, double gap) const {
    const Hull::Edge& e = a.hull->edges[edge];
    if (e.left < 0) return false;  // a segment
    const Vec3 &n = a.n[e.left], &m = a.n[e.right];
    const Vec3 d = b.farthest(-n - m) - a.v[e.tail];
    const double most = std::max(n.dot(d), m.dot(d));
    const double half = std::sqrt(std::max(0.5 * (1 + n.dot(m)), 0.0));
    return (most > 0 ? most / half : most) <= gap - 1e-12 * size;
  }

  // False as soon as a direction separates by more than enough.
  bool find(Best& best) const {
    const double tolerance = clearly_better_axis * size;
    // What a direction has to exceed; it separates by no more than from one vertex of a.
    const auto threshold = [&](Best::Kind kind) {
      return best.gap + (best.kind == kind ? 0 : tolerance);
    };
    const auto consider = [&](Best::Kind kind, const Vec3& n, double gap, int i) {
      if (gap > threshold(kind)) best = {kind, gap, n, i};
      return !(gap > enough);
    };
    const auto from_vertex = [&](Best::Kind kind, const Vec3& n, const Vec3& v, int i) {
      const double low = lowest(b, n);
      if (low - n.dot(v) <= threshold(kind)) return true;
      return consider(kind, n, low - highest(n), i);
    };
    for (int f = 0; f < static_cast<int>(a.n.size()); ++f)
      if (!consider(Best::face, a.n[f], lowest(b, a.n[f]) - a.offset[f], f)) return false;
    for (int cap = 0; cap < 2; ++cap) {
      const Vec3 n = cap ? Vec3(b.axis()) : Vec3(-b.axis());
      if (!consider(Best::cap, n, lowest(b, n) - highest(n), cap)) return false;
    }
    for (int i = 0; i < a.edges(); ++i) {
      if (is_ruled_out(i, threshold(Best::edge))) continue;
      bool near = true;
      const Vec3& tail = a.v[a.hull->edges[i].tail];
      across_edge(a.along(i).normalized(), b.centre - tail, b,
                  [&](const Vec3& n) { near = near && from_vertex(Best::edge, n, tail, i); });
      if (!near) return false;
    }
    for (int i = 0; i < a.vertices(); ++i) {
      const Vec3 n = -distance_to(b, a.v[i]).normal;
      if (!from_vertex(Best::vertex, n, a.v[i], i)) return false;
      const Vec3 d = b.centre - a.v[i], radial = d - d.dot(b.axis()) * b.axis();
      if (!(radial.norm() > 1e-9 * b.radius)) continue;
      const Vec3 m = radial.normalized();  // a vertex within may leave by the side
      if (!from_vertex(Best::vertex, m, a.v[i], i)) return false;
    }
    return true;
  }

  [[nodiscard]] bool over_face(int f, const Vec3& p) const {
    const Hull::Face& face = a.hull->faces[f];
    for (int k = 0; k < face.count; ++k) {
      const Vec3 &v = a.v[a.hull->loop[face.first + k]],
                 &w = a.v[a.hull->loop[face.first + (k + 1) % face.count]];
      if ((w - v).cross(a.n[f]).normalized().dot(p - v) > on_the_rim * size) return false;
    }
    return true;
  }

  // The cylinder on face f: its rims, and its side where it leaves the face.
  void on_face(int f) const {
    const Vec3 n = a.n[f];
    rim_points(b, n, [&](const Vec3& p, int k) {
      const double gap = n.dot(p) - a.offset[f];
      if (over_face(f, p)) add(gap, p - gap * n, p, n, 1 + k);
    });
    if (std::abs(n.dot(b.axis())) > lying) return;
    const Hull::Face& face = a.hull->faces[f];
    for (int k = face.first; k < face.first + face.count; ++k)
      crossing_side(a.hull->loop_edge[k], n);
  }
  // The line of an edge against the axis, if they cross within both.
  void crossing_side(int e, const Vec3& near_n) const {
    const Vec3 p = a.v[a.hull->edges[e].tail], w = a.along(e), u = b.axis();
    Vec3 n = w.cross(u);
    const double length = n.norm();
    if (!(length > lying * w.norm())) return;
    n /= near_n.dot(n) < 0 ? -length : length;
    if (!(n.dot(near_n) > 0.7)) return;
    const Vec3 d = b.centre - p;
    const double s = d.dot(u.cross(n)) / w.cross(u).dot(n),
                 t = d.dot(w.cross(n)) / w.cross(u).dot(n);
    if (!(s >= 0 && s <= 1 && std::abs(t) <= b.half_length)) return;
    const Vec3 on = p + s * w;
    const double gap = n.dot(d) - b.radius;
    add(gap, on, on + gap * n, n, side_feature(e));
  }

  // The polytope on the cap whose outward normal is m.
  void on_cap(const Vec3& m) const {
    const double top = m.dot(b.centre) + b.half_length;
    const auto over = [&](const Vec3& p) { return side(p - b.centre, m); };
    const auto vertex = [&](int i) {
      const double gap = m.dot(a.v[i]) - top;
      if (over(a.v[i]) <= b.radius + on_the_rim * size)
        add(gap, a.v[i], a.v[i] - gap * m, -m, vertex_feature(i));
    };
    if (a.n.empty()) {
      vertex(0);
      vertex(1);
      if (std::abs(a.along(0).normalized().dot(m)) < flat_to_rim) crossing_rim(0, m, top);
      return;
    }
    const int f = incident_face(a, m);
    const Hull::Face& face = a.hull->faces[f];
    const bool is_flat = a.n[f].cross(m).norm() < flat_to_rim;
    for (int k = face.first; k < face.first + face.count; ++k) {
      vertex(a.hull->loop[k]);
      if (is_flat) crossing_rim(a.hull->loop_edge[k], m, top);
    }
  }
  // Where an edge nearly in the plane of a cap leaves its disc.
  void crossing_rim(int e, const Vec3& m, double top) const {
    const Vec3 d = a.v[a.hull->edges[e].tail] - b.centre, w = a.along(e);
    const Vec3 p = d - d.dot(m) * m, q = w - w.dot(m) * m;
    const double A = q.squaredNorm(), B = p.dot(q), C = p.squaredNorm() - b.radius * b.radius;
    const double discriminant = B * B - A * C;
    if (!(discriminant > 0)) return;
    for (int k = 0; k < 2; ++k) {
      const double s = (-B + (k ? 1 : -1) * std::sqrt(discriminant)) / A;
      if (!(s > 0 && s < 1)) continue;
      const Vec3 on = b.centre + d + s * w;
      const double gap = m.dot(on) - top;
      add(gap, on, on - gap * m, -m, rim_feature(e) + k);
    }
  }

  // The nearest points, when no resting point says as much.
  void nearest_point(const Best& best) const {
    Vec3 on_b = b.farthest(-best.n);
    if (best.kind == Best::vertex) on_b = a.v[best.i] + best.gap * best.n;
    if (best.kind == Best::cap) {
      int top = 0;
      for (int i = 1; i < a.vertices(); ++i)
        if (best.n.dot(a.v[i]) > best.n.dot(a.v[top])) top = i;
      on_b = a.v[top] + best.gap * best.n;
    }
    const bool on_side = std::abs(best.n.dot(b.axis())) < 1e-9;
    if (best.kind == Best::edge && on_side) {
      const int i = top_edge(best.n);
      const Hull::Edge& e = a.hull->edges[i];
      segment_points(segment_between(a.v[e.tail], a.v[e.head]), a.radius, b.core(), b.radius,
                     along_feature(i), out, along);
      return;
    }
    add(best.gap, on_b - best.gap * best.n, on_b, best.n, 0);
  }
  // Parallel edges share their directions: the one that n touches.
  [[nodiscard]] int top_edge(const Vec3& n) const {
    int top = 0;
    double most = -infinity;
    for (int i = 0; i < a.edges(); ++i) {
      const Hull::Edge& e = a.hull->edges[i];
      const double height = std::min(n.dot(a.v[e.tail]), n.dot(a.v[e.head]));
      if (height > most) {
        most = height;
        top = i;
      }
    }
    return top;
  }
};

}  // namespace

Vec3 PlacedCylinder::farthest(const Vec3& n) const {
  const Vec3 u = axis(), radial = n - n.dot(u) * u;
  const double length = radial.norm();
  const Vec3 rim = length > 0 ? Vec3(radius / length * radial) : Vec3(radius * R.col(1));
  return centre + (n.dot(u) < 0 ? -half_length : half_length) * u + rim;
}

PlacedCylinder place(const Cylinder& s, const SE3& X) {
  return {X.r, X.R, s.radius, s.half_length};
}

PointDistance distance_to(const PlacedCylinder& a, const Vec3& p) {
  const Vec3 u = a.axis(), d = p - a.centre;
  const double x = d.dot(u);
  const Vec3 radial = d - x * u;
  const double rho = radial.norm();
  const Vec3 t = rho > 1e-14 * a.radius ? Vec3(radial / rho) : Vec3(a.R.col(1));
  const Vec3 cap = x < 0 ? Vec3(-u) : u;
  const double beyond = std::abs(x) - a.half_length, outside = rho - a.radius;
  if (outside <= 0 && beyond <= outside) return {outside, p - outside * t, t};
  if (beyond <= 0 && outside > 0) return {outside, p - outside * t, t};
  if (outside <= 0) return {beyond, p - beyond * cap, cap};
  const double distance = std::hypot(beyond, outside);
  const Vec3 n = (beyond * cap + outside * t) / distance;
  return {distance, p - distance * n, n};
}

void plane_cylinder_points(const Vec3& n, double offset, const PlacedCylinder& b, Collector& out) {
  rim_points(b, n, [&](const Vec3& p, int k) {
    const double gap = n.dot(p) - offset;
    out.add(gap, p - gap * n, p, n, k);
  });
}

void polytope_cylinder_points(const Placed& a, const PlacedCylinder& b, Collector& out) {
  const double size = std::min(a.size, std::hypot(b.radius, b.half_length));
  PolytopeCylinder pair{a, b, out, size, out.margin() + a.radius};
  Best best;
  if (!pair.find(best)) return;
  if (best.gap > 1e-9 * size) pair.least = best.gap - 1e-9 * size;
  int rest = -1;
  for (int f = 0; f < static_cast<int>(a.n.size()); ++f)
    if (a.n[f].dot(best.n) > (rest < 0 ? facing : a.n[rest].dot(best.n))) rest = f;
  if (rest >= 0) pair.on_face(rest);
  const double c = best.n.dot(b.axis());
  if (std::abs(c) > facing) pair.on_cap(c > 0 ? Vec3(-b.axis()) : Vec3(b.axis()));
  if (!out.has_gap(best.gap - a.radius, 1e-12 * size)) pair.nearest_point(best);
}

// --- two cylinders
// --------------------------------------------------------------------------------

namespace {

struct CylinderPair {
  const PlacedCylinder &a, &b;
  double size;

  [[nodiscard]] double separation(const Vec3& n) const { return lowest(b, n) + lowest(a, -n); }

  // Rim against rim: sigma's tangential gradient is that of the support points' difference w, its
  // Hessian -(sum r/|n_perp| t t') - sigma, t along the rims; Newton with halved steps.
  void climb(Vec3 n, Best& best) const {
    double gap = separation(n);
    for (int i = 0; i < 50; ++i) {
      const Vec3 w = b.farthest(-n) - a.farthest(n);
      const Vec3 e1 = n.unitOrthogonal(), e2 = n.cross(e1);
      const Vec2 g(w.dot(e1), w.dot(e2));
      if (g.norm() <= 1e-16 * size) break;
      Mat2 M = gap * Mat2::Identity();
      for (const PlacedCylinder* s : {&a, &b}) {
        const double across = side(n, s->axis());
        if (!(across > 1e-12)) return;
        const Vec3 t = s->axis().cross(n) / across;
        const Vec2 x(t.dot(e1), t.dot(e2));
        M += s->radius / across * x * x.transpose();
      }
      const double mean = 0.5 * M.trace(),
                   least = mean - std::hypot(0.5 * (M(0, 0) - M(1, 1)), M(0, 1));
      if (least < 1e-3 * size) M += (1e-3 * size - least) * Mat2::Identity();
      const Vec2 step = M.inverse() * g;
      double fraction = 1;
      Vec3 next = n;
      double next_gap = gap;
      for (int half = 0; half < 20; ++half, fraction /= 2) {
        next = (n + fraction * (step[0] * e1 + step[1] * e2)).normalized();
        next_gap = separation(next);
        if (next_gap > gap || (half == 0 && next_gap >= gap - 1e-15 * size && step.norm() < 1e-6))
          break;
        next = n;
      }
      if (next == n) break;
      const bool done = fraction * step.norm() < 1e-15;
      n = next;
      gap = next_gap;
      if (done) break;
    }
    if (gap > best.gap + clearly_better_axis * size || (best.kind == Best::edge && gap > best.gap))
      best = {Best::edge, gap, n, 0};
  }

  [[nodiscard]] Best find(double enough) const {
    Best best;
    const auto consider = [&](Best::Kind kind, const Vec3& n) {
      const double gap = separation(n);
      if (gap > best.gap + (best.kind == kind ? 0 : clearly_better_axis * size))
        best = {kind, gap, n, 0};
    };
    for (const double sign : {1.0, -1.0}) {
      consider(Best::cap, sign * a.axis());
      consider(Best::cap, sign * b.axis());
    }
    const Vec3 d = b.centre - a.centre, c = a.axis().cross(b.axis());
    if (c.norm() > 1e-9)
      for (const double sign : {1.0, -1.0}) consider(Best::face, sign * c.normalized());
    across_edge(a.axis(), d, b, [&](const Vec3& n) { consider(Best::face, n); });
    across_edge(b.axis(), -d, a, [&](const Vec3& n) { consider(Best::face, -n); });
    if (best.gap > enough) return best;
    const Vec3 start = best.n;
    climb(d.norm() > 0 ? Vec3(d.normalized()) : start, best);
    for (const double sign : {1.0, -1.0})
      for (const PlacedCylinder* s : {&a, &b})
        climb((start + 0.3 * sign * s->axis() + 1e-3 * s->R.col(1)).normalized(), best);
    if (best.gap > 0) climb(projected(best.n), best);
    return best;
  }

  // Alternating projections: slow, but on the way to the nearest points from anywhere.
  [[nodiscard]] Vec3 projected(const Vec3& n) const {
    Vec3 q = b.farthest(-n);
    Vec3 w = n;
    for (int i = 0; i < 100; ++i) {
      const PointDistance to_a = distance_to(a, q);
      if (!(to_a.distance > 0)) return n;
      const PointDistance to_b = distance_to(b, to_a.on);
      if (!(to_b.distance > 0)) return n;
      q = to_b.on;
      w = -to_b.normal;
    }
    return -w.dot(n) > 0 ? Vec3(-w) : w;
  }
};

// Points of a rim over the cap of `s` with outward normal m.
void rim_on_cap(const PlacedCylinder& rim, const PlacedCylinder& s, const Vec3& m, double tolerance,
                int first, Collector& out) {
  const double top = m.dot(s.centre) + s.half_length;
  rim_points(rim, m, [&](const Vec3& p, int k) {
    const double gap = m.dot(p) - top;
    if (side(p - s.centre, m) <= s.radius + tolerance) out.add(gap, p, p - gap * m, -m, first + k);
  });
}

// Caps that overlap in a lens: where the rims cross.
void lens_points(const PlacedCylinder& a, const PlacedCylinder& b, const Vec3& m, Collector& out) {
  const double top = m.dot(b.centre) + b.half_length;
  const Vec3 face = a.centre - (m.dot(a.axis()) < 0 ? -1 : 1) * a.half_length * a.axis();
  const Vec3 d = (face - b.centre) - m.dot(face - b.centre) * m;
  const double distance = d.norm();
  if (!(distance > 0)) return;
  const double x =
      (distance * distance + b.radius * b.radius - a.radius * a.radius) / (2 * distance);
  const double y2 = b.radius * b.radius - x * x;
  if (!(y2 > 0)) return;
  const Vec3 e = d / distance, f = m.cross(e);
  for (int k = 0; k < 2; ++k) {
    Vec3 p = b.centre + x * e + (k ? -1 : 1) * std::sqrt(y2) * f;
    const Vec3 u = a.axis();
    p -= u.dot(p - face) / u.dot(m) * m;  // onto the cap of a
    const double gap = m.dot(p) - top;
    out.add(gap, p, p - gap * m, -m, 24 + k);
  }
}

}  // namespace

void cylinder_cylinder_points(const PlacedCylinder& a, const PlacedCylinder& b, Collector& out) {
  const double size =
      std::min(std::hypot(a.radius, a.half_length), std::hypot(b.radius, b.half_length));
  const CylinderPair pair{a, b, size};
  const Best best = pair.find(out.margin());
  if (best.gap > out.margin()) return;
  const Vec3 n = best.n;
  const double c_a = n.dot(a.axis()), c_b = n.dot(b.axis()), tolerance = on_the_rim * size;
  const Vec3 m_a = c_a > 0 ? Vec3(a.axis()) : Vec3(-a.axis());  // caps that face each other
  const Vec3 m_b = c_b > 0 ? Vec3(-b.axis()) : Vec3(b.axis());
  if (std::abs(c_b) > facing) rim_on_cap(a, b, m_b, tolerance, 1, out);
  if (std::abs(c_a) > facing) {
    out.swap_roles();
    rim_on_cap(b, a, m_a, tolerance, 11, out);
    out.swap_roles();
    if (std::abs(c_b) > facing && m_a.cross(m_b).norm() < flat_to_rim) lens_points(a, b, m_b, out);
  }
  const SegmentNearest cores = nearest(a.core(), b.core());
  if (std::abs(cores.distance - a.radius - b.radius - best.gap) < 1e-9 * size)
    segment_points(a.core(), a.radius, b.core(), b.radius, 32, out, along);
  if (out.has_gap(best.gap, 1e-12 * size)) return;
  // Where the support point of a is unique, it is a's nearest point; else b's.
  const bool rim_a = std::abs(c_a) > 1e-9 && side(n, a.axis()) > 1e-9;
  const Vec3 on_a = rim_a ? a.farthest(n) : Vec3(b.farthest(-n) - best.gap * n);
  out.add(best.gap, on_a, on_a + best.gap * n, n, 0);
}

}  // namespace saltus
