// What actuators can do: the acceleration of a point of a model that stands, in a direction d, over
// all torques within their limits (P1 section 6.1 and its directional capability equations, as
// corrected). With a = S tau + a0 and F = Fs tau + F0 + N z (stance.h):
//
//   directional  max v  such that  a = v d: the other accelerations are zero (6.4); of three
//                actuators tau = e v - b, e = E d, b = E a0, E = S^-1, so v is the least of
//                (upper_i + b_i)/e_i where e_i > 0 and (lower_i + b_i)/e_i where e_i < 0 (6.6 with
//                both bounds). An actuator with e_i = 0 sets no limit but must reach -b_i.
//   free         max d.a: the other accelerations float. A linear program over the box.
//   held         the same, F within its laws: feet that only push, friction cones. A second-order
//                cone program, by cuts.
//
// directional <= free and held <= free always; held may lie below directional, which does not look
// at the forces.
#pragma once
#include <optional>
#include <utility>

#include "saltus/analysis/linear_program.h"
#include "saltus/analysis/stance.h"

namespace saltus {

struct Capability {
  bool feasible = false;  // some torques within the limits do it
  double value = 0;       // d.a [m/s^2]
  Vec tau;                // which [N m] or [N]
  Vec force;              // where the model is held then [N]
  // `value` is an upper bound; what is really reached is less by no more than this [m/s^2].
  double error = 0;
  int limiting = -1;  // of `directional` with three actuators: the one at its bound
};

// P1's equations for three actuators whose accelerations are independent: by ratios.
[[nodiscard]] Capability directional_by_ratios(const Stance& stance, const Vec3& direction);
// The same for any number, by a linear program; without the laws of the forces, as P1.
[[nodiscard]] Capability directional_capability(const Stance& stance, const Vec3& direction);
[[nodiscard]] Capability free_capability(const Stance& stance, const Vec3& direction);
// sides: of the inner polygons that stand for friction cones; 0: the cones themselves.
[[nodiscard]] Capability held_capability(const Stance& stance, const Vec3& direction,
                                         int sides = 0);

// Accelerations that can be reached, seen along the third axis: the corners of their outline in the
// plane of two unit vectors, counter-clockwise. Exact for `free`; with cones (held) corners are
// added until the outline grows by less than `tolerance` of its size.
[[nodiscard]] std::vector<Vec2> capability_outline(const Stance& stance, const Vec3& x,
                                                   const Vec3& y, bool held,
                                                   double tolerance = 1e-3);

}  // namespace saltus
