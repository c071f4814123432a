#include "saltus/analysis/net_motion.h"

#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace saltus {

namespace {

// eta(t) as a polynomial through its values around a removable singularity.
struct Window {
  static constexpr int nodes = 16;  // even: none at the instant itself
  double middle = 0, half = 0;
  std::array<double, nodes> t{}, weight{};
  std::array<Vec, nodes> eta{};

  [[nodiscard]] Vec at(double time) const {  // barycentric
    Vec sum = Vec::Zero(eta[0].size());
    double total = 0;
    for (int k = 0; k < nodes; ++k) {
      if (time == t[k]) return eta[k];
      const double w = weight[k] / (time - t[k]);
      sum += w * eta[k];
      total += w;
    }
    return sum / total;
  }
};

struct Follower {
  const Model& model;
  const ShapeSpace& space;
  const Medium& medium;
  const ShapePath& path;
  NetMotionOptions options;
  std::vector<double> pieces{};
  std::vector<Window> windows{};
  NetMotion motion{};

  // Times of the piece [a, b) whose rates are those inside it, not those after the break at b.
  [[nodiscard]] static double inside(double t, double b) {
    return std::min(t, b - 3e-12 * std::max(1.0, std::abs(b)));
  }
  [[nodiscard]] NetTwist twist(double t) const {
    return net_twist(model, space, medium, shape_at(path, t), shape_rate(path, t));
  }
  [[nodiscard]] double ratio(double t) const { return twist(t).ratio; }

  // The least ratio between two times, by golden sections.
  [[nodiscard]] double lowest(double a, double b) const {
    constexpr double g = 0.6180339887498949;
    double c = b - g * (b - a), d = a + g * (b - a), fc = ratio(c), fd = ratio(d);
    for (int i = 0; i < 70 && b - a > 1e-14 * std::max(1.0, std::abs(a)); ++i)
      if (fc < fd) {
        b = d, d = c, fd = fc;
        c = b - g * (b - a), fc = ratio(c);
      } else {
        a = c, c = d, fc = fd;
        d = a + g * (b - a), fd = ratio(d);
      }
    return 0.5 * (a + b);
  }

  void obstruct(double t, bool singular, const Vec& residual) {
    Obstruction o{t, singular, residual.norm(), {}};
    for (int i = 0; i < residual.size(); ++i)
      if (std::abs(residual[i]) > 0.1 * residual.cwiseAbs().maxCoeff())
        o.rows.push_back(medium.rows[i].name);
    motion.obstruction = o;
  }

  // What the rows that lost their rank ask for at the instant t.
  [[nodiscard]] Vec unmet(double t, double& scale) const {
    const Vec r = shape_at(path, t);
    const Constraints c = constraints(space, shape_columns(model, space, r), medium.rows);
    const Vec b = c.B * (rate_map(space, r) * shape_rate(path, t));
    scale = b.norm();
    Eigen::JacobiSVD<Mat> svd(c.A, Eigen::ComputeFullU);
    svd.setThreshold(1e-6);
    const Mat U = svd.matrixU().leftCols(svd.rank());
    return b - U * (U.transpose() * b);
  }

  // False: the gait ends at the instant t.
  bool pass(double t, double a, double b) {
    double scale = 0;
    const Vec rest = unmet(t, scale);
    if (rest.norm() > options.residual * std::max(scale, 1e-12)) {
      obstruct(t, true, rest);
      return false;
    }
    Window w;
    w.middle = t;
    w.half =
        std::min({0.02 * (path.end - path.start), t > a ? t - a : b - a, b > t ? b - t : b - a});
    for (int k = 0; k < Window::nodes; ++k) {
      const double x = std::numbers::pi * (2 * k + 1) / (2 * Window::nodes);
      w.t[k] = t + w.half * std::cos(x);
      w.weight[k] = (k % 2 ? -1 : 1) * std::sin(x);
      w.eta[k] = twist(w.t[k]).eta;
    }
    windows.push_back(w);
    motion.removable.push_back(t);
    return true;
  }

  // Singular instants of a piece.
  bool find_singular(double a, double b) {
    if (medium.kind != ConnectionKind::rows) return true;
    constexpr int samples = 257;
    std::array<double, samples> s{};
    const auto time = [&](int k) { return inside(a + (b - a) * k / (samples - 1), b); };
    for (int k = 0; k < samples; ++k) s[k] = ratio(time(k));
    for (int k = 0; k < samples; ++k) {
      motion.least_ratio = std::min(motion.least_ratio, s[k]);
      const bool low = (k == 0 || s[k] <= s[k - 1]) && (k + 1 == samples || s[k] < s[k + 1]);
      if (!low || s[k] > 0.1) continue;
      const double t = lowest(time(std::max(k - 1, 0)), time(std::min(k + 1, samples - 1)));
      if (ratio(t) > 1e-7) continue;
      motion.least_ratio = std::min(motion.least_ratio, ratio(t));
      if (!pass(t, a, b)) return false;
    }
    return true;
  }

  [[nodiscard]] Vec eta(double t) {
    for (const Window& w : windows)
      if (std::abs(t - w.middle) < w.half) return w.at(t);
    const NetTwist x = twist(t);
    motion.least_ratio = std::min(motion.least_ratio, x.ratio);
    motion.worst_residual = std::max(motion.worst_residual, x.residual);
    return x.eta;
  }

