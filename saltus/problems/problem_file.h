// Inclusion problems in files: read from the formats of the literature, written and read in our
// own.
//
//   .dat    Siconos text, local `d nc W q mu` or global `d nc M H f w mu`; dense, sparse block or
//           sparse matrices; d = 2, 3, or 5 with rolling (then mu, mu_r)
//   .hdf5   FCLIB: /fclib_local, /fclib_global, and either with _rolling
//   .json   ours: any laws, names, warm start, tolerance; exact to the bit
//
// u = W r + q, contact by contact with the normal first, u^ = u + mu |u_T| in the dual cone, r in
// the cone. A global problem M v = H r + f, u = H' v + w is reduced: W = H' M^-1 H, q = w + H' M^-1
// f. Bad input throws InputError naming the file and the line or dataset.
#pragma once
#include <string>
#include <vector>

#include "saltus/solvers/inclusion.h"

namespace saltus {

struct ProblemFile {
  std::string path, title, format;  // "siconos", "fclib", "saltus"
  bool global = false, rolling = false;
  int dimension = 0;  // rows of a contact; 0: mixed
  Inclusion problem;
  std::vector<std::string> names;  // of the blocks
  Vec Lambda;                      // warm start; zero from the literature's files
  double tolerance = 0;            // as the file asks; 0: it does not
  double asymmetry = 0;            // max |G - G'| / max |G|
};

[[nodiscard]] ProblemFile read_problem(const std::string& path);
// Ours. names may be empty; Lambda is the start that the solver was given.
void write_problem(const std::string& path, const Inclusion& problem, VecIn Lambda,
                   const std::vector<std::string>& names, double tolerance,
                   const std::string& title);

}  // namespace saltus
