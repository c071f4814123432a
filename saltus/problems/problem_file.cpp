#include "saltus/problems/problem_file.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cerrno>
#include <cmath>
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

void check_delassus(const std::string& where, const Mat& G, double& asymmetry) {
  constexpr double most = 1e-2;  // real files have up to 1e-3
  const double size = G.cwiseAbs().maxCoeff();
  const auto n = G.rows();
  double worst = 0;
  Eigen::Index at_i = 0, at_j = 0;
  for (Eigen::Index j = 0; j < n; ++j)
    for (Eigen::Index i = 0; i < j; ++i)
      if (const double d = std::abs(G(i, j) - G(j, i)); d > worst) {
        worst = d;
        at_i = i;
        at_j = j;
      }
  asymmetry = size > 0 ? worst / size : 0;
  if (asymmetry > most)
    throw refuse(where,
                 fmt::format("the matrix is not symmetric: entries ({0}, {1}) and ({1}, {0}) "
                             "differ by {2:.2g} of the largest entry; accepted up to {3:g}",
                             at_i, at_j, asymmetry, most));
  // Rounding and asymmetry leave negative pivots of their own size.
  const double slack = (10 * asymmetry + 1e-9) * size;
  for (Eigen::Index j = 0; j < n; ++j) {
    if (G(j, j) < -slack)
      throw refuse(
          where, fmt::format("the matrix is indefinite: diagonal entry {} is {:.6g}", j, G(j, j)));
    for (Eigen::Index i = 0; i < j; ++i) {
      const double g = 0.5 * (G(i, j) + G(j, i));
      const double mean = 0.5 * (G(i, i) + G(j, j)), half = 0.5 * (G(i, i) - G(j, j));
      if (const double low = mean - std::hypot(half, g); low < -slack)
        throw refuse(where, fmt::format("the matrix is indefinite: rows {} and {} have the "
                                        "eigenvalue {:.6g}",
                                        i, j, low));
    }
  }
  // Pivots below zero are a suspicion only: noise grows in them. The least eigenvalue decides.
  const Mat symmetric = 0.5 * (G + G.transpose());
  const Eigen::LDLT<Mat> factor(symmetric);
  if (n == 0 || factor.vectorD().minCoeff() >= -1e-9 * size) return;
  const Eigen::SelfAdjointEigenSolver<Mat> spectrum(symmetric, Eigen::EigenvaluesOnly);
  if (const double least = spectrum.eigenvalues()[0]; least < -slack)
    throw refuse(where, fmt::format("the matrix is indefinite: its least eigenvalue is {:.6g}, the "
                                    "largest {:.6g}",
                                    least, spectrum.eigenvalues()[n - 1]));
}

namespace {

void check_symmetric(const std::string& where, const Sparse& M) {
  const Sparse difference = Sparse(M.transpose()) - M;
  double worst = 0, size = 0;
  for (Eigen::Index k = 0; k < difference.nonZeros(); ++k)
    worst = std::max(worst, std::abs(difference.valuePtr()[k]));
  for (Eigen::Index k = 0; k < M.nonZeros(); ++k) size = std::max(size, std::abs(M.valuePtr()[k]));
  if (worst > 1e-2 * size)
    throw refuse(where, fmt::format("the mass matrix is not symmetric: entries differ by {:.2g} of "
                                    "the largest",
                                    worst / size));
}

// W = H' M^-1 H, q = w + H' M^-1 f.
void reduce(Raw& raw) {
  const auto n = raw.M.rows();
  const int m = raw.dimension * raw.contacts;
  check_symmetric(raw.at_M, raw.M);
  const Eigen::SimplicialLDLT<Sparse> factor(raw.M);
  if (factor.info() != Eigen::Success) throw refuse(raw.at_M, "the mass matrix is singular");
  const Vec D = factor.vectorD();
  if (Eigen::Index at = 0; D.size() > 0 && !(D.minCoeff(&at) > 0))
    throw refuse(raw.at_M,
                 fmt::format("the mass matrix is not positive definite: a pivot is {:.6g}", D[at]));
  raw.W.setZero(m, m);
  Vec column(n), solution(n);
  for (int j = 0; j < m; ++j) {
    column = raw.H.col(j);
    solution = factor.solve(column);
    raw.W.col(j) = raw.H.transpose() * solution;
  }
  solution = factor.solve(raw.f);
  raw.q = raw.w + raw.H.transpose() * solution;
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

void build(const std::string& path, Raw& raw, ProblemFile& out) {
  check_coefficients(raw.at_mu, raw.mu, "mu");
  if (raw.rolling) check_coefficients(raw.at_mu, raw.mu_r, "mu_r");
  if (raw.global) reduce(raw);
  check_delassus(raw.global ? raw.at_M : raw.at_W, raw.W, out.asymmetry);
  const int m = raw.dimension * raw.contacts;
  out.path = path;
  out.global = raw.global;
  out.rolling = raw.rolling;
  out.dimension = raw.dimension;
  Inclusion& p = out.problem;
  p.reserve(m, raw.contacts, 0);
  for (int i = 0; i < raw.contacts; ++i) {
    p.add(contact_law(raw, i), 0, 1);
    out.names.push_back(fmt::format("contact {}", i));
  }
  p.G = raw.W;
  p.c = raw.q;
  p.has_G = true;
  out.Lambda.setZero(m);
}

}  // namespace problem_file

ProblemFile read_problem(const std::string& path) {
  using namespace problem_file;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw refuse(path, "cannot read: " + std::generic_category().message(errno));
  std::string head(8, '\0');
  file.read(head.data(), 8);
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad()) throw refuse(path, "cannot read: it is not a regular file");
  ProblemFile out;
  out.path = path;
  out.title = path.substr(path.find_last_of('/') + 1);
  if (head == "\x89HDF\r\n\x1a\n") {
    file.close();
    read_fclib(path, out);
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
    read_text(path, content, out);
  return out;
}

}  // namespace saltus
