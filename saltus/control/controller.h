// Controllers: who chooses, at a rate of its own, the torques that joints are given until its next
// tick. The quadruped's is one of them (locomotion.h), a user's function another.
//
// All that a controller remembers is in State::memory, so that a copy of the state is a restart.
// Its part, behind that of the motors and of the controllers before it, is
//   the number of its next tick + 1 (0: there was none yet), its own numbers, the torques it holds.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/model/model.h"
#include "saltus/model/state.h"

namespace saltus {

struct ControlTick {
  const Model& model;
  const State& state;  // at the time of the tick
  bool first;          // there was none before
  double* memory;      // its own numbers, zero before the first tick
  double* torque;      // to be held, one a coordinate [N m] or [N]: those of the tick before
};

// What a controller computes with besides, kept by the workspace of the step.
struct ControllerScratch {
  virtual ~ControllerScratch() = default;
};

class Controller {
 public:
  virtual ~Controller() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // its key in scenes
  [[nodiscard]] virtual double rate() const = 0;            // of its ticks [Hz]
  [[nodiscard]] virtual int memory() const = 0;             // numbers of its own
  // That get its torques, added to those of their motors and within what these can give.
  [[nodiscard]] virtual const std::vector<CoordinateIndex>& coordinates() const = 0;
  // Several may run at a time. `scratch` is what the last controller at this place left, or null;
  // a tick that finds its own there allocates nothing.
  virtual void tick(const ControlTick& tick, std::unique_ptr<ControllerScratch>& scratch) const = 0;
};

// Numbers of State::memory.
[[nodiscard]] int memory_of(const Controller& controller);
// The parts of it.
[[nodiscard]] const double* own_memory(const double* memory);
[[nodiscard]] const double* held_torques(const Controller& controller, const double* memory);

// Ticks if that is due at the time of the state; tick n is at the first step at or after n/rate.
// Gives the torques that are held.
const double* control(const Model& model, const Controller& controller, const State& state,
                      double* memory, std::unique_ptr<ControllerScratch>& scratch);

// A function of the user as a controller. What it remembers elsewhere than in `memory` is lost to
// checkpoints and restarts.
class UserController final : public Controller {
 public:
  using Function = std::function<void(const ControlTick&)>;
  UserController(double rate, int memory, std::vector<CoordinateIndex> coordinates,
                 Function function)
      : rate_(rate),
        memory_(memory),
        coordinates_(std::move(coordinates)),
        function_(std::move(function)) {}
  [[nodiscard]] std::string_view name() const override { return "controller"; }
  [[nodiscard]] double rate() const override { return rate_; }
  [[nodiscard]] int memory() const override { return memory_; }
  [[nodiscard]] const std::vector<CoordinateIndex>& coordinates() const override {
    return coordinates_;
  }
  void tick(const ControlTick& tick, std::unique_ptr<ControllerScratch>&) const override {
    function_(tick);
  }

 private:
  double rate_;
  int memory_;
  std::vector<CoordinateIndex> coordinates_;
  Function function_;
};

}  // namespace saltus
