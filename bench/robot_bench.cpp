// Time of a step of a standing robot, as its file has it and as one would build it by hand: links
// that do not move against each other are one body. Our own quadruped, and the A1 of ../shared
// where it is.
#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "bench/register.h"
#include "saltus/integrators/moreau/moreau.h"
#include "saltus/robots/mjcf_reader.h"
#include "saltus/scene/document.h"
#include "saltus/scene/scene.h"

namespace saltus::bench {
namespace {

const std::string source = SALTUS_SOURCE_DIR;
const std::string a1 = source + "/../shared/robots/urdf/unitree_a1.urdf";

constexpr const char* standing_a1 = R"(saltus: 1
robots: [{{file: '{}', package_paths: ['{}'], at: {{position: [0, 0, 0.32]}}}}]
obstacles: [{{name: ground, type: half-space}}]
contacts: [{{between: [ground, '*_foot'], friction: 0.6}}]
motors:
  - {{joints: ['*_hip_joint'], kp: 100, kd: 2, reference: 0}}
  - {{joints: ['*_thigh_joint'], kp: 100, kd: 2, reference: 0.8}}
  - {{joints: ['*_calf_joint'], kp: 100, kd: 2, reference: -1.6}}
time: {{step: 2.5 ms, end: 1}}
)";

// Every body that is fixed to another becomes a part of it.
Scene by_hand(Scene scene) {
  std::map<std::string, std::pair<std::string, SE3>> part_of;  // its frame there
  std::vector<BodyScene> kept;
  std::map<std::string, std::size_t> at;
  for (BodyScene& b : scene.bodies) {  // parents first
    if (const auto in = part_of.find(b.joint.parent); in != part_of.end()) {
      b.joint.placement = in->second.second * b.joint.placement;
      b.joint.parent = in->second.first;
    }
    if (!std::holds_alternative<Fixed>(b.joint.kind) || b.joint.parent == "world") {
      at[b.name] = kept.size();
      kept.push_back(b);
      continue;
    }
    BodyScene& parent = kept[at.at(b.joint.parent)];
    const SE3 frame = b.joint.placement * b.joint.in_body.inverse();
    if (b.inertia.mass > 0) mjcf::add_inertia(parent.inertia, b.inertia, frame);
    for (ShapeScene s : b.shapes) {
      s.frame = frame * s.frame;
      s.body = parent.name;
      parent.shapes.push_back(s);
    }
    part_of[b.name] = {parent.name, frame};
  }
  scene.bodies = kept;
  scene.visuals.clear();
  scene.probes.clear();
  scene.metrics.clear();
  return scene;
}

void run(benchmark::State& timer, const Scene& scene) {
  System system = build_system(scene);
  StepWorkspace work(system.model);
  const MoreauMidpoint& options = scene.stepping;
  int missed = 0;
  for (int i = 0; i < 1000; ++i)  // until it stands
    (void)step(system.model, system.actuation, system.start, work, options);
  for (auto _ : timer)
    missed += !step(system.model, system.actuation, system.start, work, options).solve().converged;
  timer.counters["problems"] = static_cast<double>(timer.iterations());
  timer.counters["unconverged"] = missed;
}

void add_robot(const std::string& name, const Scene& scene) {
  add("robot/" + name + "/saltus", [scene](benchmark::State& timer) { run(timer, scene); });
  const Scene plain = by_hand(scene);
  add("robot/" + name + "/by-hand", [plain](benchmark::State& timer) { run(timer, plain); });
}

}  // namespace
}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus;
  using namespace saltus::bench;
  add_robot("quadruped", load_scene(source + "/scenes/robots/quadruped.yaml", {}));
  if (std::filesystem::exists(a1))
    add_robot("A1", read_scene(Document::from_text(fmt::format(fmt::runtime(standing_a1), a1,
                                                               source + "/../shared"),
                                                   "a1.yaml"),
                               {}));
  return run_registered(argc, argv);
}
