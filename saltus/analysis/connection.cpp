#include "saltus/analysis/connection.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <limits>

#include "saltus/base/error.h"
#include "saltus/lie/so3.h"

namespace saltus {

namespace {

// Of a matrix that is to be inverted.
double ratio_of(const Mat& m) {
  const Eigen::JacobiSVD<Mat> svd(m);
  const Vec& s = svd.singularValues();
  return s.size() > 0 && s[0] > 0 ? s[s.size() - 1] / s[0] : 0;
}

// The first n rows of A that are independent.
std::vector<int> independent_rows(const Mat& A) {
  std::vector<int> chosen;
  Mat span(A.cols(), 0);  // orthonormal
  const double scale = A.rowwise().norm().maxCoeff();
  for (int i = 0; i < A.rows() && span.cols() < A.cols(); ++i) {
    Vec rest = A.row(i).transpose();
    for (int round = 0; round < 2; ++round) rest -= span * (span.transpose() * rest);
    if (rest.norm() <= singular_ratio * scale) continue;
    span.conservativeResize(Eigen::NoChange, span.cols() + 1);
    span.rightCols(1) = rest.normalized();
    chosen.push_back(i);
  }
  return chosen;
}

Mat rows_of(const Mat& m, const std::vector<int>& rows) {
  Mat out(static_cast<int>(rows.size()), m.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) out.row(static_cast<int>(i)) = m.row(rows[i]);
  return out;
}

// A = solved^-1 mixed at one shape, for the engine's velocities; and its derivatives.
struct FormAtShape {
  const Model& model;
  const ShapeSpace& space;
  const Medium& medium;
  Vec r;
  ShapeColumns columns;
  std::vector<int> chosen{};
  Eigen::PartialPivLU<Mat> lu{};
  double ratio = 0;
  Mat A{};

  FormAtShape(const Model& m, const ShapeSpace& s, const Medium& f, VecIn shape)
      : model(m), space(s), medium(f), r(shape), columns(shape_columns(m, s, shape)) {
    Mat net, mixed;
    if (medium.kind == ConnectionKind::rows) {
      const Constraints c = constraints(space, columns, medium.rows);
      chosen = c.A.rows() > 0 ? independent_rows(c.A) : std::vector<int>{};
      if (static_cast<int>(chosen.size()) < space.n()) return;
      net = rows_of(c.A, chosen);
      mixed = rows_of(c.B, chosen);
    } else {
      const NetMatrices k = net_matrices(columns, medium.K);
      net = k.net;
      mixed = k.mixed;
    }
    ratio = ratio_of(net);
    if (!regular()) return;
    lu.compute(net);
    A = lu.solve(mixed);
  }

  [[nodiscard]] bool regular() const { return ratio > singular_ratio; }

