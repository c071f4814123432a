#include <memory>

#include "bench/net_recursion_peer.h"
#include "bench/pinocchio_model.h"

namespace saltus::bench {

std::function<void()> pinocchio_rnea(const Model& model, const Vec& q, const Vec& v, const Vec& a,
                                     const Vec& tau) {
  // Its Data holds tensors of nv^3 for second derivatives: 32 GB of them at 1000 joints.
  if (model.nv > 500) return {};
  struct Case {
    pinocchio::Model model;
    pinocchio::Data data;
    Vec q, v, a;
  };
  pinocchio::Model theirs = pinocchio_model(model);
  pinocchio::Data data(theirs);
  const auto c = std::make_shared<Case>(Case{std::move(theirs), std::move(data), q, v, a});
  c->q.segment<4>(3) << 0, 0, 0, 1;  // its order is x, y, z, w
  const Vec found = pinocchio::rnea(c->model, c->data, c->q, c->v, c->a);
  if ((found - tau).norm() > 1e-9 * tau.norm())
    throw std::runtime_error("bench: Pinocchio's torques are not ours");
  return [c] { pinocchio::rnea(c->model, c->data, c->q, c->v, c->a); };
}

}  // namespace saltus::bench
