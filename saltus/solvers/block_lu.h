// LU factors of a sparse matrix made of dense blocks, of any size each, whose pattern is symmetric
// while its entries are not: velocities of trees that contacts couple.
//
// Multifrontal: nodes in an order of least degree, those with nearly the same neighbours merged, a
// dense front each, of which the unknowns of its own nodes are eliminated and the rest is handed on
// to its parent. Pivots are looked for among the unknowns that a front eliminates.
// The pattern is analysed once; numbers may change as often as one likes.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "saltus/base/types.h"

namespace saltus {

class BlockLU {
 public:
  // Nodes of `size` unknowns each, numbered one after the other; pairs of nodes that are coupled,
  // in any order and as often as one likes.
  void analyse(std::span<const int> size, std::span<const std::array<int, 2>> pairs);

  // The numbers: columns of size(row's node) entries each. The pair is one given to `analyse`; its
  // `turned` block is that of the rows of its second node and the columns of its first.
  void set_identity();
  [[nodiscard]] double* diagonal(int node) { return values_.data() + diagonal_[node]; }
  [[nodiscard]] double* coupling(int pair, bool turned);

  [[nodiscard]] bool factor();  // false: singular
  void solve(VecRef x);         // after it

  [[nodiscard]] double work() const { return work_; }  // operations of a factor

 private:
  struct Front {
    std::vector<int> nodes;  // its own first
    int own = 0;             // how many
    std::vector<int> couplings;
    std::vector<int> children;
    int pivots = 0, rest = 0;  // unknowns
    int at = 0;                // of its pivots, in the order of elimination
    std::ptrdiff_t panel = 0, row = 0;
  };
  void merge_columns(const std::vector<std::vector<int>>& below, std::span<const int> order,
                     std::span<const int> position);
  void place();
  void assemble(const Front& f, double* P, double* U);
  void extend(const Front& child, const double* C, const Front& f, double* P, double* U, double* S);
  [[nodiscard]] static int stride(int rows) { return rows + 3; }  // columns may be read in fours

  std::vector<int> size_, begin_;                  // of nodes
  std::vector<std::array<int, 2>> couplings_;      // first and second node, each once
  std::vector<int> coupling_of_;                   // of each pair given
  std::vector<char> swapped_;                      // whether it was given the other way round
  std::vector<std::ptrdiff_t> diagonal_, beside_;  // in values_
  std::vector<double> values_, factors_, stack_;
  std::vector<Front> fronts_;  // children first
  std::vector<int> swaps_, local_;
  Vec x_, part_;
  double work_ = 0;
};

}  // namespace saltus
