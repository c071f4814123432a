// From a scene to a model, its actuation and its start state.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "saltus/contact/elements.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/dynamics/mass.h"
#include "saltus/model/joint_traits.h"
#include "saltus/model/layout.h"
#include "saltus/scene/document.h"
#include "saltus/scene/scene.h"

namespace saltus {

namespace {

constexpr int most_default_touches = 8;

struct SystemBuilder {
  const Scene& scene;
  StartVelocities velocities = StartVelocities::checked;
  ModelBuilder builder{};
  System system{};

  [[nodiscard]] InputError error(const std::string& path, const std::string& message) const {
    return scene.document->error(path, message);
  }

  [[nodiscard]] static InputError of_robot(const BodyScene& body, const std::string& message) {
    return InputError(fmt::format("{}: body '{}': {}", body.source, body.name, message));
  }

  // The builder counts a snake's or a worm's parts among the bodies, springs, drags and runners;
  // the document does not.
  [[nodiscard]] InputError located(const InputError& e) const {
    const char* const animal = scene.worm ? "worm" : "snake";
    const struct {
      const char* list;
      std::size_t own;
    } lists[] = {{"bodies", own.bodies},
                 {"springs", own.springs},
                 {"drags", own.drags},
                 {"runners", own.runners}};
    for (const auto& l : lists) {
      const std::string start = std::string(l.list) + "[";
      if (!e.path().starts_with(start)) continue;
      std::size_t length = 0;
      const std::size_t index = std::stoul(e.path().substr(start.size()), &length);
      if (index < l.own) return error(animal, e.message());
      if (l.list == lists[0].list && !scene.bodies[index - l.own].source.empty())
        return of_robot(scene.bodies[index - l.own], e.message());
      return error(
          fmt::format("{}{}{}", start, index - l.own, e.path().substr(start.size() + length)),
          e.message());
    }
    if (e.path().starts_with("worm")) return error(e.path(), e.message());
    if (e.path().starts_with("contacts[")) return error(e.path(), e.message());
    if (e.path().starts_with("bends[")) return error(e.path(), e.message());
    if (e.path().starts_with("rods[")) return error(e.path(), e.message());
    if (e.path().rfind("loops[", 0) == 0) {
      const LoopScene& l = scene.loops[std::stoul(e.path().substr(6))];
      if (l.source.empty()) return error(e.path(), e.message());
      return InputError(fmt::format("{}: loop '{}': {}", l.source, l.joint.name, e.message()));
    }
    if (e.path().starts_with("integrator")) return error(e.path(), e.message());
    if (e.path().starts_with("gaps[")) return error(e.path(), e.message());
    if (e.path().starts_with("wheels[")) return error(e.path(), e.message());
    if (e.path().starts_with("fluids["))
      return error(fluid_paths[std::stoul(e.path().substr(7))], e.message());
    if (e.path().starts_with("cables[")) {
      const CableScene& c = scene.cables[std::stoul(e.path().substr(7))];
      if (c.source.empty()) return error(e.path(), e.message());
      return InputError(fmt::format("{}: tendon '{}': {}", c.source, c.cable.name, e.message()));
    }
    if (!e.path().empty()) return error("", e.path() + ": " + e.message());
    return error("", e.what());
  }

  struct NamedShape {
    std::string name, body;
  };
  std::vector<NamedShape> shapes{};
  std::unordered_set<std::string> shape_names{};
  std::vector<WormJoint> worm{};  // its bodies
  struct Parts {
    std::size_t bodies = 0, springs = 0, drags = 0, runners = 0;
  } own{};  // of the snake or the worm

  void add_shape(const ShapeScene& s, const std::string& path) {
    if (!shape_names.insert(s.name).second)
      throw error(s.source.empty() ? path + ".name" : "robots",
                  fmt::format("{}{}the shape name '{}' is taken", s.source,
                              s.source.empty() ? "" : ": ", s.name));
    builder.shape(s.name, s.body, s.frame, s.shape, s.surface);
    shapes.push_back({s.name, s.body});
  }

  std::unordered_map<std::string, std::size_t> body_of{};  // by name, in scene.bodies

  // A body's joint, prescribed where a gait drives it.
  [[nodiscard]] JointSpec driven_joint(const BodyScene& b, std::size_t index) const {
    JointSpec joint = b.joint;
    const std::string& name = joint.name.empty() ? b.name : joint.name;
    for (const GaitScene& g : scene.gaits) {
      if (std::holds_alternative<Spherical>(joint.kind)) {
        joint.driven = joint.driven || (g.drive && !components_of(g, b.name).empty());
        continue;
      }
      if (!g.drive || std::none_of(g.joints.begin(), g.joints.end(),
                                   [&](const std::string& p) { return matches(p, name); }))
        continue;
      if (nv_of(joint.kind) != 1)
        throw error(fmt::format("{}.drive", g.path),
                    fmt::format("expected joints with one coordinate, '{}' is {}", name,
                                name_of(joint.kind)));
      if (b.prescribed || (!joint.dofs.empty() && joint.dofs.front().prescribed))
        throw error(fmt::format("bodies[{}].joint", index),
                    fmt::format("joint '{}' is prescribed already", name));
      if (joint.dofs.empty()) joint.dofs.resize(1);
      joint.dofs.front().prescribed = true;
    }
    return joint;
  }

  // Components x, y, z of a body's spherical joint that a gait names.
  [[nodiscard]] static std::vector<int> components_of(const GaitScene& g, const std::string& body) {
    std::vector<int> found;
    for (int k = 0; k < 3; ++k)
      if (std::any_of(g.joints.begin(), g.joints.end(), [&](const std::string& p) {
            return matches(p, fmt::format("{}.{}", body, "xyz"[k]));
          }))
        found.push_back(k);
    return found;
  }

