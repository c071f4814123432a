#include "saltus/integrators/small_motions.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/events/event_dynamics.h"
#include "saltus/lie/so3.h"
#include "saltus/model/joint_traits.h"

namespace saltus {

namespace {

// Of differences of order 4: truncation and rounding near 1e-12.
constexpr double apart = 1e-4;
// Rates below this share of the largest are rounding's: motions that nothing drives back.
constexpr double slow = 1e-8;
// Stiffness that is symmetric up to this share of its largest entry is that of a potential.
constexpr double symmetric = 1e-7;

void refuse_unsmooth(const Model& model, const Actuation& actuation) {
  const auto got = [](const std::string& what) {
    throw InputError(
        fmt::format("small motions expect forces of positions and velocities, got {}", what));
  };
  if (actuation.user || !actuation.controllers.empty()) got("a controller or a user's force");
  if (!actuation.pushes.empty()) got("pushes");
  if (!model.cables.empty()) got("cables");
  if (model.has_compliant) got("a compliant contact");
  for (const RodElement& r : model.rods)
    if (!r.segment->rheology.empty()) got(fmt::format("a rheology of '{}'", r.rod));
  for (const Motor& m : actuation.motors)
    if (m.lag > 0 || m.backlash > 0)
      got(fmt::format("a motor of '{}' with a lag or backlash",
                      model.coordinates[m.coordinate].name));
}

// What holds at the state: joints kept by rows, and `held` as rows that neither push nor pull.
EventMode mode_of(const Model& model, const std::vector<RestReport::Held>& held) {
  EventMode mode;
  const auto keep = [&](Element e) {
    e.kind = Element::Kind::bilateral;
    e.sets = 0;
    mode.elements.push_back(e);
  };
  const auto holds = [&](const Element& e) {
    return std::any_of(held.begin(), held.end(),
                       [&](const RestReport::Held& h) { return !h.contact && h.slot == e.slot; });
  };
  for (const Element& e : static_elements(model).elements)
    if (e.kind == Element::Kind::bilateral || (e.kind == Element::Kind::normal && holds(e)))
      keep(e);
  std::vector<const RestReport::Held*> contacts;
  for (const RestReport::Held& h : held)
    if (h.contact) contacts.push_back(&h);
  std::sort(contacts.begin(), contacts.end(),
            [](const auto* a, const auto* b) { return a->key < b->key; });
  const auto between_stations = [&](int shape) {
    const BodyIndex body = model.shapes[shape].body;
    return std::any_of(model.rods.begin(), model.rods.end(), [&](const RodElement& r) {
      return body >= r.first_touch && body < r.first_touch + r.touches;
    });
  };
  for (const RestReport::Held* h : contacts) {
    if (between_stations(h->key.a) || between_stations(h->key.b))
      throw InputError(
          fmt::format("small motions expect contacts at stations of rods, got {} between two; "
                      "more `points` or segments with `touches: 0` put stations there",
                      h->name));
    Element e = contact_element(model, h->key, h->law, Vec3::UnitZ());
    e.closed = true;
    e.sets = 0;
    e.rows = 1;
    mode.elements.push_back(e);
  }
  return mode;
}

class Linearisation {
 public:
  Linearisation(const Model& m, const Actuation& a, double t, VecIn q, VecIn v, EventMode mode)
      : model_(m),
        dynamics_(m, a),
        t_(t),
        q_(q),
        v_(v),
        mode_(std::move(mode)),
        turns_(m.coordinates.size(), 0) {}

