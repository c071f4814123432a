// tau_bias of a planar model at one configuration and many velocities.
//
// In the plane a link's angular acceleration without joint accelerations is zero, and all that
// velocities do is
//   a_i = a_p - w_p^2 r + 2 w_p (z x v_rel),     f_i = m a_i - w_i^2 m c,    n_i = m c x a_i,
// so that a round costs a tenth of the kinematics and inverse dynamics in space.
#pragma once
#include "saltus/dynamics/workspace.h"

namespace saltus {

class PlanarBias {
 public:
  explicit PlanarBias(const Model& model);
  // Whether it holds: a planar model without added masses and elements of several stations.
  [[nodiscard]] static bool holds(const Model& model, const Workspace& work);
  // The configuration and the external wrenches of `work`; needs move_links.
  void load(const Model& model, const Workspace& work);
  void compute(const Model& model, VecIn v, VecRef tau);

 private:
  struct Node {
    int parent = 0, v0 = 0, linear = 0, nv = 0;
    double r[2] = {0, 0};                 // from the parent's point [m]
    double m = 0, mc[2] = {0, 0};         // mass, and times its centre from the point [kg, kg m]
    double f[2] = {0, 0}, n = 0;          // external [N, N m]
    double w = 0, a[2] = {0, 0};          // angular velocity, acceleration of the point
    double sum_f[2] = {0, 0}, sum_n = 0;  // wrench of the subtree at the point
  };
  std::vector<Node> nodes_;                     // the world first
  Eigen::Matrix<double, 2, Eigen::Dynamic> s_;  // linear columns
  Vec turn_;                                    // angular columns: about z
};

}  // namespace saltus
