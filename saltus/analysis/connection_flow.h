// The motion of a creature without inertia while some of its joints follow signals: axles or Stokes
// drag decide on the net twist eta and on the rates u_f of the joints that nothing moves (P4 eq. 4,
// 17; passive joints beside prescribed ones):
//
//   axles   A eta + B_f u_f = -B_g u_g                           all rows, by least squares
//   drag    [K_nn K_nf; K_fn K_ff] (eta, u_f) = -(K_ng, K_fg) u_g   no net force, no torque of f
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "saltus/analysis/connection.h"

namespace saltus {

// What moves the creature of a model: its axles if it has any, else its drag. Throws InputError
// where it has neither.
[[nodiscard]] Medium medium_without_inertia(const Model& model, const ShapeSpace& space);

struct FlowRates {
  Vec eta;              // net twist
  Vec u;                // of all shape variables
  double ratio = 1;     // least to largest singular value
  double residual = 0;  // of the rows [m/s]
  double scale = 0;     // |B_g u_g| [m/s]
  double power = 0;     // what drag takes [W]
  Vec slip;             // of each row [m/s]
};

class ConnectionFlow {
 public:
  // `given`: of each shape variable, whether a signal moves it.
  ConnectionFlow(const Model& model, ShapeSpace space, Medium medium, std::vector<char> given);
  // At a shape with the rates u of the given variables; those of the others are not read.
  // Singular values below `threshold` times the largest count as zero.
  [[nodiscard]] FlowRates at(VecIn r, VecIn u, double threshold = 0) const;
  // Rows that slip by more than a tenth of the worst, as text.
  [[nodiscard]] std::string slipping(const FlowRates& rates) const;

  [[nodiscard]] const ShapeSpace& space() const { return space_; }
  [[nodiscard]] const Medium& medium() const { return medium_; }

 private:
  const Model& model_;
  ShapeSpace space_;
  Medium medium_;
  std::vector<int> given_, free_;
};

}  // namespace saltus