  // At the last evaluation.
  Mat inertia() {
    Mat M(model_.nv, model_.nv);
    Vec column(model_.nv);
    for (int k = 0; k < model_.nv; ++k) {
      dynamics_.mass().multiply(Vec::Unit(model_.nv, k), column);
      M.col(k) = column;
    }
    M.diagonal() += model_.armature;
    return M;
  }
  // Accelerations at x, u; the rates of the rows are then in `at.gamma`.
  Vec accelerations(const Vec& x, const Vec& u) {
    Vec q = q_;
    saltus::advance(model_, q, x, 1);
    if (!dynamics_.evaluate(t_, q, v_ + u, turns_, mode_, at))
      throw InputError("small motions: no acceleration here, the mass matrix is singular");
    return at.a;
  }
  // Along x and along u, column by column; of x also the rows' rates.
  void differentiate(Mat& A_q, Mat& A_v, Mat& D) {
    const int n = model_.nv;
    A_q.resize(n, n);
    A_v.resize(n, n);
    (void)accelerations(Vec::Zero(n), Vec::Zero(n));
    D.resize(at.gamma.size(), n);
    for (int k = 0; k < n; ++k) {
      const auto column = [&](bool of_x, auto&& out) {
        Vec a = Vec::Zero(n), gamma = Vec::Zero(D.rows());
        for (const auto& [share, weight] : {std::pair(1.0, 8.0), std::pair(-1.0, -8.0),
                                            std::pair(2.0, -1.0), std::pair(-2.0, 1.0)}) {
          const Vec step = share * apart * Vec::Unit(n, k), none = Vec::Zero(n);
          a += weight / (12 * apart) * accelerations(of_x ? step : none, of_x ? none : step);
          gamma += weight / (12 * apart) * at.gamma;
        }
        out(a, gamma);
      };
      column(true, [&](const Vec& a, const Vec& gamma) { A_q.col(k) = a, D.col(k) = gamma; });
      column(false, [&](const Vec& a, const Vec&) { A_v.col(k) = a; });
    }
  }
  // W' at the state, with a row for every prescribed velocity.
  Mat rows() {
    const int n = model_.nv;
    Mat W(at.gamma.size(), n);
    (void)accelerations(Vec::Zero(n), -v_);
    const Vec still = at.gamma;
    for (int k = 0; k < n; ++k) {
      (void)accelerations(Vec::Zero(n), Vec::Unit(n, k) - v_);
      W.col(k) = at.gamma - still;
    }
    return W;
  }
  // Frames that move along: C, and what they do to a body that floats, whose linear velocity has
  // its parent's axes. With R0 of the motion, y = R0' dr and w = R0' dv,
  //   y' = w - omega0 x y,   w' = R0' da - omega0 x w
  void move_frames(Mat& A_q, Mat& A_v, Mat& C, Mat& M, Mat& W, Mat& D, Vec& a) const {
    C = Mat::Zero(model_.nv, model_.nv);
    for (const Body& b : model_.bodies) {
      const int first = quaternion_at(b.joint);
      if (first >= 0) C.block<3, 3>(b.v0 + first, b.v0 + first) = -hat(v_.segment<3>(b.v0 + first));
      Vec3 omega = Vec3::Zero();
      Mat3 turned;
      int linear = 3;  // velocities in the parent's axes
      if (is_floating(b.joint)) {
        const auto q = q_.segment<4>(b.q0 + first);
        turned = Quat(q[0], q[1], q[2], q[3]).toRotationMatrix();
        omega = v_.segment<3>(b.v0 + first);
      } else if (first < 0 && b.nv == 3 && !is_angular(b.joint, 0) && is_angular(b.joint, 2)) {
        linear = 2;  // in the plane
        omega.z() = v_[b.v0 + 2];
        turned = exp_so3(Vec3(0, 0, q_[b.q0 + 2]));
      } else {
        continue;
      }
      const Mat R = turned.topLeftCorner(linear, linear),
                turn = hat(omega).topLeftCorner(linear, linear);
      for (Mat* A : {&A_q, &A_v, &M})
        A->middleRows(b.v0, linear) = Mat(R.transpose() * A->middleRows(b.v0, linear));
      for (Mat* A : {&A_q, &A_v, &M, &W, &D})
        A->middleCols(b.v0, linear) = Mat(A->middleCols(b.v0, linear) * R);
      const Vec along = R.transpose() * v_.segment(b.v0, linear);
      a.segment(b.v0, linear) = Vec(R.transpose() * a.segment(b.v0, linear) - turn * along);
      C.block(b.v0, b.v0, linear, linear) = -turn;
      A_v.block(b.v0, b.v0, linear, linear) -= turn;
    }
  }

  Evaluation at;

