#include "saltus/analysis/area_rule.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <cmath>
#include <memory>
#include <numbers>

#include "saltus/base/error.h"

namespace saltus {

namespace {

struct Quadrature {
  std::vector<double> x, w;  // on [-1, 1]
};

// P_0 .. P_(count - 1) and their derivatives.
void legendre(int count, double x, Vec& P, Vec& dP) {
  P.resize(count);
  dP.resize(count);
  for (int k = 0; k < count; ++k) {
    P[k] = k == 0 ? 1 : k == 1 ? x : ((2 * k - 1) * x * P[k - 1] - (k - 1) * P[k - 2]) / k;
    dP[k] = k == 0 ? 0 : k == 1 ? 1 : dP[k - 2] + (2 * k - 1) * P[k - 1];
  }
}

Quadrature gauss(int n) {
  Quadrature q;
  Vec P, dP;
  for (int i = 0; i < n; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5));
    for (int k = 0; k < 20; ++k) {
      legendre(n + 1, x, P, dP);
      x -= P[n] / dP[n];
    }
    legendre(n + 1, x, P, dP);
    q.x.push_back(x);
    q.w.push_back(2 / ((1 - x * x) * dP[n] * dP[n]));
  }
  return q;
}

void expect_planar(const ShapeSpace& space) {
  if (space.group != NetGroup::se2)
    throw InputError(
        fmt::format("expected a planar creature, the net group is {}", name_of(space.group)));
}

SE3 planar_frame(const ShapeSpace& space, const Vec2& b, double turn) {
  Vec3 place = space.basis.topLeftCorner<3, 2>() * b;
  return {Eigen::AngleAxisd(turn, Vec3(space.basis.col(2).tail<3>())).toRotationMatrix(), place};
}

// Products of Legendre polynomials on a rectangle.
struct Basis {
  static constexpr int degree = 14;  // polynomials a direction; the values above 1e-9 end there
  static constexpr int size = degree * degree;
  double middle[2], half[2];

  explicit Basis(const ShapePlane& p) {
    for (int d = 0; d < 2; ++d) {
      middle[d] = 0.5 * (p.lower[d] + p.upper[d]);
      half[d] = 0.5 * (p.upper[d] - p.lower[d]);
    }
  }
  void at(double x, double y, Vec& f, Vec& fx, Vec& fy) const {
    Vec P, dP, Q, dQ;
    legendre(degree, (x - middle[0]) / half[0], P, dP);
    legendre(degree, (y - middle[1]) / half[1], Q, dQ);
    f.resize(size);
    fx.resize(size);
    fy.resize(size);
    for (int k = 0; k < degree; ++k)
      for (int l = 0; l < degree; ++l) {
        const int at = k * degree + l;
        f[at] = P[k] * Q[l];
        fx[at] = dP[k] * Q[l] / half[0];
        fy[at] = P[k] * dQ[l] / half[1];
      }
  }
};

}  // namespace

Vec ShapePlane::at(double x, double y) const {
  Vec r = base;
  r[i] = x;
  r[j] = y;
  return r;
}

HeightMap height_map(const Model& model, const ShapeSpace& space, const Medium& medium,
                     const ShapePlane& plane, int nx, int ny) {
  HeightMap m{nx, ny, {}, {}, {}};
  const auto spread = [](double a, double b, int k, int n) {  // middles of n cells
    return a + (b - a) * (k + 0.5) / n;
  };
  for (int k = 0; k < nx; ++k) m.x.push_back(spread(plane.lower[0], plane.upper[0], k, nx));
  for (int k = 0; k < ny; ++k) m.y.push_back(spread(plane.lower[1], plane.upper[1], k, ny));
  for (const double y : m.y)
    for (const double x : m.x)
      m.cells.push_back(form_pair(model, space, medium, plane.at(x, y), plane.i, plane.j));
  return m;
}

Gauge mean_frame(const Model& model, const ShapeSpace& space, const ShapePlane& plane) {
  expect_planar(space);
  return [&model, space, plane](double x, double y) {
    const ShapeColumns c = shape_columns(model, space, plane.at(x, y));
    Vec2 b = Vec2::Zero();
    double turn = 0, count = 0;
    const Mat axes = space.basis.topLeftCorner(3, 2);
    for (int i = 0; i < model.body_count(); ++i) {
      if (!space.moves[i]) continue;
      const Vec3 ahead = c.X[i].R * axes.col(0);
      b += axes.transpose() * (c.X[i] * model.bodies[i].rigid.com);
      turn += std::atan2(axes.col(1).dot(ahead), axes.col(0).dot(ahead));
      ++count;
    }
    return planar_frame(space, b / count, turn / count);
  };
}

