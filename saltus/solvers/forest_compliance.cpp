// What a wrench on a node does to its own twist.
#include "saltus/solvers/forest_sweeps.h"

namespace saltus {

using namespace forest_detail;

void Forest::compliance(int tree) {
  const auto [begin, end] = range(tree);
  std::visit(
      [&, begin = begin, end = end]<int D>(ForestData<D>& k) {
        const Sweeps<D> sweeps(shape_, k);
        const ForestFactor<D>& h = k.factor[0];
        Eigen::Matrix<double, D, D> half;
        for (int i = begin; i < end; ++i) {
          Eigen::Matrix<double, D, D>& own = k.Omega[i];
          const int first = shape_.first[i], parent = shape_.parent[i];
          by_size(shape_.dim[i], [&](auto size) {
            constexpr int N = decltype(size)::value;
            if constexpr (N > 0) {
              const auto S = k.S_free.template middleCols<N>(first);
              Eigen::Matrix<double, D, N> SD;
              SD.noalias() = S * sweeps.template pivot<N>(first);
              own.noalias() = SD * S.transpose();
            } else {
              own.setZero();
            }
            return true;
          });
          if (parent < 0) continue;
          half.noalias() = h.Psi[i] * k.Omega[parent];
          own.noalias() += half * h.Psi[i].transpose();
        }
      },
      data_);
}

double Forest::compliance_along(int node, const Vec6& w) const {
  return std::visit(
      [&]<int D>(const ForestData<D>& k) {
        const Eigen::Matrix<double, D, 1> x = narrow<D>(w);
        return x.dot(k.Omega[node] * x);
      },
      data_);
}

double Forest::compliance_of(int unknown) const {
  const int i = node_of(unknown), first = shape_.first[i], n = shape_.dim[i];
  return std::visit(
      [&]<int D>(const ForestData<D>& k) {
        // x = D^-1 (b - U' T a_parent), and for b = e_k the parent moves by Omega_p T' U D^-1 b.
        const ForestFactor<D>& h = k.factor[0];
        if (k.free[unknown] == 0) return 0.0;
        const double sum = h.D_inv(unknown - first, unknown);
        if (shape_.parent[i] < 0) return sum;
        Eigen::Matrix<double, D, 1> w = Eigen::Matrix<double, D, 1>::Zero();
        for (int a = 0; a < n; ++a) w += h.D_inv(unknown - first, first + a) * h.U.col(first + a);
        w = shift_wrench(k.shift[i], w);
        return sum + w.dot(k.Omega[shape_.parent[i]] * w);
      },
      data_);
}

}  // namespace saltus
