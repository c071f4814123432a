// Where a model rests: Newton's method with the forces and gaps of the engine itself.
//
//   h(q) + W(q) lambda = 0,   gaps of joints 0,   0 <= g(q), lambda >= 0, g lambda = 0
//
// h: gravity, springs, rods, motors at the time given, no velocities. Contacts and limits only
// push: there is no friction, so that h derives from a potential U and a rest is where U is
// stationary. Steps are those of sequential quadratic programming with the exact tangent
// -d(h + W lambda)/dq (differences of the analytic h and W), raised by M where it is not positive
// on what the rows leave free, and shortened until U and the violation of gaps fall. Places between
// stations at which rods touch (contact/rod_touches.h) are put anew after each such rest, until
// they stay.
#pragma once
#include <string>
#include <vector>

#include "saltus/control/actuation.h"

namespace saltus {

struct RestOptions {
  double tolerance = 1e-11;  // |h + W lambda| of the size of its terms
  int max_iterations = 200;
};

struct RestReport {
  bool converged = false;
  int iterations = 0;
  double residual = 0;  // of the size of the terms
  double gap = 0;       // largest violation [m]
  double energy = 0;    // U [J]
  // Least of the tangent against M on what closed rows leave free [1/s^2]: the square of the lowest
  // frequency; negative: unstable.
  double least_eigenvalue = 0;
  struct Held {
    std::string name;
    double force = 0;           // [N] or [N m]
    Vec3 point = Vec3::Zero();  // of contacts [m]
    bool contact = false;
    int slot = -1;  // of Model::slots; of a contact its key and law instead
    ContactKey key;
    int law = -1;
  };
  std::vector<Held> held;  // what pushes: contacts, limits; joints of cuts
};

// From the q given to a rest near it, at the time t of the actuation's signals; prescribed
// coordinates stay. Throws InputError where the model has forces without a potential.
[[nodiscard]] RestReport find_rest(const Model& model, const Actuation& actuation, double t, Vec& q,
                                   const RestOptions& options = {});

}  // namespace saltus
