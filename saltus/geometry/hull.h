// Convex polyhedra. A hull's faces, edges and mass properties are computed once, with qhull; flat
// faces of any number of corners are one face, so that they give one contact normal.
#pragma once
#include <vector>

#include "saltus/geometry/shapes.h"
#include "saltus/lie/inertia.h"

namespace saltus {

// Solid of plane faces; index lists refer to `vertices`.
struct Hull {
  struct Face {
    int first = 0, count = 0;  // corners in `loop`, counter-clockwise seen from outside
    Vec3 normal = Vec3::UnitZ();
    double offset = 0;  // the solid has normal . p <= offset [m]
  };
  struct Edge {
    int tail = 0, head = 0;
    int left = 0, right = 0;  // faces; the left one runs tail to head
  };
  std::vector<Vec3> vertices;  // shape frame [m]
  std::vector<Face> faces;
  std::vector<int> loop;       // corners of all faces
  std::vector<int> loop_edge;  // the edge that starts at each corner of `loop`
  std::vector<Edge> edges;
  double size = 0;                    // largest distance of a vertex from the centroid [m]
  double volume = 0;                  // [m^3]
  Vec3 centroid = Vec3::Zero();       // [m]
  Mat3 second_moment = Mat3::Zero();  // of the volume about the centroid: integral of r r' [m^5]

  // Triangles of all faces, as fans, three vertices each.
  [[nodiscard]] std::vector<int> triangles() const;
};

// The hull of points; those inside, doubled (nearer to another than 1e-9 of their size) or within
// faces and edges are dropped. Throws InputError when the points are fewer than four, not finite,
// or (nearly) in one plane.
[[nodiscard]] ConvexHull convex_hull(const std::vector<Vec3>& points);

// The same of points whose hull has more corners than a shape may have: those nearer than `merged`
// to another are left out, as few as suffice.
struct CoarseHull {
  ConvexHull hull;
  std::size_t vertices = 0;  // of the hull of all points
  double merged = 0;         // [m]; 0: none
};
[[nodiscard]] CoarseHull coarse_hull(const std::vector<Vec3>& points);

// Fills edges and loop_edge from faces and their loops.
void connect(Hull& hull);

// Of a hull of uniform density.
[[nodiscard]] RigidInertia solid_hull(double mass, const Hull& hull);

}  // namespace saltus
