// Segments that the tests of rods share.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

#include "saltus/rods/gauss.h"
#include "saltus/rods/segment.h"
#include "tests/support/random.h"

namespace saltus::test {

// Stiffness and inertia given as diagonals, the same at every X.
inline RodProperties diagonal_rod(const Vec6& stiffness, const Vec6& inertia) {
  RodProperties p;
  p.stiffness = stiffness.asDiagonal();
  p.inertia = inertia.asDiagonal();
  return p;
}

// L = EI = GJ = EA = GA = rhoA = 1, rhoI = 0.
inline SegmentSpec unit_rod(std::vector<StrainBasis> basis) {
  SegmentSpec spec;
  spec.length = 1;
  spec.basis = std::move(basis);
  Vec6 mass;
  mass << 1, 1, 1, 0, 0, 0;
  spec.given = [mass](double) { return diagonal_rod(Vec6::Ones(), mass); };
  return spec;
}

// Any mix of bases on some of the components, curved and twisted at rest, tapered.
inline RodSegment random_segment(Random& random) {
  SegmentSpec spec;
  spec.length = random.uniform(0.5, 1.5);
  for (int c = 0; c < 6; ++c) {
    if (random.chance(0.3)) continue;
    const auto kind = static_cast<BasisKind>(random.integer(0, 2));
    spec.basis.push_back({static_cast<Strain>(c), kind, random.integer(1, 4)});
  }
  spec.basis.push_back({Strain::bend_z, BasisKind::legendre, 1});
  if (spec.basis.size() > 1 && spec.basis[spec.basis.size() - 2].component == Strain::bend_z) {
    spec.basis.pop_back();  // a second constant would not be independent
  }
  spec.material = {random.uniform(1, 3), random.uniform(0, 0.4), random.uniform(1, 2), 0.1, 1};
  const double a = random.uniform(0.3, 0.6), b = random.uniform(0.3, 0.6);
  if (random.chance(0.5)) {
    spec.section = CircleSection{a};
    spec.section_end = CircleSection{b};
  } else {
    spec.section = RectangleSection{a, b};
  }
  const Vec6 bent = random.vector6(0.5);
  spec.rest = [bent](double X) {
    Vec6 x = std::sin(2 * X) * bent;
    x[0] += 1;
    return x;
  };
  spec.cells = random.integer(1, 3);
  spec.steps = random.integer(1, 2);
  return make_segment(spec);
}

}  // namespace saltus::test
