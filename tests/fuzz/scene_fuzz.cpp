// Texts as scenes. What is written out of a scene that can be built has to be read again, and small
// ones take two time steps.
#include "check.h"
#include "saltus/integrators/integrator.h"
#include "saltus/scene/document.h"

namespace saltus {

void take_steps(const Scene& scene, const System& system) {
  if (scene.method != Method::moreau || system.model.nv > 60) return;
  Integration integration(system.model, system.actuation, integrator_of(scene));
  StepWorkspace work(system.model);
  State state = system.start;
  for (int i = 0; i < 2; ++i)
    if (!integration.advance(state, work).failure.empty()) return;
}

}  // namespace saltus

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saltus;
  std::string written;
  try {
    const Scene scene = read_scene(Document::from_text(text_of(data, size), "fuzz.yaml"));
    take_steps(scene, build_system(scene));
    written = complete_text(scene);
  } catch (const InputError&) { return 0; }
  static_cast<void>(build_system(read_scene(Document::from_text(written, "written.yaml"))));
  return 0;
}
