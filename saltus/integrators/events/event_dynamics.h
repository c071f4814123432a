// Motion in one mode, at acceleration level (DESIGN section 5):
//
//   M a = h(q, v, t) + W lambda,     d/dt (W' v) = W' a + zeta = 0   on the rows that hold,
//   lambda_T = lambda_N f(u)         on the sets that slip with velocity u,
//
// solved island by island. zeta = (dW/dt)' v is the derivative of the rows' rates along the motion
// with v kept: central differences of order 6 along q (+) s v, exact to about 1e-13 of the rates,
// so that every shape, joint and runner needs its rows and nothing more.
#pragma once
#include <array>
#include <vector>

#include "saltus/contact/assembly.h"
#include "saltus/contact/islands.h"
#include "saltus/control/actuation.h"
#include "saltus/integrators/events/event_mode.h"

namespace saltus {

// Contact features may wander this far off the surface within a stage, in length scales.
inline constexpr double feature_margin = 0.05;

// Powers that the ledger integrates along the motion [W].
enum class Power { motors, prescribed, muscles, external, dampers, friction, count };
inline constexpr int powers = static_cast<int>(Power::count);

// What a mode's motion is at one instant.
struct Evaluation {
  Vec a;                      // accelerations
  Vec lambda;                 // force of every row [N] ([N m])
  Vec gamma;                  // its velocity; against a belt, that of the slip
  Vec gamma_dot;              // and acceleration
  std::vector<int> row;       // first row of each element, or -1 where it is open
  std::vector<double> share;  // of its sliding friction that friction maps leave
  Vec lag_rate;               // of the torque of each motor that lags [N m/s]
  std::array<double, powers> power{};
  double force = 0;   // largest |lambda|
  int lost = -1;      // an element whose contact has no such feature any more
  int restless = -1;  // the element of the row that rest_rows had to put to rest the most
};

// How near to a corner counts as there: of places [m] ([rad]), rates, and torques.
struct PieceBands {
  double length = 0, angle = 0, speed = 0, turn = 0, force = 0, moment = 0;
};

class ModeDynamics {
 public:
  ModeDynamics(const Model& model, const Actuation& actuation);

  // Signals are continuous before this instant and are evaluated at its left there [s].
  double until = infinity;

  // Torques of the motors that lag, in their order, at the instants to be evaluated [N m].
  Vec lagged;

  // False: the mass matrix is singular, a contact's feature is gone (Evaluation::lost), or a number
  // is not finite.
  [[nodiscard]] bool evaluate(double t, VecIn q, VecIn v, const std::vector<std::int32_t>& turns,
                              const EventMode& mode, Evaluation& out);
  // The rows of a mode and what they do, of the last evaluate (or prepare).
  [[nodiscard]] const Assembly& rows() const { return rows_; }
  [[nodiscard]] const Workspace& work() const { return work_; }
  [[nodiscard]] const Contact& contact(int element) const { return contacts_[element]; }
  [[nodiscard]] const Vec& drive() const { return drive_; }        // of prescribed velocities [N]
  [[nodiscard]] const Vec& motor_force() const { return motor_; }  // of coordinates [N m] or [N]
  [[nodiscard]] Forest& mass() { return mass_; }

  // Kinematics, mass matrix and rows of the elements that are present; gamma in `out`.
  [[nodiscard]] bool prepare(double t, VecIn q, VecIn v, const EventMode& mode, Evaluation& out);
  // v <- the nearest velocity (in the metric of M) with which the kept rows rest; after prepare.
  // Returns the largest correction [m/s].
  double rest_rows(double t, const EventMode& mode, VecRef v, Evaluation& out);
  // Smooth accelerations without any row, and W' a_free + zeta of every row; after prepare.
  [[nodiscard]] bool free_motion(double t, VecIn q, VecIn v, const std::vector<std::int32_t>& turns,
                                 const EventMode& mode, Evaluation& out);
  [[nodiscard]] const Vec& a_free() const { return a_free_; }
  [[nodiscard]] const Vec& row_free() const { return row_free_; }  // W' a_free + zeta
  [[nodiscard]] const Vec& bias() const { return zeta_; }

