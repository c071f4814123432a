// Linear programs of a few dozen variables, and convex ones whose curved constraints are given by
// cuts: max c.x subject to lower <= x <= upper, a_k.x <= b_k.
//
// The simplex method on the dual, min b.u subject to A'u = c, u >= 0: a constraint is a column
// there, so a cut that is found on the way is one more column and nothing starts anew. The box
// gives the first basis. Every basis is a vertex x of the constraints seen so far whose value is
// an upper bound of the answer.
#pragma once
#include <functional>
#include <vector>

#include "saltus/base/types.h"

namespace saltus {

// a.x <= b, as long as a is not zero.
struct HalfSpaceCut {
  Vec a;
  double b = 0;
};

struct LinearProgram {
  Vec c;
  Vec lower, upper;  // finite
  std::vector<HalfSpaceCut> rows;
  // The most violated of further constraints at x, or one that holds there. Where many x are as
  // good as each other, some rows near them must be given: cuts alone may come without end.
  std::function<HalfSpaceCut(VecIn x)> separate;
  double cut_tolerance = 1e-10;  // by which such a constraint may be missed
};

struct LinearAnswer {
  enum class Status { optimal, infeasible, unfinished } status = Status::unfinished;
  Vec x;
  double value = 0;      // c.x
  double violation = 0;  // of the worst constraint at x, each by the length of its a
  int pivots = 0, cuts = 0;
};

// Variables of order one; stops where no constraint is violated by more than the tolerance, times
// 1 + the largest of x.
[[nodiscard]] LinearAnswer maximise(const LinearProgram& program, double tolerance = 1e-12);

}  // namespace saltus
