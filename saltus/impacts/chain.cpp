#include "saltus/impacts/chain.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>

namespace saltus {

namespace {

// A row whose squared sine to the others is below this depends on them; rounding of G is 1e-15.
constexpr double rank_tolerance = 1e-11;
constexpr int most_rounds = 32;

// A block with a normal row.
struct Point {
  int block = 0, normal = 0;
  std::array<int, 2> tangent{};
  int dims = 0;
  std::array<double, 2> scale{1, 1};
  double mu_s = 0, mu_d = 0;
  double target = 0;  // normal velocity after the impact
  bool approaches = false, active = false;
};

class Chain {
 public:
  Chain(const ChainImpact& law, Forest& mass, IslandProblem& island)
      : law_(law), a_(island), kinetic_(kinetic_energy_of(mass, island)) {
    const Inclusion& p = a_.problem;
    G_ = p.W.leftCols(p.rows).transpose() * p.Y.leftCols(p.rows);
    G_ = 0.5 * (G_ + Mat(G_.transpose()));
    c_ = p.c.head(p.rows);
    tolerance_ = 1e-9 * std::max(a_.gamma_S.head(p.rows).lpNorm<Eigen::Infinity>(),
                                 c_.lpNorm<Eigen::Infinity>());
    for (std::size_t i = 0; i < p.blocks.size(); ++i) take_block(static_cast<int>(i));
  }

  [[nodiscard]] std::optional<ImpactReport> resolve() {
    for (int round = 0; round < most_rounds; ++round) {
      form();
      if (release_pulled()) continue;
      if (miss_ > tolerance_) return std::nullopt;  // no velocity has all that is asked
      std::optional<ImpactReport> report = velocities();
      if (!report) return std::nullopt;
      store();
      if (load_approaching()) continue;
      report->solve.residual = miss_;
      report->solve.iterations = round + 1;
      report->solve.converged = true;
      return report;
    }
    return std::nullopt;
  }

  // The problem before anything is decided.
  [[nodiscard]] DissipationProblem problem(std::vector<int>& blocks) {
    do form();
    while (release_pulled());
    blocks.clear();
    for (const Point& q : points_)
      if (q.active) blocks.push_back(q.block);
    return d_;
  }

 private:
  static double kinetic_energy_of(Forest& mass, const IslandProblem& a) {
    double T = 0;
    for (std::size_t k = 0; k < a.trees.size(); ++k) {
      const int t = a.trees[k];
      const int n = mass.shape().unknown_begin[t + 1] - mass.shape().unknown_begin[t];
      Mat M(n, n);
      mass.dense(t, M);
      const Vec v = a.problem.v_free.segment(a.offset[k], n);
      T += 0.5 * v.dot(M * v);
    }
    return T;
  }

  void take_block(int i) {
    const Block& k = a_.problem.blocks[i];
    // At an impact a row with compliance is the armature of a cut coordinate.
    if (std::holds_alternative<Bilateral>(k.law) && (k.compliance == 0 || a_.at_impact)) {
      for (int r = k.row; r < k.row + k.rows; ++r) {
        G_(r, r) += k.compliance;
        if (G_(r, r) > 0) kept_.push_back(r);
      }
      return;
    }
    const auto* disc = std::get_if<Coulomb>(&k.law);
    const auto* planar = std::get_if<Coulomb2>(&k.law);
    if (!disc && !planar && !std::holds_alternative<Unilateral>(k.law)) {  // finite forces stay
      for (int r = k.row; r < k.row + k.rows; ++r) c_ += a_.Lambda[r] * G_.col(r);
      return;
    }
    Point q;
    q.block = i;
    q.normal = k.row;
    q.target = -a_.restitution[k.row];
    q.approaches = a_.gamma_S[k.row] < -tolerance_;
    q.active = a_.gamma_S[k.row] <= tolerance_;
    const double mu[2] = {disc ? disc->mu1 : planar ? planar->mu : 0, disc ? disc->mu2 : 0};
    q.mu_s = std::max(mu[0], mu[1]);
    q.mu_d = q.mu_s * (a_.dynamic.empty() ? 1 : a_.dynamic[i]);
    for (int j = 0; j < k.rows - 1; ++j) {
      if (!(G_(k.row + 1 + j, k.row + 1 + j) > rank_tolerance * G_.diagonal().maxCoeff())) continue;
      q.tangent[q.dims] = k.row + 1 + j;
      q.scale[q.dims++] = q.mu_s / mu[j];
    }
    if (G_(k.row, k.row) > 0) points_.push_back(q);
  }

