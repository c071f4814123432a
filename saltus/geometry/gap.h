// Pairs with a fixed number of points: each feature keeps its place in the array.
#pragma once
#include <array>

#include "saltus/geometry/contact_points.h"

namespace saltus {

using ContactPoints = std::array<ContactPoint, max_features>;

// How many contact points this pair of shapes has (a face resting has several); 0: unsupported.
[[nodiscard]] int feature_count(const Shape& a, const Shape& b);
// Fills feature_count(a, b) points. Which feature is which does not change over time.
void gap_functions(const Shape& a, const SE3& X_a, const Shape& b, const SE3& X_b,
                   ContactPoints& points);

}  // namespace saltus
