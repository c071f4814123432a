#include "saltus/geometry/polytope.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "saltus/geometry/segments.h"

namespace saltus {

namespace {

// Over the solids' size: how much better another axis must be than the preferred one (face of a,
// face of b, edges, in this order), so that rounding does not flip stacked boxes.
constexpr double clearly_better = 1e-8;
constexpr double on_the_edge = 1e-7;    // over size: corners as far outside a face still rest on it
constexpr double least_sine = 1e-5;     // of edges whose cross product is an axis
constexpr double crossing_sine = 0.05;  // of edges whose crossing has a normal of its own
constexpr double flat = 1e-3;           // sine of edges to a face in whose plane they cross
constexpr double same_side = 0.95;      // cosine below which an edge contact is no face contact

// --- placing
// --------------------------------------------------------------------------------------

const Hull& unit_box() {
  static const Hull hull = [] {
    Hull h;
    for (int i = 0; i < 8; ++i)
      h.vertices.emplace_back(i & 1 ? -1 : 1, i & 2 ? -1 : 1, i & 4 ? -1 : 1);
    // Corners counter-clockwise from outside: +x, -x, +y, -y, +z, -z.
    const int loops[6][4] = {{0, 2, 6, 4}, {1, 5, 7, 3}, {0, 4, 5, 1},
                             {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 6, 7, 5}};
    for (int f = 0; f < 6; ++f) {
      h.faces.push_back({4 * f, 4, (f % 2 ? -1.0 : 1.0) * Vec3::Unit(f / 2), 1});
      h.loop.insert(h.loop.end(), loops[f], loops[f] + 4);
    }
    connect(h);
    return h;
  }();
  return hull;
}

const Hull& unit_segment() {
  static const Hull hull = [] {
    Hull h;
    h.vertices = {Vec3::UnitX(), -Vec3::UnitX()};
    h.edges.push_back({0, 1, -1, -1});
    return h;
  }();
  return hull;
}

void place(const Hull& hull, const Vec3& scale, const SE3& X, Placed& out) {
  out.hull = &hull;
  out.v.resize(hull.vertices.size());
  out.n.resize(hull.faces.size());
  out.offset.resize(hull.faces.size());
  for (std::size_t i = 0; i < out.v.size(); ++i)
    out.v[i] = X * hull.vertices[i].cwiseProduct(scale);
  for (std::size_t i = 0; i < out.n.size(); ++i) {
    const Hull::Face& face = hull.faces[i];
    out.n[i] = X.R * face.normal;
    // Scaled are only the box, whose normals are axes, and the segment, which has no faces.
    out.offset[i] = face.offset * scale.dot(face.normal.cwiseAbs2()) + out.n[i].dot(X.r);
  }
  out.radius = 0;
}

// --- separating axes
// ------------------------------------------------------------------------------

struct Axis {
  enum Kind { none, face_a, face_b, edges } kind = none;
  double gap = -infinity;
  Vec3 n = Vec3::UnitZ();  // from a to b
  int i = 0, j = 0;        // face, or the edges of a and b
};

double least(const std::vector<Vec3>& v, const Vec3& n, int* where = nullptr) {
  double best = infinity;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double x = n.dot(v[i]);
    if (x < best) {
      best = x;
      if (where) *where = static_cast<int>(i);
    }
  }
  return best;
}

// Vertices of a solid that were nearest along some normal of the other's. Along another normal none
// of them is nearer than the nearest: most faces and edges need no more to be ruled out.
struct Witnesses {
  static constexpr int most = 16;
  std::array<int, most> vertex{};
  int count = 0;