  // The problem of the active points: p = p0 + P x with the normal velocities at their targets.
  void form() {
    rows_ = kept_;
    const int bilaterals = static_cast<int>(kept_.size());
    d_ = {};
    d_.v_s = law_.v_s;
    d_.a = law_.a;
    for (const Point& q : points_)
      if (q.active) rows_.push_back(q.normal);
    const int given = static_cast<int>(rows_.size());
    int normal = bilaterals;
    for (const Point& q : points_) {
      if (!q.active) continue;
      SlipPoint s;
      s.normal = normal++;
      s.dims = q.dims;
      s.scale = q.scale;
      s.mu_s = q.mu_s;
      s.mu_d = q.mu_d;
      for (int j = 0; j < q.dims; ++j) {
        s.tangent[j] = static_cast<int>(rows_.size());
        s.speed[j] = s.tangent[j] - given;
        rows_.push_back(q.tangent[j]);
      }
      d_.points.push_back(s);
    }
    const int n = static_cast<int>(rows_.size());
    Mat G(n, n);
    Vec c(n), wanted = Vec::Zero(n);
    for (int i = 0; i < n; ++i) {
      c[i] = c_[rows_[i]];
      for (int j = 0; j < n; ++j) G(i, j) = G_(rows_[i], rows_[j]);
    }
    int at = bilaterals;
    for (const Point& q : points_)
      if (q.active) wanted[at++] = q.target;
    affine(G, c, wanted, given);
    d_.t0 = kinetic_ + d_.p0.dot(c) + 0.5 * d_.p0.dot(G * d_.p0);
    d_.t1 = d_.P.transpose() * (c + G * d_.p0);
    d_.t2 = d_.P.transpose() * G * d_.P;
    d_.set_feasible();
    // xi holds offsets of bilateral rows, which do no work of their own where they are zero; where
    // not, a drive moves them and T is that of the velocities relative to it.
    for (int i = 0; i < given; ++i)
      miss_ = std::max(i == 0 ? 0 : miss_, std::abs(c[i] + G.row(i).dot(d_.p0) - wanted[i]));
    if (given == 0) miss_ = 0;
  }

  void affine(const Mat& G, const Vec& c, const Vec& wanted, int given) {
    const int n = static_cast<int>(c.size()), unknowns = n - given;
    if (n == 0) {
      d_.P.resize(0, 0);
      d_.U.resize(0, 0);
      return;
    }
    // Rows in their own units: 1 on the diagonal.
    const Vec s = G.diagonal().cwiseSqrt().cwiseInverse();
    const Mat scaled = s.asDiagonal() * G * s.asDiagonal();
    const Eigen::SelfAdjointEigenSolver<Mat> eigen(scaled);
    const Vec& values = eigen.eigenvalues();
    int lost = 0;
    while (lost < n && values[lost] < rank_tolerance * n) ++lost;
    const Vec asked = s.asDiagonal() * (wanted - c);
    if (lost == 0) {
      const Eigen::LDLT<Mat> factor(scaled);
      d_.p0 = s.asDiagonal() * factor.solve(asked);
      d_.P.resize(n, unknowns);
      if (unknowns > 0)  // an empty side Eigen reads through a null pointer
        d_.P = s.asDiagonal() *
               factor.solve(Mat(s.asDiagonal() * Mat::Identity(n, n).rightCols(unknowns)));
      d_.u0 = Vec::Zero(unknowns);
      d_.U = Mat::Identity(unknowns, unknowns);
      return;
    }
    // xi - c = V z, p = V z / values on the range; kept rows and normals fix z but for N y.
    const int rank = n - lost;
    const Mat V = eigen.eigenvectors().rightCols(rank);
    const Vec inverse = values.tail(rank).cwiseInverse();
    const Eigen::JacobiSVD<Mat> svd(V.topRows(given), Eigen::ComputeFullV | Eigen::ComputeThinU);
    int fixed = 0;
    while (fixed < svd.singularValues().size() && svd.singularValues()[fixed] > 1e-9) ++fixed;
    Vec z = Vec::Zero(rank);
    for (int i = 0; i < fixed; ++i)
      z += svd.matrixU().col(i).dot(asked.head(given)) / svd.singularValues()[i] *
           svd.matrixV().col(i);
    const Mat N = svd.matrixV().rightCols(rank - fixed);
    // The stick trial: tangential velocities as small as they can be.
    const Mat T = V.bottomRows(unknowns) * N;
    const Vec t = V.bottomRows(unknowns) * z - asked.tail(unknowns);
    if (N.cols() > 0) z -= N * T.completeOrthogonalDecomposition().solve(t);
    d_.p0 = s.asDiagonal() * V * inverse.cwiseProduct(z);
    d_.P = s.asDiagonal() * V * inverse.asDiagonal() * N;
    const Vec units = s.tail(unknowns).cwiseInverse();
    d_.u0 = units.cwiseProduct(V.bottomRows(unknowns) * z - asked.tail(unknowns));
    d_.u0 = (d_.u0.array().abs() < 1e-12 * (1 + c.lpNorm<Eigen::Infinity>())).select(0, d_.u0);
    d_.U = units.asDiagonal() * T;
  }