  // What a gait moves: a coordinate, or a component of a spherical joint's rotation vector.
  struct Driven {
    CoordinateIndex coordinate;
    BodyIndex body;
    int component = 0;
    bool operator==(const Driven&) const = default;
  };
  [[nodiscard]] std::vector<Driven> driven_by(const GaitScene& g) const {
    std::vector<Driven> joints;
    const auto add = [&](const Driven& d) {
      if (std::find(joints.begin(), joints.end(), d) == joints.end()) joints.push_back(d);
    };
    for (const std::string& pattern : g.joints) {
      bool any = false;
      for (std::size_t c = 0; c < system.model.coordinates.size(); ++c) {
        const Coordinate& x = system.model.coordinates[c];
        if (!matches(pattern, x.name) || !x.dof.prescribed) continue;
        add({CoordinateIndex(static_cast<int>(c)), {}, 0});
        any = true;
      }
      for (int b = 0; b < system.model.body_count(); ++b)
        for (int k = 0; k < 3 && system.model.bodies[b].driven; ++k) {
          if (!matches(pattern, fmt::format("{}.{}", system.model.bodies[b].name, "xyz"[k])))
            continue;
          add({{}, BodyIndex(b), k});
          any = true;
        }
      if (!any) throw error(g.path + ".joints", fmt::format("no joint matches {}", pattern));
    }
    return joints;
  }

  // Signals of the gaits that drive, along their joints in the order of the patterns. A component
  // of a rotation vector that none names is zero.
  void add_gaits() {
    Actuation& a = system.actuation;
    for (int b = 0; b < system.model.body_count(); ++b)
      if (system.model.bodies[b].driven) a.rotations.push_back({BodyIndex(b), {}});
    std::set<std::pair<int, int>> moved;
    for (const GaitScene& g : scene.gaits) {
      if (!g.drive) continue;
      const std::vector<Driven> joints = driven_by(g);
      try {
        const std::vector<Signal> r = gait_signals(g, joints.size());
        for (std::size_t i = 0; i < joints.size(); ++i) {
          const Driven& d = joints[i];
          if (d.coordinate.valid()) {
            a.prescribed.push_back({d.coordinate, r[i]});
            continue;
          }
          if (!moved.insert({d.body, d.component}).second)
            throw InputError(g.path + ".joints",
                             fmt::format("a gait moves '{}.{}' already",
                                         system.model.bodies[d.body].name, "xyz"[d.component]));
          for (PrescribedRotation& p : a.rotations)
            if (p.body == d.body) p.r[d.component] = r[i];
        }
      } catch (const InputError& e) { throw error(e.path(), e.message()); }
    }
  }

  void add_bodies() {
    builder
        .planar(scene.planar || scene.snake.has_value() || (scene.worm && scene.worm->spec.planar))
        .gravity(scene.gravity)
        .coordinates(scene.coordinates);
    if (scene.snake) {
      SnakeSpec spec = scene.snake->spec;
      spec.gravity = scene.gravity.norm();
      own.bodies = static_cast<std::size_t>(spec.links);  // before: an error is theirs
      add_snake(builder, spec);
      for (int i = 1; i <= spec.links; ++i) {
        const std::string name = fmt::format("link{}", i);
        shape_names.insert(name);
        shapes.push_back({name, name});
      }
    }
    if (scene.worm) {
      const WormSpec& spec = scene.worm->spec;
      worm = worm_joints(spec);
      own.bodies = worm.size();
      own.springs = spec.springs.size();
      for (std::size_t i = 0; i < spec.masses.size(); ++i) {
        own.drags += spec.masses[i].drag > 0;
        own.runners += worm_runner(spec, static_cast<int>(i)) >= 0;
      }
      add_worm(builder, spec);
    }
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
      const BodyScene& b = scene.bodies[i];
      builder.body(b.name, b.inertia, driven_joint(b, i));
      if (!b.added.isZero()) builder.added_inertia(b.name, b.added);
      body_of.emplace(b.name, i);
      for (std::size_t k = 0; k < b.shapes.size(); ++k)
        add_shape(b.shapes[k], fmt::format("bodies[{}].shapes[{}]", i, k));
    }
    for (std::size_t i = 0; i < scene.bends.size(); ++i) add_bend(i);
    for (std::size_t i = 0; i < scene.rods.size(); ++i) add_rod(i);
    for (const LoopScene& l : scene.loops) builder.loop(l.child, l.joint);
    for (std::size_t i = 0; i < scene.obstacles.size(); ++i)
      add_shape(scene.obstacles[i], fmt::format("obstacles[{}]", i));
  }

  // Bends, and segments of rods: their stations, by whose names they are found, and their joint.
  struct ElementNames {
    std::vector<std::string> stations;
    std::string joint;
  };
  std::vector<ElementNames> elements{};
  std::unordered_map<std::string, std::size_t> element_of{};

  void add_element(const ElementNames& element) {
    for (const std::string& station : element.stations)
      element_of.emplace(station, elements.size());
    elements.push_back(element);
  }
  // The shapes of an element, at one of its stations.
  void add_station_shapes(const std::vector<ShapeScene>& of, const std::string& name,
                          const std::string& station, const std::string& path) {
    for (std::size_t k = 0; k < of.size(); ++k) {
      ShapeScene s = of[k];
      s.name += station.substr(name.size());
      s.body = station;
      add_shape(s, fmt::format("{}.shapes[{}]", path, k));
    }
  }

