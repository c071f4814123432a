// What is asked of a joint instead of its kind agrees with how it moves.
#include "saltus/model/joint_traits.h"

#include <gtest/gtest.h>

#include "saltus/dynamics/joint_kinematics.h"

namespace saltus {
namespace {

const Joint kinds[] = {
    Fixed{},    Revolute{}, Prismatic{},     Planar{}, Spherical{},
    Floating{}, Carrier{},  PlanarCarrier{}, Bend{}};  // a rod's is its segment's

// The coordinates of no displacement: where a quaternion is, it is 1, 0, 0, 0.
Vec zero_of(const Joint& joint) {
  Vec q = Vec::Zero(nq_of(joint));
  joint_coordinates(joint, SE3{}, q);
  return q;
}

TEST(JointTraits, AQuaternionIsWhereTheUnitIs) {
  for (const Joint& joint : kinds) {
    Vec expected = Vec::Zero(nq_of(joint));
    if (const int w = quaternion_at(joint); w >= 0) expected[w] = 1;
    EXPECT_EQ(zero_of(joint), expected) << name_of(joint);
    EXPECT_EQ(quaternion_at(joint) >= 0, !has_scalar_coordinates(joint)) << name_of(joint);
  }
}

TEST(JointTraits, AngularVelocitiesTurnAndTheOthersDoNot) {
  for (const Joint& joint : kinds) {
    const int n = nv_of(joint);
    SE3 X;
    Columns6 S = Columns6::Zero();
    Vec6 bias;
    joint_kinematics(joint, zero_of(joint), Vec::Zero(n), X, S, bias);
    for (int k = 0; k < n; ++k)
      EXPECT_EQ(is_angular(joint, k), !S.col(k).tail<3>().isZero()) << name_of(joint) << " " << k;
    // v begins its angular velocity where q begins its quaternion
    if (const int first = quaternion_at(joint); first >= 0) {
      EXPECT_TRUE(is_angular(joint, first) && n == first + 3) << name_of(joint);
    }
  }
}

TEST(JointTraits, WhatFloatsHasAllSixDirections) {
  for (const Joint& joint : kinds)
    EXPECT_EQ(is_floating(joint), nv_of(joint) == 6) << name_of(joint);
  EXPECT_TRUE(is_rod(RodPiece{}) && is_element(RodPiece{}));
  for (const Joint& joint : kinds) EXPECT_FALSE(is_rod(joint)) << name_of(joint);
}

}  // namespace
}  // namespace saltus
