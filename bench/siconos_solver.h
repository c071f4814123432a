// A contact problem of ours handed to Siconos numerics: Coulomb's law in 2D and 3D, and with
// rolling friction in 3D; matrices as sparse blocks, one a pair of contacts, which is what its NSGS
// likes best.
#pragma once
#include <memory>
#include <string>

#include "saltus/solvers/inclusion.h"

namespace saltus::bench {

struct SiconosReport {
  std::string solver;    // as Siconos calls it
  bool success = false;  // as Siconos sees it
  int iterations = 0;
};

class SiconosProblem {
 public:
  // Throws std::runtime_error where Siconos has no such law: all blocks must be of one kind,
  // isotropic and without compliance, and G must be formed.
  explicit SiconosProblem(const Inclusion& problem);
  ~SiconosProblem();
  SiconosProblem(const SiconosProblem&) = delete;
  SiconosProblem& operator=(const SiconosProblem&) = delete;

  // Nonsmooth Gauss-Seidel with Siconos' defaults; the tolerance is on its own relative error.
  SiconosReport nsgs(VecRef r, double tolerance, int max_iterations);
  // Semismooth Newton on Alart and Curnier's map; 3D without rolling only.
  [[nodiscard]] bool has_newton() const;
  SiconosReport newton(VecRef r, double tolerance, int max_iterations);

 private:
  struct Parts;
  SiconosReport solve(int solver, VecRef r, double tolerance, int max_iterations);
  std::unique_ptr<Parts> parts_;
};

}  // namespace saltus::bench