Gauge least_frame(const Model& model, const ShapeSpace& space, const Medium& medium,
                  const ShapePlane& plane) {
  expect_planar(space);
  const Basis basis(plane);
  const Quadrature q = gauss(24);
  const int points = static_cast<int>(q.x.size() * q.x.size()), n = Basis::size;
  // Rows: B'_th of both variables; B'_xy of both variables and components; each times its weight.
  Mat turning(2 * points, n - 1), moving(4 * points, 2 * n);
  Vec turn_rest(2 * points), move_rest(4 * points);
  Vec f, fx, fy;
  int at = 0;
  for (std::size_t k = 0; k < q.x.size(); ++k)
    for (std::size_t l = 0; l < q.x.size(); ++l, ++at) {
      const double x = basis.middle[0] + basis.half[0] * q.x[k];
      const double y = basis.middle[1] + basis.half[1] * q.x[l];
      const double w = std::sqrt(q.w[k] * q.w[l]);
      const FormPair B = form_pair(model, space, medium, plane.at(x, y), plane.i, plane.j);
      if (!B.regular) throw InputError(fmt::format("the shape ({:.6g}, {:.6g}) is singular", x, y));
      basis.at(x, y, f, fx, fy);
      turning.row(2 * at) = w * fx.tail(n - 1).transpose();  // the constant has no slope
      turning.row(2 * at + 1) = w * fy.tail(n - 1).transpose();
      turn_rest[2 * at] = -w * B.B_i[2];
      turn_rest[2 * at + 1] = -w * B.B_j[2];
      for (int v = 0; v < 2; ++v) {  // grad b + P b B_th, P b = (-b_y, b_x)
        const Vec& slope = v == 0 ? fx : fy;
        const Vec& own = v == 0 ? B.B_i : B.B_j;
        const int row = 4 * at + 2 * v;
        moving.row(row) << w * slope.transpose(), -w * own[2] * f.transpose();
        moving.row(row + 1) << w * own[2] * f.transpose(), w * slope.transpose();
        move_rest[row] = -w * own[0];
        move_rest[row + 1] = -w * own[1];
      }
    }
  Vec turn = Vec::Zero(n);
  turn.tail(n - 1) = turning.householderQr().solve(turn_rest);
  const Vec move = moving.householderQr().solve(move_rest);
  return [space, basis, turn, move](double x, double y) {
    Vec g, gx, gy;
    basis.at(x, y, g, gx, gy);
    const int size = Basis::size;
    return planar_frame(space, {g.dot(move.head(size)), g.dot(move.tail(size))}, g.dot(turn));
  };
}

AreaRule area_rule(const Model& model, const ShapeSpace& space, const Medium& medium,
                   const ShapePlane& plane, const ShapePath& path, const Gauge& gauge) {
  if ((shape_at(path, path.start) - shape_at(path, path.end)).norm() > 1e-9)
    throw InputError("expected a closed gait for the area rule");
  const Quadrature along = gauss(64), out = gauss(32);
  const std::vector<double> pieces = shape_pieces(path);
  const auto point = [&](double t) {
    const Vec r = shape_at(path, t);
    return Vec2(r[plane.i], r[plane.j]);
  };
  Vec2 middle = Vec2::Zero();
  for (int k = 0; k < 64; ++k) middle += point(path.start + (path.end - path.start) * k / 64) / 64;
  AreaRule a{Vec::Zero(space.n()), Vec::Zero(space.n())};
  int sign = 0;  // of the shapes so far
  for (std::size_t s = 0; s + 1 < pieces.size(); ++s)
    for (std::size_t k = 0; k < along.x.size(); ++k) {
      const double half = 0.5 * (pieces[s + 1] - pieces[s]);
      const double t = pieces[s] + half * (1 + along.x[k]);
      const Vec2 r = point(t) - middle;
      const Vec rate = shape_rate(path, t);
      const double cross = r.x() * rate[plane.j] - r.y() * rate[plane.i];
      for (std::size_t l = 0; l < out.x.size(); ++l) {
        const double share = 0.5 * (1 + out.x[l]);
        const double w = half * along.w[k] * 0.5 * out.w[l] * share * cross;
        const Vec2 at = middle + share * r;
        const FormPair f =
            form_pair(model, space, medium, plane.at(at.x(), at.y()), plane.i, plane.j);
        a.regular = a.regular && f.regular && (sign == 0 || f.sign == sign);
        sign = f.sign;
        a.area += w;
        a.dB += w * f.dB;
        a.F +=
            w * (gauge ? Vec(space.to_net * twist_to_body(gauge(at.x(), at.y()), space.basis * f.F))
                       : f.F);
      }
    }
  return a;
}

}  // namespace saltus
