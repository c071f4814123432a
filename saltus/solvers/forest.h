// A matrix with the shape of a forest, and products with its inverse in O(n).
//
//   H = sum_i J_i' A_i J_i + diag(d),      V_i = J_i x:  V_i = T_i V_parent + S_i x_i
//
// V_i is the twist of node i at its own origin in inertial axes, T_i the shift from the parent's
// origin, A_i any D x D matrix: a body's inertia, and whatever contacts with the world add to it
// (w K w'). With A_i the inertias H is the mass matrix and the sweeps are Featherstone's ABA; the
// origin of a node keeps numbers small where a chain is long. D is 6, or 3 in the plane
// (v_x, v_y, omega_z), so that planar creatures do not pay for space.
//
// Plain data; nothing here knows a joint. Twists and wrenches at the interface have six
// components, linear part first.
#pragma once
#include <utility>
#include <variant>
#include <vector>

#include "saltus/base/types.h"

namespace saltus {

// Nodes are sorted: parents first, the nodes of a tree in one piece, and so their unknowns.
struct ForestShape {
  std::vector<int> parent;         // of each node, -1: none
  std::vector<int> first, dim;     // unknowns of each node: x[first .. first + dim)
  std::vector<int> tree;           // of each node
  std::vector<int> tree_begin;     // first node of each tree, and the count of nodes at the end
  std::vector<int> unknown_begin;  // first unknown of each tree, and their count
  int unknowns = 0;
  bool planar = false;
  [[nodiscard]] int nodes() const { return static_cast<int>(parent.size()); }
  [[nodiscard]] int trees() const { return static_cast<int>(tree_begin.size()) - 1; }
};

template <int D>
struct ForestFactor {
  std::vector<Eigen::Matrix<double, D, D>> IA;         // articulated
  Eigen::Matrix<double, D, Eigen::Dynamic> U, U_left;  // IA S and IA' S
  Mat D_inv;  // 6 x unknowns: the inverse pivot of a node in the columns of its unknowns
  // (1 - S D^-1 U_left') T: what a twist of the parent makes of the node's while the forces on the
  // node's unknowns stay. With it a sweep waits for one product a node and no more.
  std::vector<Eigen::Matrix<double, D, D>> Psi;
  bool symmetric = true;  // its transpose then takes wrenches to the parent
};

template <int D>
struct ForestData {
  using V = Eigen::Matrix<double, D, 1>;
  using M = Eigen::Matrix<double, D, D>;
  using Cols = Eigen::Matrix<double, D, Eigen::Dynamic>;
  std::vector<V> shift;       // origin of the node minus the parent's (linear part only)
  std::vector<M> A;           // given
  Cols S, S_free;             // given; columns of the unknowns, and the same without held ones
  Vec d, d_free;              // given; likewise (1 where held)
  Vec free;                   // 1, or 0 where held
  ForestFactor<D> factor[2];  // <- factor: of H, and of H with an extra
  // <- solve
  std::vector<V> p, a;
  Vec u;
  std::vector<M> Omega;  // <- compliance
};

class Forest {
 public:
  void resize(const ForestShape& shape);
  [[nodiscard]] const ForestShape& shape() const { return shape_; }

  // Fills a node: shift of its origin, inertia A (6 x 6, inertial axes at the origin).
  void set_node(int node, const Vec3& shift, const Mat6& A);
  void set_column(int unknown, const Vec6& S);
  void set_diagonal(int unknown, double d);
  // The unknown is held at zero in solves (after set_column and set_diagonal).
  void hold(int unknown);

  // What a factor adds to H: node matrices sum w K w' and diagonal entries.
  struct Extra {
    std::vector<Mat6> A;       // in space, or
    std::vector<Mat3> planar;  // in the plane
    Vec d;
    std::vector<char> touched;  // nodes with an entry in A
    bool symmetric = true;
    void clear(int begin, int end, int first, int last);  // nodes and unknowns of a tree
    // Adds w K w', K the leading n x n of a block, w the n columns of W from `column` on.
    void add(int node, const Mat6& K, int n, const Mat6X& W, int column);
  };
  [[nodiscard]] Extra make_extra() const;

  // Operations with a tree (-1: all) read and write that tree alone: several may run at a time.
  // Factors H or, beside it, H + extra; solves choose by `with_extra`. False when a pivot is
  // singular; `culprit` is its first unknown.
  [[nodiscard]] bool factor(const Extra* extra = nullptr, int tree = -1);
  [[nodiscard]] int culprit() const { return culprit_; }

  // x = H^-1 (b + sum_i J_i' f_i) on one tree or all (tree < 0); b, x have all unknowns, f one
  // wrench a node; either may be null. Twists of x in `twist` if asked.
  void solve(int tree, const double* b, const Vec6* f, double* x, std::vector<Vec6>* twist,
             bool with_extra = false);
  // Omega_i = J_i H^-1 J_i' of every node: what a wrench on a node does to its own twist. Needs
  // factor(). Omega_i = Psi Omega_parent Psi' + S D^-1 S'.
  void compliance(int tree = -1);
  // From those: w' Omega_i w, and (H^-1)_kk.
  [[nodiscard]] double compliance_along(int node, const Vec6& w) const;
  [[nodiscard]] double compliance_of(int unknown) const;
  [[nodiscard]] int node_of(int unknown) const;
  // The same for one wrench on one node; x gets the unknowns of the node's tree only.
  void solve_wrench(int node, const Vec6& f, double* x_tree);
  void solve_unknown(int unknown, double b, double* x_tree);
  // y = H x without `extra`, all trees.
  void multiply(VecIn x, VecRef y);
  // Twists V_i = J_i x of all nodes.
  void twists(VecIn x, std::vector<Vec6>& V, int tree = -1);
  // y = sum_i J_i' f_i.
  void gather(const std::vector<Vec6>& f, VecRef y);
  // Dense H of one tree.
  void dense(int tree, Eigen::Ref<Mat> H);
  // Row of node `node` for the wrench w: entries J_node' w, only the unknowns of its tree.
  void row(int node, const Vec6& w, double* x_tree);

  // For those who sweep themselves (forest_sweeps.h).
  using Data = std::variant<ForestData<6>, ForestData<3>>;
  [[nodiscard]] Data& data() { return data_; }
  [[nodiscard]] std::pair<int, int> range(int tree) const;  // of nodes

 private:
  ForestShape shape_;
  Data data_;
  int culprit_ = -1;
};

}  // namespace saltus
