// The creatures of P4's sections 2 to 6 as models; every figure is given in the test that uses it.
#pragma once
#include "saltus/model/model.h"

namespace saltus::test {

// Planar links hinged end to end, `centre` .. in a row along x: link1 rear ... linkN front, frames
// at their centres, hinges at `reach` from these. The middle link is the root, so that it is the
// reference; hinge j turns link j+1 against link j: a_j = th_(j+1) - th_j.
struct ChainLink {
  double mass = 1, inertia = 1.0 / 12, reach = 0.5;
  Mat6 added = Mat6::Zero();
};
[[nodiscard]] Model chain(const std::vector<ChainLink>& links, int root);

// The wheeled snake: module1 = head is the root, length 2h = 1, an axle at each middle,
// th_(j+1) = th_j + r_j.
[[nodiscard]] Model wheeled_snake(int modules);

// Two halves of a cat: front (root) and rear on a ball joint.
[[nodiscard]] Model falling_cat();

[[nodiscard]] Model snakeboard();
[[nodiscard]] Model trikke();

}  // namespace saltus::test