  // After the bodies: the builder counts its stations among them.
  void add_bend(std::size_t index) {
    const BendScene& bend = scene.bends[index];
    builder.bend(bend.spec);
    ElementNames element{{}, bend.spec.name};
    for (int i = 1; i <= bend.spec.stations; ++i)
      element.stations.push_back(fmt::format("{}.{}", bend.spec.name, i));
    element.stations.push_back(bend.spec.name + ".tip");
    add_element(element);
    for (const std::string& station : element.stations)
      add_station_shapes(bend.shapes, bend.spec.name, station, fmt::format("bends[{}]", index));
  }

  // At how many points a segment may touch between its stations: time stepping knows them. One that
  // lies needs one an interval, on rough ground more.
  [[nodiscard]] int touches_of(const RodScene& rod, const std::string& path) const {
    const bool round = std::any_of(rod.shapes.begin(), rod.shapes.end(), [](const ShapeScene& s) {
      return std::holds_alternative<Sphere>(s.shape);
    });
    if (rod.touches > 0 && !round)
      throw error(path + ".touches", "expected a sphere or a point among the rod's shapes");
    if (rod.touches >= 0) return rod.touches;
    if (!round || scene.method != Method::moreau) return 0;
    return std::min(most_default_touches, heavy_stations(rod.spec.segments.front()) + 3);
  }

  void add_rod(std::size_t index) {
    const RodScene& rod = scene.rods[index];
    const std::string path = fmt::format("rods[{}]", index);
    RodSpec spec = rod.spec;
    for (SegmentSpec& s : spec.segments) s.touches = touches_of(rod, path);
    builder.rod(spec);
    add_station_shapes(rod.shapes, spec.name, spec.name + ".base", path);
    const auto names = station_names(spec), touches = touch_names(spec);
    std::vector<ShapeScene> round;
    for (const ShapeScene& s : rod.shapes)
      if (std::holds_alternative<Sphere>(s.shape)) round.push_back(s);
    for (std::size_t k = 0; k < names.size(); ++k) {
      ElementNames element{names[k], segment_name(spec, k)};
      element.stations.insert(element.stations.end(), touches[k].begin(), touches[k].end());
      add_element(element);
      for (const std::string& station : names[k])
        add_station_shapes(rod.shapes, spec.name, station, path);
      for (const std::string& touch : touches[k]) add_station_shapes(round, spec.name, touch, path);
    }
  }

  // A body and its parent, or all stations of the parent.
  void exclude_pair(const std::string& name, const std::string& parent) {
    if (parent == "world") return;
    const auto element = element_of.find(parent);
    if (element == element_of.end()) {
      builder.exclude(name, parent);
      return;
    }
    for (const std::string& station : elements[element->second].stations)
      builder.exclude(name, station);
  }

  // Bodies joined directly do not touch each other, nor do the stations of an element or those of
  // neighbouring segments.
  void exclude_neighbours() {
    for (const BodyScene& body : scene.bodies) exclude_pair(body.name, body.joint.parent);
    for (const ElementNames& e : elements)
      for (std::size_t i = 0; i < e.stations.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) builder.exclude(e.stations[i], e.stations[k]);
    for (const BendScene& bend : scene.bends)
      for (const std::string& name : elements[element_of.at(bend.spec.name + ".tip")].stations)
        exclude_pair(name, bend.spec.parent);
    for (const RodScene& rod : scene.rods) {
      const std::string base = rod.spec.name + ".base", &parent = rod.spec.joint.parent;
      exclude_pair(base, parent);
      const auto names = station_names(rod.spec);
      for (std::size_t k = 0; k < names.size(); ++k)
        for (const std::string& name : elements[element_of.at(names[k].back())].stations) {
          exclude_pair(name, k == 0 ? base : names[k - 1].back());
          if (k == 0) exclude_pair(name, parent);
        }
    }
    for (const LoopScene& l : scene.loops)
      if (l.child != "world" && l.joint.parent != "world") builder.exclude(l.child, l.joint.parent);
    if (scene.snake)
      for (int i = 1; i < scene.snake->spec.links; ++i)
        builder.exclude(fmt::format("link{}", i), fmt::format("link{}", i + 1));
  }

  // Those that patterns name, in the order of `names`; one without a star is found at once.
  [[nodiscard]] static std::vector<std::string> chosen(
      const std::vector<std::string>& patterns, const std::vector<std::string>& names,
      const std::unordered_map<std::string, std::size_t>& place) {
    std::set<std::size_t> found;
    for (const std::string& pattern : patterns) {
      if (pattern.find_first_of("*|") == std::string::npos) {
        if (const auto at = place.find(pattern); at != place.end()) found.insert(at->second);
        continue;
      }
      for (std::size_t i = 0; i < names.size(); ++i)
        if (matches(pattern, names[i])) found.insert(i);
    }
    std::vector<std::string> all;
    all.reserve(found.size());
    for (const std::size_t i : found) all.push_back(names[i]);
    return all;
  }

