#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "saltus/dynamics/kinematics.h"
#include "saltus/scene/document.h"
#include "saltus/simulate/scene_run.h"

namespace saltus {

namespace {

// Totals, metrics and state in one blob; the state's part grows with its contacts.
std::vector<std::uint8_t> pack(const State& state, const Totals& totals,
                               const std::vector<double>& metrics) {
  std::vector<std::uint8_t> bytes(sizeof(Totals) + metrics.size() * sizeof(double));
  std::memcpy(bytes.data(), &totals, sizeof totals);
  if (!metrics.empty())
    std::memcpy(bytes.data() + sizeof totals, metrics.data(), metrics.size() * sizeof(double));
  const auto state_bytes = to_bytes(state);
  bytes.insert(bytes.end(), state_bytes.begin(), state_bytes.end());
  return bytes;
}

}  // namespace

void SceneRun::open_recorder(bool publish) {
  if (options.output.empty()) return;
  const bool checkpoints = !options.forced();
  recorder = std::make_unique<Recorder>(options.output, scene, system, checkpoints, publish);
}

void SceneRun::resume() {
  const RunReader old(options.resume_from);
  if (old.checkpoint_count() == 0)
    throw InputError(fmt::format("{}: there is no checkpoint to resume from", options.resume_from));
  if (const int known = RunFileSpec().checkpoint_version; old.checkpoint_version() != known)
    throw InputError(fmt::format(
        "{}: its checkpoints are of version {} (saltus {}), this saltus resumes version {}; run "
        "its scene again",
        options.resume_from, old.checkpoint_version(), old.version(), known));
  const auto saved = old.checkpoint(old.checkpoint_count() - 1);
  const std::size_t head = sizeof(Totals) + metrics.memory().size() * sizeof(double);
  if (saved.state.size() < head)
    throw InputError(
        fmt::format("{}: the checkpoint does not fit this scene", options.resume_from));
  std::memcpy(&totals, saved.state.data(), sizeof totals);
  std::vector<double> memory(metrics.memory().size());
  if (!memory.empty())
    std::memcpy(memory.data(), saved.state.data() + sizeof totals, memory.size() * sizeof(double));
  metrics.restore(memory);
  try {
    state = from_bytes(system.model, saved.state.data() + head, saved.state.size() - head);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", options.resume_from, e.what()));
  }
  if (state.step != saved.step || state.step > last_step || !is_sound(system.model, state) ||
      !totals.are_of(system.model))
    throw InputError(fmt::format("{}: the last checkpoint is damaged", options.resume_from));
  if (state.memory.size() < memory_of(system.actuation) + sensors.memory())
    throw InputError(
        fmt::format("{}: the checkpoint does not fit this scene", options.resume_from));
  try {
    sensors.start(work.result.work, state);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", options.resume_from, e.what()));
  }
  first_step = state.step;
  open_recorder(false);  // a kill must not cost what is there: published when all is copied
  if (!recorder) return;
  recorder->copy(old, state.step);
  for (std::size_t i = 0; i < old.checkpoint_count(); ++i) {
    const auto c = old.checkpoint(i);
    recorder->checkpoint(c.step, c.state);
  }
  recorder->flush();
  recorder->publish();
}

void SceneRun::write_checkpoint() {
  if (!recorder) return;
  if (!options.forced()) recorder->checkpoint(state.step, pack(state, totals, metrics.memory()));
  recorder->flush();
}

Scene scene_of_run(const std::string& path) {
  const RunReader reader(path);
  // Where the scene names robot files, the header has it with these written out.
  const auto header = nlohmann::json::parse(reader.header(), nullptr, false);
  const auto text = [&](const char* key) -> std::optional<std::string> {
    if (!header.is_object() || !header.contains(key) || !header[key].is_string())
      return std::nullopt;
    return header[key].get<std::string>();
  };
  Document document = Document::from_text(text("complete_scene").value_or(reader.scene()), path);
  if (const auto folder = text("folder")) document.set_folder(*folder);
  return read_scene(document);
}

}  // namespace saltus