  // Compatibility at the samples of a piece.
  bool check_rows(double a, double b) {
    if (medium.kind != ConnectionKind::rows) return true;
    for (int k = 0; k <= 64; ++k) {
      const double t = inside(a + (b - a) * k / 64, b);
      const bool near = std::any_of(windows.begin(), windows.end(), [&](const Window& w) {
        return std::abs(t - w.middle) < w.half;
      });
      if (near) continue;
      double scale = 0;
      const NetTwist x = twist(t);
      if (x.ratio <= singular_ratio) {  // all along: dynamics decides, not the rows
        obstruct(t, true, unmet(t, scale));
        return false;
      }
      if (x.residual > options.residual * std::max(x.scale, 1e-12)) {
        obstruct(t, false, unmet(t, scale));
        return false;
      }
    }
    return true;
  }

  // To t1, within the piece that ends at b.
  bool advance(double t1, double b, NetState& state) {
    const auto rates = [&](double t, const NetState&, Vec6& twist_out, VecRef xdot) {
      const Vec e = eta(inside(t, b));
      twist_out = space.basis * e;
      xdot[0] =
          space.group == NetGroup::se2 || space.group == NetGroup::circle ? e[e.size() - 1] : 0;
    };
    const NetIntegration part =
        integrate_net(rates, motion.t, t1, options.tolerance, state, motion.integration.pace);
    motion.integration.steps += part.steps;
    motion.integration.evaluations += part.evaluations;
    motion.integration.error += part.error;
    motion.integration.done = part.done;
    motion.integration.pace = part.pace;
    motion.integration.t = motion.t = part.t;
    motion.g = state.g;
    motion.turn = state.x[0];
    return part.done;
  }
};

}  // namespace

NetTwist net_twist(const Model& model, const ShapeSpace& space, const Medium& medium, VecIn r,
                   VecIn rdot) {
  NetTwist t;
  if (medium.kind != ConnectionKind::rows) {
    const LocalForm f = local_form(model, space, medium, r);
    t.eta = -f.A * rdot;
    t.ratio = f.ratio;
    return t;
  }
  const Constraints c = constraints(space, shape_columns(model, space, r), medium.rows);
  const Vec b = c.B * (rate_map(space, r) * rdot);
  const Eigen::JacobiSVD<Mat> svd(c.A, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Vec& s = svd.singularValues();
  t.ratio = s.size() == space.n() && s[0] > 0 ? s[s.size() - 1] / s[0] : 0;
  t.eta = svd.solve(-b);
  t.scale = b.norm();
  t.residual = (c.A * t.eta + b).norm();
  return t;
}

Vec limit_twist(const Model& model, const ShapeSpace& space, const Medium& medium, VecIn r,
                VecIn rdot, VecIn rddot) {
  const ShapeColumns columns = shape_columns(model, space, r);
  const Mat T = rate_map(space, r);
  const Vec u = T * rdot, du = T * rddot + rate_bias(space, r, rdot);
  const Constraints c = constraints(space, columns, medium.rows);
  const Constraints d = constraints_along(
      space, columns, shape_columns_along(model, space, r, columns, u), u, medium.rows);
  Eigen::JacobiSVD<Mat> svd(c.A, Eigen::ComputeFullU);
  svd.setThreshold(1e-6);
  const Mat lost = svd.matrixU().rightCols(c.A.rows() - svd.rank());
  Mat A(c.A.rows() + lost.cols(), space.n());
  Vec b(A.rows());
  A << c.A, lost.transpose() * d.A;
  b << c.B * u, lost.transpose() * (d.B * u + c.B * du);
  const Eigen::FullPivLU<Mat> lu(A);
  if (lu.rank() < space.n())
    return Vec::Constant(space.n(), std::numeric_limits<double>::quiet_NaN());
  return A.jacobiSvd(Eigen::ComputeThinU | Eigen::ComputeThinV).solve(-b);
}

std::vector<NetMotion> net_motion_at(const Model& model, const ShapeSpace& space,
                                     const Medium& medium, const ShapePath& path,
                                     const std::vector<double>& times,
                                     const NetMotionOptions& options) {
  Follower f{model, space, medium, path, options};
  f.pieces = shape_pieces(path);
  f.motion.t = path.start;
  std::vector<NetMotion> at;
  for (std::size_t i = 0; i + 1 < f.pieces.size(); ++i) {
    const double a = f.pieces[i], b = f.pieces[i + 1];
    if (!f.find_singular(a, b) || !f.check_rows(a, b)) break;
  }
  // Up to an obstruction the gait is followed, short of it where the twist grows without bound.
  const double blocked = f.motion.obstruction ? f.motion.obstruction->t : infinity;
  NetState state{SE3{}, Vec::Zero(1)};
  std::size_t next = 0;
  for (std::size_t i = 0; i + 1 < f.pieces.size() && next < times.size(); ++i) {
    const double b = f.pieces[i + 1];
    while (next < times.size() && times[next] <= b) {
      if (times[next] >= blocked || (times[next] > f.motion.t && !f.advance(times[next], b, state)))
        break;
      at.push_back(f.motion);
      ++next;
    }
    if (next >= times.size() || times[next] <= b) break;
    if (b >= blocked || !f.advance(b, b, state)) break;
  }
  while (at.size() < times.size()) at.push_back(f.motion);
  return at;
}

NetMotion net_motion(const Model& model, const ShapeSpace& space, const Medium& medium,
                     const ShapePath& path, const NetMotionOptions& options) {
  return net_motion_at(model, space, medium, path, {path.end}, options).front();
}

}  // namespace saltus
