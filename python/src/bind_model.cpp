#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "handles.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/model/layout.h"

namespace saltus::python {

using namespace nb::literals;

namespace {

nb::dict slot_dict(const Model& m, int k) {
  const BlockSlot& s = m.slots[k];
  nb::dict d;
  d["kind"] = std::string(name_of(s.kind));
  d["name"] = text(m.name_of({.slot = k}));
  d["row"] = s.row;
  d["rows"] = s.rows;
  return d;
}

template <class T>
std::vector<nb::str> names_of(const std::vector<T>& items) {
  std::vector<nb::str> names;
  for (const T& x : items) names.push_back(text(x.name));
  return names;
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<Body>(m, "Body", "A body of a model and its tree joint.")
      .def_prop_ro("name", [](const Body& b) { return text(b.name); })
      .def_prop_ro(
          "parent", [](const Body& b) { return b.parent.value; }, "its index; -1: the world")
      .def_prop_ro(
          "joint", [](const Body& b) { return std::string(name_of(b.joint)); },
          "kind of the tree joint; of a cut body its carrier")
      .def_prop_ro("cut", [](const Body& b) { return b.cut.valid(); })
      .def_prop_ro(
          "inertia", [](const Body& b) { return b.rigid; }, "mass properties")
      .def_prop_ro(
          "spatial_inertia", [](const Body& b) { return owned(Mat(b.inertia)); }, copied,
          "6 x 6 about the frame's origin, linear part first; added mass included")
      .def_prop_ro("placement", [](const Body& b) { return b.placement; })
      .def_prop_ro("in_body", [](const Body& b) { return b.in_body; })
      .def_ro("q0", &Body::q0, "first of its coordinates in q")
      .def_ro("nq", &Body::nq)
      .def_ro("v0", &Body::v0, "first of its velocities in v")
      .def_ro("s0", &Body::s0, "first of its columns in Workspace.S; v0 without bends")
      .def_ro("nv", &Body::nv)
      .def("__repr__", [](const Body& b) {
        return text(
            fmt::format("<Body '{}': {} kg, {} joint>", b.name, b.rigid.mass, name_of(b.joint)));
      });

  nb::class_<Coordinate>(m, "Coordinate", "A scalar coordinate of a joint, in the tree or cut.")
      .def_prop_ro("name", [](const Coordinate& c) { return text(c.name); })
      .def_prop_ro(
          "body", [](const Coordinate& c) { return c.body.value; }, "index of the child")
      .def_ro("q_index", &Coordinate::q_index, "in q; -1: cut")
      .def_ro("v_index", &Coordinate::v_index, "in v; -1: cut")
      .def_ro("rotational", &Coordinate::rotational, "[rad], else [m]")
      .def_ro("dof", &Coordinate::dof, "springs, limits, friction")
      .def("__repr__", [](const Coordinate& c) {
        return text(fmt::format("<Coordinate '{}' [{}]>", c.name, c.rotational ? "rad" : "m"));
      });

  nb::class_<ContactShape>(m, "ContactShape", "A shape of a body or of the world.")
      .def_prop_ro("name", [](const ContactShape& s) { return text(s.name); })
      .def_prop_ro(
          "body", [](const ContactShape& s) { return s.body.value; }, "its index; -1: the world")
      .def_ro("frame", &ContactShape::frame, "in the body")
      .def_ro("shape", &ContactShape::shape);

  nb::class_<Model>(m, "Model",
                    "The mechanical system, immutable: built by ModelBuilder or by a Scene.")
      .def_ro("nq", &Model::nq, "number of coordinates q")
      .def_ro("nv", &Model::nv, "number of velocities v")
      .def_ro("lambda_rows", &Model::lambda_rows, "rows of State.Lambda")
      .def_ro("planar", &Model::planar)
      .def_prop_ro(
          "gravity", [](const Model& k) { return owned(Vec(k.gravity)); }, copied, "[m/s^2]")
      .def_prop_ro("total_mass", &Model::total_mass, "[kg]")
      .def_prop_ro("bodies", [](const Model& k) { return k.bodies; })
      .def_prop_ro("coordinates", [](const Model& k) { return k.coordinates; })
      .def_prop_ro("shapes", [](const Model& k) { return k.shapes; })
      .def_prop_ro("body_names", [](const Model& k) { return names_of(k.bodies); })
      .def_prop_ro("coordinate_names", [](const Model& k) { return names_of(k.coordinates); })
      .def_prop_ro("spring_names", [](const Model& k) { return names_of(k.springs); })
      .def_prop_ro("drag_names", [](const Model& k) { return names_of(k.drags); })
      .def_prop_ro("runner_names", [](const Model& k) { return names_of(k.runners); })
      .def_prop_ro("cut_names", [](const Model& k) { return names_of(k.cuts); })
      .def_prop_ro(
          "slots",
          [](const Model& k) {
            std::vector<nb::dict> all;
            for (std::size_t i = 0; i < k.slots.size(); ++i)
              all.push_back(slot_dict(k, static_cast<int>(i)));
            return all;
          },
          "Blocks of State.Lambda: kind, name, row, rows. Contacts have none: see State.contacts.")
      .def(
          "body", [](const Model& k, const BodyName& name) { return k.bodies[body_of(k, name)]; },
          "name"_a)
      .def(
          "body_index", [](const Model& k, const std::string& name) { return k.body(name).value; },
          "name"_a)
      .def(
          "coordinate",
          [](const Model& k, const BodyName& name) {
            return k.coordinates[coordinate_of(k, name)];
          },
          "name"_a)
      .def(
          "coordinate_index",
          [](const Model& k, const std::string& name) { return k.coordinate(name).value; },
          "name"_a)
      .def("__repr__", [](const Model& k) {
        return fmt::format("<Model: {} bodies, nq = {}, nv = {}, {} shapes>", k.body_count(), k.nq,
                           k.nv, k.shapes.size());
      });
}

}  // namespace saltus::python
