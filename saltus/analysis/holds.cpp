#include "saltus/analysis/holds.h"

#include <fmt/format.h>

#include <cmath>

#include "saltus/base/error.h"

namespace saltus {

namespace {

constexpr const char* const axis_names[3] = {"x", "y", "z"};

// Axes of a body along which its points move, in its frame, with their names.
struct BodyAxes {
  std::vector<std::pair<Vec3, std::string>> along, about;
};

BodyAxes axes_of(const ShapeSpace& space, const ShapeColumns& straight, const Hold& hold,
                 const std::string& body) {
  BodyAxes out;
  if (space.group == NetGroup::se2 || space.group == NetGroup::circle ||
      space.group == NetGroup::translations) {
    const Vec3 normal_0 =
        space.group == NetGroup::translations
            ? Vec3(space.basis.col(0).head<3>().cross(Vec3(space.basis.col(1).head<3>())))
            : Vec3(space.basis.rightCols(1).bottomRows<3>());
    const Vec3 normal = straight.X[hold.body].R.transpose() * normal_0;
    const Mat6X& S = straight.shape[hold.body];
    for (int k = 0; k < S.cols(); ++k)
      if (S.col(k).tail<3>().cross(normal).norm() > 1e-12 ||
          std::abs(S.col(k).head<3>().dot(normal)) > 1e-12)
        throw InputError(fmt::format("hold '{}': '{}' leaves the plane", hold.name, body));
    const Vec3 x = std::abs(normal.x()) < 0.9 ? Vec3::UnitX() : Vec3::UnitY();
    const Vec3 first = (x - x.dot(normal) * normal).normalized();
    out.along = {{first, "x"}, {normal.cross(first), "y"}};
    out.about = {{normal, "turn"}};
    return out;
  }
  for (int k = 0; k < 3; ++k) {
    out.along.emplace_back(Vec3::Unit(k), axis_names[k]);
    out.about.emplace_back(Vec3::Unit(k), std::string("turn.") + axis_names[k]);
  }
  return out;
}

}  // namespace

bool Hold::at(double t) const {
  if (during.empty()) return true;
  for (const auto& [from, to] : during)
    if (t >= from && t < to) return true;
  return false;
}

std::vector<ConstraintRow> hold_rows(const Model& model, const ShapeSpace& space,
                                     const std::vector<Hold>& holds) {
  std::vector<ConstraintRow> rows;
  const ShapeColumns straight = shape_columns(model, space, Vec::Zero(space.p()));
  for (const Hold& h : holds) {
    if (!space.moves[h.body])
      throw InputError(fmt::format("hold '{}': '{}' does not hang on '{}'", h.name,
                                   model.bodies[h.body].name, model.bodies[space.root].name));
    const BodyAxes axes = axes_of(space, straight, h, model.bodies[h.body].name);
    for (const auto& [e, name] : axes.along)
      rows.push_back({h.name + "." + name, h.body, join(e, h.point.cross(e))});
    if (h.turning) continue;
    for (const auto& [e, name] : axes.about)
      rows.push_back({h.name + "." + name, h.body, join(Vec3(Vec3::Zero()), e)});
  }
  return rows;
}

std::vector<ForceCone> hold_cones(const std::vector<Hold>& holds,
                                  const std::vector<ConstraintRow>& rows, int first,
                                  const std::vector<SE3>& X) {
  std::vector<ForceCone> cones;
  const auto m = static_cast<Eigen::Index>(rows.size());
  auto row = static_cast<std::size_t>(first);
  for (const Hold& h : holds) {
    const auto begin = row;
    while (row < rows.size() && rows[row].body == h.body &&
           rows[row].name.starts_with(h.name + "."))
      ++row;
    if (h.normal.isZero(0)) continue;
    const Vec3 normal = h.normal.normalized();
    // Tangents: along the rows' own axes as far as they are across the normal.
    const Vec3 other = std::abs(normal.x()) < 0.9 ? Vec3::UnitX() : Vec3::UnitY();
    const Vec3 t1 = (other - other.dot(normal) * normal).normalized(), t2 = normal.cross(t1);
    ForceCone cone{h.name, Vec::Zero(m), Mat::Zero(2, m), h.friction};
    for (auto k = begin; k < row; ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      const Vec3 e = X[h.body].R * rows[k].wrench.head<3>();
      cone.normal[at] = e.dot(normal);
      cone.tangent(0, at) = e.dot(t1);
      cone.tangent(1, at) = e.dot(t2);
    }
    cones.push_back(cone);
  }
  return cones;
}

}  // namespace saltus
