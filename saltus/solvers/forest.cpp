#include "saltus/solvers/forest.h"

#include <algorithm>

#include "saltus/base/error.h"
#include "saltus/solvers/forest_kernels.h"
#include "saltus/solvers/forest_sweeps.h"

namespace saltus {

using namespace forest_detail;

namespace {

template <int D>
Eigen::Matrix<double, D, D> narrow_matrix(const Mat6& A) {
  if constexpr (D == 6) {
    return A;
  } else {
    Mat3 B;
    const int k[3] = {0, 1, 5};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) B(i, j) = A(k[i], k[j]);
    return B;
  }
}

// Columns by stations, pivots by elements.
void complete(ForestShape& s) {
  const std::size_t n = s.parent.size();
  if (s.stations.empty()) s.stations.assign(n, 1);
  s.column.assign(n, 0);
  s.pivot.assign(n, 0);
  s.columns = s.pivots = 0;
  s.shared = false;
  for (std::size_t i = 0; i < n; ++i) {
    s.column[i] = s.columns;
    s.pivot[i] = s.pivots;
    s.columns += s.dim[i];
    if (s.stations[i] != 1) s.shared = true;
    if (s.stations[i] > 0) s.pivots += s.dim[i] * s.dim[i];
  }
}

template <int D>
void size_data(const ForestShape& s, ForestData<D>& k) {
  const std::size_t n = s.parent.size();
  using V = typename ForestData<D>::V;
  k.idle.assign(n, 0);
  for (auto* x : {&k.shift, &k.p, &k.a}) x->assign(n, V::Zero());
  k.A.assign(n, ForestData<D>::M::Zero());
  k.Omega.assign(n, ForestData<D>::M::Zero());
  for (auto* x : {&k.S, &k.S_free}) x->setZero(D, s.columns);
  for (Vec* x : {&k.d, &k.d_free, &k.u}) x->setZero(s.unknowns);
  k.free.setOnes(s.unknowns);
  k.K.resize(0);
  for (ForestFactor<D>& h : k.factor) {
    h.IA.assign(n, ForestData<D>::M::Zero());
    for (auto* x : {&h.U, &h.U_left, &h.scratch}) x->setZero(D, s.columns);
    for (auto* x : {&h.B, &h.B_left}) x->setZero(D, s.shared ? s.unknowns : 0);
    for (Vec* x : {&h.inverse, &h.chol, &h.half}) x->setZero(s.pivots);
    h.Psi.assign(n, ForestData<D>::M::Zero());
  }
}

}  // namespace

void Forest::resize(const ForestShape& shape) {
  shape_ = shape;
  complete(shape_);
  if (shape.planar)
    data_.emplace<ForestData<3>>();
  else
    data_.emplace<ForestData<6>>();
  std::visit([&](auto& k) { size_data(shape_, k); }, data_);
}

void Forest::set_idle(int node) {
  std::visit(
      [&]<int D>(ForestData<D>& k) {
        if (k.idle[node]) return;
        k.idle[node] = 1;
        k.A[node].setZero();
        k.shift[node].setZero();
        const auto columns = Eigen::seqN(shape_.column[node], shape_.dim[node]);
        k.S(Eigen::all, columns).setZero();
        k.S_free(Eigen::all, columns).setZero();
      },
      data_);
}

void Forest::set_node(int node, const Vec3& r, const Mat6& A) {
  std::visit([&](auto& k) { k.idle[node] = 0; }, data_);
  if (auto* k = std::get_if<ForestData<6>>(&data_)) {
    k->shift[node] << r, Vec3::Zero();
    k->A[node] = A;
  } else {
    auto& p = std::get<ForestData<3>>(data_);
    p.shift[node] << r.x(), r.y(), 0;
    p.A[node] = narrow_matrix<3>(A);
  }
}

void Forest::set_column(int node, int own, const Vec6& S) {
  const int column = shape_.column[node] + own;
  std::visit(
      [&]<int D>(ForestData<D>& k) {
        k.S.col(column) = narrow<D>(S);
        k.S_free.col(column) = k.S.col(column);
      },
      data_);
}

void Forest::set_diagonal(int unknown, double d) {
  std::visit(
      [&](auto& k) {
        k.d[unknown] = k.d_free[unknown] = d;
        k.free[unknown] = 1;
      },
      data_);
}

void Forest::set_block(int node, const Mat& K) {
  const int i = node_of(shape_.first[node]), n = shape_.dim[i];
  SALTUS_ASSERT(K.rows() == n && K.cols() == n);
  std::visit(
      [&](auto& k) {
        if (k.K.size() == 0) k.K.setZero(shape_.pivots);
        Eigen::Map<Mat>(k.K.data() + shape_.pivot[i], n, n) = K;
      },
      data_);
}

void Forest::hold(int unknown) {
  const int node = node_of(unknown), own = unknown - shape_.first[node];
  std::visit(
      [&](auto& k) {
        for (int j = node; j < node + shape_.stations[node]; ++j)
          k.S_free.col(shape_.column[j] + own).setZero();
        k.d_free[unknown] = 1;
        k.free[unknown] = 0;
      },
      data_);
}

void Forest::Extra::clear(int begin, int end, int first, int last) {
  for (int i = begin; i < end; ++i) {
    if (touched[i]) {
      if (planar.empty())
        A[i].setZero();
      else
        planar[i].setZero();
    }
    touched[i] = 0;
  }
  d.segment(first, last - first).setZero();
  symmetric = true;
}

