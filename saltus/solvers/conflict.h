// Proof that a problem has no solution, and who is to blame.
//
// Whatever the friction, a solution needs velocities with xi = 0 in bilateral rows and xi >= 0 in
// the normals of contacts and limits. Where none exist (walls that close on a ball), the velocities
// that miss these rows least leave misses y that are Farkas' certificate: W y = 0, y >= 0 in the
// normals, and the free rates pull against y. The rows with y != 0 contradict each other.
//
// The least misses are those of the problem with a small compliance, which always has a solution:
// a miss that does not shrink with the compliance is there to stay.
#pragma once
#include <vector>

#include "saltus/solvers/inclusion.h"

namespace saltus {

struct Conflict {
  double miss = 0;          // the largest of the least misses [m/s]; 0: no conflict was found
  std::vector<int> blocks;  // those that contradict each other
};

// Misses up to `tolerance` [m/s] are none. Allocates; for problems of at most a few hundred rows.
[[nodiscard]] Conflict find_conflict(const Inclusion& problem, double tolerance);

}  // namespace saltus
