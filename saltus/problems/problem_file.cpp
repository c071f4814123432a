#include "saltus/problems/problem_file.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "saltus/problems/problem_parts.h"

namespace saltus {

namespace problem_file {

InputError refuse(const std::string& where, const std::string& message) {
  return InputError(fmt::format("{}: {}", where, message));
}

std::string number(double x) { return fmt::format("{}", x); }

namespace {

double largest_entry(const Sparse& A) {
  double size = 0;
  for (Eigen::Index k = 0; k < A.nonZeros(); ++k) size = std::max(size, std::abs(A.valuePtr()[k]));
  return size;
}

// |A - A'| of its largest entry; refuses what is no rounding of a symmetric matrix.
double asymmetry_of(const std::string& where, const char* name, const Sparse& A, double size) {
  constexpr double most = 1e-2;  // real files have up to 1e-3
  const Sparse difference = Sparse(A.transpose()) - A;
  double worst = 0;
  Eigen::Index at_i = 0, at_j = 0;
  for (Eigen::Index j = 0; j < difference.outerSize(); ++j)
    for (Sparse::InnerIterator it(difference, j); it; ++it)
      if (const double d = std::abs(it.value()); d > worst) {
        worst = d;
        at_i = std::min(it.row(), it.col());
        at_j = std::max(it.row(), it.col());
      }
  const double share = size > 0 ? worst / size : 0;
  if (share > most)
    throw refuse(where,
                 fmt::format("the {0} is not symmetric: entries ({1}, {2}) and ({2}, {1}) differ "
                             "by {3:.2g} of the largest entry; accepted up to {4:g}",
                             name, at_i, at_j, share, most));
  return share;
}

// Two rows by themselves show most of what is no Delassus matrix, and where.
void check_pairs(const std::string& where, const Sparse& G, double slack) {
  const Vec diagonal = G.diagonal();
  for (Eigen::Index j = 0; j < G.outerSize(); ++j) {
    if (diagonal[j] < -slack)
      throw refuse(where, fmt::format("the matrix is indefinite: diagonal entry {} is {:.6g}", j,
                                      diagonal[j]));
    for (Sparse::InnerIterator it(G, j); it && it.row() < j; ++it) {
      const Eigen::Index i = it.row();
      const double g = it.value();
      const double mean = 0.5 * (diagonal[i] + diagonal[j]),
                   half = 0.5 * (diagonal[i] - diagonal[j]);
      if (const double low = mean - std::hypot(half, g); low < -slack)
        throw refuse(where, fmt::format("the matrix is indefinite: rows {} and {} have the "
                                        "eigenvalue {:.6g}",
                                        i, j, low));
    }
  }
}

// Whether A + shift is positive definite (Sylvester: the pivots have the eigenvalues' signs).
bool is_positive(const Sparse& A, double shift) {
  if (A.nonZeros() > A.rows() * A.rows() / 4) {
    Mat full(A);
    full.diagonal().array() += shift;
    const Eigen::LLT<Eigen::Ref<Mat>> factor(full);
    return factor.info() == Eigen::Success;
  }
  Eigen::SimplicialLLT<Sparse> factor;
  factor.setShift(shift);
  factor.compute(A);
  return factor.info() == Eigen::Success;
}

}  // namespace

void check_delassus(const std::string& where, const Sparse& G, double& asymmetry,
                    double& indefinite) {
  const double size = largest_entry(G);
  const Sparse symmetric = 0.5 * (G + Sparse(G.transpose()));
  asymmetry = asymmetry_of(where, "matrix", G, size);
  indefinite = 0;
  // Rounding leaves eigenvalues of 1e-9, digits that were lost in printing 1e-5.
  constexpr double rounding = 1e-9, printing = 1e-5;
  const double slack = (10 * asymmetry + printing) * size;
  check_pairs(where, symmetric, slack);
  if (size == 0) return;
  if (is_positive(symmetric, (10 * asymmetry + rounding) * size)) return;
  for (indefinite = 10 * rounding; indefinite <= 1.01 * printing; indefinite *= 10)
    if (is_positive(symmetric, (10 * asymmetry + indefinite) * size)) return;
  constexpr Eigen::Index countable = 2000;
  if (G.rows() > countable)
    throw refuse(where, fmt::format("the matrix is indefinite by more than {:g} of its largest "
                                    "entry, {:.6g}",
                                    printing, size));
  const Eigen::SelfAdjointEigenSolver<Mat> spectrum(Mat(symmetric), Eigen::EigenvaluesOnly);
  throw refuse(where, fmt::format("the matrix is indefinite: its least eigenvalue is {:.6g}, the "
                                  "largest {:.6g}",
                                  spectrum.eigenvalues()[0], spectrum.eigenvalues()[G.rows() - 1]));
}

namespace {

// W = H' M^-1 H, q = w + H' M^-1 f, with M as it stands.
void reduce(Raw& raw, ProblemFile& out) {
  const double size = largest_entry(raw.M);
  out.asymmetry = asymmetry_of(raw.at_M, "mass matrix", raw.M, size);
  const Sparse symmetric = 0.5 * (raw.M + Sparse(raw.M.transpose()));
  const Eigen::SimplicialLDLT<Sparse> definite(symmetric);
  if (definite.info() != Eigen::Success) throw refuse(raw.at_M, "the mass matrix is singular");
  const Vec D = definite.vectorD();
  if (Eigen::Index at = 0; D.size() > 0 && !(D.minCoeff(&at) > 0))
    throw refuse(raw.at_M,
                 fmt::format("the mass matrix is not positive definite: a pivot is {:.6g}", D[at]));
  const auto parts = std::make_shared<GlobalProblem>();
  parts->M = raw.M;
  parts->M.makeCompressed();
  parts->H = raw.H;
  parts->f = raw.f;
  parts->w = raw.w;
  parts->factor.compute(parts->M);
  if (parts->factor.info() != Eigen::Success) throw refuse(raw.at_M, "the mass matrix is singular");
  const Sparse Y =
      out.asymmetry > 0 ? Sparse(parts->factor.solve(raw.H)) : Sparse(definite.solve(raw.H));
  raw.W = Sparse(raw.H.transpose()) * Y;
  raw.q = raw.w + raw.H.transpose() * parts->solve(raw.f);
  out.global_parts = parts;
}

void check_coefficients(const std::string& where, const Vec& mu, const char* name) {
  for (Eigen::Index i = 0; i < mu.size(); ++i)
    if (mu[i] < 0)
      throw refuse(where, fmt::format("{}[{}]: expected a number >= 0, got {}", name, i, mu[i]));
}

Law contact_law(const Raw& raw, int i) {
  if (raw.dimension == 2) return Coulomb2{raw.mu[i]};
  if (raw.dimension == 3) return Coulomb{raw.mu[i], raw.mu[i]};
  return RollingCoulomb{raw.mu[i], raw.mu[i], raw.mu_r[i], 0};
}

}  // namespace

void build(const std::string& path, Raw& raw, int most_dense, ProblemFile& out) {
  check_coefficients(raw.at_mu, raw.mu, "mu");
  if (raw.rolling) check_coefficients(raw.at_mu, raw.mu_r, "mu_r");
  if (raw.global) reduce(raw, out);
  const int m = raw.dimension * raw.contacts;
  const std::string& where = raw.global ? raw.at_M : raw.at_W;
  // Few entries: a tenth.
  const bool large = m > most_dense && raw.W.nonZeros() < Eigen::Index(m) * m / 10;
  if (!large && m > most_dense_rows)
    throw refuse(where, fmt::format("{} rows with {} entries: expected at most {} rows, or a "
                                    "matrix with fewer than a tenth of its entries",
                                    m, raw.W.nonZeros(), most_dense_rows));
  double asymmetry = 0;  // of a global problem that of M is told
  check_delassus(where, raw.W, asymmetry, out.indefinite);
  if (!raw.global) out.asymmetry = asymmetry;
  out.path = path;
  out.global = raw.global;
  out.rolling = raw.rolling;
  out.dimension = raw.dimension;
  out.Lambda.setZero(m);
  for (int i = 0; i < raw.contacts; ++i) out.names.push_back(fmt::format("contact {}", i));
  if (large) {
    for (int i = 0; i < raw.contacts; ++i)
      out.large.blocks.push_back({contact_law(raw, i), i * raw.dimension, raw.dimension, 0, 1});
    out.large.G = raw.W;
    out.large.c = raw.q;
    return;
  }
  Inclusion& p = out.problem;
  p.reserve(m, raw.contacts, 0);
  for (int i = 0; i < raw.contacts; ++i) p.add(contact_law(raw, i), 0, 1);
  p.G = Mat(raw.W);
  p.c = raw.q;
  p.has_G = true;
}

}  // namespace problem_file

ProblemFile read_problem(const std::string& path, int most_dense) {
  using namespace problem_file;
  // A device or a pipe may never end; a text beyond this size does not fit into the memory.
  constexpr std::uintmax_t most_bytes = 4'000'000'000;
  if (std::error_code failed; std::filesystem::exists(path, failed)) {
    if (!std::filesystem::is_regular_file(path, failed))
      throw refuse(path, "cannot read: it is not a regular file");
    if (const auto bytes = std::filesystem::file_size(path, failed); bytes > most_bytes)
      throw refuse(path, fmt::format("{} bytes: expected at most {}", bytes, most_bytes));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw refuse(path, "cannot read: " + std::generic_category().message(errno));
  std::string head(8, '\0');
  file.read(head.data(), 8);
  head.resize(static_cast<std::size_t>(file.gcount()));
  ProblemFile out;
  out.path = path;
  out.title = path.substr(path.find_last_of('/') + 1);
  if (head == "\x89HDF\r\n\x1a\n") {
    file.close();
    read_fclib(path, most_dense, out);
    return out;
  }
  std::ostringstream text;
  file.clear();
  file.seekg(0);
  text << file.rdbuf();
  const std::string content = text.str();
  const auto first = content.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) throw refuse(path, "the file is empty");
  if (content[first] == '{')
    read_json(path, content, out);
  else
    read_text(path, content, most_dense, out);
  return out;
}

}  // namespace saltus
