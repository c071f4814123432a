// Contact problems of rigid bodies as plain data: stacks, corners, wedges, heaps. Masses [kg],
// lengths [m], one time step of gravity.
#pragma once
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "saltus/solvers/inclusion.h"
#include "tests/support/random.h"

namespace saltus::test {

// Twists are (velocity of the centre, angular velocity), both in the inertial frame.
class Bodies {
 public:
  explicit Bodies(double dt = 1e-3) : load_(9.81 * dt) {}
  int box(double mass, const Vec3& size, const Vec3& centre) {
    const Vec3 s = size.cwiseProduct(size);
    return body(mass, mass / 12 * Vec3(s[1] + s[2], s[0] + s[2], s[0] + s[1]), centre);
  }
  int sphere(double mass, double radius, const Vec3& centre) {
    return body(mass, Vec3::Constant(0.4 * mass * radius * radius), centre);
  }
  int body(double mass, const Vec3& inertia, const Vec3& centre) {
    mass_.push_back(mass);
    inertia_.push_back(inertia);
    centre_.push_back(centre);
    velocity_.push_back((Vec6() << 0, 0, -load_, 0, 0, 0).finished());
    return static_cast<int>(mass_.size()) - 1;
  }
  Vec6& velocity(int i) { return velocity_[i]; }

  // Body a on body b (-1: the world) at `point`; the normal points towards a.
  void contact(int a, int b, const Vec3& point, const Vec3& normal, const Law& law) {
    contacts_.push_back({a, b, point, normal.normalized(), law});
  }
  // Three rows that hold a point of a to b.
  void joint(int a, int b, const Vec3& point) {
    contacts_.push_back({a, b, point, Vec3::UnitZ(), Bilateral{3}});
  }

  [[nodiscard]] Inclusion problem() const {
    const int nv = 6 * static_cast<int>(mass_.size());
    int rows = 0;
    for (const Contact& c : contacts_) rows += rows_of(c.law);
    Inclusion p;
    p.reserve(rows, static_cast<int>(contacts_.size()), nv);
    p.M.setZero(nv, nv);
    Vec inverse(nv);
    for (std::size_t i = 0; i < mass_.size(); ++i) {
      const int k = 6 * static_cast<int>(i);
      p.v_free.segment<6>(k) = velocity_[i];
      p.M.diagonal().segment<3>(k).setConstant(mass_[i]);
      p.M.diagonal().segment<3>(k + 3) = inertia_[i];
    }
    inverse = p.M.diagonal().cwiseInverse();
    for (const Contact& c : contacts_) {
      const int row = p.add(c.law, 0, 1);
      const Vec3 n = c.normal;
      const Vec3 t1 = n.cross(std::abs(n.x()) < 0.9 ? Vec3::UnitX() : Vec3::UnitY()).normalized();
      const std::array<Vec3, 3> axes{n, t1, n.cross(t1)};
      const int count = rows_of(c.law);
      for (int k = 0; k < count; ++k) {
        const bool linear = k < 3;
        const Vec3& axis = linear ? axes[k] : axes[k == 5 ? 0 : k - 2];
        add(p.W, row + k, c.a, axis, c.point, linear, 1);
        add(p.W, row + k, c.b, axis, c.point, linear, -1);
      }
    }
    p.Y = inverse.asDiagonal() * p.W;
    p.c = p.W.transpose() * p.v_free;
    p.G = p.W.transpose() * p.Y;
    p.has_G = p.has_M = true;
    return p;
  }

