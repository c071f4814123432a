#include "saltus/robots/inertia_repair.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>
#include <limits>

namespace saltus {

namespace {

// Moments of a body that its file rounds may miss the triangle inequality by what three digits
// leave; all three are then raised by what is missing.
constexpr double rounding = 1e-3;
constexpr double negligible = 0.1;  // a change over the moments around it
constexpr double least = 1e-6;      // of the moments and the mass around it, where there is none
constexpr double nothing = 1e-13;   // of the terms of a sum: below it is rounding

using PrincipalAxes = Eigen::SelfAdjointEigenSolver<Mat3>;

Vec3 moments_of(const Mat3& J) { return PrincipalAxes(J, Eigen::EigenvaluesOnly).eigenvalues(); }

std::string moments_text(const Vec3& m) {
  return fmt::format("{:.6g}, {:.6g}, {:.6g}", m[0], m[1], m[2]);
}

}  // namespace

Vec3 nearest_moments(const Vec3& moments) {
  Mat3 B;  // moments = B w
  B << 0, 1, 1, 1, 0, 1, 1, 1, 0;
  Vec3 best = Vec3::Zero();
  double distance = moments.norm();
  for (unsigned free = 1; free < 8; ++free) {  // which w are not zero
    Mat3 columns = B;
    for (int i = 0; i < 3; ++i)
      if (!((free >> static_cast<unsigned>(i)) & 1U)) columns.col(i).setZero();
    const Vec3 w = columns.completeOrthogonalDecomposition().solve(moments);  // the least one
    const Vec3 x = columns * w.cwiseMax(0);
    if (w.minCoeff() < -1e-12 * moments.norm() || !((x - moments).norm() < distance)) continue;
    distance = (x - moments).norm();
    best = x;
  }
  return best;
}

Mat3 nearest_inertia(const Mat3& J) {
  const PrincipalAxes axes(J);
  const Mat3& R = axes.eigenvectors();
  const Mat3 turned = R * nearest_moments(axes.eigenvalues()).asDiagonal() * R.transpose();
  return 0.5 * (turned + turned.transpose());
}

namespace {

class Checker {
 public:
  Checker(std::vector<LinkInertia>& links, bool strict, std::vector<RobotNote>& notes)
      : links_(links), strict_(strict), notes_(notes) {}

  void check() {
    gather();
    for (std::size_t i = 0; i < links_.size(); ++i) check_moments(i);
    check_joints();
  }

 private:
  static bool moves(const LinkInertia& link) { return nv_of(link.joint) > 0; }

  void note(RobotNote::Kind kind, const XmlElement& e, const std::string& message) {
    notes_.push_back({kind, {e.file(), e.line()}, e.label(), message});
  }

  // Sums over links: mass, mass times place, and the trace of the moments about the origin.
  struct Sums {
    double mass = 0, polar = 0;
    Vec3 first = Vec3::Zero();
    void add(const LinkInertia& link, double sign = 1) {
      const RigidInertia& I = *link.inertia;
      const Vec3 r = link.X * I.com;
      mass += sign * I.mass;
      polar += sign * (std::abs(I.about_com.trace()) / 2 + I.mass * r.squaredNorm());
      first += sign * I.mass * r;
    }
    void add(const Sums& other) {
      mass += other.mass;
      polar += other.polar;
      first += other.first;
    }
    [[nodiscard]] double about(const Vec3& centre) const {
      const double moment = polar - 2 * centre.dot(first) + mass * centre.squaredNorm();
      return moment > nothing * polar ? moment : 0;
    }
  };
  struct Group {  // links that move as one
    int parent = -1;
    Sums own, below;  // below: with all that it carries
  };

  void gather() {
    for (const LinkInertia& link : links_) {
      const bool own = link.parent < 0 || moves(link);
      if (own) groups_.push_back({link.parent < 0 ? -1 : group_of_[link.parent], {}, {}});
      group_of_.push_back(own ? static_cast<int>(groups_.size()) - 1 : group_of_[link.parent]);
      groups_[group_of_.back()].own.add(link);
    }
    for (std::size_t i = groups_.size(); i-- > 0;) {
      Group& group = groups_[i];
      group.below.add(group.own);
      if (group.parent >= 0) groups_[group.parent].below.add(group.below);
    }
  }

  // Mass, and moment about a link's centre, of its neighbours: what moves with it, all that this
  // carries, and what it is joined to; further up where that is nothing.
  struct Around {
    double mass = 0, moment = 0;
  };
  [[nodiscard]] Around around(std::size_t i) const {
    const Vec3 centre = links_[i].X * links_[i].inertia->com;
    Sums sums = groups_[group_of_[i]].below;
    sums.add(links_[i], -1);
    int above = groups_[group_of_[i]].parent;
    do {
      if (above < 0) break;
      sums.add(groups_[above].own);
      above = groups_[above].parent;
    } while (!(sums.about(centre) > 0));
    return {std::max(sums.mass, 0.0), sums.about(centre)};
  }

  void check_moments(std::size_t i) {
    const LinkInertia& link = links_[i];
    if (!link.tensor) return;
    check_mass(i);
    Mat3& J = link.inertia->about_com;
    if (J.isZero(0)) {
      note(RobotNote::Kind::assumed, link.tensor, "no moment of inertia: a point mass");
      return;
    }
    const Vec3 moments = moments_of(J);  // ascending
    const double missing = std::max(-moments[0], moments[2] - moments[1] - moments[0]);
    const double slack = 1e-9 * moments[2];  // of `physical`
    if (missing <= slack) return;
    if (moments[2] > 0 && missing <= rounding * moments[2]) {
      note(RobotNote::Kind::assumed, link.tensor,
           fmt::format("principal moments {} miss the triangle inequality by rounding: {:.3g} kg "
                       "m^2 added to each",
                       moments_text(moments), missing));
      J += missing * Mat3::Identity();
      return;
    }
    mend(i, moments);
  }

