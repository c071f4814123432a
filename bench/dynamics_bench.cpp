// RNEA, CRBA and ABA with the kinematics they need, beside Pinocchio.
#include <memory>

#include "bench/dynamics_peers.h"
#include "bench/models.h"
#include "bench/register.h"
#include "saltus/dynamics/algorithms.h"
#include "saltus/dynamics/kinematics.h"

namespace saltus::bench {
namespace {

struct Case {
  Model model;
  State state;
  Workspace work;
  Vec in, out;
  explicit Case(Model m)
      : model(std::move(m)),
        state(some_state(model)),
        work(model),
        in(Vec::LinSpaced(model.nv, -1, 1)),
        out(Vec::Zero(model.nv)) {}
};

template <class F>
void add_ours(const std::string& name, const std::shared_ptr<Case>& c, F run) {
  add("dynamics/" + name + "/saltus", [c, run](benchmark::State& timer) {
    for (auto _ : timer) {
      run(*c);
      benchmark::DoNotOptimize(c->out.data());
      benchmark::ClobberMemory();
    }
  });
}

void add_saltus(const std::string& name, const Model& model) {
  const auto c = std::make_shared<Case>(model);
  add_ours(name + " FK", c,
           [](Case& x) { forward_kinematics(x.model, x.state.q, x.state.v, x.work); });
  add_ours(name + " RNEA", c,
           [](Case& x) { rnea(x.model, x.state.q, x.state.v, x.in, x.work, x.out); });
  if (model.nv <= 200) {
    add_ours(name + " CRBA", c, [](Case& x) { crba(x.model, x.state.q, x.work); });
  }
  add_ours(name + " ABA", c,
           [](Case& x) { aba(x.model, x.state.q, x.state.v, x.in, x.work, x.out); });
}

}  // namespace

}  // namespace saltus::bench

int main(int argc, char** argv) {
  using namespace saltus::bench;
  for (const auto& [name, model] : dynamics_models()) {
    add_saltus(name, model);
    // Pinocchio's Data has tensors of nv^3 numbers: 8 GB each for the long chain.
    if (model.nv <= 200) add_pinocchio(name, model);
  }
  return run_registered(argc, argv);
}