  void add_exclusions() {
    std::vector<std::string> names;
    for (const BodyScene& b : scene.bodies) names.push_back(b.name);
    for (int i = 1; scene.snake && i <= scene.snake->spec.links; ++i)
      names.push_back(fmt::format("link{}", i));
    std::unordered_map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < names.size(); ++i) place.emplace(names[i], i);
    std::unordered_set<std::string> touching;  // bodies with shapes
    for (const NamedShape& s : shapes) touching.insert(s.body);
    for (std::size_t i = 0; i < scene.exclusions.size(); ++i) {
      const ExclusionScene& e = scene.exclusions[i];
      std::vector<std::string> all = chosen(e.bodies, names, place);
      if (all.size() < 2)
        throw error(fmt::format("exclusions[{}].bodies", i),
                    fmt::format("no two bodies match {}", fmt::join(e.bodies, ", ")));
      if (scene.contacts.empty()) continue;  // nothing touches at all
      if (!e.source.empty())                 // all links of a robot: their pairs are many
        std::erase_if(all, [&](const std::string& name) { return !touching.contains(name); });
      for (std::size_t a = 0; a < all.size(); ++a)
        for (std::size_t b = a + 1; b < all.size(); ++b) builder.exclude(all[a], all[b]);
    }
  }

  void add_contacts() {
    exclude_neighbours();
    add_exclusions();
    for (std::size_t i = 0; i < scene.contacts.size(); ++i) {
      const ContactScene& c = scene.contacts[i];
      std::vector<std::string> side[2];
      std::set<std::string> bodies[2];
      const NamePattern patterns[2] = {NamePattern(c.between[0]), NamePattern(c.between[1])};
      for (const NamedShape& s : shapes)
        for (int k = 0; k < 2; ++k)
          if (patterns[k].matches(s.name)) {
            side[k].push_back(s.name);
            bodies[k].insert(s.body);
          }
      // Two sides that both lie on one and the same body have nothing to touch.
      const bool any = !bodies[0].empty() && !bodies[1].empty() &&
                       (bodies[0].size() > 1 || bodies[1].size() > 1 || bodies[0] != bodies[1]);
      if (!any && !c.source.empty()) continue;  // a law of a file whose meshes are absent, say
      if (!any)
        throw error(fmt::format("contacts[{}].between", i),
                    fmt::format("no two shapes match '{}' and '{}'", c.between[0], c.between[1]));
      try {
        builder.contact(side[0], side[1], c.law);
      } catch (const InputError& e) { throw error(fmt::format("contacts[{}]", i), e.message()); }
    }
  }

  void add_supports() {
    for (std::size_t i = 0; i < scene.supports.size(); ++i) {
      const SupportScene& s = scene.supports[i];
      bool any = false;
      const auto add = [&](const std::string& name, const Vec3& com, double mass) {
        if (std::none_of(s.bodies.begin(), s.bodies.end(),
                         [&](const std::string& pattern) { return matches(pattern, name); }))
          return;
        any = true;
        SupportFriction f;
        f.name = name;
        f.point = com;
        f.mu1 = s.mu1;
        f.mu2 = s.mu2;
        f.mu_back = s.mu_back;
        f.rule = s.rule;
        f.dynamic = s.dynamic;
        f.load = s.load >= 0 ? s.load : mass * scene.gravity.norm();
        builder.support(f, name);
      };
      for (const BodyScene& b : scene.bodies) add(b.name, b.inertia.com, b.inertia.mass);
      for (const RodScene& rod : scene.rods) {
        const auto names = station_names(rod.spec);
        for (std::size_t k = 0; k < names.size(); ++k) {
          std::size_t next = 0;
          for (const RodStation& at : make_segment(rod.spec.segments[k]).stations)
            if (at.heavy) add(names[k][next++], Vec3::Zero(), at.inertia(0, 0));
        }
      }
      if (!any)
        throw error(fmt::format("supports[{}].bodies", i),
                    fmt::format("no body matches {}", fmt::join(s.bodies, ", ")));
    }
  }

  std::vector<int> snake_link{};  // of each body of the model: its number in the snake, 0: none
  std::vector<char> driven{};     // coordinates that have a motor

  // The only place that knows the snake's parts by their names: others may be called like them.
  void find_snake() {
    snake_link.assign(system.model.bodies.size(), 0);
    for (int i = 1; scene.snake && i <= scene.snake->spec.links; ++i)
      snake_link[system.model.body(fmt::format("link{}", i))] = i;
  }

  [[nodiscard]] bool moved_by(const MotorScene& motor, const Coordinate& c) const {
    if (motor.of_snake) return !system.model.of_loop(c) && snake_link[c.body] > 1;
    return std::any_of(motor.joints.begin(), motor.joints.end(),
                       [&](const std::string& pattern) { return matches(pattern, c.name); });
  }

  void add_elements() {
    for (const SpringScene& s : scene.springs) builder.spring(s.spring, s.between[0], s.between[1]);
    for (const DragScene& d : scene.drags) builder.drag(d.drag, d.body);
    for (const RunnerScene& r : scene.runners) builder.runner(r.runner, r.body);
    for (const WheelScene& w : scene.wheels) builder.wheel(w.wheel, w.body);
    for (const FluidScene& f : scene.fluids) add_fluid(f);
    for (const GapScene& g : scene.gaps) builder.gap_contact(g.contact, g.joints);
    for (const CableScene& c : scene.cables) builder.cable(c.cable, c.bodies, c.joints);
  }

