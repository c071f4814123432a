#include "saltus/geometry/contact_points.h"

#include <concepts>
#include <limits>
#include <type_traits>

#include "saltus/geometry/cylinder.h"
#include "saltus/geometry/ellipsoid.h"
#include "saltus/geometry/height_contact.h"
#include "saltus/geometry/polytope.h"
#include "saltus/geometry/segments.h"

namespace saltus {

namespace {

// Families: round shapes are a segment (or point, or line) with a radius; polytopes have plane
// faces.
Segment core(const Sphere&, const SE3& X) { return {X.r, X.R.col(0), 0}; }
Segment core(const Capsule& s, const SE3& X) { return {X.r, X.R.col(0), s.half_length}; }
Segment core(const Peg&, const SE3& X) {
  return {X.r, X.R.col(2), std::numeric_limits<double>::infinity()};
}
template <class S> concept Round = requires(const S& s, const SE3& X) { core(s, X); };
template <class S> concept Polytope = std::same_as<S, Box> || std::same_as<S, ConvexHull>;
template <class S> concept Solid = Polytope<S> || std::same_as<S, Cylinder>;

// The part of a peg that can touch a shape within `reach` of `centre`, as a capsule.
Capsule peg_part(const Peg& peg, SE3& X, const Vec3& centre, double reach) {
  const Vec3 u = X.R.col(2);
  X.r += u.dot(centre - X.r) * u;
  Mat3 R;
  R << u, X.R.col(0), X.R.col(1);
  X.R = R;
  return {peg.radius, 2 * reach + peg.radius};
}

// One overload a pair of families, in one order; looked at in the frame `frame()`.
struct Pair {
  const SE3 &X_a, &X_b;
  Collector* out;  // null: only ask whether there is an overload

  [[nodiscard]] SE3 b_in_a() const { return X_a.inverse() * X_b; }

  // --- round shapes, in the inertial frame
  template <Round A, Round B>
  requires(!(std::same_as<A, Peg> && std::same_as<B, Peg>)) bool operator()(const A& a,
                                                                            const B& b) const {
    if (out) segment_points(core(a, X_a), a.radius, core(b, X_b), b.radius, 0, *out);
    return true;
  }

  // --- half-spaces, in the inertial frame
  void above_plane(const Vec3& p, double radius, int feature) const {
    const Vec3 n = X_a.R.col(2);
    const double height = n.dot(p - X_a.r);
    out->add(height, p - height * n, p, n, feature, 0, radius);
  }
  bool operator()(const HalfSpace&, const Sphere& b) const {
    if (out) above_plane(X_b.r, b.radius, 0);
    return true;
  }
  bool operator()(const HalfSpace&, const Capsule& b) const {
    if (out)
      for (int i = 0; i < 2; ++i)
        above_plane(X_b.r + (i ? -1 : 1) * b.half_length * X_b.R.col(0), b.radius, i);
    return true;
  }
  bool operator()(const HalfSpace&, const Box& b) const {
    if (out)
      for (int i = 0; i < 8; ++i) {
        const Vec3 sign((i & 1) ? -1 : 1, (i & 2) ? -1 : 1, (i & 4) ? -1 : 1);
        above_plane(X_b * Vec3(sign.cwiseProduct(b.half_size)), 0, i);
      }
    return true;
  }
  bool operator()(const HalfSpace&, const ConvexHull& b) const {
    if (out)
      for (int i = 0; i < static_cast<int>(b.hull->vertices.size()); ++i)
        above_plane(X_b * b.hull->vertices[i], 0, i);
    return true;
  }
  bool operator()(const HalfSpace&, const Cylinder& b) const {
    const Vec3 n = X_a.R.col(2);
    if (out) plane_cylinder_points(n, n.dot(X_a.r), place(b, X_b), *out);
    return true;
  }

  bool operator()(const HalfSpace&, const Ellipsoid& b) const {
    if (out) above_plane(farthest(b, X_b, -X_a.R.col(2)), 0, 0);
    return true;
  }

  // --- ellipsoids, in the frame of a
  bool operator()(const Ellipsoid& a, const Sphere& b) const {
    if (out) {
      const Vec3 p = X_a.R.transpose() * (X_b.r - X_a.r);
      const PointDistance d = distance_to(a, p);
      out->add(d.distance, d.on, p, d.normal, 0, 0, b.radius);
    }
    return true;
  }
  bool operator()(const Ellipsoid& a, const Peg& b) const {
    if (out) {
      const PointDistance d = distance_to_line(a, X_a.R.transpose() * (X_b.r - X_a.r),
                                               X_a.R.transpose() * X_b.R.col(2));
      out->add(d.distance, d.on, d.on + d.distance * d.normal, d.normal, 0, 0, b.radius);
    }
    return true;
  }

