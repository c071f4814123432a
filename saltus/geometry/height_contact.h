// Contact of bodies with a height field, in the field's frame; the field is a, the body b.
//
// Local minima of the distance between the body and the surface: a point of the body over a facet,
// a ridge or a corner of the terrain (Voronoi regions: the direction lies in the feature's normal
// cone), a ridge crossing an edge, a corner under a face. A ball in a valley touches both its
// sides; on a ridge its normal is towards its centre. A point in the ground leaves it by the
// nearest facet and by all that form a valley with it. Of more than eight points those that touch
// are kept first.
#pragma once
#include "saltus/geometry/collect.h"
#include "saltus/geometry/cylinder.h"
#include "saltus/geometry/polytope.h"
#include "saltus/geometry/segments.h"
#include "saltus/geometry/terrain.h"

namespace saltus {

void terrain_ball_points(const Terrain& a, const Vec3& centre, double radius, Collector& out);
void terrain_capsule_points(const Terrain& a, const Segment& core, double radius, Collector& out);
void terrain_polytope_points(const Terrain& a, const Placed& b, Collector& out);
void terrain_cylinder_points(const Terrain& a, const PlacedCylinder& b, const Aabb& box,
                             Collector& out);
void terrain_ellipsoid_points(const Terrain& a, const Ellipsoid& b, const SE3& X, Collector& out);

}  // namespace saltus
