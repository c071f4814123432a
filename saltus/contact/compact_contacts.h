// Contacts of small trees with what does not move, and the dry friction of their joints: few pairs,
// known beforehand, so that there is no broad phase, and the rows of a block lie along one path of
// a CompactTree.
#pragma once
#include <vector>

#include "saltus/contact/finder.h"
#include "saltus/dynamics/compact_tree.h"
#include "saltus/solvers/solve.h"

namespace saltus {

// A shape of a link and one of the world that meet under a law.
struct CompactPair {
  int a = 0, b = 0;  // shapes in the law's order
  int law = 0;
  int link = 0;         // that of the shape that moves
  bool b_moves = true;  // which of the two
  bool sphere = false;  // a sphere on a half-space: no dispatch
  double radius = 0;    // of the sphere, or round the moving shape about its frame [m]
  SE3 in_link;          // frame of the moving shape
  SE3 fixed;            // pose of the other
  bool half_space = false;
};

// A joint with dry friction.
struct CompactFriction {
  int slot = 0, row = 0;  // of the model, of State::Lambda
  int v = 0;              // its velocity
  double torque = 0;      // [N m], [N]
};

// A contact that may carry load in this step, or the friction of a joint.
struct CompactBlock {
  int contact = -1;          // of the list it was found in
  int slot = -1;             // of the model: friction of a joint
  int side = 0;              // of friction: -1 or 1 at its bounds, 0 between
  int link = 0, length = 0;  // the part of the link's path that the rows have
  int row = 0, rows = 0;
  double sign = 1;       // of the link's velocity in the rows
  bool known = false;    // it carried load in the last step
  bool slipped = false;  // and slipped
  bool strikes = false;  // it did not, and approaches: an impact
  Block block;           // law and rows, for the solvers' own functions
  ConvexSets sets;
  StepLengths steps;
  Mat6 A;  // its own part of G
};

class CompactContacts {
 public:
  CompactContacts(const Model& model, const CompactTree& tree);
  // All contacts are between a link and the world, and of laws that are known here.
  [[nodiscard]] static bool holds(const Model& model, const CompactTree& tree);

  // All contact points with gap <= margin, sorted by key; after tree.place().
  void find(const Model& model, const CompactTree& tree, std::vector<Contact>& contacts) const;

  // Rows, gamma_S and warm starts of the contacts that are closed or carried load, and of dry
  // friction; false where another way must be taken: a contact that would rebound approaches, or
  // there are more rows than there is room for. `closing`: faster is an impact [m/s]. Needs the
  // factor of the tree.
  [[nodiscard]] bool open(const Model& model, const CompactTree& tree, const State& state,
                          double dt, double closing, std::vector<Contact>& contacts);
  void set_free(const CompactTree& tree, const double* v_free);  // c = W v_free
  // G; false if a row moves nothing.
  [[nodiscard]] bool delassus(const CompactTree& tree);
  // Lambda by the laws to the tolerance, or false.
  [[nodiscard]] bool solve(double tolerance, SolveReport& report);
  // One more row, of a point that is fixed to a link, along a direction there: its place in G, or
  // -1 where there is no room. For the correction, with the poses of its own time.
  [[nodiscard]] int add_row(const CompactTree& tree, int link, const Vec3& point,
                            const Vec3& direction);
  // G anew, with another factor of the tree.
  void renew(const CompactTree& tree);
  // The pair that a contact belongs to.
  [[nodiscard]] const CompactPair& pair_of(const ContactKey& key) const;
  // y = M^-1 W x of rows x.
  void apply(const CompactTree& tree, const Vec& x, Vec& y) const;
  // The velocities of a block's rows at the velocities v.
  [[nodiscard]] Vec3 along(const CompactTree& tree, int block, const double* v) const;

  // x = -G_hh^-1 gap of the rows held (`rows`, ascending); factored at the first call after
  // delassus(), by what the solver left if that is it. False if singular.
  [[nodiscard]] bool factor_held(std::vector<int>& rows);
  void correct(const std::vector<int>& rows, const Vec& gap, Vec& x) const;
  [[nodiscard]] double compliance(int row) const { return G_(row, row); }

  std::vector<CompactBlock> blocks;
  int rows = 0;
  Vec Lambda, gamma_S;

 private:
  static constexpr int most_rows = 48;
  // Of W_ or Z_.
  template <class P>
  [[nodiscard]] auto* rows_in(P& all, int block) const {
    return all.data() + static_cast<std::ptrdiff_t>(block) * width_;
  }
  [[nodiscard]] bool open_contact(const Model& model, const CompactTree& tree, const State& state,
                                  double closing, int contact, const CompactPair& pair,
                                  std::vector<Contact>& contacts);
  [[nodiscard]] bool open_friction(const CompactTree& tree, const State& state, double dt);
  [[nodiscard]] CompactBlock& open_block(const Law& law, int link, int length);
  void set_rows(const CompactTree& tree, const double* v);
  void half_solve(const CompactTree& tree, int block);
  void delassus(const CompactTree& tree, int block);
  void delassus(const CompactTree& tree, int a, int b);
  [[nodiscard]] bool set_steps();
  [[nodiscard]] bool stick(double tolerance, SolveReport& report);
  [[nodiscard]] bool sticking_impulses();
  [[nodiscard]] bool change_sides(double tolerance);
  [[nodiscard]] bool contacts_stick() const;
  [[nodiscard]] bool sweeps(double tolerance, SolveReport& report);
  [[nodiscard]] double judge(SolveReport& report);
  [[nodiscard]] bool cholesky(std::vector<int>& of);
  void substitute(int n, double* x) const;
  void velocities();  // xi = G Lambda + c

  std::vector<CompactPair> pairs_;
  std::vector<CompactFriction> frictions_;
  double margin_ = 0;
  int width_ = 0;
  // Of each block, width_ apart: its rows' entries of a velocity of its path.
  Packs W_, Z_;
  Mat G_, factor_;
  Vec c_, xi_, next_;
  std::vector<int> factored_;  // rows of factor_
  std::vector<int> sticking_;  // rows that the linear system brings to rest
};

}  // namespace saltus