  // --- solids, in the frame of a
  bool operator()(const Solid auto& a, const Sphere& b) const {
    if (out) {
      const Vec3 p = X_a.R.transpose() * (X_b.r - X_a.r);
      const PointDistance d = nearest_to(a, p);
      out->add(d.distance, d.on, p, d.normal, 0, 0, b.radius);
    }
    return true;
  }
  bool operator()(const Polytope auto& a, const Polytope auto& b) const {
    if (out) polytope_points(placed(a, SE3(), first()), placed(b, b_in_a(), second()), *out);
    return true;
  }
  bool operator()(const Polytope auto& a, const Capsule& b) const {
    if (!out) return true;
    if (!(b.half_length > 0)) return (*this)(a, Sphere{b.radius});
    polytope_points(placed(a, SE3(), first()), placed(b, b_in_a(), second()), *out);
    return true;
  }
  bool operator()(const Solid auto& a, const Peg& b) const {
    if (!out) return true;
    const Aabb box = bounds(a, SE3());
    SE3 X = X_b;
    const Capsule part = peg_part(b, X, X_a * Vec3(0.5 * (box.low + box.high)),
                                  (box.high - box.low).norm() + out->margin());
    return Pair{X_a, X, out}(a, part);
  }
  bool operator()(const Polytope auto& a, const Cylinder& b) const {
    if (out) polytope_cylinder_points(placed(a, SE3(), first()), place(b, b_in_a()), *out);
    return true;
  }
  bool operator()(const Cylinder& a, const Capsule& b) const {
    if (!out) return true;
    if (!(b.half_length > 0)) return (*this)(a, Sphere{b.radius});
    out->swap_roles();  // the routine has the cylinder second
    polytope_cylinder_points(placed(b, b_in_a(), second()), place(a, SE3()), *out);
    out->swap_roles();
    return true;
  }
  bool operator()(const Cylinder& a, const Cylinder& b) const {
    if (out) cylinder_cylinder_points(place(a, SE3()), place(b, b_in_a()), *out);
    return true;
  }

  // --- height fields, in the frame of a
  bool operator()(const HeightField& a, const Sphere& b) const {
    if (out) terrain_ball_points(*a.terrain, b_in_a().r, b.radius, *out);
    return true;
  }
  bool operator()(const HeightField& a, const Capsule& b) const {
    if (!out) return true;
    if (!(b.half_length > 0)) return (*this)(a, Sphere{b.radius});
    terrain_capsule_points(*a.terrain, core(b, b_in_a()), b.radius, *out);
    return true;
  }
  bool operator()(const HeightField& a, const Polytope auto& b) const {
    if (out) terrain_polytope_points(*a.terrain, placed(b, b_in_a(), second()), *out);
    return true;
  }
  bool operator()(const HeightField& a, const Cylinder& b) const {
    if (out) terrain_cylinder_points(*a.terrain, place(b, b_in_a()), bounds(b, b_in_a()), *out);
    return true;
  }
  bool operator()(const HeightField& a, const Ellipsoid& b) const {
    if (out) terrain_ellipsoid_points(*a.terrain, b, b_in_a(), *out);
    return true;
  }

  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }

 private:
  // Room for the placed shapes, kept from call to call.
  static Placed& first() {
    static thread_local Placed room;
    return room;
  }
  static Placed& second() {
    static thread_local Placed room;
    return room;
  }
  template <class S>
  static const Placed& placed(const S& shape, const SE3& X, Placed& room) {
    place(shape, X, room);
    return room;
  }
  template <class S>
  static PointDistance nearest_to(const S& shape, const Vec3& p) {
    if constexpr (std::same_as<S, Cylinder>) {
      return distance_to(place(shape, SE3()), p);
    } else {
      return distance_to(placed(shape, SE3(), first()), p);
    }
  }
};

bool is_flat(const Shape& s) { return std::holds_alternative<HalfSpace>(s); }
bool is_round(const Shape& s) {
  return std::holds_alternative<Sphere>(s) || std::holds_alternative<Capsule>(s) ||
         std::holds_alternative<Peg>(s);
}

bool one_way(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b, Collector* out) {
  return std::visit(Pair{X_a, X_b, out}, a, b);
}

}  // namespace

std::string_view name_of(const Shape& shape) {
  return std::visit([](const auto& s) { return s.name; }, shape);
}

bool can_touch(const Shape& a, const Shape& b) {
  const SE3 X;
  return one_way(a, X, b, X, nullptr) || one_way(b, X, a, X, nullptr);
}

void contact_points(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b, double margin,
                    Manifold& out) {
  Collector found(margin);
  const bool inertial = is_flat(a) || is_flat(b) || (is_round(a) && is_round(b));
  const bool forth = one_way(a, X_a, b, X_b, &found);
  if (!forth) one_way(b, X_b, a, X_a, &found);  // written the other way round
  found.write(inertial ? SE3() : forth ? X_a : X_b, !forth, out);
}

}  // namespace saltus
