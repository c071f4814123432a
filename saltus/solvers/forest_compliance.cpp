// What a wrench on a node does to its own twist.
#include "saltus/solvers/forest_sweeps.h"

namespace saltus {

using namespace forest_detail;

namespace {

template <int D>
Mat6 in_large(const Eigen::Matrix<double, D, D>& A) {
  if constexpr (D == 6) {
    return A;
  } else {
    Mat6 B = Mat6::Zero();
    const int k[3] = {0, 1, 5};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) B(k[i], k[j]) = A(i, j);
    return B;
  }
}

// Psi = (1 - S D^-1 U') T of a node, and its S D^-1 S'.
template <int D>
void transfer(const ForestShape& s, const ForestData<D>& k, int i, Eigen::Matrix<double, D, D>& Psi,
              Eigen::Matrix<double, D, D>& own) {
  const ForestFactor<D>& h = k.factor[0];
  const int n = s.dim[i], first = s.first[i];
  for (int c = 0; c < D; ++c)
    Psi.col(c) = shift_twist(k.shift[i], Eigen::Matrix<double, D, 1>::Unit(c));
  own.setZero();
  Eigen::Matrix<double, D, D> P = Psi;
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) {
      const double d = h.D_inv(a, first + b);
      own += d * k.S_free.col(first + a) * k.S_free.col(first + b).transpose();
      P -= d * k.S_free.col(first + a) * (h.U.col(first + b).transpose() * Psi);
    }
  Psi = P;
}

}  // namespace

void Forest::compliance(std::vector<Mat6>& Omega, int tree) {
  const auto [begin, end] = range(tree);
  std::visit(
      [&, begin = begin, end = end]<int D>(ForestData<D>& k) {
        using M = Eigen::Matrix<double, D, D>;
        M Psi, own;
        for (int i = begin; i < end; ++i) {
          transfer<D>(shape_, k, i, Psi, own);
          if (shape_.parent[i] >= 0) {
            const M above = narrow_matrix<D>(Omega[shape_.parent[i]]);
            own += Psi * above * Psi.transpose();
          }
          Omega[i] = in_large<D>(own);
        }
      },
      data_);
}

double Forest::compliance_of(int unknown, const std::vector<Mat6>& Omega) const {
  const int i = node_of(unknown), first = shape_.first[i], n = shape_.dim[i];
  return std::visit(
      [&]<int D>(const ForestData<D>& k) {
        // x = D^-1 (b - U' T a_parent), and for b = e_k the parent moves by Omega_p T' U D^-1 b.
        const ForestFactor<D>& h = k.factor[0];
        if (k.free[unknown] == 0) return 0.0;
        double sum = h.D_inv(unknown - first, unknown);
        if (shape_.parent[i] < 0) return sum;
        Eigen::Matrix<double, D, 1> w = Eigen::Matrix<double, D, 1>::Zero();
        for (int a = 0; a < n; ++a) w += h.D_inv(unknown - first, first + a) * h.U.col(first + a);
        w = shift_wrench(k.shift[i], w);
        return sum + w.dot(narrow_matrix<D>(Omega[shape_.parent[i]]) * w);
      },
      data_);
}
}  // namespace saltus
