// A mechanism in Simbody. Its headers are no C++20 and ours no C++17: this interface is both, with
// nothing of either.
#pragma once
#include <Eigen/Core>
#include <memory>
#include <vector>

namespace saltus::bench {

struct SimbodyBody {
  int parent = -1;            // -1: the ground
  bool floating = false;      // else a pin
  Eigen::Vector3d axis, at;   // of the pin; in the parent [m]
  double mass = 0;            // [kg]
  Eigen::Vector3d com;        // [m]
  Eigen::Matrix3d about_com;  // [kg m^2]
};

// Vectors are in our order: (linear, angular) of a floating body, whose pose is the identity.
class SimbodyCase {
 public:
  SimbodyCase(const std::vector<SimbodyBody>& bodies, const Eigen::Vector3d& gravity,
              const Eigen::VectorXd& angles, const Eigen::VectorXd& v);
  ~SimbodyCase();
  SimbodyCase(const SimbodyCase&) = delete;
  SimbodyCase& operator=(const SimbodyCase&) = delete;

  // Everything anew from (q, v). The argument is in(), the result out().
  void kinematics();
  void inverse();
  void forward();
  void mass_matrix();

  [[nodiscard]] Eigen::VectorXd in() const;
  [[nodiscard]] Eigen::VectorXd out() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace saltus::bench
