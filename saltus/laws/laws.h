// Set-valued force laws. A law is a small struct and one function, prox, and owns its whole block:
//
//   -xi in N_C(Lambda)  <=>  Lambda = prox_C(Lambda - r xi)          (P0 eq. 53, P2 eq. 13)
//
// (Hu's rule has a natural map of its own: natural.)
// xi is the block's velocity (with restitution, offset and compliance), Lambda its impulse. A block
// has one r per convex set, never per row: with two r in one disc the slip direction is wrong.
// Impulses are in N s (rotational rows N m s), velocities in m/s (rad/s).
//
// Every law is a product of at most four convex sets (sets_of): the solvers see those and no law.
#pragma once
#include <array>
#include <concepts>
#include <string_view>
#include <variant>

#include "saltus/base/types.h"

namespace saltus {

// All of R^dim: joints, knife edges, rolling.
struct Bilateral {
  static constexpr std::string_view name = "bilateral";
  int dim = 1;
};
// Lambda >= 0: feet, pegs, joint limits.
struct Unilateral {
  static constexpr std::string_view name = "unilateral";
};
// lower <= Lambda <= upper: relay (dry joint friction), torque-limited motors.
struct Interval {
  static constexpr std::string_view name = "interval";
  double lower = 0, upper = 0;  // impulses [N s] or [N m s]
};
// Which impulse of the friction ellipse belongs to a direction of slip.
enum class SlipRule : unsigned char {
  normal_cone,  // the one that dissipates most: -xi in N_C(Lambda)
  hu            // Hu's: Lambda = -(a xi_1, b xi_2)/|xi|; no normal cone where a and b differ
};

// Lambda_T in an ellipse of fixed semi-axes: friction under a given load (P0 eq. 50, 52). With a
// semi-axis of its own for backward sliding the set is two half-ellipses, convex and smooth.
struct GivenLoad {
  static constexpr std::string_view name = "given-load";
  double a = 0, b = 0;  // semi-axes mu_1 N dt, mu_2 N dt [N s]; a where Lambda_1 < 0
  double back = -1;     // semi-axis where Lambda_1 > 0, against xi_1 < 0; negative: as a
  SlipRule rule = SlipRule::normal_cone;
};
// Order (N, T1, T2): Lambda_N >= 0 and Lambda_T in Lambda_N times an ellipse (a disc: mu1 = mu2).
struct Coulomb {
  static constexpr std::string_view name = "coulomb";
  double mu1 = 0, mu2 = 0;  // coefficients along T1 (where Lambda_1 < 0) and T2 [-]
  double back = -1;         // along T1 where Lambda_1 > 0; negative: as mu1
  SlipRule rule = SlipRule::normal_cone;
};

// Coulomb's law in the plane, order (N, T): Lambda_N >= 0 and |Lambda_T| <= mu Lambda_N.
struct Coulomb2 {
  static constexpr std::string_view name = "coulomb-2d";
  double mu = 0;  // [-]
};
// Coulomb's law with rolling friction |Lambda_R| <= mu_r Lambda_N and, where mu_drilling > 0,
// drilling friction |Lambda_D| <= mu_d Lambda_N. Order (N, T1, T2, R1, R2[, D]): moments about T1,
// T2 and the normal.
struct RollingCoulomb {
  static constexpr std::string_view name = "coulomb-rolling";
  double mu1 = 0, mu2 = 0;                 // [-]
  double mu_rolling = 0, mu_drilling = 0;  // [m]
};

using Law =
    std::variant<Bilateral, Unilateral, Interval, GivenLoad, Coulomb, Coulomb2, RollingCoulomb>;

[[nodiscard]] constexpr int dim(const Bilateral& law) { return law.dim; }
[[nodiscard]] constexpr int dim(const Unilateral&) { return 1; }
[[nodiscard]] constexpr int dim(const Interval&) { return 1; }
[[nodiscard]] constexpr int dim(const GivenLoad&) { return 2; }
[[nodiscard]] constexpr int dim(const Coulomb&) { return 3; }
[[nodiscard]] constexpr int dim(const Coulomb2&) { return 2; }
[[nodiscard]] constexpr int dim(const RollingCoulomb& law) { return law.mu_drilling > 0 ? 6 : 5; }

// x <- prox_C(x), in place, no allocation. For Coulomb the normal comes first, then its own disc
// (P2 eq. 13): the friction set depends on the normal impulse just found.
void prox(const Bilateral& law, VecRef x);
void prox(const Unilateral& law, VecRef x);
void prox(const Interval& law, VecRef x);
void prox(const GivenLoad& law, VecRef x);
void prox(const Coulomb& law, VecRef x);
void prox(const Coulomb2& law, VecRef x);
void prox(const RollingCoulomb& law, VecRef x);

template <class L> concept SetValuedLaw = requires(const L& law, VecRef x) {
  { L::name } -> std::convertible_to<std::string_view>;
  { dim(law) } -> std::convertible_to<int>;  // rows of the block
  prox(law, x);
};
static_assert(SetValuedLaw<Bilateral> && SetValuedLaw<Unilateral> && SetValuedLaw<Interval> &&
              SetValuedLaw<GivenLoad> && SetValuedLaw<Coulomb> && SetValuedLaw<Coulomb2> &&
              SetValuedLaw<RollingCoulomb>);

[[nodiscard]] int rows_of(const Law& law);
void prox_law(const Law& law, VecRef x);  // the dispatcher

// One convex set of a law, on rows [first, first + rows) of its block.
struct ConvexSet {
  enum class Shape : unsigned char { all, interval, ellipse } shape = Shape::all;
  enum class Kind : unsigned char { normal, tangential, rotational } kind = Kind::normal;
  bool scaled = false;  // times the block's normal impulse, row 0 (which is then the first set)
  int first = 0, rows = 1;
  double lower = 0, upper = 0;  // bounds of an interval; semi-axes of an ellipse
  double back = -1;             // first semi-axis on the positive side; negative: as lower
  SlipRule rule = SlipRule::normal_cone;
  [[nodiscard]] bool two_sided() const { return back >= 0 && back != lower; }
  // The first semi-axis on the side of x.
  [[nodiscard]] double axis(double x) const { return x > 0 && back >= 0 ? back : lower; }
};
struct ConvexSets {
  std::array<ConvexSet, 4> list;
  int count = 0;
  bool mixed = false;  // rows of velocities and rows of angular velocities in one block
  [[nodiscard]] const ConvexSet* begin() const { return list.data(); }
  [[nodiscard]] const ConvexSet* end() const { return list.data() + count; }
  [[nodiscard]] const ConvexSet& operator[](int i) const { return list[i]; }
};
[[nodiscard]] ConvexSets sets_of(const Law& law);

// The step lengths of a block, one per convex set: 1 / (a diagonal entry of G) [kg] ([kg m^2]).
struct StepLengths {
  std::array<double, 4> r{1, 1, 1, 1};
};

// x <- the nearest point of the set; `normal` >= 0 is the impulse that scales it, if one does.
void project(const ConvexSet& set, double normal, VecRef x);

// x <- the image of x - r xi, which is x exactly where the law of the set holds between impulse x
// and velocity xi: the projection, and for Hu's rule that of the disc which scaled impulses form.
void natural(const ConvexSet& set, double normal, double r, VecIn xi, VecRef x);

// The nearest point of the ellipse (x/a)^2 + (y/b)^2 <= 1; a, b >= 0, degenerate axes allowed.
[[nodiscard]] Vec2 project_on_ellipse(const Vec2& p, double a, double b);

}  // namespace saltus
