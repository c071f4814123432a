// A creature whose shape moves its body (P4 sections 2 to 4): one tree on one moving root. Its
// configuration is (g, r): g in the net group G places a reference body, r is the shape, all joints
// but the root's. Here are the names and sizes of both, and what turns a shape into q.
//
// A shape variable is a scalar joint coordinate, or a component of the rotation vector of a
// spherical joint. Rates are r'; the engine's velocities are u = T(r) r', where T is dexp for
// rotation vectors and the identity else.
//
//   eta = g^-1 g'   net twist, components in `basis`: twists of the reference body, linear first
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "saltus/model/model.h"

namespace saltus {

enum class NetGroup { se3, se2, so3, translations, line, circle };
[[nodiscard]] std::string_view name_of(NetGroup group);  // "SE(3)" ...

struct ShapeVariable {
  std::string name;  // the coordinate's; of a spherical joint NAME.x, .y, .z
  BodyIndex body;
  int component = 0;                           // of the joint's velocities
  bool rotation = false;                       // of a rotation vector
  bool rotational = true;                      // [rad], else [m]
  double lower = -infinity, upper = infinity;  // the joint's limits
};

struct ShapeSpace {
  BodyIndex root, reference;
  NetGroup group = NetGroup::se3;
  Mat6X basis;                           // 6 x n, constant in the reference body's frame
  Mat to_net;                            // n x 6: components of a twist in the basis
  std::vector<std::string> components;   // names of eta: Vx, Vy, Om ...
  std::vector<ShapeVariable> variables;  // p of them
  std::vector<int> first;                // of each body: its first variable, -1 without any
  std::vector<char> moves;               // of each body: it hangs on the root

  [[nodiscard]] int n() const { return static_cast<int>(basis.cols()); }
  [[nodiscard]] int p() const { return static_cast<int>(variables.size()); }
  // Throws InputError with the known names.
  [[nodiscard]] int variable(const std::string& name) const;
};

// The reference is the root unless another body is named. Throws InputError: several trees, cut
// joints and loops, joints without a rotation vector or number; a reference body that leaves the
// root's plane.
[[nodiscard]] ShapeSpace shape_space(const Model& model, const std::string& reference = {});

// The configuration with the root's joint at zero and the shape r.
[[nodiscard]] Vec shape_q(const Model& model, const ShapeSpace& space, VecIn r);
// The shape of a configuration.
[[nodiscard]] Vec shape_of(const Model& model, const ShapeSpace& space, VecIn q);

// T(r), p x p, and (dT/dt) r': u = T r', u' = T r'' + (dT/dt) r'.
[[nodiscard]] Mat rate_map(const ShapeSpace& space, VecIn r);
[[nodiscard]] Vec rate_bias(const ShapeSpace& space, VecIn r, VecIn rdot);

// Net velocities of the root's joint, v_root, that belong to a twist of the root body in its own
// frame, at the joint's coordinates q_root.
[[nodiscard]] Vec root_velocities(const Model& model, const ShapeSpace& space, VecIn q_root,
                                  const Vec6& twist);

}  // namespace saltus
