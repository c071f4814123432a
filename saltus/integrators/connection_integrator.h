// Motion without inertia: the net motion follows from the shape alone, g' = -g A(r) r' (P4 eq. 4),
// by axles or Stokes drag, integrated on the group by the Runge-Kutta method of
// analysis/net_integration.h, a landing a time step. Joints that no signal moves follow too
// (analysis/connection_flow.h).
//
// Where the axles lose rank at an instant and the rates are compatible, the twist has a limit: near
// it, it is interpolated in time from where the axles still decide (P4 section 5, remark 2). Else
// the advance fails, with the time, the axles and their slip.
#pragma once
#include <string>
#include <string_view>

#include "saltus/analysis/connection_flow.h"
#include "saltus/analysis/net_integration.h"
#include "saltus/control/actuation.h"
#include "saltus/integrators/ledger.h"
#include "saltus/model/state.h"

namespace saltus {

struct ByConnection {
  static constexpr std::string_view name = "connection";
  double dt = 1e-3;          // between landings [s]
  double tolerance = 1e-12;  // of a step of the integration
  double residual = 1e-7;    // of the rows, against what the given rates ask for
};

class ConnectionIntegrator {
 public:
  // Throws InputError where the model is none for it: cuts, several trees, no axles and no drag,
  // motors, contacts and other laws.
  ConnectionIntegrator(const Model& model, const Actuation& actuation, const ByConnection& options);

  // Advances by dt. False, with the reason: the state is as it was.
  [[nodiscard]] bool step(State& state, double dt, EnergyTerms& energy, std::string& why);
  // The velocities that belong to a state's configuration at its time.
  [[nodiscard]] bool set_velocities(State& state, std::string& why);
  // Drive forces of the given joints at the state of the last call, by velocities [N m], [N].
  [[nodiscard]] const Vec& drive() const { return drive_; }

 private:
  [[nodiscard]] Vec shape(double t, VecIn free) const;
  [[nodiscard]] Vec rates(double t) const;
  [[nodiscard]] FlowRates flow(double t, VecIn free, double threshold = 0) const;
  // Why there is no twist between two times: where the axles lose rank and which would slip.
  [[nodiscard]] std::string obstruction(double from, double to, VecIn free) const;
  // With the limit at a singular instant.
  [[nodiscard]] bool twist(double t, VecIn free, FlowRates& out);
  void place(const SE3& g, double turn, double t, VecIn free, State& state) const;
  void forces(double t, const State& state, const FlowRates& now);
  [[nodiscard]] double energy_of(const State& state);

  const Model& model_;
  const Actuation& actuation_;
  ByConnection options_;
  ConnectionFlow flow_;
  Workspace work_;
  std::vector<int> free_;    // shape variables that no signal moves
  double until_ = infinity;  // signals keep the piece before this break
  std::string why_;
  Vec drive_;
};

}  // namespace saltus
