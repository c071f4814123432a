#include "bench/siconos_solver.h"

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <RollingFrictionContactProblem.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace saltus::bench {

namespace {

struct Coefficients {
  double mu = 0, mu_rolling = 0;
};

Coefficients coefficients(const Block& block) {
  if (block.compliance == 0) {
    if (const auto* law = std::get_if<Coulomb>(&block.law); law && law->mu1 == law->mu2)
      return {law->mu1, 0};
    if (const auto* law = std::get_if<Coulomb2>(&block.law)) return {law->mu, 0};
    if (const auto* law = std::get_if<RollingCoulomb>(&block.law);
        law && law->mu1 == law->mu2 && law->mu_drilling == 0)
      return {law->mu1, law->mu_rolling};
  }
  throw std::runtime_error("Siconos: no such law");
}

// Siconos frees what a problem holds, by free().
template <class T>
T* c_array(const std::vector<T>& from) {
  auto* to = static_cast<T*>(std::malloc(std::max<std::size_t>(from.size(), 1) * sizeof(T)));
  if (to == nullptr) throw std::bad_alloc();
  std::copy(from.begin(), from.end(), to);
  return to;
}

// Its rolling friction knows no other.
NumericsMatrix* dense(const Mat& G) {
  const auto n = static_cast<int>(G.rows());
  return NM_create_from_data(NM_DENSE, n, n,
                             c_array(std::vector<double>(G.data(), G.data() + G.size())));
}

NumericsMatrix* sparse_blocks(const Mat& G, int size, int contacts) {
  std::vector<double*> blocks;
  std::vector<std::size_t> starts{0}, columns;
  std::vector<unsigned> ends;
  std::vector<double> entries(static_cast<std::size_t>(size) * size);
  for (int i = 0; i < contacts; ++i) {
    for (int j = 0; j < contacts; ++j) {
      const auto part = G.block(size * i, size * j, size, size);
      if (i != j && part.isZero(0)) continue;
      Eigen::Map<Mat>(entries.data(), size, size) = part;  // column by column
      blocks.push_back(c_array(entries));
      columns.push_back(j);
    }
    starts.push_back(blocks.size());
    ends.push_back(size * (i + 1));
  }
  SparseBlockStructuredMatrix* m = SBM_new();
  m->nbblocks = static_cast<unsigned>(blocks.size());
  m->block = c_array(blocks);
  m->blocknumber0 = m->blocknumber1 = contacts;
  m->blocksize0 = c_array(ends);
  m->blocksize1 = c_array(ends);
  m->filled1 = starts.size();
  m->filled2 = columns.size();
  m->index1_data = c_array(starts);
  m->index2_data = c_array(columns);
  return NM_new_SBM(size * contacts, size * contacts, m);
}

}  // namespace

struct SiconosProblem::Parts {
  int size = 0, contacts = 0;
  FrictionContactProblem* plain = nullptr;
  RollingFrictionContactProblem* rolling = nullptr;
  std::vector<double> reaction, velocity;
  ~Parts() {
    if (plain != nullptr) frictionContactProblem_free(plain);
    if (rolling != nullptr) rollingFrictionContactProblem_free(rolling);
  }
};

SiconosProblem::SiconosProblem(const Inclusion& p) : parts_(std::make_unique<Parts>()) {
  numerics_set_verbose(0);
  if (!p.has_G) throw std::runtime_error("Siconos: the problem has no Delassus matrix");
  Parts& s = *parts_;
  s.contacts = static_cast<int>(p.blocks.size());
  s.size = p.blocks.empty() ? 0 : p.blocks[0].rows;
  std::vector<double> mu, mu_rolling;
  for (const Block& block : p.blocks) {
    if (block.rows != s.size) throw std::runtime_error("Siconos: contacts of different kinds");
    const Coefficients c = coefficients(block);
    mu.push_back(c.mu);
    mu_rolling.push_back(c.mu_rolling);
  }
  s.reaction.resize(p.rows);
  s.velocity.resize(p.rows);
  NumericsMatrix* M = s.size == 5 ? dense(p.G) : sparse_blocks(p.G, s.size, s.contacts);
  double* q = c_array(std::vector<double>(p.c.data(), p.c.data() + p.rows));
  if (s.size == 5)
    s.rolling = rollingFrictionContactProblem_new_with_data(5, s.contacts, M, q, c_array(mu),
                                                            c_array(mu_rolling));
  else
    s.plain = frictionContactProblem_new_with_data(s.size, s.contacts, M, q, c_array(mu));
}

SiconosProblem::~SiconosProblem() = default;

SiconosReport SiconosProblem::solve(int solver, VecRef r, double tolerance, int max_iterations) {
  Parts& s = *parts_;
  SolverOptions* options = solver_options_create(solver);
  options->dparam[SICONOS_DPARAM_TOL] = tolerance;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = max_iterations;
  std::copy(r.begin(), r.end(), s.reaction.begin());
  std::fill(s.velocity.begin(), s.velocity.end(), 0.0);
  double *x = s.reaction.data(), *u = s.velocity.data();
  const int info = s.size == 2   ? fc2d_driver(s.plain, x, u, options)
                   : s.size == 3 ? fc3d_driver(s.plain, x, u, options)
                                 : rolling_fc3d_driver(s.rolling, x, u, options);
  std::copy(s.reaction.begin(), s.reaction.end(), r.begin());
  SiconosReport report{solver_options_id_to_name(solver), info == 0,
                       options->iparam[SICONOS_IPARAM_ITER_DONE]};
  solver_options_delete(options);
  std::free(options);
  return report;
}

SiconosReport SiconosProblem::nsgs(VecRef r, double tolerance, int max_iterations) {
  return solve(parts_->size == 2   ? SICONOS_FRICTION_2D_NSGS
               : parts_->size == 3 ? SICONOS_FRICTION_3D_NSGS
                                   : SICONOS_ROLLING_FRICTION_3D_NSGS,
               r, tolerance, max_iterations);
}

bool SiconosProblem::has_newton() const { return parts_->size == 3; }

SiconosReport SiconosProblem::newton(VecRef r, double tolerance, int max_iterations) {
  return solve(SICONOS_FRICTION_3D_NSN_AC, r, tolerance, max_iterations);
}

}  // namespace saltus::bench
