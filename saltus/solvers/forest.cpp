#include "saltus/solvers/forest.h"

#include <algorithm>

#include "saltus/solvers/forest_sweeps.h"

namespace saltus {

using namespace forest_detail;

namespace {

template <int D>
void size_data(const ForestShape& s, ForestData<D>& k) {
  const std::size_t n = s.parent.size();
  using V = typename ForestData<D>::V;
  for (auto* x : {&k.shift, &k.p, &k.a}) x->assign(n, V::Zero());
  k.A.assign(n, ForestData<D>::M::Zero());
  k.Omega.assign(n, ForestData<D>::M::Zero());
  for (auto* x : {&k.S, &k.S_free}) x->setZero(D, s.unknowns);
  for (Vec* x : {&k.d, &k.d_free, &k.u}) x->setZero(s.unknowns);
  k.free.setOnes(s.unknowns);
  for (ForestFactor<D>& h : k.factor) {
    h.IA.assign(n, ForestData<D>::M::Zero());
    h.U.setZero(D, s.unknowns);
    h.U_left.setZero(D, s.unknowns);
    h.D_inv.setZero(6, s.unknowns);
    h.Psi.assign(n, ForestData<D>::M::Zero());
  }
}

}  // namespace

void Forest::resize(const ForestShape& shape) {
  shape_ = shape;
  if (shape.planar)
    data_.emplace<ForestData<3>>();
  else
    data_.emplace<ForestData<6>>();
  std::visit([&](auto& k) { size_data(shape_, k); }, data_);
}

void Forest::set_node(int node, const Vec3& r, const Mat6& A) {
  if (auto* k = std::get_if<ForestData<6>>(&data_)) {
    k->shift[node] << r, Vec3::Zero();
    k->A[node] = A;
  } else {
    auto& p = std::get<ForestData<3>>(data_);
    p.shift[node] << r.x(), r.y(), 0;
    p.A[node] = narrow_matrix<3>(A);
  }
}

void Forest::set_column(int unknown, const Vec6& S) {
  std::visit(
      [&]<int D>(ForestData<D>& k) {
        k.S.col(unknown) = narrow<D>(S);
        k.S_free.col(unknown) = k.S.col(unknown);
        k.free[unknown] = 1;
      },
      data_);
}

void Forest::set_diagonal(int unknown, double d) {
  std::visit([&](auto& k) { k.d[unknown] = k.d_free[unknown] = d; }, data_);
}

void Forest::hold(int unknown) {
  std::visit(
      [&](auto& k) {
        k.S_free.col(unknown).setZero();
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

template <int D, int N>
void add_outer(const Mat6& K, const Mat6X& from, int column, Eigen::Matrix<double, D, D>& A) {
  Eigen::Matrix<double, D, N> W, WK;
  for (int i = 0; i < N; ++i) W.col(i) = narrow<D>(from.col(column + i));
  WK.noalias() = W * K.topLeftCorner<N, N>();
  A.noalias() += WK * W.transpose();
}

}  // namespace

void Forest::Extra::add(int node, const Mat6& K, int n, const Mat6X& W, int column) {
  touched[node] = 1;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) symmetric = symmetric && K(i, j) == K(j, i);
  const auto add_to = [&]<int D>(Eigen::Matrix<double, D, D>& sum) {
    switch (n) {
      case 1: return add_outer<D, 1>(K, W, column, sum);
      case 2: return add_outer<D, 2>(K, W, column, sum);
      case 3: return add_outer<D, 3>(K, W, column, sum);
      case 4: return add_outer<D, 4>(K, W, column, sum);
      case 5: return add_outer<D, 5>(K, W, column, sum);
      default: return add_outer<D, 6>(K, W, column, sum);
    }
  };
  if (planar.empty())
    add_to(A[node]);
  else
    add_to(planar[node]);
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

}  // namespace saltus
