// The kinds of joints. A joint moves the frame of a body against a frame of its parent; its
// coordinates are q (nq of them) and its velocities v (nv), which differ where rotations are
// quaternions (w, x, y, z).
#pragma once
#include <memory>
#include <string_view>
#include <variant>

#include "saltus/base/types.h"

namespace saltus {

struct RodSegment;  // rods/segment.h

struct Fixed {
  static constexpr std::string_view name = "fixed";
  static constexpr int nq = 0, nv = 0;
};
struct Revolute {
  static constexpr std::string_view name = "revolute";
  static constexpr int nq = 1, nv = 1;
  Vec3 axis = Vec3::UnitZ();
};
struct Prismatic {
  static constexpr std::string_view name = "prismatic";
  static constexpr int nq = 1, nv = 1;
  Vec3 axis = Vec3::UnitX();
};
// q = (x, y, theta) in the parent's frame, v = dq/dt: the plane's normal is z (P0 eq. 4, 5).
struct Planar {
  static constexpr std::string_view name = "planar";
  static constexpr int nq = 3, nv = 3;
};
struct Spherical {  // q = quaternion, v = angular velocity in the body's frame
  static constexpr std::string_view name = "spherical";
  static constexpr int nq = 4, nv = 3;
};
// q = (position, quaternion), v = (velocity of the origin in the parent's frame, angular velocity
// in the body's frame), as P2 eq. 21: then free flight is exact and linear momentum is m v.
struct Floating {
  static constexpr std::string_view name = "floating";
  static constexpr int nq = 7, nv = 6;
};
// A carrier of a point mass: it translates along the parent's axes and does not turn.
struct Carrier {
  static constexpr std::string_view name = "carrier";
  static constexpr int nq = 3, nv = 3;
};

// The same in a planar model, which makes it of every Carrier: it translates along x and y.
struct PlanarCarrier {
  static constexpr std::string_view name = "carrier";
  static constexpr int nq = 2, nv = 2;
};

// A station of a link of constant curvature (an element with several stations). The link leaves its
// base along the base's x-axis; q is the angle by which its end has turned about `axis`, which is
// across x: at the arc length s the section has turned by phi = q s / L and lies at
//   r = s (sin(phi) / phi x + (1 - cos(phi)) / phi n),   n = axis x x.
struct Bend {
  static constexpr std::string_view name = "bend";
  static constexpr int nq = 1, nv = 1;
  Vec3 axis = Vec3::UnitY();
  double length = 1;  // L [m]
  double at = 1;      // s of this station [m]
};

// A station of a segment of a Cosserat rod (an element with several stations). q are the
// coefficients of its strains, as many as the segment has.
struct RodPiece {
  static constexpr std::string_view name = "rod";
  int nq = 0, nv = 0;
  std::shared_ptr<const RodSegment> segment;
  int station = 0;  // of RodSegment::stations
};

using Joint = std::variant<Fixed, Revolute, Prismatic, Planar, Spherical, Floating, Carrier,
                           PlanarCarrier, Bend, RodPiece>;

[[nodiscard]] int nq_of(const Joint& joint);
[[nodiscard]] int nv_of(const Joint& joint);
[[nodiscard]] std::string_view name_of(const Joint& joint);
// A station of a bend or a rod.
[[nodiscard]] bool is_element(const Joint& joint);
// Joints whose coordinates are plain numbers (v = dq/dt): all but spherical and floating.
[[nodiscard]] bool has_scalar_coordinates(const Joint& joint);

}  // namespace saltus
