// Islands: trees that blocks couple, directly or through others. Each is a problem of its own, and
// is handed to the solvers in the form that suits its size:
//
//   dense    velocities of the island's trees as plain matrices: G, W, Y = M^-1 W
#pragma once
#include <array>
#include <vector>

#include "saltus/contact/assembly.h"

namespace saltus {

struct Island {
  std::vector<int> blocks;  // of the assembly, ascending
  std::vector<int> trees;   // of the model, ascending
  int rows = 0;
  int velocities = 0;
};

class Islands {
 public:
  explicit Islands(const Model& model);
  // Groups the blocks of an assembly; islands without blocks are left out.
  void partition(const Model& model, const Assembly& assembly);
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] const Island& operator[](int i) const { return islands_[i]; }

 private:
  int root(int tree);
  std::vector<int> above_;      // union-find over trees
  std::vector<int> island_of_;  // of each root
  std::vector<Island> islands_;
  int count_ = 0;
};

// The part of a block's columns that lies in one tree.
struct Span {
  int tree = -1, at = 0, size = 0;  // local velocities
};

// An island's problem on its own, and what impact laws need of its rows.
struct IslandProblem {
  Inclusion problem;
  Vec Lambda, restitution, gamma_S;  // rows
  std::vector<char> is_contact;      // per block
  std::vector<int> offset;           // first local velocity of each tree of the island
  int velocities = 0;
  std::vector<std::array<Span, 2>> spans;  // per block
  Vec scratch;

  // Room for an island of this size; grows only.
  void reserve(int rows, int blocks, int nv);
};

// Fills the problem in dense form. Needs a factored forest; v_free is the model's.
void form_island(const Model& model, const Assembly& assembly, const Island& island, VecIn v_free,
                 bool form_G, Forest& forest, IslandProblem& out);
// Impulses back to the assembly.
void store_impulses(const Island& island, const IslandProblem& from, Assembly& assembly);

}  // namespace saltus
