#include "saltus/geometry/mesh.h"

#include <fmt/format.h>

#include <cmath>

#include "saltus/base/error.h"
#include "saltus/geometry/hull.h"

namespace saltus {

namespace {

constexpr double open_share = 1e-6;  // of the whole area, which a closed mesh's sum stays below

}  // namespace

// Tetrahedra from the first vertex to every triangle; those seen from behind count negative.
MeshVolume volume_of(const TriangleMesh& mesh) {
  if (mesh.triangles.empty()) throw InputError("expected a mesh with triangles, got none");
  const Vec3 o = mesh.vertices[mesh.triangles[0][0]];
  double volume = 0, area = 0;
  Vec3 first = Vec3::Zero(), areas = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  for (const auto& t : mesh.triangles) {
    const Vec3 a = mesh.vertices[t[0]] - o, b = mesh.vertices[t[1]] - o,
               c = mesh.vertices[t[2]] - o, s = a + b + c;
    const Vec3 twice = (b - a).cross(c - a);
    areas += twice;
    area += twice.norm();
    const double v = a.dot(b.cross(c)) / 6;
    volume += v;
    first += v / 4 * s;
    second +=
        v / 20 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
  }
  if (!(areas.norm() <= open_share * area))
    throw InputError(
        fmt::format("expected a closed mesh, {:.3g} of its area is missing", areas.norm() / area));
  if (!(std::abs(volume) > 1e-12 * std::pow(area, 1.5)))
    throw InputError("expected a mesh that encloses a volume");
  MeshVolume result;
  const Vec3 mean = first / volume;
  result.volume = std::abs(volume);
  result.centroid = o + mean;
  result.second_moment = (second - volume * mean * mean.transpose()) * (volume < 0 ? -1 : 1);
  return result;
}

RigidInertia solid_mesh(double mass, const TriangleMesh& mesh) {
  const MeshVolume v = volume_of(mesh);
  const Mat3 C = mass / v.volume * v.second_moment;
  return {mass, v.centroid, C.trace() * Mat3::Identity() - C};
}

namespace {

std::shared_ptr<TriangleMesh> scaled(const TriangleMesh& mesh, const Vec3& scale) {
  auto drawn = std::make_shared<TriangleMesh>(mesh);
  for (Vec3& v : drawn->vertices) v = v.cwiseProduct(scale);
  if (scale.prod() < 0)  // a mirror turns the triangles over
    for (auto& t : drawn->triangles) std::swap(t[1], t[2]);
  return drawn;
}

}  // namespace

ConvexHull hull_of(const TriangleMesh& mesh, const Vec3& scale) {
  auto drawn = scaled(mesh, scale);
  ConvexHull result = convex_hull(drawn->vertices);
  result.drawn = std::move(drawn);
  return result;
}

CoarseHull coarse_hull_of(const TriangleMesh& mesh, const Vec3& scale) {
  auto drawn = scaled(mesh, scale);
  CoarseHull result = coarse_hull(drawn->vertices);
  result.hull.drawn = std::move(drawn);
  return result;
}

}  // namespace saltus
