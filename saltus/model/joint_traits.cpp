#include "saltus/model/joint_traits.h"

namespace saltus {

int quaternion_at(const Joint& joint) {
  if (std::holds_alternative<Spherical>(joint)) return 0;
  return is_floating(joint) ? 3 : -1;
}

bool is_angular(const Joint& joint, int k) {
  if (const int first = quaternion_at(joint); first >= 0) return k >= first;
  return std::holds_alternative<Revolute>(joint) || std::holds_alternative<Bend>(joint) ||
         (std::holds_alternative<Planar>(joint) && k == 2);
}

bool is_floating(const Joint& joint) { return std::holds_alternative<Floating>(joint); }

bool is_rod(const Joint& joint) { return std::holds_alternative<RodPiece>(joint); }

}  // namespace saltus
