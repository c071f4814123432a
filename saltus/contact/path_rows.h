// Rows of an assembly along the paths of a PathTree: each block acts on one body or one velocity.
//
// W of a block has an entry for each velocity of its path, and with Z = L'^-1 W the Delassus matrix
// is G = Z' Z over the common part of two paths.
#pragma once
#include <vector>

#include "saltus/contact/islands.h"
#include "saltus/dynamics/path_tree.h"

namespace saltus {

class PathRows {
 public:
  explicit PathRows(const PathTree& tree) : width_(tree.plan().width) {}
  // W and Z of all blocks; needs the tree's factor and the bodies' poses.
  void open(const Workspace& work, const PathTree& tree, const Assembly& rows);
  // y = M^-1 W Lambda.
  void respond(const PathTree& tree, const Assembly& rows, VecIn Lambda, Vec& y) const;
  // An island's dense problem: G and c; W and Y too where `full`.
  void form(const Model& model, const PathTree& tree, const Assembly& rows, const Island& island,
            VecIn v_free, bool full, IslandProblem& out) const;
  void renew(const Model& model, const Assembly& rows, const Island& island, VecIn v_free,
             const PathTree& tree, IslandProblem& out) const;
  // Of a block's first row: its own entry of G.
  [[nodiscard]] double own_compliance(int block) const;

 private:
  struct Path {
    int link = 0, length = 0;  // the part of the link's path that the rows have
  };
  [[nodiscard]] Pack* rows_in(Packs& all, int block) const {
    return all.data() + static_cast<std::ptrdiff_t>(block) * width_;
  }
  [[nodiscard]] const Pack* rows_in(const Packs& all, int block) const {
    return all.data() + static_cast<std::ptrdiff_t>(block) * width_;
  }
  void rate(const PathTree& tree, int block, const double* v, double* out) const;
  void free_rates(const PathTree& tree, const Island& island, VecIn v_free,
                  IslandProblem& out) const;
  void delassus(const PathTree& tree, int a, int b, const Block& of_a, const Block& of_b,
                Mat& G) const;
  int width_;
  std::vector<Path> paths_;  // of each block
  Packs W_, Z_;              // of each block, width_ apart
};

}  // namespace saltus