  // Whose names the patterns match; the last of them ends in a tail.
  void add_fluid(const FluidScene& f) {
    std::string last;
    const auto complain = [&](const auto& add, const std::string& name) {
      try {
        add(name);
      } catch (const InputError& e) { throw error(f.path, e.message()); }
      fluid_paths.resize(builder.fluid_count(), f.path);
      last = name;
    };
    for (const BodyScene& b : scene.bodies)
      if (std::any_of(f.bodies.begin(), f.bodies.end(),
                      [&](const std::string& pattern) { return matches(pattern, b.name); }))
        complain([&](const std::string& name) { add_fluid(f, name); }, b.name);
    if (!f.bodies.empty() && last.empty())
      throw error(f.path + ".bodies", fmt::format("no body matches {}", fmt::join(f.bodies, ", ")));
    for (const std::string& rod : f.rods) {
      complain([&](const std::string& name) { builder.fluid_along(along_of(f), name); }, rod);
      last = rod + ".tip";
    }
    if (f.tail)
      complain([&](const std::string& name) { add_tail(f, name); },
               f.tail->body.empty() ? last : f.tail->body);
  }
  static FluidAlong along_of(const FluidScene& f) {
    return {[section = *f.along](double) { return section; }, f.fluid.flow, f.fluid.surface};
  }
  void add_fluid(const FluidScene& f, const std::string& body) {
    if (f.along)
      builder.fluid_along(along_of(f), body, f.length, f.middle, f.points);
    else
      builder.fluid(f.fluid, body);
  }
  void add_tail(const FluidScene& f, const std::string& body) {
    Fluid tail;
    tail.flow = f.fluid.flow;
    tail.surface = f.fluid.surface;
    tail.end = {f.tail->point, f.tail->outward, Mat3(f.along->added.asDiagonal())};
    builder.fluid(tail, body);
  }
  std::vector<std::string> fluid_paths{};  // of the builder's fluids

  // Signals of springs and runners, in the model's order.
  void add_element_signals() {
    Actuation& a = system.actuation;
    if (scene.worm) {
      const WormScene& w = *scene.worm;
      for (std::size_t i = 0; i < w.lengths.size(); ++i)
        a.lengths.push_back({static_cast<int>(i), w.lengths[i]});
      for (std::size_t i = 0; i < w.steering.size(); ++i)
        if (const int r = worm_runner(w.spec, static_cast<int>(i)); r >= 0)
          a.steering.push_back({r, w.steering[i]});
    }
    for (std::size_t i = 0; i < scene.springs.size(); ++i)
      if (scene.springs[i].length)
        a.lengths.push_back({static_cast<int>(own.springs + i), *scene.springs[i].length});
    for (std::size_t i = 0; i < scene.cables.size(); ++i)
      if (const CableScene& c = scene.cables[i]; c.cable.driven)
        a.cables.push_back({static_cast<int>(i), c.length, c.pull.value_or(Constant{})});
    for (std::size_t i = 0; i < scene.runners.size(); ++i)
      if (scene.runners[i].steering)
        a.steering.push_back({static_cast<int>(own.runners + i), *scene.runners[i].steering});
  }

  // A start that breaks a velocity constraint would be an impact that nobody asked for.
  void check_runners() const {
    const Model& model = system.model;
    Workspace work(model);
    forward_kinematics(model, system.start.q, system.start.v, work);
    for (std::size_t i = 0; i < model.runners.size(); ++i) {
      const Runner& r = model.runners[i];
      const RunnerRows rows = runner_rows(
          model, work, r, steering_angle(system.actuation, static_cast<int>(i), system.start.t));
      const Vec3 v = point_velocity(work, r.body, work.X[r.body] * r.point);
      const double along = rows.along.head<3>().dot(v), across = rows.across.head<3>().dot(v);
      const double slack = 1e-9 * (1 + v.norm());
      const std::string path =
          i >= own.runners ? fmt::format("runners[{}]", i - own.runners)
                           : (scene.worm->spec.velocities.empty() ? "initial" : "worm.velocities");
      if (r.scales && along < -slack)
        throw error(path, fmt::format("the scales of runner '{}' allow no backward motion, it "
                                      "starts at {:.6g} m/s",
                                      r.name, along));
      if (r.edge && std::isinf(r.grip) && std::abs(across) > slack)
        throw error(path, fmt::format("the edge of runner '{}' allows no side slip, it starts with "
                                      "{:.6g} m/s",
                                      r.name, across));
    }
  }

  void check_wheels() const {
    const Model& model = system.model;
    Workspace work(model);
    forward_kinematics(model, system.start.q, system.start.v, work);
    for (std::size_t i = 0; i < model.wheels.size(); ++i) {
      const Wheel& w = model.wheels[i];
      const WheelRows rows = wheel_rows(work, w);
      const std::string path = fmt::format("wheels[{}]", i);
      if (!rows.lowest.allFinite())
        throw error(path, fmt::format("wheel '{}' lies flat on its plane", w.name));
      const Vec3 v = point_velocity(work, w.body, rows.lowest);
      const double along = rows.along.head<3>().dot(v);
      const double across = w.sideways ? 0 : rows.across.head<3>().dot(v);
      const double off = w.pressed ? w.normal.dot(v) : 0;
      const double slide = std::hypot(along, across, off);
      if (slide > 1e-9 * (1 + v.norm()))
        throw error(path, fmt::format("wheel '{}' rolls without sliding, it starts with {:.6g} m/s",
                                      w.name, slide));
      if (const double gap = w.normal.dot(rows.lowest) - w.height;
          w.pressed && std::abs(gap) > 1e-9 * (1 + w.radius))
        throw error(path, fmt::format("wheel '{}' starts {:.6g} m off its plane", w.name, gap));
    }
  }

  // What the motor is made of; its rotor is inertia of the joint.
  void fit_drive(const MotorScene& s, Motor& m) {
    const DriveScene& d = s.drive;
    m.servo = s.servo;
    m.gear = d.gear;
    m.lower = d.lower;
    m.upper = d.upper;
    m.speeds = d.speeds;
    m.torques = d.torques;
    m.lag = d.lag;
    m.backlash = d.backlash;
    if (d.rotor > 0) add_armature(system.model, m.coordinate, d.gear * d.gear * d.rotor);
  }

