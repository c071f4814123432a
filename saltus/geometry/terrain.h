// A continuous surface over a regular grid of heights, and its features.
//
// Each cell is two triangles, cut along the diagonal from (i, j) to (i + 1, j + 1). What lies in
// one plane is one *facet*, however many triangles it has; where two facets meet, or one ends at
// the rim of the grid, a straight piece is one *ridge*; ridges end at *corners*. A flat field
// is one facet: whatever slides over it feels one plane.
#pragma once
#include <memory>
#include <vector>

#include "saltus/geometry/shapes.h"

namespace saltus {

struct Terrain {
  struct Facet {
    Vec3 normal = Vec3::UnitZ();  // outward: upwards
    double offset = 0;            // the solid has normal . p <= offset [m]
  };
  struct Ridge {
    int tail = 0, head = 0;     // vertices
    int left = -1, right = -1;  // facets; -1: the rim
    bool convex = true;         // else a valley; rims are convex
  };
  int nx = 0, ny = 0;           // heights along x and y
  double dx = 1, dy = 1;        // [m]
  Vec2 origin = Vec2::Zero();   // x and y of the first height [m]
  std::vector<double> heights;  // row by row, x runs fastest [m]

  // Made by height_field:
  std::vector<Facet> facets;
  std::vector<Ridge> ridges;
  std::vector<int> facet;    // of each triangle: 2 cell + 0 (below the diagonal, y < x) or 1
  std::vector<int> ridge;    // of each edge: 3 vertex + 0 (along x), 1 (along y), 2 (diagonal)
  std::vector<char> corner;  // whether a ridge ends at a vertex
  double low = 0, high = 0;  // of the heights [m]
  double scale = 1;          // largest coordinate or extent, to which rounding is relative [m]

  [[nodiscard]] int vertex(int i, int j) const { return j * nx + i; }
  [[nodiscard]] int cell(int i, int j) const { return j * (nx - 1) + i; }
  [[nodiscard]] Vec3 at(int i, int j) const {
    return {origin.x() + i * dx, origin.y() + j * dy,
            heights[static_cast<std::size_t>(j) * nx + i]};
  }
  [[nodiscard]] Vec3 at(int vertex) const { return at(vertex % nx, vertex / nx); }
  [[nodiscard]] double width() const { return (nx - 1) * dx; }
  [[nodiscard]] double depth() const { return (ny - 1) * dy; }
  // How far below the lowest height the solid reaches for the broad phase [m].
  [[nodiscard]] double thickness() const;
  // The surface's height; false beside the grid.
  [[nodiscard]] bool height_at(double x, double y, double& z) const;
};

// Throws InputError where there are fewer than 2 x 2 heights, sizes do not agree, or a number is
// not finite. `origin` is that of the first height.
[[nodiscard]] HeightField height_field(int nx, int ny, double dx, double dy, const Vec2& origin,
                                       std::vector<double> heights);
// The same with the middle of the grid at the origin.
[[nodiscard]] HeightField height_field(int nx, int ny, double dx, double dy,
                                       std::vector<double> heights);

}  // namespace saltus
