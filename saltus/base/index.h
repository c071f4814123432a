// Indices have types: a function that takes a BodyIndex cannot be called with a ShapeIndex.
#pragma once
#include <compare>

namespace saltus {

template <class Tag>
struct Index {
  int value = -1;
  constexpr Index() = default;
  constexpr explicit Index(int i) : value(i) {}
  // Reading an array needs a plain integer; the way back is explicit.
  constexpr operator int() const { return value; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr bool valid() const { return value >= 0; }
  constexpr auto operator<=>(const Index&) const = default;
};

using BodyIndex = Index<struct BodyTag>;
using CutIndex = Index<struct CutTag>;
using ShapeIndex = Index<struct ShapeTag>;
// A scalar coordinate of a joint, whether the joint is in the tree or cut.
using CoordinateIndex = Index<struct CoordinateTag>;

inline constexpr BodyIndex world{-1};

}  // namespace saltus
