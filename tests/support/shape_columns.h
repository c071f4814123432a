// Derivatives of the columns of a shape along its motion, against differences.
#pragma once
#include <gtest/gtest.h>

#include "saltus/analysis/connection.h"

namespace saltus {

inline void expect_derivatives_of_columns(const Model& model, const ShapeSpace& space, VecIn r,
                                          VecIn rdot, double bound, const char* reference) {
  const ShapeColumns c = shape_columns(model, space, r);
  const ShapeColumns d = shape_columns_along(model, space, r, c, rate_map(space, r) * rdot);
  const double e = 1e-5;
  const ShapeColumns plus = shape_columns(model, space, r + e * rdot);
  const ShapeColumns minus = shape_columns(model, space, r - e * rdot);
  for (std::size_t i = 0; i < c.net.size(); ++i) {
    const Mat net = (plus.net[i] - minus.net[i]) / (2 * e);
    const Mat shape = (plus.shape[i] - minus.shape[i]) / (2 * e);
    EXPECT_LT((net - d.net[i]).norm(), bound) << reference << ", body " << i;
    EXPECT_LT((shape - d.shape[i]).norm(), bound) << reference << ", body " << i;
  }
}

}  // namespace saltus
