#include "saltus/simulate/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/energy.h"
#include "saltus/forces/flow.h"
#include "saltus/forces/fluid.h"
#include "saltus/forces/momentum_balance.h"
#include "saltus/geometry/friction_map.h"
#include "saltus/geometry/hull.h"
#include "saltus/geometry/mesh.h"
#include "saltus/geometry/terrain.h"
#include "saltus/runs/run_header.h"
#include "saltus/runs/run_rows.h"
#include "saltus/scene/document.h"

namespace saltus {

namespace {

using Type = ColumnType;
using Json = nlohmann::ordered_json;

enum Table { contacts, frames, steps, first_of_impacts, causes = 6, members, modes_table };

int count(std::size_t n) { return static_cast<int>(n); }

TableSpec contact_table() {
  return {"contacts",
          {{"kind", Type::u8, 1, "", "0 contact of two shapes, 1 support friction"},
           {"a", Type::i32, 1, "", "first shape, of header.shapes; a support: -1"},
           {"b", Type::i32, 1, "", "second shape; a support: its body, of header.bodies"},
           {"feature", Type::i32, 1, "", "which of the pair's points; of the body's supports"},
           {"mode", Type::u8, 1, "", "0 open, 1 stick, 2 slip, 3 closed (no friction)"},
           {"gap", Type::f64, 1, "m", "at the mid-point of the step, before the correction"},
           {"point", Type::f64, 3, "m", "inertial frame"},
           {"normal", Type::f64, 3, "", "from the first to the second"},
           {"impulse", Type::f64, 3, "N s", "of the last step on the second, inertial frame"},
           {"normal_impulse", Type::f64, 1, "N s", "its normal part; a support's given load"}}};
}

bool in_flows(const Model& m) {
  return std::any_of(m.fluids.begin(), m.fluids.end(),
                     [](const Fluid& f) { return f.flow != nullptr; });
}

TableSpec frame_table(const System& s) {
  const Model& m = s.model;
  TableSpec table{
      "frames",
      {{"t", Type::f64, 1, "s", ""},
       {"step", Type::i64, 1, "", "steps taken"},
       {"q", Type::f64, m.nq, "", "coordinates"},
       {"v", Type::f64, m.nv, "", "velocities"},
       {"pose", Type::f64, 7 * m.body_count(), "m", "x y z qw qx qy qz of every body"},
       {"com", Type::f64, 3, "m", "centre of mass"},
       {"coordinate", Type::f64, count(m.coordinates.size()), "", "joint coordinates"},
       {"motor", Type::f64, count(m.coordinates.size()), "N m", "motor force of joint coordinates"},
       {"drive", Type::f64, m.any_prescribed ? m.nv : 0, "N m", "force of prescribed velocities"},
       {"contact_end", Type::i64, 1, "", "end of the frame's rows in contacts"},
       {"undetermined", Type::i32, 1, "", "impulses that contacts of dense islands leave open"},
       {"fluid_force", Type::f64, 3 * count(m.fluids.size()), "N", "of header.fluids"},
       {"flow", Type::f64, in_flows(m) ? 3 * count(m.fluids.size()) : 0, "m/s", "of the fluid"},
       {"momentum", Type::f64, in_flows(m) ? 18 : 0, "N s", "of shape, net motion and flow"},
       {"momentum_missing", Type::f64, in_flows(m) ? 6 : 0, "N", "what the flow does not take"}}};
  for (const char* name : {"kinetic", "potential"})
    table.columns.push_back({name, Type::f64, 1, "J", "energy"});
  for (const char* name : {"motors", "prescribed", "muscles", "external", "dampers", "contacts",
                           "friction", "joints", "correction", "integrator"})
    table.columns.push_back({fmt::format("work_{}", name), Type::f64, 1, "J", "since the start"});
  table.columns.push_back({"work_impacts", Type::f64, 1, "J", "part of the others: at impacts"});
  std::erase_if(table.columns, [](const Column& c) { return c.width == 0; });
  return table;
}

TableSpec step_table() {
  return {"steps",
          {{"t", Type::f64, 1, "s", "end of the step"},
           {"iterations", Type::i32, 1, "", "of the solver"},
           {"residual", Type::f64, 1, "m/s", "natural map"},
           {"converged", Type::u8, 1, "", ""},
           {"restitution_share", Type::f64, 1, "", "1: as asked; less: capped by energy"},
           {"raw_penetration", Type::f64, 1, "m", "before the correction"},
           {"penetration", Type::f64, 1, "m", "after it"},
           {"raw_joint_gap", Type::f64, 1, "m", ""},
           {"joint_gap", Type::f64, 1, "m", ""},
           {"energy_error", Type::f64, 1, "J", "of the scheme, the correction and the joints"},
           {"wall_s", Type::f64, 1, "s", "wall-clock time since the run began"}}};
}

std::vector<TableSpec> mode_tables() {
  return {with_place("causes", {{"cause", Type::u8, 1, "", "of header.causes"},
                                {"value", Type::f64, 1, "s", "accumulation: its end"}}),
          with_place("members", {{"status", Type::u8, 1, "", "1 holds, 2 slips or slides"}}),
          {"modes",
           {{"t", Type::f64, 1, "s", "from when on"},
            {"step", Type::i64, 1, "", "steps taken when it was recorded"},
            {"impact", Type::u8, 1, "", "velocities jumped"},
            {"kinetic_before", Type::f64, 1, "J", "of an impact, event-driven"},
            {"kinetic_after", Type::f64, 1, "J", ""},
            {"restitution_share", Type::f64, 1, "", "1: as asked; less: capped by energy"},
            {"cause_end", Type::i64, 1, "", "end of the change's rows in causes"},
            {"member_end", Type::i64, 1, "", "end of its rows in members"}}}};
}

// Of each fluid what it does to its body, and how fast it is there, in the inertial frame.
struct FluidRows {
  std::vector<double> force, flow, momentum, missing;
};
FluidRows fluid_rows(const Model& m, const Workspace& work, double t) {
  FluidRows rows;
  const bool flows = in_flows(m);
  const auto put = [](std::vector<double>& to, const Vec3& x) {
    to.insert(to.end(), x.begin(), x.end());
  };
  for (const Fluid& f : m.fluids) {
    const SE3& X = work.X[f.body];
    const Vec6 wrench = fluid_force(f, m.gravity, t, X, work.V[f.body]).wrench;
    put(rows.force, X.R * wrench.head<3>());
    if (flows)
      put(rows.flow, f.flow ? flow_at(*f.flow, X * place_of(f), t).velocity : Vec3(Vec3::Zero()));
  }
  if (!flows) return rows;
  const MomentumBalance balance = momentum_balance(m, work, t);
  for (const Vec6& part : {balance.shape, balance.net, balance.flow})
    rows.momentum.insert(rows.momentum.end(), part.begin(), part.end());
  rows.missing.assign(balance.missing.begin(), balance.missing.end());
  return rows;
}

Json mesh_json(const TriangleMesh& mesh) {
  Json vertices = Json::array(), triangles = Json::array();
  for (const Vec3& v : mesh.vertices) vertices.push_back({v.x(), v.y(), v.z()});
  for (const auto& t : mesh.triangles)
    for (const int i : t) triangles.push_back(i);
  return {{"vertices", vertices}, {"triangles", triangles}};
}

Json map_json(const FrictionMap& map) {
  return {{"points", {map.nx, map.ny}},
          {"spacing", {map.dx, map.dy}},
          {"origin", {map.origin.x(), map.origin.y()}},
          {"bilinear", map.between == FrictionMap::Between::bilinear},
          {"factors", map.factors}};
}

TableSpec sensor_table(const Sensor& s) {
  TableSpec table{"sensor_" + s.name,
                  {{"t", Type::f64, 1, "s", "when it was measured"},
                   {"arrived", Type::f64, 1, "s", "when it was known"},
                   {"step", Type::i64, 1, "", "steps taken then"}}};
  for (const SensorGroup& g : groups_of(s))
    table.columns.push_back({g.name, Type::f64, g.values, g.unit, ""});
  return table;
}

Json sensor_json(const Model& m, const Sensor& s) {
  Json j = {{"name", s.name}, {"type", name_of(s.kind)}, {"rate", s.rate}, {"delay", s.delay}};
  if (s.body.valid()) j["body"] = m.bodies[s.body].name;
  if (s.shape.valid()) j["shape"] = m.shapes[s.shape].name;
  for (const CoordinateIndex c : s.joints) j["joints"].push_back(m.coordinates[c].name);
  for (const SensorGroup& g : groups_of(s)) j["values"].push_back(g.name);
  return j;
}

Json shape_json(const ContactShape& s) {
  Json j = {{"name", s.name}, {"body", s.body.value}, {"type", name_of(s.shape)}};
  const Quat p(s.frame.R);
  j["pose"] = {s.frame.r.x(), s.frame.r.y(), s.frame.r.z(), p.w(), p.x(), p.y(), p.z()};
  if (const auto* x = std::get_if<Sphere>(&s.shape)) j["radius"] = x->radius;
  if (const auto* x = std::get_if<Peg>(&s.shape)) j["radius"] = x->radius;
  if (const auto* x = std::get_if<Capsule>(&s.shape)) {
    j["radius"] = x->radius;
    j["half_length"] = x->half_length;
  }
  if (const auto* x = std::get_if<Cylinder>(&s.shape)) {
    j["radius"] = x->radius;
    j["half_length"] = x->half_length;
  }
  if (const auto* x = std::get_if<ConvexHull>(&s.shape)) {
    j["vertices"] = Json::array();
    for (const Vec3& v : x->hull->vertices) j["vertices"].push_back({v.x(), v.y(), v.z()});
    j["triangles"] = x->hull->triangles();  // three vertices each
    if (x->drawn) j["mesh"] = mesh_json(*x->drawn);
  }
  if (const auto* x = std::get_if<HeightField>(&s.shape)) {
    const Terrain& t = *x->terrain;
    j["points"] = {t.nx, t.ny};
    j["spacing"] = {t.dx, t.dy};
    j["origin"] = {t.origin.x(), t.origin.y()};
    j["heights"] = t.heights;  // row by row, x runs fastest
  }
  if (s.surface.friction) j["friction_map"] = map_json(*s.surface.friction);
  if (!s.surface.velocity.isZero(0))
    j["surface_velocity"] = {s.surface.velocity.x(), s.surface.velocity.y(),
                             s.surface.velocity.z()};
  if (const auto* x = std::get_if<Ellipsoid>(&s.shape))
    j["semi_axes"] = {x->semi_axes.x(), x->semi_axes.y(), x->semi_axes.z()};
  if (const auto* x = std::get_if<Box>(&s.shape))
    j["half_size"] = {x->half_size.x(), x->half_size.y(), x->half_size.z()};
  return j;
}

Json header_json(const Scene& scene, const System& system) {
  const Model& m = system.model;
  Json j;
  j["title"] = scene.title;
  j["description"] = scene.description;
  j["dt"] = scene.stepping.dt;
  j["end"] = scene.end;
  if (const std::string folder = scene.document->folder_of_files(); !folder.empty())
    j["folder"] = folder;  // of the files the scene names
  j["planar"] = m.planar;
  j["gravity"] = {m.gravity.x(), m.gravity.y(), m.gravity.z()};
  j["nq"] = m.nq;
  j["nv"] = m.nv;
  j["bodies"] = Json::array();
  for (const Body& b : m.bodies)
    j["bodies"].push_back({{"name", b.name},
                           {"mass", b.rigid.mass},
                           {"parent", b.parent.value},
                           {"q0", b.q0},
                           {"v0", b.v0}});
  j["coordinates"] = Json::array();
  for (const Coordinate& c : m.coordinates) j["coordinates"].push_back(c.name);
  j["shapes"] = Json::array();
  for (const ContactShape& s : m.shapes) j["shapes"].push_back(shape_json(s));
  j["visuals"] = Json::array();
  for (const VisualScene& v : scene.visuals) {
    const BodyIndex body = v.shape.body == "world" ? world : m.body(v.shape.body);
    Json visual = shape_json({v.shape.name, body, v.shape.frame, v.shape.shape, 0, {}});
    if (const auto& c = v.colour) visual["colour"] = {c->x(), c->y(), c->z(), c->w()};
    j["visuals"].push_back(visual);
  }
  if (scene.robots) j["complete_scene"] = complete_text(scene);
  j["supports"] = m.supports.size();
  j["contact_laws"] = m.contact_laws.size();
  j["integrator"] = integrator_name(integrator_of(scene));
  if (scene.method == Method::moreau) j["storage"] = name_of(storage_of(scene.stepping, m));
  describe_elements(m, system.actuation, j);
  j["sensors"] = Json::array();
  for (const Sensor& sensor : system.sensors) j["sensors"].push_back(sensor_json(m, sensor));
  j["causes"] = Json::array();
  for (int k = 0; k <= static_cast<int>(last_cause); ++k)
    j["causes"].push_back(name_of(static_cast<Cause>(k)));
  j["impact_law"] = name_of(scene.stepping.impact);
  j["impact_paths"] = Json::array();
  for (int k = 0; k <= static_cast<int>(ImpactPath::fallback); ++k)
    j["impact_paths"].push_back(name_of(static_cast<ImpactPath>(k)));
  j["probes"] = Json::array();
  for (const Probe& p : scene.probes)
    j["probes"].push_back(
        {{"name", p.name}, {"body", p.body}, {"point", {p.point.x(), p.point.y(), p.point.z()}}});
  return j;
}

}  // namespace

RunFileSpec run_file_spec(const Scene& scene, const System& system, bool checkpoints) {
  std::vector<TableSpec> tables = {contact_table(), frame_table(system), step_table()};
  for (TableSpec& t : impact_tables(system.model)) tables.push_back(std::move(t));
  if (records_modes(scene))
    for (TableSpec& t : mode_tables()) tables.push_back(std::move(t));
  for (const Sensor& s : system.sensors) tables.push_back(sensor_table(s));
  return {scene.document->effective_text(),
          header_json(scene, system).dump(-1, ' ', false, Json::error_handler_t::replace), tables,
          checkpoints};
}

Recorder::Recorder(const std::string& path, const Scene& scene, const System& system,
                   bool checkpoints, bool publish)
    : spec_(run_file_spec(scene, system, checkpoints)),
      writer_(path, spec_, publish),
      impacts_(first_of_impacts, scene.output.impacts),
      modes_(records_modes(scene)),
      first_sensor_(count(spec_.tables.size() - system.sensors.size())),
      dt_(scene.stepping.dt) {
  std::vector<std::int32_t> seen(system.model.bodies.size(), 0);
  for (const SupportFriction& f : system.model.supports) support_feature_.push_back(seen[f.body]++);
}

void Recorder::append_contact(const ContactRow& r) {
  writer_.append(contacts, 1,
                 {&r.kind, &r.a, &r.b, &r.feature, &r.mode, &r.gap, r.point.data(), r.normal.data(),
                  r.impulse.data(), &r.load});
  ++contact_rows_;
}

void Recorder::record_contacts(const Assembly& assembly) {
  for (const Contact& c : assembly.contacts) {
    if (c.mode == 0) continue;
    const Vec3& n = c.point.normal;
    append_contact({0, c.key.a, c.key.b, c.key.feature, c.mode, c.point.gap,
                    0.5 * (c.point.on_a + c.point.on_b), n,
                    c.Lambda[0] * n + c.Lambda[1] * c.tangent + c.Lambda[2] * n.cross(c.tangent),
                    c.Lambda[0]});
  }
}

void Recorder::record_supports(const Model& m, const State& state, const Assembly& assembly) {
  for (std::size_t k = 0; k < m.slots.size(); ++k) {
    const BlockSlot& s = m.slots[k];
    Touch at;
    if (!touch_of(m, state, assembly, s, at)) continue;
    append_contact({1, -1, at.body.value, support_feature_[s.index], state.mode[k], 0, at.point,
                    at.normal, at.impulse, at.load * dt_});
  }
}

void Recorder::frame(const System& system, const State& state, const StepResult& result,
                     const EnergyTerms& e, int undetermined) {
  const Model& m = system.model;
  if (state.step > 0) {
    record_contacts(result.assembly);
    record_supports(m, state, result.assembly);
  }
  std::vector<double> pose, coordinate;
  for (int i = 0; i < m.body_count(); ++i) {
    const Quat p(result.work.X[i].R);
    const Vec3& r = result.work.X[i].r;
    pose.insert(pose.end(), {r.x(), r.y(), r.z(), p.w(), p.x(), p.y(), p.z()});
  }
  for (std::size_t c = 0; c < m.coordinates.size(); ++c)
    coordinate.push_back(
        coordinate_value(m, result.work, state.q, state.turns, CoordinateIndex(count(c))));
  const Vec3 com = centre_of_mass(m, result.work);
  std::vector<const void*> data = {&state.t,       &state.step, state.q.data(),
                                   state.v.data(), pose.data(), com.data()};
  if (!coordinate.empty()) {
    data.push_back(coordinate.data());
    data.push_back(result.motor_force.data());
  }
  if (m.any_prescribed) data.push_back(result.drive.data());
  data.push_back(&contact_rows_);
  const std::int32_t open = undetermined;
  data.push_back(&open);
  const FluidRows fluids = fluid_rows(m, result.work, state.t);
  if (!fluids.force.empty()) data.push_back(fluids.force.data());
  for (const auto* part : {&fluids.flow, &fluids.momentum, &fluids.missing})
    if (!part->empty()) data.push_back(part->data());
  for (const double* x :
       {&e.kinetic, &e.potential, &e.motors, &e.prescribed, &e.muscles, &e.external, &e.dampers,
        &e.contacts, &e.friction, &e.joints, &e.correction, &e.integrator, &e.impacts})
    data.push_back(x);
  writer_.append(frames, 1, data);
}

void Recorder::step(const State& state, const StepReport& r, double wall_s) {
  const std::int32_t iterations = r.solve().iterations;
  const std::uint8_t converged = r.solve().converged;
  const double error = r.energy_error();
  writer_.append(steps, 1,
                 {&state.t, &iterations, &r.solve().residual, &converged, &r.impact.s,
                  &r.projection.raw_penetration, &r.projection.penetration,
                  &r.projection.raw_joint_gap, &r.projection.joint_gap, &error, &wall_s});
}

void Recorder::impact(const ImpactRecord& record, std::int64_t step) {
  impacts_.append(record, step, writer_);
}

void Recorder::modes(const std::vector<ModeChange>& changes, std::int64_t step) {
  for (const ModeChange& c : changes) {
    for (const EventCause& cause : c.causes) {
      const PlaceRow p(cause.place);
      const auto kind = static_cast<std::uint8_t>(cause.cause);
      writer_.append(causes, 1, {&p.kind, &p.a, &p.b, &p.feature, &kind, &cause.value});
      ++cause_rows_;
    }
    for (const ModeMember& member : c.after) {
      const PlaceRow p(member.place);
      const auto status = static_cast<std::uint8_t>(member.status);
      writer_.append(members, 1, {&p.kind, &p.a, &p.b, &p.feature, &status});
      ++member_rows_;
    }
    const std::uint8_t impact = c.impact;
    writer_.append(modes_table, 1,
                   {&c.t, &step, &impact, &c.kinetic_before, &c.kinetic_after, &c.share,
                    &cause_rows_, &member_rows_});
  }
}

void Recorder::sensors(const SensorBank& bank) {
  for (const int i : bank.arrived()) {
    const SensorBank::Reading& r = bank.reading(i);
    const double arrived = r.taken + static_cast<double>(r.late) * dt_;
    std::vector<const void*> data = {&r.taken, &arrived, &r.arrived};
    const double* value = r.value.data();
    for (const SensorGroup& g : groups_of(bank.sensors()[i])) {
      data.push_back(value);
      value += g.values;
    }
    writer_.append(first_sensor_ + i, 1, data);
  }
}

void Recorder::copy(const RunReader& from, std::int64_t step) {
  // Rows up to the checkpoint: frames by their step, contacts by those frames, steps by count.
  const std::size_t frame_rows = rows_until(from, "frames", step),
                    contact_rows = end_of(from, "frames", "contact_end", frame_rows);
  std::vector<std::size_t> rows = {contact_rows, frame_rows, static_cast<std::size_t>(step)};
  for (const std::size_t n : impacts_.resume(from, step)) rows.push_back(n);
  if (modes_) {
    const std::size_t n = rows_until(from, "modes", step),
                      cause_rows = end_of(from, "modes", "cause_end", n),
                      member_rows = end_of(from, "modes", "member_end", n);
    rows.insert(rows.end(), {cause_rows, member_rows, n});
    cause_rows_ = static_cast<std::int64_t>(cause_rows);
    member_rows_ = static_cast<std::int64_t>(member_rows);
  }
  for (int t = first_sensor_; t < count(spec_.tables.size()); ++t) {
    const auto when = from.read(spec_.tables[t].name, "step", 0, from.rows(spec_.tables[t].name));
    rows.push_back(std::count_if(when.begin(), when.end(),
                                 [&](double x) { return x <= static_cast<double>(step); }));
  }
  for (int t = 0; t < count(rows.size()); ++t) {
    const TableSpec& table = spec_.tables[t];
    if (from.rows(table.name) < rows[t])
      throw InputError(fmt::format("the run's table '{}' ends before its checkpoint", table.name));
    std::vector<std::vector<std::uint8_t>> bytes;
    std::vector<const void*> data;
    for (const Column& c : table.columns)
      bytes.push_back(from.read_raw(table.name, c.name, 0, rows[t]));
    data.reserve(bytes.size());
    for (const auto& b : bytes) data.push_back(b.data());
    writer_.append(t, rows[t], data);
  }
  contact_rows_ = static_cast<std::int64_t>(contact_rows);
}

void Recorder::checkpoint(std::int64_t step, const std::vector<std::uint8_t>& bytes) {
  writer_.checkpoint(step, bytes);
}

}  // namespace saltus
