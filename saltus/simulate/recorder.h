// What a run writes, as tables of a run file:
//   contacts  the closed contacts and supports of each frame, flat; frames.contact_end says where
//             a frame's end
//   frames    state, poses, joint forces and energies at the output interval
//   steps     solver and correction figures of every step
//   impacts   and what belongs to them (impact_tables.h)
//   sensor_NAME   the readings of a sensor, as they arrived
//   modes     changes of mode; its causes and members are flat, modes.cause_end and
//             modes.member_end say where a change's end
#pragma once
#include "saltus/integrators/mode_change.h"
#include "saltus/runs/impact_tables.h"
#include "saltus/runs/run_file.h"
#include "saltus/scene/scene.h"
#include "saltus/simulate/sensors.h"

namespace saltus {

[[nodiscard]] RunFileSpec run_file_spec(const Scene& scene, const System& system, bool checkpoints);

class Recorder {
 public:
  // Without `publish` the file has a temporary name until publish() is called.
  Recorder(const std::string& path, const Scene& scene, const System& system, bool checkpoints,
           bool publish = true);

  // A frame of the state whose kinematics are in `work`; `ledger` holds the cumulative work,
  // `undetermined` is how many impulses the contacts leave open.
  void frame(const System& system, const State& state, const StepResult& result,
             const EnergyTerms& ledger, int undetermined);
  void step(const State& state, const StepReport& report, double wall_s);
  void impact(const ImpactRecord& record, std::int64_t step);
  // Changes of mode up to this step.
  void modes(const std::vector<ModeChange>& changes, std::int64_t step);
  // The readings that arrived at the last step.
  void sensors(const SensorBank& bank);
  // Copies what an earlier run wrote up to and including this step.
  void copy(const RunReader& from, std::int64_t step);
  void checkpoint(std::int64_t step, const std::vector<std::uint8_t>& bytes);
  void flush() { writer_.flush(); }
  void publish() { writer_.publish(); }
  void finish(const std::string& summary) { writer_.finish(summary); }

 private:
  struct ContactRow {
    std::uint8_t kind = 0;
    std::int32_t a = -1, b = -1, feature = 0;
    std::uint8_t mode = 0;
    double gap = 0;
    Vec3 point, normal, impulse;
    double load = 0;
  };
  void append_contact(const ContactRow& row);
  void record_contacts(const Assembly& assembly);
  void record_supports(const Model& model, const State& state, const Assembly& assembly);

  RunFileSpec spec_;
  RunWriter writer_;
  ImpactWriter impacts_;
  std::int64_t contact_rows_ = 0, cause_rows_ = 0, member_rows_ = 0;
  std::vector<std::int32_t> support_feature_;  // of each support: which of its body's
  bool modes_ = false;
  int first_sensor_ = 0;  // table
  double dt_;
};

}  // namespace saltus