  void add(int v) {  // a new one is asked first
    count = std::min(count + 1, most);
    std::copy_backward(vertex.begin(), vertex.begin() + count - 1, vertex.begin() + count);
    vertex[0] = v;
  }
  // Whether one of them rules out; it is asked earlier next time.
  template <class Rule>
  bool rule_out(const Rule& rule) {
    for (int k = 0; k < count; ++k) {
      if (!rule(vertex[k])) continue;
      std::swap(vertex[k], vertex[k / 2]);
      return true;
    }
    return false;
  }
};

// The best face of `p`; stops at a face beyond `enough`.
Axis best_face(const Placed& p, const Placed& q, double tolerance, double enough,
               Witnesses& nearest) {
  Axis best;
  for (int f = 0; f < static_cast<int>(p.n.size()); ++f) {
    const auto is_less = [&](int v) {
      return p.n[f].dot(q.v[v]) - p.offset[f] <= best.gap + tolerance;
    };
    if (nearest.rule_out(is_less)) continue;
    int vertex = 0;
    const double gap = least(q.v, p.n[f], &vertex) - p.offset[f];
    nearest.add(vertex);
    if (gap > best.gap + tolerance) best = {Axis::face_a, gap, p.n[f], f, 0};
    if (gap > enough) break;
  }
  return best;
}

// Edges of `p` whose normals, the arc between those of its two faces, may have a gap of more than
// `least_gap` to `q`. The gap along n is at most n . (v - x), of any vertex v of q and x of the
// edge: |d| cos(angle to d), which over the arc is largest at one of its ends where it is negative,
// and where the largest lies inside at most an end's over cos(half the arc).
void open_edges(const Placed& p, const Placed& q, Witnesses& nearest, double least_gap,
                std::vector<int>& out) {
  out.clear();
  for (int i = 0; i < p.edges(); ++i) {
    const Hull::Edge& e = p.hull->edges[i];
    if (e.left < 0) {  // a segment
      out.push_back(i);
      continue;
    }
    const Vec3 &n = p.n[e.left], &m = p.n[e.right], &x = p.v[e.tail];
    const double half = std::sqrt(std::max(0.5 * (1 + n.dot(m)), 0.0));  // cosine of half the arc
    const auto rules_out = [&](int v) {
      const Vec3 d = q.v[v] - x;
      const double most = std::max(n.dot(d), m.dot(d));
      return (most > 0 ? most / half : most) <= least_gap;
    };
    if (nearest.rule_out(rules_out)) continue;
    int vertex = 0;  // along the middle of the arc
    (void)least(q.v, n + m, &vertex);
    nearest.add(vertex);
    if (!rules_out(vertex)) out.push_back(i);
  }
}

// Do the edges make a face of the Minkowski difference? Their arcs of normals cross (Gregorius, The
// separating axis test between convex polyhedra, GDC 2013).
bool arcs_cross(const Placed& a, const Hull::Edge& e, const Vec3& u, const Placed& b,
                const Hull::Edge& f, const Vec3& w) {
  double p = 0, q = 0;
  if (f.left >= 0) {
    p = b.n[f.left].dot(u);
    if (!(p * b.n[f.right].dot(u) < 0)) return false;
  }
  if (e.left >= 0) {
    q = a.n[e.right].dot(w);
    if (!(q * a.n[e.left].dot(w) < 0)) return false;
  }
  return f.left < 0 || e.left < 0 || p * q < 0;
}

thread_local std::vector<int> edges_of_a, edges_of_b;

// The best pair of edges with a gap of more than `least_gap`, if there is one.
Axis best_edges(const Placed& a, const Placed& b, Witnesses& of_a, Witnesses& of_b,
                double least_gap) {
  Axis best;
  open_edges(a, b, of_b, least_gap, edges_of_a);
  if (edges_of_a.empty()) return best;
  open_edges(b, a, of_a, least_gap, edges_of_b);
  for (const int i : edges_of_a) {
    const Hull::Edge& e = a.hull->edges[i];
    const Vec3 u = a.along(i);
    for (const int j : edges_of_b) {
      const Hull::Edge& f = b.hull->edges[j];
      const Vec3 w = b.along(j);
      if (!arcs_cross(a, e, u, b, f, w)) continue;
      Vec3 n = u.cross(w);
      const double length = n.norm();
      if (!(length * length > least_sine * least_sine * u.squaredNorm() * w.squaredNorm()))
        continue;
      n /= length;
      const double outward =
          e.left >= 0 ? n.dot(a.n[e.left] + a.n[e.right]) : -n.dot(b.n[f.left] + b.n[f.right]);
      if (outward < 0) n = -n;
      const double gap = n.dot(b.v[f.tail] - a.v[e.tail]);
      if (gap > best.gap) best = {Axis::edges, gap, n, i, j};
    }
  }
  return best;
}

// --- points
// ---------------------------------------------------------------------------------------

// The pair in the order reference, incident; writes in the order a, b.
struct Points {
  const Placed &a, &b;
  Collector& out;
  double least = -infinity;  // solids apart have no point nearer than their distance