  // Moments without a mass.
  void check_mass(std::size_t i) {
    const LinkInertia& link = links_[i];
    RigidInertia& I = *link.inertia;
    if (I.mass > 0 || I.about_com.isZero(0) || !moves(link)) return;
    const double mass = strict_ ? 0 : least * around(i).mass;
    if (!(mass > 0))
      throw link.element.error("expected a positive mass beside the moments of inertia, got 0");
    note(RobotNote::Kind::changed, link.element,
         fmt::format("moments of inertia without a mass: the mass was 0, taken as {:.6g} kg, 1e-6 "
                     "of what is around it",
                     mass));
    I.mass = mass;
  }

  void mend(std::size_t i, const Vec3& moments) {
    const LinkInertia& link = links_[i];
    const bool indefinite = moments[2] <= 0 || -moments[0] > rounding * moments[2];
    std::string refusal =
        indefinite ? "expected a positive definite inertia, got principal moments "
                   : "expected moments that obey the triangle inequality (none larger than the sum "
                     "of the other two), got principal moments ";
    refusal += moments_text(moments);
    if (strict_) throw link.tensor.error(refusal);
    const Mat3 better = nearest_inertia(link.inertia->about_com);
    const double change = (better - link.inertia->about_com).norm(), size = around(i).moment;
    if (!(change <= negligible * size))
      throw link.tensor.error(fmt::format(
          "{}; the nearest that a body has are {}, a change of {:.2g} of what is around "
          "the link: too much to be mended",
          refusal, moments_text(moments_of(better)), change / size));
    note(RobotNote::Kind::changed, link.tensor,
         fmt::format("the moments of link '{}' are no body's: principal moments were {}, taken as "
                     "{} kg m^2, the nearest that are ({:.2g} of what is around the link)",
                     link.element.node().attribute("name").value(), moments_text(moments),
                     moments_text(moments_of(better)), change / size));
    link.inertia->about_com = better;
  }

  // Mass and moments, about the joint's origin, of all that a joint moves.
  struct Below {
    double mass = 0;
    Vec3 first = Vec3::Zero();   // mass times place
    Mat3 second = Mat3::Zero();  // about the origin of the world
    [[nodiscard]] double about(const Vec3& point, const Vec3& axis) const {
      // J_p = J_O - [steiner] of the shift; along one axis only.
      const Mat3 shift = [&] {
        const Mat3 rp = first * point.transpose();
        return Mat3((2 * rp.trace() - mass * point.squaredNorm()) * Mat3::Identity() - rp -
                    rp.transpose() + mass * point * point.transpose());
      }();
      return axis.dot((second - shift) * axis);
    }
  };

  // What each joint moves: where it has no inertia, its link is given some.
  void check_joints() {
    std::vector<Below> below(links_.size());
    for (std::size_t i = links_.size(); i-- > 0;) {
      const LinkInertia& link = links_[i];
      Below& own = below[i];
      const auto add_link = [&] {
        const RigidInertia& I = *link.inertia;
        const Vec3 r = link.X * I.com;
        own.mass += I.mass;
        own.first += I.mass * r;
        own.second += link.X.R * I.about_com * link.X.R.transpose() +
                      I.mass * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
      };
      const Below children = own;
      add_link();
      if (link.parent >= 0 && moves(link) && is_empty(i, own)) {
        give(i, own);
        own = children;
        add_link();
      }
      if (link.parent < 0) continue;
      Below& above = below[link.parent];
      above.mass += own.mass;
      above.first += own.first;
      above.second += own.second;
    }
  }

  // Whether a joint moves nothing that resists it.
  [[nodiscard]] bool is_empty(std::size_t i, const Below& own) const {
    const LinkInertia& link = links_[i];
    if (!(own.mass > 0)) return true;
    const auto* hinge = std::get_if<Revolute>(&link.joint);
    return hinge && !(own.about(link.X.r, link.X.R * hinge->axis) > nothing * own.second.trace());
  }

  void give(std::size_t i, const Below& own) {
    const LinkInertia& link = links_[i];
    RigidInertia& I = *link.inertia;
    const bool massless = !(own.mass > 0);
    const Around other = around(i);
    if (strict_ || !(other.moment > 0) || !(other.mass > 0)) {
      if (!massless) return;  // a point mass on its axis: the model's check says so
      throw link.element.error(
          fmt::format("expected a positive mass: joint '{}' moves this link and nothing with mass",
                      link.joint_name));
    }
    const double moment = least * other.moment, mass = I.mass;
    I.about_com += moment * Mat3::Identity();
    if (massless) I.mass = least * other.mass;
    note(
        RobotNote::Kind::changed, link.element,
        fmt::format("joint '{}' moves nothing with inertia: the link had {:.6g} kg, it gets {:.6g} "
                    "kg and moments of {:.3g} kg m^2, 1e-6 of what is around it",
                    link.joint_name, mass, I.mass, moment));
  }

  std::vector<LinkInertia>& links_;
  bool strict_;
  std::vector<RobotNote>& notes_;
  std::vector<Group> groups_;  // as the file has them
  std::vector<int> group_of_;
};

}  // namespace

void check_inertias(std::vector<LinkInertia>& links, bool strict, std::vector<RobotNote>& notes) {
  Checker(links, strict, notes).check();
}

}  // namespace saltus