  void add_motor(const MotorScene& s, const std::string& path) {
    int i = 0;
    driven.resize(system.model.coordinates.size(), 0);
    for (std::size_t c = 0; c < system.model.coordinates.size(); ++c) {
      if (!moved_by(s, system.model.coordinates[c])) continue;
      ++i;
      Motor m;
      m.coordinate = CoordinateIndex(static_cast<int>(c));
      m.kp = s.kp;
      m.kd = s.kd;
      m.limit = s.limit;
      if (s.reference) m.reference = *s.reference;
      if (s.gait) m.reference = serpenoid(*s.gait, i);
      if (s.torque) m.torque = *s.torque;
      const std::string& name = system.model.coordinates[c].name;
      if (driven[c]++)
        throw motor_error(s, path, fmt::format("joint '{}' has a motor already", name));
      fit_drive(s, m);
      if (const char* fault = fault_of(m))
        throw motor_error(s, path, fmt::format("the motor of '{}': {}", name, fault));
      system.actuation.motors.push_back(m);
    }
    if (i == 0)
      throw motor_error(s, path + ".joints",
                        fmt::format("no joint matches {}", fmt::join(s.joints, ", ")));
  }

  [[nodiscard]] InputError motor_error(const MotorScene& motor, const std::string& path,
                                       const std::string& message) const {
    if (motor.source.empty()) return error(path, message);
    return error("robots", fmt::format("{}: motor: {}", motor.source, message));
  }

  void add_rod_signals(std::size_t index) {
    const RodScene& rod = scene.rods[index];
    const auto coefficient = [&](const std::string& name, const char* key) {
      const auto found = system.model.coordinate_of.find(rod.spec.name + "." + name);
      if (found == system.model.coordinate_of.end())
        throw error(fmt::format("rods[{}].{}", index, key),
                    fmt::format("'{}' has no coefficient '{}'", rod.spec.name, name));
      return found->second;
    };
    for (const auto& [name, r] : rod.prescribed)
      system.actuation.prescribed.push_back({CoordinateIndex(coefficient(name, "prescribed")), r});
    std::vector<StrainOffset>& strains = system.actuation.strains;
    for (const auto& [name, a] : rod.muscles) strains.push_back({coefficient(name, "muscles"), a});
    std::sort(strains.begin(), strains.end(), [](const StrainOffset& x, const StrainOffset& y) {
      return x.coordinate < y.coordinate;
    });
  }

  void add_actuation() {
    if (scene.snake && (scene.snake->kp > 0 || scene.snake->kd > 0)) {
      MotorScene m;
      m.of_snake = true;
      m.kp = scene.snake->kp;
      m.kd = scene.snake->kd;
      m.limit = scene.snake->limit;
      m.drive = scene.snake->drive;
      m.gait = scene.snake->gait;
      add_motor(m, "snake.motor");
    }
    for (std::size_t i = 0; i < scene.motors.size(); ++i)
      add_motor(scene.motors[i], fmt::format("motors[{}]", i));
    for (const BodyScene& b : scene.bodies)
      if (b.prescribed) {
        const std::string& name = b.joint.name.empty() ? b.name : b.joint.name;
        system.actuation.prescribed.push_back({system.model.coordinate(name), *b.prescribed});
      }
    for (const BendScene& b : scene.bends)
      if (b.prescribed)
        system.actuation.prescribed.push_back(
            {system.model.coordinate(b.spec.name), *b.prescribed});
    for (std::size_t i = 0; i < scene.rods.size(); ++i) add_rod_signals(i);
    for (const LoopScene& l : scene.loops)
      if (l.prescribed)
        system.actuation.prescribed.push_back(
            {system.model.coordinate(l.joint.name), *l.prescribed});
    add_gaits();
    add_element_signals();
    check(system.model, system.actuation);
  }

  [[nodiscard]] std::string joint_name(int i) const {
    const std::string& body = system.model.bodies[i].name;
    if (const auto found = body_of.find(body); found != body_of.end()) {
      const std::string& name = scene.bodies[found->second].joint.name;
      return name.empty() ? body : name;
    }
    if (const auto found = element_of.find(body); found != element_of.end())
      return elements[found->second].joint;
    for (const WormJoint& j : worm)
      if (j.body == body) return j.joint;
    if (const int link = snake_link[i])
      return link == 1 ? "root" : fmt::format("joint{}", link - 1);
    return body;
  }

  // q or v of a joint as the scene gives them, normalised.
  static void fill(const std::vector<double>& given, Vec& values) {
    for (Eigen::Index i = 0; i < values.size(); ++i) values[i] = given[i];
  }

