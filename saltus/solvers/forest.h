// A matrix with the shape of a forest, and products with its inverse in O(n).
//
//   H = sum_i J_i' A_i J_i + diag(d) + blockdiag(K),     V_i = J_i x:  V_i = T_i V_parent + S_i x_e
//
// A node is an *element*: it has unknowns of its own, any number of them, and one or more
// *stations*. V_i is the twist of station i at its own origin in inertial axes, T_i the shift from
// the origin of the station that the element hangs on, A_i any D x D matrix: an inertia, and
// whatever contacts with the world add to it (w K w'); K is any matrix over an element's unknowns.
// A rigid body has one station. Seen from what it hangs on an element is
//   [A B; B' C],   A = sum T_i' A_i T_i,  B = sum T_i' A_i S_i,  C = sum S_i' A_i S_i + d + K,
// with the A_i articulated, and A - B C^-1 B' is handed down. With A_i the inertias H is the mass
// matrix and the sweeps are Featherstone's ABA; the origin of a station keeps numbers small where a
// chain is long. D is 6, or 3 in the plane (v_x, v_y, omega_z), so that planar creatures do not pay
// for space.
//
// Plain data; nothing here knows a joint. Twists and wrenches at the interface have six
// components, linear part first.
#pragma once
#include <utility>
#include <variant>
#include <vector>

#include "saltus/base/types.h"

namespace saltus {

// All by stations, sorted: parents first, the stations of an element one after the other, those of
// a tree in one piece, and so their unknowns. The stations of an element share parent and unknowns.
struct ForestShape {
  std::vector<int> parent;         // of each station, a station; -1: none
  std::vector<int> first, dim;     // unknowns of its element: x[first .. first + dim), any number
  std::vector<int> tree;           // of each station
  std::vector<int> tree_begin;     // first station of each tree, and the count of stations
  std::vector<int> unknown_begin;  // first unknown of each tree, and their count
  // How many stations the element has that begins with this one; 0: one of the element before it.
  // Empty: one each.
  std::vector<int> stations;
  int unknowns = 0;
  bool planar = false;
  // <- Forest::resize
  std::vector<int> column;  // first column of each station: `dim` of them; its first unknown where
                            // every element has one station
  std::vector<int> pivot;   // where the dim x dim numbers of an element begin, by its first station
  int columns = 0, pivots = 0;
  bool shared = false;  // some element has several stations
  [[nodiscard]] int nodes() const { return static_cast<int>(parent.size()); }
  [[nodiscard]] int trees() const { return static_cast<int>(tree_begin.size()) - 1; }
};

template <int D>
struct ForestFactor {
  using M = Eigen::Matrix<double, D, D>;
  using Cols = Eigen::Matrix<double, D, Eigen::Dynamic>;
  std::vector<M> IA;  // articulated
  Cols U, U_left;     // by columns: IA S and IA' S
  Cols B, B_left;     // by unknowns of elements with several stations: sums of T' U and T' U_left
  Vec inverse;        // of the pivots C
  // T - S C^-1 B_left': what a twist of the parent makes of the station's while the forces on the
  // element's unknowns stay. With it a sweep waits for one product a station and no more.
  std::vector<M> Psi;
  bool symmetric = true;  // its transpose then takes wrenches to the parent
  Cols scratch;           // by columns
  Vec chol, half;         // by pivots
};

template <int D>
struct ForestData {
  using V = Eigen::Matrix<double, D, 1>;
  using M = Eigen::Matrix<double, D, D>;
  using Cols = Eigen::Matrix<double, D, Eigen::Dynamic>;
  std::vector<char> idle;     // given: stations on which nothing acts, without inertia
  std::vector<V> shift;       // origin of the station minus the parent's (linear part only)
  std::vector<M> A;           // given
  Cols S, S_free;             // given; columns, and the same without those of held unknowns
  Vec d, d_free;              // given; likewise (1 where held)
  Vec K;                      // given, by pivots; empty: none
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

  // Fills a station (a `node` below is one): shift of its origin, inertia A (6 x 6, inertial axes
  // at the origin), and its column of the element's unknown k = 0 .. dim - 1.
  void set_node(int node, const Vec3& shift, const Mat6& A);
  // A station of several that has no inertia and on which nothing acts: it costs next to nothing
  // until set_node.
  void set_idle(int node);
  void set_column(int node, int k, const Vec6& S);
  void set_diagonal(int unknown, double d);
  // Symmetric, over the unknowns of the element that `node` belongs to: a rod's stiffness.
  void set_block(int node, const Mat& K);
  // The unknown is held at zero in solves (after set_column and set_diagonal).
  void hold(int unknown);

  // What a factor adds to H: sums of w K w' at stations, diagonal entries, and blocks of elements.
  struct Extra {
    std::vector<Mat6> A;       // in space, or
    std::vector<Mat3> planar;  // in the plane
    Vec d;
    Vec K;                      // by pivots (ForestShape), symmetric; empty: none; clear() keeps it
    std::vector<char> touched;  // stations with an entry in A
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
  [[nodiscard]] double compliance_of(int unknown);
  [[nodiscard]] int node_of(int unknown) const;  // the first station of its element
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