  [[nodiscard]] int vertex_a(int i) const { return i; }
  [[nodiscard]] int vertex_b(int i) const { return a.vertices() + i; }
  [[nodiscard]] int edge_pair(int i, int j) const {
    return a.vertices() + b.vertices() + i * b.edges() + j;
  }
  void add(double gap, const Vec3& on_a, const Vec3& on_b, const Vec3& n, int feature) {
    if (gap >= least) out.add(gap, on_a, on_b, n, feature, a.radius, b.radius);
  }
  // Vertex i of a over face f of b, and the other way round.
  void vertex_face(int i, int f) {
    const double gap = b.n[f].dot(a.v[i]) - b.offset[f];
    add(gap, a.v[i], a.v[i] - gap * b.n[f], -b.n[f], vertex_a(i));
  }
  void face_vertex(int f, int i) {
    const double gap = a.n[f].dot(b.v[i]) - a.offset[f];
    add(gap, b.v[i] - gap * a.n[f], b.v[i], a.n[f], vertex_b(i));
  }
  // The lines of two edges, with their own normal if it is near n. Edges too parallel to have one
  // count along n if they lie in its plane, else not: their crossing would slide along n. True if
  // the nearest points are within both edges.
  bool edge_edge(int i, int j, const Vec3& n) {
    const Vec3 u = a.along(i), w = b.along(j);
    const Vec3 p = a.v[a.hull->edges[i].tail], q = b.v[b.hull->edges[j].tail];
    Vec3 c = u.cross(w);
    const double scale = u.norm() * w.norm();
    Vec3 normal = n;
    if (c.norm() > crossing_sine * scale) {
      c.normalize();
      normal = c.dot(n) < 0 ? Vec3(-c) : c;
      if (!(normal.dot(n) > 0.7)) return false;
    } else if (std::abs(u.dot(n)) > flat * u.norm() || std::abs(w.dot(n)) > flat * w.norm()) {
      return false;
    }
    // p + s u + gap n = q + t w, by Cramer's rule.
    const Vec3 d = q - p;
    const double det = u.cross(w).dot(normal);
    if (!(std::abs(det) > 1e-12 * scale)) return false;
    const double s = d.dot(w.cross(normal)) / det, t = d.dot(u.cross(normal)) / det;
    const double gap = normal.dot(q + t * w - p - s * u);
    add(gap, p + s * u, p + s * u + gap * normal, normal, edge_pair(i, j));
    return s > -1e-9 && s < 1 + 1e-9 && t > -1e-9 && t < 1 + 1e-9;
  }
};

}  // namespace

int incident_face(const Placed& q, const Vec3& n) {
  int nearest_vertex = 0;
  least(q.v, n, &nearest_vertex);
  int best = 0;
  double facing = infinity;
  for (int f = 0; f < static_cast<int>(q.n.size()); ++f) {
    const Hull::Face& face = q.hull->faces[f];
    const auto begin = q.hull->loop.begin() + face.first, end = begin + face.count;
    if (q.n[f].dot(n) < facing && std::find(begin, end, nearest_vertex) != end) {
      facing = q.n[f].dot(n);
      best = f;
    }
  }
  return best;
}

namespace {

// A corner of the clipped polygon: a vertex of the incident solid, a vertex of the reference, or
// the crossing of an edge of each.
struct Corner {
  enum Kind { incident, reference, crossing } kind = incident;
  Vec3 p = Vec3::Zero();
  int i = 0, j = 0;  // vertex; or the edges of the reference and the incident
  int edge = 0;  // that follows: of the incident solid, or -1 - (corner of the reference's loop)
};

struct Clip {
  static thread_local std::vector<Corner> polygon, clipped;
};
thread_local std::vector<Corner> Clip::polygon;
thread_local std::vector<Corner> Clip::clipped;

void start_polygon(const Placed& q, int face, std::vector<Corner>& polygon) {
  polygon.clear();
  if (q.n.empty()) {  // a segment, there and back
    for (int i = 0; i < 2; ++i) polygon.push_back({Corner::incident, q.v[i], i, 0, 0});
    return;
  }
  const Hull::Face& f = q.hull->faces[face];
  for (int k = f.first; k < f.first + f.count; ++k)
    polygon.push_back(
        {Corner::incident, q.v[q.hull->loop[k]], q.hull->loop[k], 0, q.hull->loop_edge[k]});
}

// Where the side from x to y meets side k of the reference face.
Corner cut(const Placed& p, const Hull::Face& face, int k, const Corner& x, const Corner& y,
           double dx, double dy) {
  Corner c;
  c.p = x.p + dx / (dx - dy) * (y.p - x.p);
  if (x.edge >= 0) {
    c.kind = Corner::crossing;
    c.i = p.hull->loop_edge[face.first + k];
    c.j = x.edge;
  } else {  // along another side: the corner between the two
    const int other = -1 - x.edge;
    const int last = (k + 1) % face.count == other ? other : k;
    c.kind = Corner::reference;
    c.i = p.hull->loop[face.first + last];
  }
  return c;
}

// Sutherland and Hodgman, keeping what each corner is made of.
void clip_polygon(const Placed& p, int reference, double tolerance) {
  auto &polygon = Clip::polygon, &clipped = Clip::clipped;
  const Hull::Face& face = p.hull->faces[reference];
  for (int k = 0; k < face.count && !polygon.empty(); ++k) {
    const Vec3 &v = p.v[p.hull->loop[face.first + k]],
               &next = p.v[p.hull->loop[face.first + (k + 1) % face.count]];
    const Vec3 m = (next - v).cross(p.n[reference]).normalized();
    clipped.clear();
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Corner &x = polygon[i], &y = polygon[(i + 1) % polygon.size()];
      const double dx = m.dot(x.p - v), dy = m.dot(y.p - v);
      if (dx <= tolerance) {
        clipped.push_back(x);
        if (dy <= tolerance) continue;
        if (dx < -tolerance) clipped.push_back(cut(p, face, k, x, y, dx, dy));
        clipped.back().edge = -1 - k;
      } else if (dy < -tolerance) {
        clipped.push_back(cut(p, face, k, x, y, dx, dy));
        clipped.back().edge = x.edge;
      }
    }
    polygon.swap(clipped);
  }
}