  void add_start() {
    const Model& model = system.model;
    Posture posture = zero_posture(model);
    if (scene.snake) {
      const SnakePose pose =
          serpenoid_pose(scene.snake->spec, scene.snake->gait.amplitude, scene.snake->gait.delta);
      for (int i = 0; i < model.body_count(); ++i) {
        if (snake_link[i] == 1)
          posture.q[i] << pose.x, pose.y, pose.theta;
        else if (snake_link[i] > 1)
          posture.q[i][0] = pose.phi[snake_link[i] - 2];
      }
    }
    for (const WormJoint& j : worm) {
      const int i = model.body(j.body);
      fill(j.q, posture.q[i]);
      fill(j.v, posture.v[i]);
    }
    std::set<std::string> used;
    for (int i = 0; i < model.body_count(); ++i) {
      const std::string name = joint_name(i);
      const auto found = scene.initial.find(name);
      if (found == scene.initial.end()) continue;
      used.insert(name);
      const std::string path = "initial." + name;
      const Joint& joint = own_joint(model, BodyIndex(i));
      const auto put = [&](const std::vector<double>& given, Vec& values, const char* key) {
        if (given.empty()) return;
        if (static_cast<Eigen::Index>(given.size()) != values.size())
          throw error(path + "." + key, fmt::format("expected {} numbers for a {} joint, got {}",
                                                    values.size(), name_of(joint), given.size()));
        fill(given, values);
      };
      put(found->second.q, posture.q[i], "q");
      put(found->second.v, posture.v[i], "v");
      if (const int first = quaternion_at(joint); first >= 0) {
        auto quaternion = posture.q[i].segment<4>(first);
        if (std::abs(quaternion.norm() - 1) > 1e-3)
          throw error(path + ".q", "expected a unit quaternion w, x, y, z");
        quaternion.normalize();
      }
    }
    for (const auto& [name, unused] : scene.initial) {
      for (const LoopScene& l : scene.loops)
        if (l.joint.name == name)
          throw error("initial." + name, "the start of a loop follows from the bodies' joints");
      if (!used.contains(name))
        throw error("initial." + name, fmt::format("no joint is called '{}'", name));
    }
    // Prescribed joints start on their motion, whatever their coordinates.
    for (const Prescribed& p : system.actuation.prescribed) {
      const Coordinate& c = model.coordinates[p.coordinate];
      if (model.of_loop(c)) continue;  // close_loops
      posture.q[c.body][c.component] = value(p.r, 0);
      posture.v[c.body][c.component] = rate(p.r, 0);
    }
    system.start = make_state(model);
    set_posture(model, posture, system.start);
    if (!system.actuation.rotations.empty())
      impose_prescribed(model, system.actuation, system.start);
    if (scene.method == Method::connection) follow_connection();
  }

  // Without inertia the start's velocities follow from its shape.
  void follow_connection() {
    std::string why;
    try {
      ConnectionIntegrator by(system.model, system.actuation,
                              std::get<ByConnection>(integrator_of(scene)));
      if (by.set_velocities(system.start, why)) return;
    } catch (const InputError& e) { throw error("integrator.type", e.what()); }
    throw error("initial", fmt::format("the start is not possible: {}", why));
  }

  // Coordinates that the scene gives stay as they are, as far as the loops allow.
  [[nodiscard]] std::vector<CoordinateWish> wishes() const {
    const Model& model = system.model;
    std::vector<CoordinateWish> all;
    for (const Prescribed& p : system.actuation.prescribed)
      all.push_back({p.coordinate, value(p.r, 0), rate(p.r, 0), true, true});
    Workspace work(model);
    forward_kinematics(model, system.start.q, system.start.v, work);
    for (std::size_t i = 0; i < model.coordinates.size(); ++i) {
      const Coordinate& c = model.coordinates[i];
      const CoordinateIndex index(static_cast<int>(i));
      if (model.of_loop(c) || c.dof.prescribed) continue;
      const auto given = scene.initial.find(joint_name(c.body));
      if (given == scene.initial.end()) continue;
      all.push_back({index,
                     coordinate_value(model, work, system.start.q, system.start.turns, index),
                     coordinate_rate(model, work, system.start.v, index), !given->second.q.empty(),
                     !given->second.v.empty()});
    }
    return all;
  }

  [[nodiscard]] ComputedTorque computed_torque(const ComputedTorqueScene& s) const {
    const Model& model = system.model;
    ComputedTorque c = s.settings;
    const auto body = [&](const std::string& name, const std::string& key) {
      const auto at = model.body_of.find(name);
      if (at == model.body_of.end())
        throw error(s.path + key, fmt::format("no body is called '{}'", name));
      return BodyIndex(at->second);
    };
    for (std::size_t i = 0; i < c.follow.size(); ++i) {
      const std::string key = fmt::format(".follow[{}]", i);
      if (!c.follow[i].joint.valid()) {
        c.follow[i].body = body(s.follow[i], key + ".body");
        continue;
      }
      const auto at = model.coordinate_of.find(s.follow[i]);
      if (at == model.coordinate_of.end())
        throw error(s.path + key + ".joint",
                    fmt::format("no joint coordinate is called '{}'", s.follow[i]));
      c.follow[i].joint = CoordinateIndex(at->second);
    }
    for (std::size_t i = 0; i < c.feet.size(); ++i)
      c.feet[i].body = body(s.feet[i], fmt::format(".feet[{}].body", i));
    for (int k = 0; k < static_cast<int>(model.coordinates.size()); ++k) {
      const Motor* motor = nullptr;
      for (const Motor& m : system.actuation.motors)
        if (m.coordinate == CoordinateIndex(k)) motor = &m;
      const bool named = std::any_of(
          s.joints.begin(), s.joints.end(),
          [&](const std::string& pattern) { return matches(pattern, model.coordinates[k].name); });
      if (s.joints.empty() ? motor == nullptr : !named) continue;
      const TorqueRange range = motor ? torque_range(*motor, 0) : TorqueRange{-infinity, infinity};
      c.joints.emplace_back(k);
      c.lower.push_back(std::max(range.lower, -s.limit));
      c.upper.push_back(std::min(range.upper, s.limit));
    }
    check(model, c, s.path);
    return c;
  }

