// Triangle meshes: what is drawn, and the mass properties of what they enclose.
#pragma once
#include <array>
#include <vector>

#include "saltus/geometry/hull.h"
#include "saltus/geometry/shapes.h"
#include "saltus/lie/inertia.h"

namespace saltus {

struct TriangleMesh {
  std::vector<Vec3> vertices;                 // [m]
  std::vector<std::array<int, 3>> triangles;  // counter-clockwise seen from outside
};

// Of the volume a closed mesh encloses, by the divergence theorem: sums over its triangles alone.
struct MeshVolume {
  double volume = 0;                  // [m^3]; positive whichever way the triangles turn
  Vec3 centroid = Vec3::Zero();       // [m]
  Mat3 second_moment = Mat3::Zero();  // about the centroid: integral of r r' [m^5]
};
// Throws InputError where the mesh has no volume or is not closed (its areas do not add to zero).
[[nodiscard]] MeshVolume volume_of(const TriangleMesh& mesh);
// Of uniform density.
[[nodiscard]] RigidInertia solid_mesh(double mass, const TriangleMesh& mesh);

// The convex hull of a mesh, scaled along the axes, that is drawn as the mesh.
[[nodiscard]] ConvexHull hull_of(const TriangleMesh& mesh, const Vec3& scale = Vec3::Ones());
// The same, coarser where the mesh is too fine for a shape.
[[nodiscard]] CoarseHull coarse_hull_of(const TriangleMesh& mesh, const Vec3& scale = Vec3::Ones());

}  // namespace saltus