// Points of the other solid over a face of a (or of b).
void face_points(Points& points, bool of_a, int face, double size) {
  const Placed &p = of_a ? points.a : points.b, &q = of_a ? points.b : points.a;
  const int other = q.n.empty() ? 0 : incident_face(q, p.n[face]);
  start_polygon(q, other, Clip::polygon);
  clip_polygon(p, face, on_the_edge * size);
  const Vec3 n = of_a ? p.n[face] : Vec3(-p.n[face]);
  for (const Corner& c : Clip::polygon) {
    switch (c.kind) {
      case Corner::incident:
        of_a ? points.face_vertex(face, c.i) : points.vertex_face(c.i, face);
        break;
      case Corner::reference:
        if (q.n.empty()) break;
        of_a ? points.vertex_face(c.i, other) : points.face_vertex(other, c.i);
        break;
      case Corner::crossing:
        of_a ? points.edge_edge(c.i, c.j, n) : points.edge_edge(c.j, c.i, n);
        break;
    }
  }
}

// Solids apart, with a vertex nearest to a vertex or an edge: the nearest of all pairs of edges.
void nearest_edges(Points& points, const Axis& axis) {
  const Placed &a = points.a, &b = points.b;
  double best = infinity;
  int best_i = 0, best_j = 0;
  const auto edge_of = [](const Placed& p, int i) {
    return segment_between(p.v[p.hull->edges[i].tail], p.v[p.hull->edges[i].head]);
  };
  for (int i = 0; i < a.edges(); ++i) {
    const Hull::Edge& e = a.hull->edges[i];
    const double top = std::max(axis.n.dot(a.v[e.tail]), axis.n.dot(a.v[e.head]));
    const Segment s = edge_of(a, i);
    for (int j = 0; j < b.edges(); ++j) {
      const Hull::Edge& f = b.hull->edges[j];
      const double low = std::min(axis.n.dot(b.v[f.tail]), axis.n.dot(b.v[f.head]));
      if (low - top >= best) continue;
      const double distance = nearest(s, edge_of(b, j)).distance;
      if (distance < best) {
        best = distance;
        best_i = i;
        best_j = j;
      }
    }
  }
  // A capsule along an edge rests on both ends of the overlap.
  if (a.radius + b.radius > 0) {
    segment_points(edge_of(a, best_i), a.radius, edge_of(b, best_j), b.radius,
                   points.edge_pair(a.edges(), 0) + 5 * (best_i * b.edges() + best_j), points.out);
  } else {
    const SegmentNearest x = nearest(edge_of(a, best_i), edge_of(b, best_j));
    points.add(x.distance, x.on_a, x.on_b, x.distance > 0 ? x.normal : axis.n,
               points.edge_pair(best_i, best_j));
  }
}

void support_point(Points& points, const Axis& axis) {
  int i = 0, j = 0;
  least(points.b.v, axis.n, &j);
  least(points.a.v, -axis.n, &i);
  if (axis.kind == Axis::face_a) points.face_vertex(axis.i, j);
  if (axis.kind == Axis::face_b) points.vertex_face(i, axis.i);
}

}  // namespace