  [[nodiscard]] Mat along(const Vec& u) const {
    const ShapeColumns d = shape_columns_along(model, space, r, columns, u);
    if (medium.kind == ConnectionKind::rows) {
      const Constraints c = constraints_along(space, columns, d, u, medium.rows);
      return lu.solve(rows_of(c.B, chosen) - rows_of(c.A, chosen) * A);
    }
    const NetMatrices k = net_matrices_along(columns, d, medium.K);
    return lu.solve(k.mixed - k.net * A);
  }
};

// The commutator of two velocity fields that are constant in u: only spherical joints have one.
Vec shape_bracket(const ShapeSpace& space, const Vec& a, const Vec& b) {
  Vec c = Vec::Zero(space.p());
  for (int i = 0; i < space.p(); ++i)
    if (space.variables[i].rotation && space.variables[i].component == 0)
      c.segment<3>(i) = Vec3(a.segment<3>(i)).cross(Vec3(b.segment<3>(i)));
  return c;
}

}  // namespace

std::string_view name_of(ConnectionKind kind) {
  constexpr std::string_view names[] = {"mechanical", "stokes", "kinematic"};
  return names[static_cast<int>(kind)];
}

std::vector<ConstraintRow> edge_rows(const Model& model) {
  std::vector<ConstraintRow> rows;
  for (const Runner& r : model.runners) {
    if (!r.edge) continue;
    const Vec3 across = r.normal.cross(r.direction);
    rows.push_back({r.name, r.body, join(across, r.point.cross(across))});
  }
  return rows;
}

namespace {

// The plane's normal in the reference body's frame, on the side of the wheel's own.
Vec3 plane_of(const Model& model, const ShapeSpace& space, const Wheel& wheel) {
  if (space.group != NetGroup::se2)
    throw InputError(
        fmt::format("wheel '{}': expected a creature whose root moves in the plane; "
                    "height and lean are joints on it",
                    wheel.name));
  const Body& root = model.bodies[space.root];
  Mat3 R = root.placement.R;  // of its joint in the world
  for (BodyIndex i = root.parent; i.valid(); i = model.bodies[i].parent)
    R = model.bodies[i].placement.R * model.bodies[i].in_body.R.transpose() * R;
  const double side = (R * Vec3::UnitZ()).dot(wheel.normal.normalized());
  if (std::abs(std::abs(side) - 1) > 1e-12)
    throw InputError(fmt::format("wheel '{}': expected the plane in which the root '{}' moves",
                                 wheel.name, root.name));
  return std::copysign(1.0, side) * space.basis.col(2).tail<3>();
}

// The rows of a wheel as those of its carrier, where it is upright and the carrier stays in the
// plane; false: it is not.
bool add_upright(const Model& model, const ShapeSpace& space, const ShapeColumns& straight,
                 const Wheel& wheel, const Vec3& plane, std::vector<ConstraintRow>& rows) {
  const Body& b = model.bodies[wheel.body];
  const auto* hinge = std::get_if<Revolute>(&b.joint);
  if (!hinge || !b.parent.valid() || wheel.body == space.root) return false;
  const SE3 in_joint = b.in_body.inverse();
  const Vec3 axis = in_joint.R * wheel.axis, centre = in_joint * wheel.centre;
  if (axis.cross(hinge->axis).norm() > 1e-12 || centre.cross(hinge->axis).norm() > 1e-12)
    return false;
  const Vec3 normal = straight.X[b.parent].R.transpose() * plane;
  const Vec3 turned = b.placement.R * axis, at = b.placement * centre;
  if (std::abs(turned.dot(normal)) > 1e-12) return false;
  const Mat6X& S = straight.shape[b.parent];
  for (int k = 0; k < S.cols(); ++k)
    if (S.col(k).tail<3>().cross(normal).norm() > 1e-12 ||
        std::abs(S.col(k).head<3>().dot(normal)) > 1e-12)
      return false;
  const Vec3 heading = turned.cross(normal), across = normal.cross(heading);
  const Vec3 ground = at - wheel.radius * normal;
  rows.push_back({wheel.name, b.parent, join(heading, at.cross(heading)), space.first[wheel.body],
                  -wheel.radius * axis.dot(hinge->axis)});
  if (!wheel.sideways)
    rows.push_back({wheel.name + " sideways", b.parent, join(across, ground.cross(across))});
  return true;
}

void add_leaning(const Wheel& wheel, const Vec3& plane, std::vector<ConstraintRow>& rows) {
  const auto add = [&](const std::string& name, LeaningDisc::Row row) {
    ConstraintRow out;
    out.name = name;
    out.body = wheel.body;
    out.disc = LeaningDisc{wheel.centre, wheel.axis.normalized(), wheel.radius, plane, row};
    rows.push_back(out);
  };
  add(wheel.name, LeaningDisc::Row::along);
  if (!wheel.sideways) add(wheel.name + " sideways", LeaningDisc::Row::across);
  if (wheel.pressed) add(wheel.name + " height", LeaningDisc::Row::off);
}

// The wrench of a disc's row, and its derivative where the body turns by w against the reference
// body; both in the body's frame, where the normal's derivative is n x w.
struct DiscWrench {
  Vec6 at, along;
};

DiscWrench disc_wrench(const LeaningDisc& d, const std::string& name, const Mat3& R,
                       const Vec3& w) {
  const Vec3 n = R.transpose() * d.normal, dn = n.cross(w);
  const Vec3 m = n - n.dot(d.axis) * d.axis, dm = dn - dn.dot(d.axis) * d.axis;
  const double steep = m.norm();
  if (steep < 1e-9) throw InputError(fmt::format("wheel '{}' lies flat on its plane", name));
  const Vec3 k = m / steep, dk = (dm - k.dot(dm) * k) / steep;
  const Vec3 e = d.centre - d.radius * k, de = -d.radius * dk;
  const Vec3 h = d.axis.cross(k), dh = d.axis.cross(dk);
  Vec3 f = h, df = dh;
  if (d.row == LeaningDisc::Row::across) f = n.cross(h), df = dn.cross(h) + n.cross(dh);
  if (d.row == LeaningDisc::Row::off) f = n, df = dn;
  return {join(f, e.cross(f)), join(df, de.cross(f) + e.cross(df))};
}

}  // namespace

std::vector<ConstraintRow> axle_rows(const Model& model, const ShapeSpace& space) {
  std::vector<ConstraintRow> rows = edge_rows(model);
  if (model.wheels.empty()) return rows;
  const ShapeColumns straight = shape_columns(model, space, Vec::Zero(space.p()));
  for (const Wheel& w : model.wheels) {
    if (!space.moves[w.body])
      throw InputError(
          fmt::format("wheel '{}' does not hang on '{}'", w.name, model.bodies[space.root].name));
    const Vec3 plane = plane_of(model, space, w);
    if (!add_upright(model, space, straight, w, plane, rows)) add_leaning(w, plane, rows);
  }
  return rows;
}

std::vector<Mat6> resistances(const Model& model) {
  std::vector<Mat6> K(model.bodies.size(), Mat6::Zero());
  for (const Fluid& f : model.fluids) K[f.body] += f.resistance;
  return K;
}

Constraints constraints(const ShapeSpace& space, const ShapeColumns& columns,
                        const std::vector<ConstraintRow>& rows) {
  const auto m = static_cast<Eigen::Index>(rows.size());
  Constraints c{Mat::Zero(m, space.n()), Mat::Zero(m, space.p())};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const ConstraintRow& row = rows[k];
    const auto i = static_cast<Eigen::Index>(k);
    if (columns.net[row.body].cols() == 0) continue;
    const Vec6 wrench =
        row.disc ? disc_wrench(*row.disc, row.name, columns.X[row.body].R, Vec3::Zero()).at
                 : row.wrench;
    c.A.row(i) = wrench.transpose() * columns.net[row.body];
    c.B.row(i) = wrench.transpose() * columns.shape[row.body];
    if (row.variable >= 0) c.B(i, row.variable) += row.rate;
  }
  for (const Mat* part : {&c.A, &c.B}) require_finite(*part, "rows of the axles");
  return c;
}

