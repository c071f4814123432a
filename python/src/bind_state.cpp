#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstring>

#include "handles.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/closure.h"
#include "saltus/model/joint_traits.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

using ByBody = std::map<std::string, ArrayLike>;

void put_posture(const Model& model, const ByBody& given, const char* what,
                 std::vector<Vec>& values) {
  for (const auto& [name, x] : given) {
    const BodyIndex i = model.body(name);
    values[i] = vector_of(x, values[i].size(), fmt::format("{}['{}']", what, name).c_str());
  }
}

void set_joints(StateHandle& s, const ByBody& q, const ByBody& v) {
  require_free(s.busy, "state");
  Posture posture = zero_posture(*s.model);
  put_posture(*s.model, q, "q", posture.q);
  put_posture(*s.model, v, "v", posture.v);
  for (int i = 0; i < s.model->body_count(); ++i) {
    const Joint& joint = own_joint(*s.model, BodyIndex(i));
    const int first = quaternion_at(joint);
    if (first < 0) continue;
    auto quaternion = posture.q[i].segment<4>(first);
    if (!(std::abs(quaternion.norm() - 1) < 1e-3))
      throw InputError(
          fmt::format("q['{}']: expected a unit quaternion w, x, y, z", s.model->bodies[i].name));
    quaternion.normalize();
  }
  set_posture(*s.model, posture, s.state);
}

double close_loops(StateHandle& s) {
  require_free(s.busy, "state");
  State closed = s.state;
  const ClosureReport report = close_start(*s.model, {}, closed);
  if (report.loop < 0) return 0;
  if (!(report.gap_left < 1e-9 && report.rate_left < 1e-9))
    throw InputError(fmt::format("loop '{}' cannot be closed near this state: {:.3g} m stay open",
                                 s.model->cuts[report.loop].name, report.gap_left));
  s.state.q = closed.q;  // in place, so that views stay valid
  s.state.v = closed.v;
  s.state.turns = closed.turns;
  return report.gap;
}

StateHandle copy_of(const StateHandle& s) {
  require_free(s.busy, "state");
  return {s.model, s.state};
}

// Same model: in place, so that views stay valid.
void assign(StateHandle& s, const StateHandle& from) {
  require_model(*s.model, from.model, "state");
  require_free(s.busy, "state");
  require_free(from.busy, "state");
  s.state = from.state;
}

// What tells one layout of a state from another; it leads the bytes.
using Layout = std::array<std::int64_t, 7>;
Layout layout_of(const Model& m, const State& s) {
  return {0x324554415453,  // "STATE2"
          m.nq,
          m.nv,
          m.lambda_rows,
          static_cast<std::int64_t>(m.slots.size()),
          static_cast<std::int64_t>(m.coordinates.size()),
          s.memory.size()};
}

nb::bytes bytes_of(const StateHandle& s) {
  require_free(s.busy, "state");
  const Layout layout = layout_of(*s.model, s.state);
  const auto* head = reinterpret_cast<const std::uint8_t*>(layout.data());
  std::vector<std::uint8_t> bytes(head, head + sizeof layout);
  const auto rest = to_bytes(s.state);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return nb::bytes(bytes.data(), bytes.size());
}

StateHandle state_of(const ModelPtr& model, const nb::bytes& bytes) {
  const auto* data = static_cast<const std::uint8_t*>(bytes.data());
  Layout layout{};
  if (bytes.size() < sizeof layout)
    throw InputError(fmt::format("expected the bytes of a state, got {}", bytes.size()));
  std::memcpy(layout.data(), data, sizeof layout);
  StateHandle s{model, from_bytes(*model, data + sizeof layout, bytes.size() - sizeof layout)};
  if (layout != layout_of(*model, s.state))
    throw InputError("expected the bytes of a state of this model");
  check_state(*model, s.state);
  return s;
}

// A copy as a structured array; one record after the other, without gaps.
nb::object contacts_of(const StateHandle& s) {
  require_free(s.busy, "state");
  nb::list record;
  for (const char* name : {"a", "b", "feature"}) record.append(nb::make_tuple(name, "i4"));
  record.append(nb::make_tuple("mode", "u1"));
  record.append(nb::make_tuple("Lambda", "f8", nb::make_tuple(6)));
  std::vector<std::uint8_t> bytes;
  const auto put = [&](const auto& x) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(&x);
    bytes.insert(bytes.end(), from, from + sizeof x);
  };
  for (const ContactImpulse& c : s.state.contacts) {
    put(c.key.a);
    put(c.key.b);
    put(c.key.feature);
    put(c.mode);
    put(c.Lambda);
  }
  const nb::module_ numpy = nb::module_::import_("numpy");
  return numpy.attr("frombuffer")(nb::bytes(bytes.data(), bytes.size()),
                                  numpy.attr("dtype")(record));
}

