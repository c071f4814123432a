// Inertias that no body has, as robot files have them: dummy numbers on sensor frames, printing
// that lost digits, moments that are zero. Those that hardly matter beside their neighbours are
// made physical by the smallest change, and each change is reported.
#pragma once
#include <string>
#include <vector>

#include "saltus/robots/robot.h"
#include "saltus/robots/xml.h"

namespace saltus {

// Principal moments of some mass distribution nearest to those given: w >= 0 with
//   A = w2 + w3,  B = w3 + w1,  C = w1 + w2     (w the second moments of mass)
// and the least sum of squares of the changes [kg m^2].
[[nodiscard]] Vec3 nearest_moments(const Vec3& moments);
// The same of a tensor: its principal axes stay. In the norm of the sum of squares of its entries
// none is nearer.
[[nodiscard]] Mat3 nearest_inertia(const Mat3& J);

// A link as far as its inertia matters.
struct LinkInertia {
  XmlElement element;  // of the link
  XmlElement tensor;   // of its moments; none: the file gives none
  RigidInertia* inertia = nullptr;
  int parent = -1;  // in the same list, before it
  Joint joint = Fixed{};
  SE3 X;  // where the file draws the link
  std::string joint_name;
};

// Checks all links, the root first. Moments that miss the triangle inequality by what three printed
// digits leave are raised by what is missing. Else, unless `strict`, what is negligible beside the
// neighbours is mended: a link's moments where the change is less than a tenth of the moments,
// about its centre, of what moves with it, what this carries and what it is joined to; and a joint
// that moves nothing with inertia, whose link gets 1e-6 of them. The rest is refused: throws
// InputError with its line.
void check_inertias(std::vector<LinkInertia>& links, bool strict, std::vector<RobotNote>& notes);

}  // namespace saltus
