#include "handles.h"

#include <fmt/format.h>

#include <cmath>

#include "saltus/model/joint_traits.h"

namespace saltus::python {

void require_free(bool taken, const char* what) {
  if (taken) throw Busy(fmt::format("the {} is being stepped", what));
}

Lease::Lease(bool& taken, const char* what) : taken_(taken) {
  require_free(taken, what);
  taken_ = true;
}

StepWorkspaceHandle::StepWorkspaceHandle(ModelPtr m)
    : model(std::move(m)),
      step(std::make_shared<StepWorkspace>(*model)),
      work(std::make_shared<WorkspaceHandle>()) {
  work->model = model;
  work->work = std::shared_ptr<Workspace>(step, &step->result.work);
}

void require_model(const Model& model, const ModelPtr& of, const char* what) {
  if (of.get() != &model)
    throw InputError(
        fmt::format("the {} belongs to another model (its nq = {}, nv = {}; this "
                    "model's nq = {}, nv = {})",
                    what, of->nq, of->nv, model.nq, model.nv));
}

namespace {

void check_finite(VecIn x, const char* name) {
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (!std::isfinite(x[i]))
      throw InputError(fmt::format("{}[{}]: expected a finite number, got {}", name, i, x[i]));
}

}  // namespace

void check_q(const Model& model, VecIn q, const char* name) {
  check_finite(q, name);
  for (const Body& b : model.bodies) {
    if (quaternion_at(b.joint) < 0) continue;
    const int first = b.q0 + quaternion_at(b.joint);
    if (!(std::abs(q.segment<4>(first).norm() - 1) < 1e-6))
      throw InputError(fmt::format("{}[{}:{}]: expected a unit quaternion w, x, y, z of '{}'", name,
                                   first, first + 4, b.name));
  }
}

void check_state(const Model& model, const State& s) {
  require_finite(s.t, "state.t");
  check_q(model, s.q, "state.q");
  check_finite(s.v, "state.v");
  check_finite(s.Lambda, "state.Lambda");
  const ContactKey* before = nullptr;
  for (const ContactImpulse& c : s.contacts) {
    const auto known = [&](std::int32_t shape) {
      return shape >= 0 && shape < static_cast<std::int32_t>(model.shapes.size());
    };
    if (!known(c.key.a) || !known(c.key.b) || c.mode > 3 || (before && !(*before < c.key)))
      throw InputError("state.contacts: expected contacts of this model, in order");
    for (const double x : c.Lambda) require_finite(x, "state.contacts");
    before = &c.key;
  }
  if (s.step < 0 || s.step > (std::int64_t{1} << 53))
    throw InputError(fmt::format("state.step: expected a count of steps, got {}", s.step));
}

namespace {

template <class I, class F>
I index_of(const BodyName& name, std::size_t count, const char* what, F&& by_name) {
  if (const auto* text = std::get_if<std::string>(&name)) return by_name(*text);
  const int i = std::get<int>(name);
  if (i < 0 || i >= static_cast<int>(count))
    throw InputError(fmt::format("expected the index of a {}, 0 to {}, got {}", what,
                                 static_cast<int>(count) - 1, i));
  return I(i);
}

}  // namespace

BodyIndex body_of(const Model& m, const BodyName& name) {
  return index_of<BodyIndex>(name, m.bodies.size(), "body",
                             [&](const std::string& n) { return m.body(n); });
}

CoordinateIndex coordinate_of(const Model& m, const BodyName& name) {
  return index_of<CoordinateIndex>(name, m.coordinates.size(), "joint coordinate",
                                   [&](const std::string& n) { return m.coordinate(n); });
}

}  // namespace saltus::python