Constraints constraints_along(const ShapeSpace& space, const ShapeColumns& columns,
                              const ShapeColumns& along, VecIn u,
                              const std::vector<ConstraintRow>& rows) {
  const auto m = static_cast<Eigen::Index>(rows.size());
  Constraints c{Mat::Zero(m, space.n()), Mat::Zero(m, space.p())};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const ConstraintRow& row = rows[k];
    const auto i = static_cast<Eigen::Index>(k);
    if (columns.net[row.body].cols() == 0) continue;
    DiscWrench w{row.wrench, Vec6::Zero()};
    if (row.disc) {
      const Vec3 turning = (columns.shape[row.body] * u).tail<3>();
      w = disc_wrench(*row.disc, row.name, columns.X[row.body].R, turning);
    }
    c.A.row(i) =
        w.at.transpose() * along.net[row.body] + w.along.transpose() * columns.net[row.body];
    c.B.row(i) =
        w.at.transpose() * along.shape[row.body] + w.along.transpose() * columns.shape[row.body];
  }
  return c;
}

Medium by_inertia(const Model& model) { return {ConnectionKind::inertia, inertias(model), {}}; }

Medium by_drag(const Model& model, std::vector<Mat6> resistances) {
  SALTUS_ASSERT(resistances.size() == model.bodies.size());
  for (std::size_t i = 0; i < resistances.size(); ++i) {
    const Mat6& R = resistances[i];
    const double scale = R.cwiseAbs().maxCoeff();
    const bool symmetric = (R - R.transpose()).cwiseAbs().maxCoeff() <= 1e-12 * scale;
    if (!R.allFinite() || !symmetric ||
        Eigen::SelfAdjointEigenSolver<Mat6>(R, Eigen::EigenvaluesOnly).eigenvalues()[0] <
            -1e-12 * scale)
      throw InputError(fmt::format("the resistance of '{}' is not symmetric and positive",
                                   model.bodies[i].name));
  }
  return {ConnectionKind::drag, std::move(resistances), {}};
}

Medium by_rows(std::vector<ConstraintRow> rows) {
  return {ConnectionKind::rows, {}, std::move(rows)};
}

Mat6 slender_resistance(double length, double c_t, double c_n, const Vec3& middle) {
  Vec6 about_middle;
  const double turning = c_n * length * length * length / 12;
  about_middle << c_t * length, c_n * length, c_n * length, 0, turning, turning;
  const Mat6 to_middle = adjoint(SE3::translation(-middle));
  return to_middle.transpose() * about_middle.asDiagonal() * to_middle;
}

LocalForm local_form(const Model& model, const ShapeSpace& space, const Medium& medium, VecIn r) {
  const FormAtShape form(model, space, medium, r);
  LocalForm f{Mat::Constant(space.n(), space.p(), std::numeric_limits<double>::quiet_NaN()),
              form.regular(), form.ratio};
  if (f.regular) f.A = form.A * rate_map(space, r);
  return f;
}

FormPair form_pair(const Model& model, const ShapeSpace& space, const Medium& medium, VecIn r,
                   int i, int j) {
  const FormAtShape form(model, space, medium, r);
  FormPair f;
  f.regular = form.regular();
  f.ratio = form.ratio;
  f.F.setConstant(space.n(), std::numeric_limits<double>::quiet_NaN());
  f.B_i = f.B_j = f.dB = f.F;
  if (!f.regular) return f;
  f.sign = form.lu.determinant() < 0 ? -1 : 1;
  const Mat T = rate_map(space, r);
  const Vec a = T.col(i), b = T.col(j);
  f.B_i = -form.A * a;
  f.B_j = -form.A * b;
  f.dB = form.along(b) * a - form.along(a) * b + form.A * shape_bracket(space, a, b);
  f.F = f.dB + net_bracket(space, f.B_i, f.B_j);
  return f;
}

Vec curvature(const Model& model, const ShapeSpace& space, const Medium& medium, VecIn r, int i,
              int j) {
  return form_pair(model, space, medium, r, i, j).F;
}

Vec net_bracket(const ShapeSpace& space, VecIn x, VecIn y) {
  return space.to_net * bracket(space.basis * x, space.basis * y);
}

}  // namespace saltus
