#include "saltus/integrators/events/collocation.h"

#include <algorithm>
#include <cmath>

namespace saltus {

namespace {

constexpr int nodes = Collocation::stages;
using Long = Eigen::Matrix<long double, nodes, nodes>;
using LongVec = Eigen::Matrix<long double, nodes, 1>;

// Share of the start's derivative in the formula that the error estimate compares with. Any is
// right; it is near the real pole of the step's own.
constexpr double start_share = 0.16;
constexpr int most_iterations = 12;
// Newton's method leaves this share of the tolerance.
constexpr double newton_share = 1e-3;
// A step is guessed from the last one where it is at most so many times as long.
constexpr double most_extrapolated = 2.5;

// Legendre's polynomials of degrees n and n - 1, of as many nodes, their difference at x in [0, 1].
long double radau(long double x) {
  const long double z = 2 * x - 1;
  long double before = 1, now = z;
  for (int k = 2; k <= nodes; ++k) {
    const long double next = ((2 * k - 1) * z * now - (k - 1) * before) / k;
    before = now;
    now = next;
  }
  return now - before;
}

// Its zeros, in order; the last is 1.
LongVec radau_nodes() {
  constexpr int cells = 1000;
  LongVec c = LongVec::Ones();
  int found = 0;
  for (int i = 0; i < cells && found < nodes - 1; ++i) {
    long double a = static_cast<long double>(i) / cells,
                b = static_cast<long double>(i + 1) / cells;
    if ((radau(a) > 0) == (radau(b) > 0)) continue;
    for (int k = 0; k < 80; ++k) {
      const long double m = (a + b) / 2;
      ((radau(m) > 0) == (radau(a) > 0) ? a : b) = m;
    }
    c[found++] = (a + b) / 2;
  }
  return c;
}

// Largest share of its scale that an entry takes.
double worst_share(const Vec& x, const Vec& scale) {
  double worst = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (scale[i] > 0) worst = std::max(worst, std::abs(x[i]) / scale[i]);
  return worst;
}

}  // namespace

Collocation::Collocation() {
  const LongVec c = radau_nodes();
  // Row k: what a quadrature has to give for x^k.
  Long powers_at, integrals;
  LongVec over_step;
  for (int k = 0; k < stages; ++k)
    for (int i = 0; i < stages; ++i) {
      powers_at(k, i) = std::pow(c[i], static_cast<long double>(k));
      integrals(k, i) = std::pow(c[i], static_cast<long double>(k + 1)) / (k + 1);
      over_step[k] = 1.0L / (k + 1);
    }
  const Eigen::PartialPivLU<Long> lu(powers_at);
  const Long A = lu.solve(integrals).transpose();
  LongVec compared = over_step;
  compared[0] -= start_share;
  const LongVec weight = lu.solve(compared) - lu.solve(over_step);
  node_ = c.cast<double>();
  A_ = A.cast<double>();
  // Of Z = h A F rather than of F, in which what is stiff is large.
  error_weight_ = A.transpose().partialPivLu().solve(weight).cast<double>();
}

void Collocation::resize(int nv, int n) {
  nv_ = nv;
  for (Vec* x : {&y_, &next_, &at_, &slope_, &start_, &missed_}) x->setZero(n);
  J_.setZero(nv, nv);
  for (Mat* x : {&Z_, &F_, &R_}) x->setZero(n, stages);
}

// da/dv at the start of the step, and the matrices made of it.
bool Collocation::linearise(const Derivative& f, const Vec& nudge) {
  for (int j = 0; j < nv_; ++j) {
    at_ = y_;
    at_[nv_ + j] += nudge[j];
    if (!f(t_, at_, slope_)) return false;
    J_.col(j) = (slope_ - start_).segment(nv_, nv_) / (at_[nv_ + j] - y_[nv_ + j]);
  }
  const Mat one = Mat::Identity(nv_, nv_);
  Mat all = Mat::Identity(stages * nv_, stages * nv_);
  for (int i = 0; i < stages; ++i)
    for (int j = 0; j < stages; ++j) all.block(i * nv_, j * nv_, nv_, nv_) -= h_ * A_(i, j) * J_;
  if (!all.allFinite()) return false;
  newton_.compute(all);
  filter_.compute(one - h_ * start_share * J_);
  return true;
}

void Collocation::keep() {
  kept_ = Z_.middleRows(nv_, nv_);
  kept_end_ = t_ + h_;
  kept_step_ = h_;
}

// Velocities as the last step's polynomial goes on, or as they are; positions by them.
void Collocation::guess() {
  Z_.setZero();
  const bool follows = kept_step_ > 0 && h_ <= most_extrapolated * kept_step_ &&
                       std::abs(t_ - kept_end_) <= 1e-9 * h_;
  for (int i = 0; i < stages && follows; ++i) {
    auto v = Z_.col(i).segment(nv_, nv_);
    v = -kept_.col(stages - 1);
    const double x = 1 + node_[i] * h_ / kept_step_;
    for (int k = 0; k < stages; ++k) v += weight(k, x) * kept_.col(k);
  }
  for (int i = 0; i < stages; ++i) Z_.col(i).head(nv_) = h_ * node_[i] * start_.head(nv_);
  Z_.topRows(nv_) += h_ * Z_.middleRows(nv_, nv_) * A_.transpose();
}

// Of stage k in the polynomial through the start and the stages, at x in steps.
double Collocation::weight(int k, double x) const {
  double product = x / node_[k];
  for (int j = 0; j < stages; ++j)
    if (j != k) product *= (x - node_[j]) / (node_[k] - node_[j]);
  return product;
}

bool Collocation::iterate(const Derivative& f, const Vec& scale) {
  guess();
  double last = 0;
  for (int k = 0; k < most_iterations; ++k) {
    for (int i = 0; i < stages; ++i) {
      at_ = y_ + Z_.col(i);
      if (!f(t_ + node_[i] * h_, at_, slope_)) return false;
      F_.col(i) = slope_;
    }
    R_.noalias() = h_ * F_ * A_.transpose();
    R_ -= Z_;
    const Mat rates = R_.middleRows(nv_, nv_);
    const Vec dv = newton_.solve(Eigen::Map<const Vec>(rates.data(), rates.size()));
    const Eigen::Map<const Mat> dV(dv.data(), nv_, stages);
    R_.middleRows(nv_, nv_) = dV;
    R_.topRows(nv_) += h_ * dV * A_.transpose();
    Z_ += R_;
    double change = 0;
    for (int i = 0; i < stages; ++i) change = std::max(change, worst_share(R_.col(i), scale));
    if (!std::isfinite(change)) return false;
    if (change == 0) return true;
    if (k > 0) {
      const double rate = change / last;
      if (rate >= 1 && change > newton_share) return false;
      if (rate >= 1 || change * rate / (1 - rate) <= newton_share) return true;
    }
    last = change;
  }
  return false;
}

bool Collocation::estimate(const Derivative& f, const Vec& scale) {
  const auto filtered = [&](const Vec& slope) {
    missed_ = h_ * start_share * slope + Z_ * error_weight_;
    missed_.segment(nv_, nv_) = filter_.solve(missed_.segment(nv_, nv_)).eval();
    missed_.head(nv_) += h_ * start_share * missed_.segment(nv_, nv_);
    error_ = worst_share(missed_, scale);
  };
  filtered(start_);
  if (!(error_ > 1)) return std::isfinite(error_);
  // What the start still has of fast terms is not the step's error.
  at_ = y_ + missed_;
  if (f(t_, at_, slope_)) filtered(slope_);
  return std::isfinite(error_);
}

bool Collocation::step(const Derivative& f, double t, const Vec& y, double h, const Vec& scale,
                       const Vec& nudge) {
  t_ = t;
  h_ = h;
  y_ = y;
  if (!f(t, y, start_) || !linearise(f, nudge) || !iterate(f, scale)) return false;
  next_ = y_ + Z_.col(stages - 1);
  stiffness_ = 0;
  for (int i = 0; i < nv_; ++i) {
    double sum = 0;
    for (int j = 0; j < nv_; ++j) sum += std::abs(J_(i, j)) * (scale[nv_ + j] / scale[nv_ + i]);
    stiffness_ = std::max(stiffness_, h_ * sum);
  }
  return next_.allFinite() && estimate(f, scale);
}

// The polynomial through the start and the stages.
void Collocation::interpolate(double t, Vec& y) const {
  const double x = (t - t_) / h_;
  y = y_;
  for (int i = 0; i < stages; ++i) y += weight(i, x) * Z_.col(i);
}

}  // namespace saltus
