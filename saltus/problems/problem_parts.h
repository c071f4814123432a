// Shared by the readers of problem files; for the sources of this module only.
#pragma once
#include <Eigen/SparseCore>
#include <Eigen/SparseLU>
#include <string>
#include <vector>

#include "saltus/base/error.h"
#include "saltus/problems/problem_file.h"

namespace saltus::problem_file {

using Sparse = Eigen::SparseMatrix<double>;

// The largest number of rows: of any problem, and of one whose matrix is dense.
constexpr int most_rows = 1000000, most_dense_rows = 12000;

// A problem as its file has it. `where` of each part names the line or the dataset.
struct Raw {
  int dimension = 0, contacts = 0;
  bool global = false, rolling = false;
  Sparse W;     // local, or reduced
  Sparse M, H;  // global
  Vec q, f, w, mu, mu_r;
  std::string at_W, at_M, at_H, at_mu;
};

[[nodiscard]] InputError refuse(const std::string& where, const std::string& message);
[[nodiscard]] std::string number(double x);

// Sizes, coefficients, symmetry, definiteness; reduces a global problem.
void build(const std::string& path, Raw& raw, int most_dense, ProblemFile& out);
// G of our own files too: symmetric to 1e-2, positive semidefinite but for that and for lost
// digits.
void check_delassus(const std::string& where, const Sparse& G, double& asymmetry,
                    double& indefinite);

void read_text(const std::string& path, const std::string& text, int most_dense, ProblemFile& out);
void read_fclib(const std::string& path, int most_dense, ProblemFile& out);
void read_json(const std::string& path, const std::string& text, ProblemFile& out);

}  // namespace saltus::problem_file

namespace saltus {

// What judge() needs of a global problem.
struct GlobalProblem {
  problem_file::Sparse M, H;
  Vec f, w;
  Eigen::SparseLU<problem_file::Sparse> factor;  // of M as it stands
  // M x = b, polished once: M may be badly scaled.
  [[nodiscard]] Vec solve(VecIn b) const;
};

}  // namespace saltus