  // A point that only rests and would be pulled is let go: the worst first.
  bool release_pulled() {
    const double scale = d_.p0.size() > 0 ? d_.p0.lpNorm<Eigen::Infinity>() : 0;
    int worst = -1;
    double least = -1e-10 * scale;
    int at = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Point& q = points_[i];
      if (!q.active) continue;
      const double p = d_.p0[d_.points[at++].normal];
      const bool may_slip = q.approaches && any_friction();
      if (!may_slip && p < least) {
        least = p;
        worst = static_cast<int>(i);
      }
    }
    if (worst < 0) return false;
    points_[worst].active = false;
    return true;
  }
  [[nodiscard]] bool any_friction() const {
    return std::any_of(points_.begin(), points_.end(),
                       [](const Point& q) { return q.active && q.dims > 0; });
  }

  // What was let go or was leaving, and approaches now, takes part again.
  bool load_approaching() {
    bool any = false;
    for (Point& q : points_) {
      if (q.active || a_.Lambda.head(a_.rows).dot(G_.row(q.normal)) + c_[q.normal] >= -tolerance_)
        continue;
      q.active = any = true;
      q.approaches = true;
    }
    return any;
  }

  std::optional<ImpactReport> velocities() {
    ImpactReport report;
    report.impact = true;
    report.bound = law_.control == EnergyControl::none ? infinity : law_.energetic;
    const double limit = law_.energetic * kinetic_;
    const bool constrained = law_.control == EnergyControl::constraint;
    x_ = Vec::Zero(d_.unknowns());
    // As printed only the size of p_t is tested (P1 eq. 3.4); p_n >= 0 is ours (ERRATA).
    const bool sticks = trial_holds() && !(constrained && d_.t0 > limit);
    report.path = ImpactPath::stick;
    if (!sticks) {
      if (constrained) d_.limit = limit;
      if (!minimise(report)) {
        if (!constrained) return std::nullopt;
        d_.limit = infinity;  // no velocity keeps both: friction first, then attenuation
        if (!trial_holds() && !minimise(report)) return std::nullopt;
        report.path = ImpactPath::fallback;
      }
    }
    const double T = energy_at(d_, x_);
    const bool attenuates =
        law_.control == EnergyControl::attenuation || report.path == ImpactPath::fallback;
    if (attenuates && T > limit) report.attenuation = std::sqrt(limit / T);
    return report;
  }
  [[nodiscard]] bool trial_holds() const {
    const double scale = d_.p0.size() > 0 ? d_.p0.lpNorm<Eigen::Infinity>() : 0;
    return std::all_of(d_.points.begin(), d_.points.end(), [&](const SlipPoint& k) {
      const double n = d_.p0[k.normal];
      return n >= -feasible_rounding * scale &&
             tangential(k, d_.p0).norm() <= k.mu_s * std::abs(n) + feasible_rounding * scale;
    });
  }
  bool minimise(ImpactReport& report) {
    const bool exact = law_.method != DissipationMethod::nlp && is_small(d_);
    const DissipationResult r = exact ? minimise_exact(d_) : minimise_nlp(d_);
    if (!r.found) return false;
    x_ = r.x;
    report.path = exact ? ImpactPath::dissipation_exact : ImpactPath::dissipation_nlp;
    return true;
  }

  void store() {
    for (const int r : kept_) a_.Lambda[r] = 0;
    for (const Point& q : points_) {
      const Block& k = a_.problem.blocks[q.block];
      a_.Lambda.segment(k.row, k.rows).setZero();
    }
    const Vec p = d_.p0 + d_.P * x_;
    for (std::size_t i = 0; i < rows_.size(); ++i) a_.Lambda[rows_[i]] = p[static_cast<int>(i)];
    a_.feasible.assign(a_.problem.blocks.size(), std::nan(""));
    std::size_t at = 0;
    for (const Point& q : points_)
      if (q.active) a_.feasible[q.block] = d_.points[at++].mu_f;
  }

  const ChainImpact& law_;
  IslandProblem& a_;
  double kinetic_;  // T- [J]
  Mat G_;
  Vec c_;
  double tolerance_ = 0;  // velocities below are zero [m/s]
  double miss_ = 0;       // of the velocities asked for [m/s]
  std::vector<int> kept_;
  std::vector<Point> points_;
  std::vector<int> rows_;  // of d_'s impulses: kept, normals, tangents
  DissipationProblem d_;
  Vec x_;
};

}  // namespace

std::optional<ImpactReport> resolve_chain(const ChainImpact& law, Forest& mass, IslandProblem& a) {
  const Vec before = a.Lambda;
  std::optional<ImpactReport> report = Chain(law, mass, a).resolve();
  if (!report) a.Lambda = before;
  return report;
}

DissipationProblem slip_problem(const ChainImpact& law, Forest& mass, IslandProblem& a,
                                std::vector<int>& blocks) {
  return Chain(law, mass, a).problem(blocks);
}

}  // namespace saltus
