// What shows in a run that its step is too long for the speeds in it: how far bodies turn in a
// step, how far shapes move beside what they and the ground are thick, how deep contacts are in
// its middle. Each is told once, with the step that was worst.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "saltus/integrators/moreau/moreau.h"

namespace saltus {

// Beyond this a step no longer resolves a rotation: the error of its energy is some percent [rad].
inline constexpr double turn_allowed = 0.5;

class StepWatch {
 public:
  explicit StepWatch(const Model& model);
  // Of the motion at the poses and twists of `w`; what is told of a start is not told again.
  [[nodiscard]] std::vector<std::string> start(const Model& model, const Workspace& w, double dt);
  // After a step, at the poses and twists of its end.
  void look(const StepResult& step, const State& end, double dt);
  // A sentence each, of all steps since the start.
  [[nodiscard]] std::vector<std::string> lines(const Model& model, double dt) const;

 private:
  struct Worst {
    double value = 0, t = 0;  // [s]
    int of = -1;
    std::int64_t steps = 0;  // beyond what is allowed
  };
  struct Mover {  // a shape that moves and may meet others
    int shape = 0, body = 0;
    Vec3 at = Vec3::Zero();  // its middle, in the body [m]
    double room = 0;         // it and the thinnest thing that rests and that it may meet [m]
    int partner = -1;
  };
  void find_turn(const Workspace& w, double dt, double t, Worst& turn) const;
  void find_travel(const Workspace& w, double dt, double t, Worst& travel) const;
  [[nodiscard]] double half_width(const Place& at) const;

  std::vector<double> width_;  // of each shape [m]; infinite: ground
  std::vector<Mover> movers_;
  int bodies_ = 0;
  Worst turn_, travel_, depth_;  // [rad], share of the room, share of half the width
  double turn_told_ = 0, travel_told_ = 0;
  Place deepest_;
};

}  // namespace saltus
