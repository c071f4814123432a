// Runners, springs, drags, wheels, gap contacts and cables of a ModelBuilder, and bodies without
// mass.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.h"
#include "saltus/model/builder.h"
#include "saltus/model/validate.h"

namespace saltus {

namespace {

// Two elements of a kind never share a name: messages and run files go by it.
template <class Specs, class Name>
void require_new(const Specs& specs, const std::string& name, const std::string& path, Name of) {
  require(!name.empty(), path + ".name", "expected a name");
  for (const auto& s : specs)
    require(of(s) != name, path + ".name", fmt::format("the name '{}' is taken", name));
}

BodyIndex find(const Model& model, const std::string& name, const std::string& path) {
  for (int i = 0; i < model.body_count(); ++i)
    if (model.bodies[i].name == name) return BodyIndex(i);
  throw InputError(path, fmt::format("no body is called '{}'", name));
}

// Whether a joint between the body and the world turns it.
bool turns(const Model& model, BodyIndex body) {
  for (int i = body; i >= 0; i = model.bodies[i].parent) {
    const Joint& j = model.bodies[i].joint;
    if (!std::holds_alternative<Fixed>(j) && !std::holds_alternative<Prismatic>(j) &&
        !std::holds_alternative<Carrier>(j) && !std::holds_alternative<PlanarCarrier>(j))
      return true;
  }
  return false;
}

BodyIndex root_of(const Model& model, BodyIndex body) {
  while (model.bodies[body].parent.valid()) body = model.bodies[body].parent;
  return body;
}

}  // namespace

ModelBuilder& ModelBuilder::runner(const Runner& runner, const std::string& body) {
  const std::string path = fmt::format("runners[{}]", runners_.size());
  require_new(runners_, runner.name, path, [](const RunnerSpec& s) { return s.runner.name; });
  check_runner(runner, planar_, path);
  runners_.push_back({runner, body});
  return *this;
}

ModelBuilder& ModelBuilder::spring(const Spring& spring, const std::string& a,
                                   const std::string& b) {
  const std::string path = fmt::format("springs[{}]", springs_.size());
  require_new(springs_, spring.name, path, [](const SpringSpec& s) { return s.spring.name; });
  require(a != b, path + ".between", fmt::format("expected two bodies, got '{}' twice", a));
  check_spring(spring, planar_, path);
  springs_.push_back({spring, a, b});
  return *this;
}

ModelBuilder& ModelBuilder::drag(const Drag& drag, const std::string& body) {
  const std::string path = fmt::format("drags[{}]", drags_.size());
  require_new(drags_, drag.name, path, [](const DragSpec& s) { return s.drag.name; });
  check_drag(drag, path);
  drags_.push_back({drag, body});
  return *this;
}

ModelBuilder& ModelBuilder::wheel(const Wheel& wheel, const std::string& body) {
  const std::string path = fmt::format("wheels[{}]", wheels_.size());
  require_new(wheels_, wheel.name, path, [](const WheelSpec& s) { return s.wheel.name; });
  require(!planar_, path,
          "the wheels of a planar model would turn out of its plane: leave out "
          "`planar`, and let the root's joint be planar");
  require(wheel.centre.allFinite() && std::isfinite(wheel.height), path, "expected finite numbers");
  require(wheel.radius > 0 && std::isfinite(wheel.radius), path + ".radius",
          fmt::format("expected a positive number, got {}", wheel.radius));
  require(wheel.axis.allFinite() && wheel.axis.norm() > 1e-12, path + ".axis",
          "expected a direction");
  require(wheel.normal.allFinite() && wheel.normal.norm() > 1e-12, path + ".normal",
          "expected a direction");
  wheels_.push_back({wheel, body});
  return *this;
}

ModelBuilder& ModelBuilder::gap_contact(const GapContact& contact,
                                        const std::vector<std::string>& joints) {
  const std::string path = fmt::format("gaps[{}]", gaps_.size());
  require_new(gaps_, contact.name, path, [](const GapSpec& s) { return s.contact.name; });
  require(joints.size() == contact.terms.size(), path + ".terms",
          fmt::format("expected a joint for each of {} terms, got {}", contact.terms.size(),
                      joints.size()));
  check_gap_contact(contact, path);
  gaps_.push_back({contact, joints});
  return *this;
}

ModelBuilder& ModelBuilder::cable(const Cable& cable, const std::vector<std::string>& bodies,
                                  const std::vector<std::string>& joints) {
  const std::string path = fmt::format("cables[{}]", cables_.size());
  require_new(cables_, cable.name, path, [](const CableSpec& s) { return s.cable.name; });
  require(bodies.size() == cable.points.size() && joints.size() == cable.pulleys.size(), path,
          "expected a body for each point and a joint for each pulley");
  check_cable(cable, path);
  cables_.push_back({cable, bodies, joints});
  return *this;
}

namespace {

// The coordinate of a pulley or a gap's term.
void find_term(const Model& model, const std::string& name, const std::string& path,
               const char* what, GapTerm& term) {
  for (int j = 0; j < static_cast<int>(model.coordinates.size()); ++j)
    if (model.coordinates[j].name == name) term.coordinate = CoordinateIndex(j);
  require(term.coordinate.valid(), path, fmt::format("no joint coordinate is called '{}'", name));
  const Coordinate& at = model.coordinates[term.coordinate];
  require(!at.cut.valid(), path,
          fmt::format("expected a joint that is not cut, '{}' is: {} are functions of the "
                      "coordinates of a tree",
                      name, what));
  term.velocity = at.v_index;
}

// Whether a cable is a row of two bodies, or of the velocities of one tree.
void lay_out_row(const Model& model, const std::vector<std::string>& joints,
                 const std::string& path, Cable& c) {
  std::vector<int> bodies;
  for (const CablePoint& p : c.points) {
    if (!p.body.valid())
      c.to_world = true;
    else if (std::find(bodies.begin(), bodies.end(), p.body) == bodies.end())
      bodies.push_back(p.body);
  }
  require(!bodies.empty() || !c.pulleys.empty(), path + ".through",
          "expected a point of a body: this cable moves nothing");
  require(!c.pulleys.empty() || bodies.size() > 1 || c.to_world, path + ".through",
          "expected points of two bodies, or of a body and the world");
  if (c.pulleys.empty() && bodies.size() <= 2) {
    c.b = BodyIndex(bodies[0]);
    if (bodies.size() == 2) c.a = BodyIndex(bodies[1]);
    return;
  }
  const auto add = [&](int v) {
    if (std::find(c.velocities.begin(), c.velocities.end(), v) == c.velocities.end())
      c.velocities.push_back(v);
  };
  for (const int body : bodies)
    for (int i = body; i >= 0; i = model.bodies[i].parent)
      for (int k = 0; k < model.bodies[i].nv; ++k) add(model.bodies[i].v0 + k);
  for (const GapTerm& t : c.pulleys) add(t.velocity);
  std::sort(c.velocities.begin(), c.velocities.end());
  require(!c.velocities.empty(), path + ".through", "expected a body that moves");
  for (const GapTerm& t : c.pulleys) bodies.push_back(model.coordinates[t.coordinate].body);
  for (const int body : bodies)
    require(
        root_of(model, BodyIndex(body)) == root_of(model, BodyIndex(bodies[0])), path,
        fmt::format("expected bodies and joints of one tree{}: a cable over more than two bodies "
                    "or over pulleys joins no trees",
                    joints.empty() ? "" : fmt::format(" (as '{}' is)", joints[0])));
}

}  // namespace

void ModelBuilder::add_cables(Model& model) const {
  for (std::size_t i = 0; i < cables_.size(); ++i) {
    const std::string path = fmt::format("cables[{}]", i);
    const CableSpec& spec = cables_[i];
    Cable c = spec.cable;
    for (std::size_t k = 0; k < c.points.size(); ++k)
      if (spec.bodies[k] != "world")
        c.points[k].body = find(model, spec.bodies[k], fmt::format("{}.through[{}].body", path, k));
    for (std::size_t k = 0; k < c.pulleys.size(); ++k) {
      const std::string at = fmt::format("{}.pulleys[{}].joint", path, k);
      find_term(model, spec.joints[k], at, "windings", c.pulleys[k]);
      for (std::size_t j = 0; j < k; ++j)
        require(c.pulleys[j].coordinate != c.pulleys[k].coordinate, at,
                fmt::format("the coordinate '{}' has a pulley already", spec.joints[k]));
    }
    lay_out_row(model, spec.joints, path, c);
    model.cables.push_back(c);
  }
}

void ModelBuilder::add_gap_contacts(Model& model) const {
  for (std::size_t i = 0; i < gaps_.size(); ++i) {
    GapContact c = gaps_[i].contact;
    BodyIndex first;
    for (std::size_t k = 0; k < c.terms.size(); ++k) {
      const std::string path = fmt::format("gaps[{}].terms[{}].joint", i, k);
      const std::string& name = gaps_[i].joints[k];
      GapTerm& term = c.terms[k];
      find_term(model, name, path, "gaps", term);
      for (std::size_t j = 0; j < k; ++j)
        require(c.terms[j].coordinate != term.coordinate, path,
                fmt::format("the coordinate '{}' has a term already", name));
      const Coordinate& at = model.coordinates[term.coordinate];
      if (k == 0) first = root_of(model, at.body);
      require(root_of(model, at.body) == first, path,
              fmt::format("expected joints of one tree, '{}' hangs on another than '{}'", name,
                          gaps_[i].joints[0]));
    }
    model.gap_contacts.push_back(c);
  }
}

void ModelBuilder::add_elements(Model& model) const {
  for (std::size_t i = 0; i < runners_.size(); ++i) {
    Runner r = runners_[i].runner;
    r.body = find(model, runners_[i].body, fmt::format("runners[{}].body", i));
    r.direction.normalize();
    r.normal.normalize();
    model.runners.push_back(r);
  }
  for (std::size_t i = 0; i < springs_.size(); ++i) {
    const SpringSpec& spec = springs_[i];
    const std::string path = fmt::format("springs[{}].between", i);
    Spring s = spec.spring;
    s.a = spec.a == "world" ? world : find(model, spec.a, path);
    s.b = spec.b == "world" ? world : find(model, spec.b, path);
    if (!s.axis.isZero(0)) {
      // Its force on a passes through b's point: that does no work on a body that cannot turn.
      require(!s.a.valid() || !turns(model, s.a), path,
              fmt::format("a spring along a fixed axis starts at a body that does not turn, '{}' "
                          "does",
                          spec.a));
      s.axis.normalize();
    }
    model.springs.push_back(s);
  }
  for (std::size_t i = 0; i < drags_.size(); ++i) {
    Drag d = drags_[i].drag;
    d.body = find(model, drags_[i].body, fmt::format("drags[{}].body", i));
    model.drags.push_back(d);
  }
  for (std::size_t i = 0; i < wheels_.size(); ++i) {
    Wheel x = wheels_[i].wheel;
    x.body = find(model, wheels_[i].body, fmt::format("wheels[{}].body", i));
    x.axis.normalize();
    x.normal.normalize();
    model.wheels.push_back(x);
  }
  for (std::size_t i = 0; i < fluids_.size(); ++i) {
    Fluid x = fluids_[i].fluid;
    x.body = find(model, fluids_[i].body, fmt::format("fluids[{}].body", i));
    model.fluids.push_back(x);
  }
}

// A joint needs inertia that moves with it, of an element any of its stations; a massless link may
// have it from what hangs on it.
void ModelBuilder::refuse_massless(const Model& model, const std::vector<int>& order) const {
  std::vector<char> inert(model.bodies.size(), 1);
  for (const Coordinate& c : model.coordinates)
    if (c.v_index >= 0 && c.dof.armature > 0) inert[c.body] = 0;
  for (int i = model.body_count() - 1; i >= 0; --i) {
    const Body& b = model.bodies[i];
    if (!b.inertia.isZero(0)) inert[i] = 0;
    if (!inert[i] && b.parent.valid()) inert[b.parent] = 0;
    if (!inert[i]) inert[i - b.station] = 0;
    if (inert[i] && b.nv > 0 && b.station == 0)
      throw InputError(path_of(order[i]) + ".mass",
                       "expected a positive number, got 0: nothing with mass or inertia moves "
                       "with this joint");
  }
}

}  // namespace saltus
