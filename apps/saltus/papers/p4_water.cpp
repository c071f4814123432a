// The part of P4's page on water and air: our models of its eel, its fish and its wing.
#include "apps/saltus/papers/p4.h"
#include "apps/saltus/papers/study.h"

namespace saltus::cli {

namespace {

Study run_of(const std::string& folder, const std::string& scene) {
  return Study(folder, "p4-" + scene, "water/" + scene, {});
}

std::string run_command(const std::string& scene) {
  return fmt::format("saltus run scenes/water/{}.yaml", scene);
}

}  // namespace

void p4_water(Page& page, const std::string& folder) {
  page.section("Water and air",
               "Elongated-body theory with added mass in the inertia and the wake's force at the "
               "tail, a vortex street, and a wing that pitches by itself (docs/fluids.md).");
  References rows(page);
  const Study eel = run_of(folder, "eel");
  rows.add("eel of given shape after 5 s, x", eel.metric("x"), -1.6807583, 1e-5);
  rows.add("y", eel.metric("y"), -0.0577883, 1e-5);
  rows.add("turn", eel.metric("turn"), -0.1855080, 1e-5);
  rows.show(run_command("eel"));
  rows.add("dead fish on its rail after 5 s, upstream", run_of(folder, "vortex-fish").metric("x"),
           -1.5636671, 1e-6);
  rows.show(run_command("vortex-fish"));
  const double degree = std::acos(-1.0) / 180;
  rows.add("pitch of the wing at mid-stroke [deg]", run_of(folder, "wing").metric("pitch") / degree,
           -40.42962, 5e-3);
  rows.show(run_command("wing"));
}

}  // namespace saltus::cli
