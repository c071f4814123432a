// Quadrature of Gauss and Legendre.
#pragma once
#include <vector>

namespace saltus {

struct GaussPoint {
  double x = 0, weight = 0;
};
// The n nodes on [0, 1] in rising order; weights sum to 1. Exact for polynomials of degree 2n - 1.
[[nodiscard]] std::vector<GaussPoint> gauss_points(int n);

}  // namespace saltus