using Modes = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>;
using Turns = nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>;
const std::uint8_t no_mode = 0;
const std::int32_t no_turn = 0;

}  // namespace

void bind_state(nb::module_& m) {
  nb::class_<StateHandle>(
      m, "State",
      "All that an exact restart needs. State(model) is at rest in the zero position. q, v and "
      "Lambda are views: writing to them changes the state. A copy() is a checkpoint, bit for bit.")
      .def(
          "__init__",
          [](StateHandle* self, const ModelPtr& model) {
            new (self) StateHandle{model, make_state(*model)};
          },
          "model"_a)
      .def_prop_ro("model", [](const StateHandle& s) { return s.model; })
      .def_prop_rw(
          "t", [](const StateHandle& s) { return s.state.t; },
          [](StateHandle& s, double t) {
            require_free(s.busy, "state");
            require_finite(t, "t");
            s.state.t = t;
          },
          "time [s]")
      .def_prop_ro(
          "step", [](const StateHandle& s) { return s.state.step; }, "steps taken")
      .def_prop_rw(
          "q", [](StateHandle& s) { return view(s.state.q); },
          [](StateHandle& s, const ArrayLike& q) {
            require_free(s.busy, "state");
            const Vec x = vector_of(q, s.model->nq, "q");
            check_q(*s.model, x, "q");
            s.state.q = x;
          },
          nb::for_getter(nb::rv_policy::reference_internal),
          "coordinates, a view [m, rad, -]; layout: Body.q0, Body.nq")
      .def_prop_rw(
          "v", [](StateHandle& s) { return view(s.state.v); },
          [](StateHandle& s, const ArrayLike& v) {
            require_free(s.busy, "state");
            s.state.v = vector_of(v, s.model->nv, "v");
          },
          nb::for_getter(nb::rv_policy::reference_internal),
          "velocities, a view [m/s, rad/s]; layout: Body.v0, Body.nv")
      .def_prop_ro(
          "Lambda", [](StateHandle& s) { return view(s.state.Lambda); },
          nb::rv_policy::reference_internal,
          "impulses of the last step, a view [N s, N m s]; layout: Model.slots. Those of contacts "
          "are in `contacts`.")
      .def_prop_ro(
          "contacts", &contacts_of, nb::sig("def contacts(self) -> numpy.ndarray"),
          "Contacts of the last step that carried load, a copy: a structured array with a, "
          "b (indices in Model.shapes), feature, mode (1 stick, 2 slip, 3 closed) and Lambda "
          "(normal, "
          "T1, T2, then rolling and drilling moments) [N s, N m s].")
      .def_prop_ro(
          "mode",
          [](const StateHandle& s) {
            const auto& x = s.state.mode;
            return Modes(x.empty() ? &no_mode : x.data(), {x.size()});
          },
          nb::rv_policy::reference_internal,
          "of each slot: 0 open, 1 stick, 2 slip, 3 closed (no friction); a view")
      .def_prop_ro(
          "turns",
          [](const StateHandle& s) {
            const auto& x = s.state.turns;
            return Turns(x.empty() ? &no_turn : x.data(), {x.size()});
          },
          nb::rv_policy::reference_internal, "full turns of cut revolute joints; a view")
      .def("set_posture", &set_joints, "q"_a = ByBody{}, "v"_a = ByBody{},
           "Puts every body's own joint, cut or not, to q and v given by body name "
           "({'link2': [0.1]}, [rad, m, rad/s, m/s]); those not named to zero.")
      .def("close_loops", &close_loops,
           "Closes the loops of the model at position and velocity level by the smallest change in "
           "the metric of the mass matrix; returns how far open they were [m]. InputError, and the "
           "state as it was, where they cannot be closed from here.")
      .def("copy", &copy_of, "A checkpoint: equal in every bit, independent.")
      .def("__copy__", &copy_of)
      .def(
          "__deepcopy__", [](const StateHandle& s, nb::handle) { return copy_of(s); }, "memo"_a)
      .def("assign", &assign, "other"_a, "Takes over another state of the same model, in place.")
      .def("to_bytes", &bytes_of, "The state as bytes, for this model only.")
      .def_static("from_bytes", &state_of, "model"_a, "bytes"_a,
                  "The state of to_bytes(); InputError if it does not fit the model.")
      .def(
          "__eq__",
          [](const StateHandle& a, const nb::object& other) {
            const StateHandle* b = nullptr;
            return nb::try_cast(other, b, false) && b && a.model == b->model && a.state == b->state;
          },
          "other"_a)
      .def("__repr__", [](const StateHandle& s) {
        return fmt::format("<State: t = {:.6g} s, step {}, nq = {}, nv = {}>", s.state.t,
                           s.state.step, s.model->nq, s.model->nv);
      });
}

}  // namespace saltus::python