  void add_control() {
    if (scene.computed_torque) {
      try {
        system.actuation.controllers.push_back(
            std::make_shared<ComputedTorqueController>(computed_torque(*scene.computed_torque)));
      } catch (const InputError& e) { throw e.path().empty() ? e : error(e.path(), e.message()); }
    }
    if (!scene.locomotion && scene.pushes.empty()) return;
    for (const PushScene& p : scene.pushes) {
      Push push = p.push;
      const auto body = system.model.body_of.find(p.body);
      if (body == system.model.body_of.end())
        throw error(p.path + ".body", fmt::format("no body is called '{}'", p.body));
      push.body = BodyIndex(body->second);
      system.actuation.pushes.push_back(push);
    }
    if (!scene.locomotion) return;
    try {
      build_locomotion(*scene.locomotion, system.model, system.start.q, system.actuation);
    } catch (const InputError& e) { throw error(e.path(), e.message()); }
  }

  [[nodiscard]] bool is_of_robot(int cut) const {
    return std::any_of(scene.loops.begin(), scene.loops.end(), [&](const LoopScene& l) {
      return l.joint.name == system.model.cuts[cut].name && !l.source.empty();
    });
  }

  // A start that leaves a loop open by little is assembled; by much, it is a mistake.
  void close_loops() {
    const Model& model = system.model;
    if (!model.has_loops) return;
    system.closure = measure_loops(model, system.start);
    const auto refuse = [&](int cut, const std::string& message) {
      for (std::size_t i = 0; i < scene.loops.size(); ++i) {
        if (scene.loops[i].joint.name != model.cuts[cut].name) continue;
        const std::string& source = scene.loops[i].source;
        return source.empty() ? error(fmt::format("loops[{}]", i), message)
                              : InputError(fmt::format("{}: {}", source, message));
      }
      return error("loops", message);
    };
    // Of the length scale; the files of robots are rounder than scenes.
    const double allowed = is_of_robot(system.closure.loop) ? 0.1 : 1e-2;
    if (system.closure.gap > allowed * model.length_scale)
      throw refuse(
          system.closure.loop,
          fmt::format("the start leaves loop '{}' open by {:.3g} m (rotations times {:.3g} "
                      "m); up to {:.3g} m would be closed",
                      model.cuts[system.closure.loop].name, system.closure.gap, model.length_scale,
                      allowed * model.length_scale));
    const std::vector<CoordinateWish> all = wishes();
    system.closure = close_start(model, all, system.start);
    if (!(system.closure.gap_left < 1e-10))
      throw refuse(system.closure.loop,
                   fmt::format("loop '{}' cannot be closed near the start: {:.3g} m stay open",
                               model.cuts[system.closure.loop].name, system.closure.gap_left));
    refuse_inconsistent_rates(all);
  }

  void refuse_inconsistent_rates(const std::vector<CoordinateWish>& all) const {
    double fastest = 0;
    for (const CoordinateWish& w : all)
      if (w.with_rate) fastest = std::max(fastest, std::abs(w.rate));
    if (system.closure.missed < 0 || system.closure.largest_miss <= 1e-2 * fastest) return;
    const CoordinateWish& missed = all[system.closure.missed];
    const Model& model = system.model;
    Workspace work(model);
    forward_kinematics(model, system.start.q, system.start.v, work);
    throw error("initial",
                fmt::format("the loops do not allow joint '{}' a rate of {:.6g} with the others "
                            "given; {:.6g} would be possible",
                            model.coordinates[missed.coordinate].name, missed.rate,
                            coordinate_rate(model, work, system.start.v, missed.coordinate)));
  }

  // A massless chain or a point mass on a hinge has no motion: say so now, not in the first step.
  void check_mass() const {
    Workspace work(system.model);
    forward_kinematics(system.model, system.start.q, system.start.v, work);
    Forest mass;
    mass.resize(forest_shape(system.model));
    load_mass(work, Vec::Zero(system.model.nv), mass);
    const int culprit = without_inertia(system.model, mass);
    if (culprit < 0) return;
    const std::string& name = system.model.bodies[system.model.v_body[culprit]].name;
    const auto found = body_of.find(name);
    if (found != body_of.end() && !scene.bodies[found->second].source.empty())
      throw of_robot(scene.bodies[found->second], "nothing with inertia moves with its joint");
    throw error("bodies", fmt::format("nothing with inertia moves with the joint of '{}'", name));
  }

  // Time stepping too where it is not the scene's: its options are there to be right, and
  // `compare` takes them.
  void check_integrator() const {
    try {
      check_supported(scene.stepping, system.model, system.actuation, "integrator.");
      check_supported(integrator_of(scene), system.model, system.actuation, "integrator.");
    } catch (const InputError& e) { throw error(e.path(), e.message()); }
  }

  System build() {
    try {
      add_bodies();
      add_contacts();
      add_supports();
      add_elements();
      system.model = builder.build();
      find_snake();
      add_actuation();
      system.sensors = build_sensors(scene, system.model);
    } catch (const InputError& e) {
      if (e.path().empty() && std::string(e.what()).rfind(scene.document->name(), 0) == 0) throw;
      if (e.path().empty() && std::string(e.what()).rfind("--set", 0) == 0) throw;
      throw located(e);
    }
    add_start();
    check_mass();
    close_loops();
    if (velocities == StartVelocities::checked) {
      check_runners();
      check_wheels();
    }
    add_control();
    check_integrator();
    return system;
  }
};

}  // namespace

System build_system(const Scene& scene) { return build_system(scene, StartVelocities::checked); }

System build_system(const Scene& scene, StartVelocities velocities) {
  return SystemBuilder{scene, velocities}.build();
}

}  // namespace saltus