void place(const Box& box, const SE3& X, Placed& out) {
  place(unit_box(), box.half_size, X, out);
  out.size = box.half_size.norm();
}
void place(const ConvexHull& hull, const SE3& X, Placed& out) {
  place(*hull.hull, Vec3::Ones(), X, out);
  out.size = hull.hull->size;
}
void place(const Capsule& capsule, const SE3& X, Placed& out) {
  place(unit_segment(), Vec3(capsule.half_length, 1, 1), X, out);
  out.radius = capsule.radius;
  out.size = capsule.half_length + capsule.radius;
}

void polytope_points(const Placed& a, const Placed& b, Collector& out) {
  const double size = std::min(a.size, b.size), tolerance = clearly_better * size;
  const double enough = out.margin() + a.radius + b.radius;
  Witnesses near_a, near_b;  // vertices of a, of b
  const Axis of_a = best_face(a, b, tolerance, enough, near_b);
  if (of_a.gap > enough) return;
  Axis of_b = best_face(b, a, tolerance, enough, near_a);
  if (of_b.gap > enough) return;
  of_b.kind = Axis::face_b;
  of_b.n = -of_b.n;
  const Axis& face = of_b.gap > of_a.gap + tolerance || a.n.empty() ? of_b : of_a;
  // Less by what rounding makes of a normal.
  const Axis edges = best_edges(a, b, near_a, near_b, face.gap + 0.5 * tolerance);
  const Axis& best = edges.gap > face.gap + tolerance ? edges : face;
  if (best.gap > enough) return;

  const bool apart = best.gap > 1e-9 * size;
  Points points{a, b, out, apart ? best.gap - 1e-9 * size : -infinity};
  bool exact = true;
  if (best.kind == Axis::edges) {
    exact = points.edge_edge(edges.i, edges.j, edges.n) || !apart;
    // Faces that nearly rest on each other give all their points, not only the nearest.
    bool of_a_rests = true;
    int rests = -1;
    double most = same_side;
    const auto consider = [&](bool is_a, int f) {
      const double c = f < 0 ? 0 : is_a ? a.n[f].dot(edges.n) : -b.n[f].dot(edges.n);
      if (c > most + 1e-9) {
        most = c;
        of_a_rests = is_a;
        rests = f;
      }
    };
    const Hull::Edge &e = a.hull->edges[edges.i], &f = b.hull->edges[edges.j];
    for (const int k : {e.left, e.right}) consider(true, k);
    for (const int k : {f.left, f.right}) consider(false, k);
    if (exact && rests >= 0) face_points(points, of_a_rests, rests, size);
  } else {
    face_points(points, face.kind == Axis::face_a, face.i, size);
    exact = out.least_gap() <= best.gap - a.radius - b.radius + 1e-9 * size;
  }
  if (exact) return;
  if (apart) {
    out.clear();
    nearest_edges(points, best);
  } else if (out.empty()) {
    support_point(points, best);
  }
}

PointDistance distance_to(const Placed& a, const Vec3& p) {
  PointDistance best{infinity, p, Vec3::UnitZ()};
  double inside = -infinity;
  int nearest_face = 0;
  for (int f = 0; f < static_cast<int>(a.n.size()); ++f) {
    const double d = a.n[f].dot(p) - a.offset[f];
    if (d > inside) {
      inside = d;
      nearest_face = f;
    }
    if (d <= 0 || d >= best.distance) continue;
    const Hull::Face& face = a.hull->faces[f];
    const Vec3 foot = p - d * a.n[f];
    bool within = true;
    for (int k = 0; k < face.count; ++k) {
      const Vec3 &v = a.v[a.hull->loop[face.first + k]],
                 &w = a.v[a.hull->loop[face.first + (k + 1) % face.count]];
      if ((w - v).cross(a.n[f]).dot(foot - v) <= 0) continue;
      within = false;
      const double t = std::clamp((p - v).dot(w - v) / (w - v).squaredNorm(), 0.0, 1.0);
      const Vec3 on = v + t * (w - v);
      const double distance = (p - on).norm();
      if (distance < best.distance) best = {distance, on, (p - on) / distance};
    }
    if (within) best = {d, foot, a.n[f]};
  }
  // On the surface to rounding, the direction to the nearest point is noise.
  if (inside <= 1e-12 * a.size) return {inside, p - inside * a.n[nearest_face], a.n[nearest_face]};
  return best;
}

}  // namespace saltus