 private:
  struct Contact {
    int a, b;
    Vec3 point, normal;
    Law law;
  };
  void add(Mat& W, int row, int body, const Vec3& axis, const Vec3& point, bool linear,
           double sign) const {
    if (body < 0) return;
    auto column = W.col(row).segment<6>(6 * body);
    if (linear) column.head<3>() += sign * axis;
    column.tail<3>() += sign * (linear ? (point - centre_[body]).cross(axis) : axis);
  }
  double load_;
  std::vector<double> mass_;
  std::vector<Vec3> inertia_, centre_;
  std::vector<Vec6> velocity_;
  std::vector<Contact> contacts_;
};

// n unit cubes on each other, `corners` contact points under each, the top one `ratio` heavier.
inline Bodies box_tower(int n, double ratio, int points, double mu) {
  Bodies bodies;
  for (int i = 0; i < n; ++i) {
    const int k = bodies.box(i == n - 1 ? ratio : 1, Vec3::Ones(), Vec3(0, 0, i + 0.5));
    for (int c = 0; c < points; ++c) {
      const double angle = 2 * std::numbers::pi * (c + 0.5) / points;
      const double reach = 0.5 / std::max(std::abs(std::cos(angle)), std::abs(std::sin(angle)));
      bodies.contact(k, i - 1, Vec3(reach * std::cos(angle), reach * std::sin(angle), i),
                     Vec3::UnitZ(), Coulomb{mu, mu});
    }
  }
  return bodies;
}

// A cube pressed into a corner: four points on each of three faces.
inline Bodies corner(double mu) {
  Bodies bodies;
  const int k = bodies.box(1, Vec3::Ones(), Vec3::Constant(0.5));
  bodies.velocity(k).head<3>() = Vec3(-0.02, -0.03, -0.05);
  for (int axis = 0; axis < 3; ++axis)
    for (int c = 0; c < 4; ++c) {
      Vec3 p = Vec3::Zero();
      p[(axis + 1) % 3] = c & 1;
      p[(axis + 2) % 3] = c >> 1;
      bodies.contact(k, -1, p, Vec3::Unit(axis), Coulomb{mu, mu});
    }
  return bodies;
}

// A wedge of half angle `angle` driven down between two walls: self-locking where mu is large.
inline Bodies wedge(double angle, double mu, int points) {
  Bodies bodies;
  const int k = bodies.box(1, Vec3(0.4, 1, 1), Vec3(0, 0, 0.5));
  bodies.velocity(k)[2] = -0.1;
  for (const double side : {-1.0, 1.0})
    for (int c = 0; c < points; ++c) {
      const double y = c % 2 - 0.5, z = 0.3 + 0.4 * (c / 2);
      bodies.contact(k, -1, Vec3(side * 0.2, y, z),
                     Vec3(-side * std::cos(angle), 0, std::sin(angle)), Coulomb{mu, mu});
    }
  return bodies;
}

// Bodies touching at random, every normal upwards: a solution exists, since all may fly apart.
struct HeapOptions {
  int bodies = 5, contacts = 12;
  double mass_ratio = 10, mu_most = 1, speed = 1;
  bool elliptic = false, rolling = false, mixed = false;
};
inline int heap_body(Bodies& bodies, Random& random, double ratio) {
  const double mass = random.log_uniform(1, ratio);
  return bodies.body(mass, Vec3::Constant(0.4 * mass), random.vector3());
}
inline Inclusion random_heap(Random& random, const HeapOptions& o) {
  Bodies bodies;
  for (int i = 0; i < o.bodies; ++i) {
    const int k = heap_body(bodies, random, o.mass_ratio);
    bodies.velocity(k) += random.vector6(o.speed);
  }
  for (int c = 0; c < o.contacts; ++c) {
    const int a = random.integer(0, o.bodies - 1), b = random.integer(-1, a - 1);
    Vec3 n = random.direction();
    n.z() = std::abs(n.z()) + 0.2;
    const double mu = random.uniform(0, o.mu_most);
    Law law = Coulomb{mu, mu};
    if (o.elliptic) law = Coulomb{mu, random.uniform(0, o.mu_most)};
    if (o.rolling && random.chance(0.5))
      law = RollingCoulomb{mu, mu, random.uniform(0, 0.3),
                           random.chance(0.5) ? 0 : random.uniform(0.01, 0.3)};
    if (o.mixed) switch (random.integer(0, 5)) {
        case 0: law = Unilateral{}; break;
        case 1: law = Interval{-random.uniform(0, 1), random.uniform(0, 1)}; break;
        case 2:
          law = Interval{-random.uniform(0, 1), std::numeric_limits<double>::infinity()};
          break;
        case 3: law = Coulomb2{mu}; break;
        default: break;
      }
    bodies.contact(a, b, random.vector3(), n, law);
  }
  if (o.mixed && o.bodies > 1) bodies.joint(1, 0, random.vector3());
  return bodies.problem();
}

}  // namespace saltus::test
