// A creature with its shape space and what it moves by, and paths of its shape by names.
#pragma once
#include <gtest/gtest.h>

#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "saltus/analysis/net_motion.h"
#include "tests/support/creatures.h"

namespace saltus::test {

struct ShapeCase {
  Model model;
  ShapeSpace space;
  Medium medium;

  ShapeCase(Model m, const std::string& reference = {})
      : model(std::move(m)), space(shape_space(model, reference)), medium(by_inertia(model)) {}
  ShapeCase& axles() {
    medium = by_rows(edge_rows(model));
    return *this;
  }
  // Every body a slender link of length 1 in a viscous fluid.
  ShapeCase& viscous(double c_t, double c_n) {
    medium =
        by_drag(model, std::vector<Mat6>(model.bodies.size(), slender_resistance(1, c_t, c_n)));
    return *this;
  }
  // Values in the order of names.
  [[nodiscard]] Vec shape(const std::vector<std::string>& names,
                          const std::vector<double>& x) const {
    Vec r = Vec::Zero(space.p());
    for (std::size_t i = 0; i < names.size(); ++i) r[space.variable(names[i])] = x[i];
    return r;
  }
  [[nodiscard]] ShapePath path(const std::vector<std::string>& names, const std::vector<Signal>& r,
                               double end) const {
    ShapePath p{Vec::Zero(space.p()), {}, r, 0, end};
    for (const std::string& n : names) p.variable.push_back(space.variable(n));
    return p;
  }
  // c + rho (cos t, sin t), t from 0 to 2 pi.
  [[nodiscard]] ShapePath circle(const std::vector<std::string>& names, double c1, double c2,
                                 double rho) const {
    constexpr double pi = std::numbers::pi;
    return path(names, {Sine{rho, 1, pi / 2, c1}, Sine{rho, 1, 0, c2}}, 2 * pi);
  }
  [[nodiscard]] NetMotion along(const ShapePath& p) const {
    return net_motion(model, space, medium, p);
  }
};

inline void expect_pose(const NetMotion& m, double x, double y, double turn, double tolerance) {
  EXPECT_FALSE(m.obstruction);
  EXPECT_TRUE(m.integration.done);
  EXPECT_NEAR(m.g.r.x(), x, tolerance);
  EXPECT_NEAR(m.g.r.y(), y, tolerance);
  EXPECT_NEAR(m.turn, turn, tolerance);
}

}  // namespace saltus::test
