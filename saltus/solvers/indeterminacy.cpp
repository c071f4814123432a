#include "saltus/solvers/indeterminacy.h"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "saltus/solvers/condense.h"

namespace saltus {

namespace {

// Columns of the impulses that a block may still change at Lambda without leaving its mode.
int free_directions(const Block& k, VecIn Lambda, Mat6& B) {
  const ConvexSets sets = sets_of(k.law);
  int count = 0;
  const auto unit = [&](int row) {
    B.col(count).setZero();
    B(row, count++) = 1;
  };
  int normal = -1;
  for (const ConvexSet& set : sets) {
    const auto x = Lambda.segment(set.first, set.rows);
    const double scale = set.scaled ? std::max(Lambda[0], 0.0) : 1.0;
    if (set.scaled && normal < 0) continue;  // open
    if (set.shape == ConvexSet::Shape::all) {
      for (int i = 0; i < set.rows; ++i) unit(set.first + i);
    } else if (set.shape == ConvexSet::Shape::interval) {
      const double slack = 1e-9 * scale;
      const bool inside = set.scaled ? std::abs(x[0]) < scale * set.upper - slack * set.upper
                                     : x[0] > set.lower && x[0] < set.upper;
      if (inside) {
        if (!set.scaled && sets.count > 1) normal = count;
        unit(set.first);
      } else if (set.scaled) {
        B(set.first, normal) = x[0] / Lambda[0];
      }
    } else {
      const double a = scale * set.lower, b = scale * set.upper;
      const double level = a > 0 && b > 0 ? std::hypot(x[0] / a, x[1] / b) : 1.0;
      if (level < 1 - 1e-9) {
        unit(set.first);
        unit(set.first + 1);
      } else if (set.scaled) {
        B.col(normal).segment<2>(set.first) = x / Lambda[0];
      }
    }
  }
  return count;
}

// The free directions of all blocks, in order.
struct Direction {
  int block = 0;
  Vec6 of = Vec6::Zero();  // in the block's rows
};

std::vector<Direction> directions(const Inclusion& p, VecIn Lambda) {
  std::vector<Direction> all;
  Mat6 B;
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const Block& k = p.blocks[i];
    const int columns = free_directions(k, Lambda.segment(k.row, k.rows), B);
    for (int j = 0; j < columns; ++j) {
      all.push_back({static_cast<int>(i), Vec6::Zero()});
      all.back().of.head(k.rows) = B.col(j).head(k.rows);
    }
  }
  return all;
}

// B' (G + C) B over the free directions B; the lower triangle.
Mat reduced_matrix(const Inclusion& p, const std::vector<Direction>& all) {
  const auto n = static_cast<Eigen::Index>(all.size());
  Mat A = Mat::Zero(n, n);
  if (p.has_G) {
    Vec6 column;
    for (Eigen::Index j = 0; j < n; ++j)
      for (Eigen::Index i = j; i < n; ++i) {
        const Block &k = p.blocks[all[j].block], &l = p.blocks[all[i].block];
        column.head(l.rows).noalias() =
            p.G.block(l.row, k.row, l.rows, k.rows) * all[j].of.head(k.rows);
        A(i, j) = all[i].of.head(l.rows).dot(column.head(l.rows));
      }
  } else {
    Mat WB = Mat::Zero(p.W.rows(), n), YB = WB;
    for (Eigen::Index j = 0; j < n; ++j) {
      const Block& k = p.blocks[all[j].block];
      WB.col(j).noalias() = p.W.middleCols(k.row, k.rows) * all[j].of.head(k.rows);
      YB.col(j).noalias() = p.Y.middleCols(k.row, k.rows) * all[j].of.head(k.rows);
    }
    A.noalias() = WB.transpose() * YB;
  }
  for (Eigen::Index j = 0; j < n; ++j)
    A(j, j) += p.blocks[all[j].block].compliance * all[j].of.squaredNorm();
  return A;
}

// A direction depends on others if the squared sine of its angle to them is below this.
constexpr double rank_tolerance = 1e-9;

}  // namespace

int indeterminacy(const Inclusion& p, VecIn Lambda) {
  const auto all = directions(p, Lambda);
  Mat A = reduced_matrix(p, all);
  return factor_ldl(A, static_cast<int>(all.size()), rank_tolerance);
}

std::vector<int> indeterminate_blocks(const Inclusion& p, VecIn Lambda) {
  const auto all = directions(p, Lambda);
  std::vector<int> blocks;
  if (all.empty()) return blocks;
  Mat A = reduced_matrix(p, all);
  const Vec scale = A.diagonal().unaryExpr([](double d) { return d > 0 ? 1 / std::sqrt(d) : 1.0; });
  A = scale.asDiagonal() * A * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Mat> eigen(A);  // reads the lower triangle
  Vec share = Vec::Zero(static_cast<Eigen::Index>(p.blocks.size()));
  for (Eigen::Index j = 0; j < A.cols() && eigen.eigenvalues()[j] < rank_tolerance; ++j)
    for (std::size_t i = 0; i < all.size(); ++i)
      share[all[i].block] += eigen.eigenvectors()(static_cast<Eigen::Index>(i), j) *
                             eigen.eigenvectors()(static_cast<Eigen::Index>(i), j);
  for (Eigen::Index i = 0; i < share.size(); ++i)
    if (share[i] > 1e-6) blocks.push_back(static_cast<int>(i));
  return blocks;
}

}  // namespace saltus
