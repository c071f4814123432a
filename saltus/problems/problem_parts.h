// Shared by the readers of problem files; for the sources of this module only.
#pragma once
#include <Eigen/SparseCore>
#include <string>
#include <vector>

#include "saltus/base/error.h"
#include "saltus/problems/problem_file.h"

namespace saltus::problem_file {

using Sparse = Eigen::SparseMatrix<double>;

// The largest number of rows: G is dense.
constexpr int most_rows = 12000;

// A problem as its file has it. `where` of each part names the line or the dataset.
struct Raw {
  int dimension = 0, contacts = 0;
  bool global = false, rolling = false;
  Mat W;        // local
  Sparse M, H;  // global
  Vec q, f, w, mu, mu_r;
  std::string at_W, at_M, at_H, at_mu;
};

[[nodiscard]] InputError refuse(const std::string& where, const std::string& message);
[[nodiscard]] std::string number(double x);

// Sizes, coefficients, symmetry, definiteness; reduces a global problem.
void build(const std::string& path, Raw& raw, ProblemFile& out);
// G of our own files too: symmetric to 1e-2 and positive semidefinite but for that.
void check_delassus(const std::string& where, const Mat& G, double& asymmetry);

void read_text(const std::string& path, const std::string& text, ProblemFile& out);
void read_fclib(const std::string& path, ProblemFile& out);
void read_json(const std::string& path, const std::string& text, ProblemFile& out);

}  // namespace saltus::problem_file