 private:
  const Model& model_;
  ModeDynamics dynamics_;
  double t_;
  Vec q_, v_;
  EventMode mode_;
  std::vector<std::int32_t> turns_;
};

// An orthonormal basis of what the rows leave free.
Mat left_free(const Mat& rows) {
  if (rows.rows() == 0) return Mat::Identity(rows.cols(), rows.cols());
  Eigen::ColPivHouseholderQR<Mat> qr(rows.transpose());
  qr.setThreshold(1e-9);
  const Mat Q = qr.householderQ();
  return Q.rightCols(rows.cols() - qr.rank());
}

SmallMotion mode_from(std::complex<double> rate, Eigen::VectorXcd shape) {
  Eigen::Index most = 0;
  if (shape.cwiseAbs().maxCoeff(&most) > 0) shape /= shape[most];
  return {rate, std::move(shape)};
}

// x'' = A x: both rates of an eigenvalue in one. Looked for in forces, M A: what rounding leaves of
// the accelerations of short waves is no force to speak of, and would spoil the long ones.
void add_second_order(const Mat& A, const Mat& M, const Mat& Z, SmallMotions& out) {
  const Mat K = Z.transpose() * M * A * Z, inertia = Z.transpose() * M * Z;
  Eigen::VectorXcd squares;
  Eigen::MatrixXcd shapes;
  if ((K - K.transpose()).cwiseAbs().maxCoeff() <= symmetric * K.cwiseAbs().maxCoeff()) {
    const Eigen::GeneralizedSelfAdjointEigenSolver<Mat> found(0.5 * (K + K.transpose()), inertia);
    squares = found.eigenvalues();
    shapes = found.eigenvectors();
  } else {
    const Eigen::EigenSolver<Mat> found(inertia.llt().solve(K));
    squares = found.eigenvalues();
    shapes = found.eigenvectors();
  }
  const double largest = std::sqrt(squares.cwiseAbs().maxCoeff());
  for (Eigen::Index k = 0; k < Z.cols(); ++k) {
    std::complex<double> rate = std::sqrt(squares[k]);
    if (std::abs(rate) < slow * largest) rate = 0;
    if (rate.imag() < 0) rate = -rate;
    out.modes.push_back(mode_from(rate, Z * shapes.col(k)));
  }
}

// (x, u)' = [C I; A_q A_v] (x, u), the velocities in units that make its parts alike.
void add_first_order(const Mat& C, const Mat& A_q, const Mat& A_v, const Mat& W, const Mat& D,
                     SmallMotions& out) {
  const Eigen::Index n = C.rows(), m = W.rows();
  const double unit = std::sqrt(std::max(A_q.lpNorm<Eigen::Infinity>(), 1e-300));
  Mat A(2 * n, 2 * n), rows = Mat::Zero(2 * m, 2 * n);
  A << C, unit * Mat::Identity(n, n), A_q / unit, A_v;
  rows << W, Mat::Zero(m, n), D / unit, W;
  const Mat Z = left_free(rows);
  if (Z.cols() == 0) return;
  const Eigen::EigenSolver<Mat> found(Z.transpose() * A * Z);
  const double largest = found.eigenvalues().cwiseAbs().maxCoeff();
  for (Eigen::Index k = 0; k < Z.cols(); ++k) {
    std::complex<double> rate = found.eigenvalues()[k];
    if (std::abs(rate) < std::sqrt(slow) * 1e-2 * largest) rate = 0;
    if (rate.imag() < 0) continue;
    out.modes.push_back(mode_from(rate, (Z * found.eigenvectors().col(k)).head(n)));
  }
}

}  // namespace

double SmallMotion::damping() const {
  const double size = std::abs(rate);
  return size > 0 ? -rate.real() / size : 0;
}

SmallMotions small_motions(const Model& model, const Actuation& actuation, double t, VecIn q,
                           VecIn v, const std::vector<RestReport::Held>& held) {
  refuse_unsmooth(model, actuation);
  Linearisation at(model, actuation, t, q, v, mode_of(model, held));
  SmallMotions out;
  if (model.nv == 0) return out;
  Mat A_q, A_v, C, D;
  at.differentiate(A_q, A_v, D);
  Mat W = at.rows();
  Vec a = at.accelerations(Vec::Zero(model.nv), Vec::Zero(model.nv));
  Mat M = at.inertia();
  at.move_frames(A_q, A_v, C, M, W, D, a);
  out.unsteady = std::sqrt(std::max(0.0, a.dot(M * a)));
  const Mat given = [&] {
    const auto count = std::count_if(model.prescribed.begin(), model.prescribed.end(),
                                     [](char p) { return p != 0; });
    Mat rows = Mat::Zero(count, model.nv);
    for (int k = 0, i = 0; k < model.nv; ++k)
      if (model.prescribed[k]) rows(i++, k) = 1;
    return rows;
  }();
  Mat all(W.rows() + given.rows(), model.nv), rates = Mat::Zero(all.rows(), model.nv);
  all << W, given;
  rates.topRows(D.rows()) = D;
  const Mat Z = left_free(all);
  if (Z.cols() == 0) return out;
  // Damping, spin and rows that turn are looked for in what is free, in units of the stiffness.
  const double unit = std::sqrt((Z.transpose() * A_q * Z).cwiseAbs().maxCoeff());
  const bool plain = v.isZero(0) && (Z.transpose() * A_v * Z).cwiseAbs().maxCoeff() <= 1e-11 * unit;
  if (plain)
    add_second_order(A_q, M, Z, out);
  else
    add_first_order(C, A_q, A_v, all, rates, out);
  std::sort(out.modes.begin(), out.modes.end(), [](const SmallMotion& x, const SmallMotion& y) {
    return std::pair(std::abs(x.rate), x.rate.real()) < std::pair(std::abs(y.rate), y.rate.real());
  });
  return out;
}

}  // namespace saltus
