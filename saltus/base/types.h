// Eigen aliases used everywhere. SI units, radians; twists and wrenches are linear part first.
#pragma once
#include <Eigen/Core>
#include <Eigen/Geometry>
#include <limits>

namespace saltus {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec4 = Eigen::Vector4d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat2 = Eigen::Matrix2d;
using Mat3 = Eigen::Matrix3d;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using Vec = Eigen::VectorXd;
using Mat = Eigen::MatrixXd;
using Mat6X = Eigen::Matrix<double, 6, Eigen::Dynamic>;
using Columns6 = Eigen::Matrix<double, 6, 6>;  // up to six joint columns; the first nv count
using VecRef = Eigen::Ref<Vec>;
using VecIn = const Eigen::Ref<const Vec>&;
using Quat = Eigen::Quaterniond;

}  // namespace saltus