namespace {

template <int D>
void add_outer(const Mat6& K, int n, const Mat6X& from, int column, double* A) {
  double W[D * 6], WK[D * 6];
  for (int c = 0; c < n; ++c) {
    const Eigen::Matrix<double, D, 1> w = narrow<D>(from.col(column + c));
    for (int i = 0; i < D; ++i) W[i + D * c] = w[i], WK[i + D * c] = 0;
  }
  for (int c = 0; c < n; ++c)
    for (int l = 0; l < n; ++l)
      for (int i = 0; i < D; ++i) WK[i + D * c] -= W[i + D * l] * K(l, c);
  by_size(n, [&](auto size) { subtract_outer<D, decltype(size)::value>(WK, W, n, A); });
}

}  // namespace

void Forest::Extra::add(int node, const Mat6& block, int n, const Mat6X& W, int column) {
  touched[node] = 1;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) symmetric = symmetric && block(i, j) == block(j, i);
  if (planar.empty())
    add_outer<6>(block, n, W, column, A[node].data());
  else
    add_outer<3>(block, n, W, column, planar[node].data());
}

Forest::Extra Forest::make_extra() const {
  Extra e;
  if (shape_.planar)
    e.planar.assign(shape_.parent.size(), Mat3::Zero());
  else
    e.A.assign(shape_.parent.size(), Mat6::Zero());
  e.touched.assign(shape_.parent.size(), 0);
  e.d.setZero(shape_.unknowns);
  return e;
}

bool Forest::factor(const Extra* extra, int tree) {
  const auto [begin, end] = range(tree);
  const int culprit = std::visit(
      [&, begin = begin, end = end]<int D>(ForestData<D>& k) {
        return Sweeps<D>(shape_, k, extra != nullptr).factor(begin, end, extra);
      },
      data_);
  if (!extra) culprit_ = culprit;
  return culprit < 0;
}

std::pair<int, int> Forest::range(int tree) const {
  if (tree < 0) return {0, shape_.nodes()};
  return {shape_.tree_begin[tree], shape_.tree_begin[tree + 1]};
}

void Forest::solve(int tree, const double* b, const Vec6* f, double* x, std::vector<Vec6>* twist,
                   bool with_extra) {
  const auto [begin, end] = range(tree);
  std::visit(
      [&, begin = begin, end = end]<int D>(ForestData<D>& k) {
        Sweeps<D>(shape_, k, with_extra).solve(begin, end, b, f, x, twist);
      },
      data_);
}

void Forest::solve_wrench(int node, const Vec6& f, double* x_tree) {
  std::visit(
      [&]<int D>(ForestData<D>& k) {
        Sweeps<D>(shape_, k).solve_branch(node, -narrow<D>(f), -1, 0, x_tree);
      },
      data_);
}

int Forest::node_of(int unknown) const {
  // Nodes and unknowns are sorted alike.
  const auto after = std::upper_bound(shape_.first.begin(), shape_.first.end(), unknown);
  int node = static_cast<int>(after - shape_.first.begin()) - 1;
  while (shape_.first[node] + shape_.dim[node] <= unknown) --node;
  while (shape_.stations[node] == 0) --node;
  return node;
}

void Forest::solve_unknown(int unknown, double b, double* x_tree) {
  const int node = node_of(unknown);
  std::visit(
      [&]<int D>(ForestData<D>& k) {
        Sweeps<D>(shape_, k).solve_branch(node, ForestData<D>::V::Zero(), unknown, b, x_tree);
      },
      data_);
}

void Forest::multiply(VecIn x, VecRef y) {
  std::visit(
      [&]<int D>(ForestData<D>& k) {
        Sweeps<D>(shape_, k).multiply(0, shape_.nodes(), x.data(), y.data());
      },
      data_);
}

void Forest::twists(VecIn x, std::vector<Vec6>& V, int tree) {
  const auto [begin, end] = range(tree);
  std::visit([&, begin = begin, end = end]<int D>(
                 ForestData<D>& k) { Sweeps<D>(shape_, k).twists(begin, end, x.data(), V); },
             data_);
}

void Forest::gather(const std::vector<Vec6>& f, VecRef y) {
  std::visit([&]<int D>(ForestData<D>& k) { Sweeps<D>(shape_, k).gather(f.data(), y.data()); },
             data_);
}

void Forest::dense(int tree, Eigen::Ref<Mat> H) {
  const int begin = shape_.tree_begin[tree], end = shape_.tree_begin[tree + 1];
  const int base = shape_.unknown_begin[tree], n = shape_.unknown_begin[tree + 1] - base;
  std::visit(
      [&]<int D>(ForestData<D>& k) {
        for (int j = 0; j < n; ++j) {
          k.u.segment(base, n).setZero();
          k.u[base + j] = 1;
          Sweeps<D>(shape_, k).multiply(begin, end, k.u.data(), H.col(j).data() - base);
        }
      },
      data_);
}

void Forest::row(int node, const Vec6& w, double* x_tree) {
  std::visit([&]<int D>(ForestData<D>& k) { Sweeps<D>(shape_, k).row(node, narrow<D>(w), x_tree); },
             data_);
}

void Forest::compliance(int tree) {
  const auto [begin, end] = range(tree);
  std::visit([&, begin = begin,
              end = end]<int D>(ForestData<D>& k) { Sweeps<D>(shape_, k).compliance(begin, end); },
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

double Forest::compliance_of(int unknown) {
  const int node = node_of(unknown);
  return std::visit(
      [&]<int D>(ForestData<D>& k) { return Sweeps<D>(shape_, k).compliance_of(node, unknown); },
      data_);
}

}  // namespace saltus
