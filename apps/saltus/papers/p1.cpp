// The page of P1, chapters 2 to 6 and appendix A: every run beside the thesis's.
#include "apps/saltus/papers/p1.h"

#include "apps/saltus/papers/papers.h"

namespace saltus::cli {

namespace {

P1Runs all_runs(const std::string& folder) {
  P1Runs runs;
  for (const char* scene :
       {"pendulum-3-4-1", "pendulum-3-6-1", "pendulum-5-2-1", "pendulum-5-2-2", "pendulum-5-2-3",
        "pendulum-5-5", "pendulum-5-5-attenuation", "pendulum-5-5-constraint",
        "bicycle-4-2-alpha-0", "bicycle-4-2-alpha-15", "bicycle-4-2-alpha-30",
        "bicycle-4-2-alpha-45", "bicycle-3-4-2", "bicycle-3-7-1", "bicycle-3-7-2", "bicycle-3-7-3",
        "bicycle-5-3-1", "bicycle-5-3-2", "bicycle-5-3-3"})
    runs.emplace(scene, P1Run(folder, scene));
  // Section 3.7.3 with as much friction where it slides as where it sticks.
  runs.emplace("bicycle-3-7-3-mu", P1Run(folder, "bicycle-3-7-3",
                                         {"contacts[0].friction_dynamic=0.5"}, "bicycle-3-7-3-mu"));
  return runs;
}

}  // namespace

std::string p1_page(const std::string& folder, int& misses) {
  Page page(
      "P1: Hybrid simulation of impacts, chapters 2 to 6 and appendix A",
      "Theirs beside ours: a thesis on impacts and contact of multibody systems, with a double "
      "pendulum over a floor, a bicycle with elliptic wheels on a wedge and a leg that jumps. Its "
      "figures are "
      "lost; its text says what they show. Every figure below is computed as this page is "
      "made, event-driven, with the thesis's own impact law (stick trial, dissipation "
      "principle, energetic restitution); the command under it makes the same run. What the "
      "thesis leaves open is written in the scenes.");
  const P1Runs runs = all_runs(folder);
  add_table(page, runs);
  add_values(page, runs);
  add_run_figures(page, runs);
  add_oblique(page, runs);
  add_energy(page, runs, folder);
  add_leg(page, folder);
  add_appendix(page, folder);
  misses = page.misses();
  return page.html();
}

}  // namespace saltus::cli
