// Shapes that touch, each in its own frame.
#pragma once
#include <memory>
#include <string_view>
#include <variant>

#include "saltus/base/types.h"

namespace saltus {

struct Sphere {  // a circle in the plane; of radius 0 a point
  static constexpr std::string_view name = "sphere";
  double radius = 0;  // [m]
};
struct Capsule {  // axis x; P0's link: a rectangle with two semicircles
  static constexpr std::string_view name = "capsule";
  double radius = 0;       // L_SC [m]
  double half_length = 0;  // centre to the centre of a cap, L_GS [m]
};
struct Box {
  static constexpr std::string_view name = "box";
  Vec3 half_size = Vec3::Zero();  // [m]
};
struct Cylinder {  // axis x, like the capsule; flat ends
  static constexpr std::string_view name = "cylinder";
  double radius = 0;       // [m]
  double half_length = 0;  // centre to an end [m]
};
struct Ellipsoid {  // an ellipse in the plane
  static constexpr std::string_view name = "ellipsoid";
  Vec3 semi_axes = Vec3::Zero();  // along x, y, z [m]
};
struct TriangleMesh;  // mesh.h
struct Hull;          // vertices, faces, edges: hull.h
struct ConvexHull {   // of points; made by convex_hull (hull.h), and cheap to copy
  static constexpr std::string_view name = "hull";
  std::shared_ptr<const Hull> hull;             // never null in a model
  std::shared_ptr<const TriangleMesh> drawn{};  // the mesh it is the hull of, for viewers; or null
};
struct Terrain;       // a surface over a regular grid: terrain.h
struct HeightField {  // solid below the surface; nothing beside the grid; cheap to copy
  static constexpr std::string_view name = "height-field";
  std::shared_ptr<const Terrain> terrain;  // never null in a model; made by terrain()
};
struct HalfSpace {  // the solid is z < 0; outward normal +z: ground, walls
  static constexpr std::string_view name = "half-space";
};
struct Peg {  // an unbounded cylinder, axis z: a circle in the plane
  static constexpr std::string_view name = "peg";
  double radius = 0;  // L_H [m]
};

using Shape = std::variant<Sphere, Capsule, Box, HalfSpace, Peg, Cylinder, ConvexHull, Ellipsoid,
                           HeightField>;

[[nodiscard]] std::string_view name_of(const Shape& shape);

}  // namespace saltus