  [[nodiscard]] double signal_time(double t) const;
  // The flanks and the pieces of friction maps of a state: at a corner those that it moves onto.
  void choose_pieces(double t, VecIn q, VecIn v, const std::vector<std::int32_t>& turns,
                     const PieceBands& bands, EventMode& mode);
  // A motor with play: the error r - x, its rate, and what it asks for behind the flank.
  struct Play {
    double error = 0, rate = 0, asked = 0;
  };
  [[nodiscard]] Play play_of(double t, VecIn q, VecIn v, const std::vector<std::int32_t>& turns,
                             int motor, int side) const;
  // How far a contact is from the edge of the piece of shape a's (0) or b's (1) map that it is on;
  // infinite without a map [m].
  [[nodiscard]] double room_on_map(const Element& e, const Contact& at, int side) const;
  // What a kept row's rate is short of by a prescribed motion: -r'(t) or zeros.
  [[nodiscard]] Vec prescribed_offset(double t, const Element& e) const;

 private:
  bool write_rows(const Workspace& work, double t, const EventMode& mode, std::vector<Contact>& at,
                  Assembly& out, std::vector<int>& first, int& lost) const;
  bool element_rows(const Workspace& work, double t, const Element& e, Contact& at,
                    Assembly& out) const;
  void smooth_forces(double t, VecIn q, VecIn v, const std::vector<std::int32_t>& turns,
                     const EventMode& mode, Evaluation& out);
  void add_pair(int a, int b, const Vec6& wrench, double force);
  void joint_forces(double at, VecIn q, VecIn v, const std::vector<std::int32_t>& turns,
                    const EventMode& mode, Evaluation& out);
  // What a motor asks for; `side` is that of the flank it pushes with, 0 without play.
  [[nodiscard]] static double asked_of(const Motor& m, double at, double x, double w, int side);
  void choose_patches(VecIn q, VecIn v, double slack, EventMode& mode);
  void element_forces(double at, VecIn q, VecIn v, Evaluation& out);
  void rod_forces(double at, VecIn q, VecIn v, Evaluation& out);
  void twists_of(const Workspace& work, std::vector<Vec6>& out) const;
  bool differences(double t, VecIn q, VecIn v, const EventMode& mode, double s, Evaluation& out);
  bool row_biases(double t, VecIn q, VecIn v, const EventMode& mode, Evaluation& out);
  [[nodiscard]] double share_of(const Element& e, const Contact& at) const;
  [[nodiscard]] double explicit_bias(double t, const Element& e) const;
  [[nodiscard]] bool rows_turn(const EventMode& mode) const;
  void slip_forces(const EventMode& mode, const Evaluation& out);
  bool solve_rows(const EventMode& mode, const Vec& target, Vec& lambda, bool with_friction);
  void solve_column(const EventMode& mode, int block, int row, bool with_friction);
  [[nodiscard]] double column_rate(int block, int row) const;
  void apply(const EventMode& mode, const Vec& lambda, bool with_friction);
  void sum_powers(const EventMode& mode, VecIn v, Evaluation& out);

  const Model& model_;
  const Actuation& actuation_;
  Workspace work_, shifted_;
  Forest mass_;
  Assembly rows_, shifted_rows_;
  Islands islands_;
  std::vector<Contact> contacts_, shifted_contacts_;  // per element
  std::vector<int> shifted_first_;
  std::vector<int> element_of_;  // per block of rows_
  std::vector<Vec6> wrenches_, column_wrench_, twists_, column_twist_, shifted_twists_;
  Vec tau_, rhs_, a_free_, a_given_, column_, column_rhs_, impulse_, zero_, shifted_q_;
  Vec row_free_, zeta_, lambda_scratch_;
  Vec unit_force_;  // of rows that slip: force, per unit of normal force where it scales
  Vec drive_, motor_, user_;
  Vec offset_, offset_rate_;  // of muscles of rods
  Mat K_;
  struct KeptRow {
    int block, row;
  };
  std::vector<KeptRow> kept_;  // of the island at hand
  std::array<int, 2> column_trees_{-1, -1};
  bool has_maps_ = false;
};

}  // namespace saltus
