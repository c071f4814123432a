// The whole scene: which keys there are and where they go.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "saltus/rods/segment.h"
#include "saltus/scene/document.h"
#include "saltus/scene/scene_elements.h"

namespace saltus {

void read_metric(Fields& f, Metric& m) {
  using Kind = Metric::Kind;
  m.path = f.path();
  f.required().text("name", m.name, "");
  const auto probe = [&](Fields& g) { g.required().text("probe", m.probe, "a probe's name"); };
  const auto axis = [&](Fields& g) { m.axis = g.choice("axis", 0, {"x", "y", "z"}, ""); };
  const auto window = [&](Fields& g) {
    g.number("from", m.from, "s", "", not_negative);
    g.number("to", m.to, "s", "default: the end", not_negative);
    if (!g.writing_schema() && m.to >= 0 && m.to <= m.from)
      throw g.error("to", "expected a time after 'from'");
  };
  const auto kind = [&](Kind k, auto... parts) {
    return [&m, k, parts...](Fields& g) {
      m.kind = k;
      (parts(g), ...);
    };
  };
  const auto at = [&](Fields& g) { g.required().number("at", m.at, "s", "when", not_negative); };
  const auto when = [&](Fields& g) {
    m.at = -1;
    g.number("at", m.at, "s", "when; default: the end", not_negative);
  };
  const auto joints = [&](Fields& g) {
    g.required().texts("joints", m.joints, "joint coordinates, of which the sum is taken");
  };
  const auto value = [&](Fields& g) { g.required().number("value", m.value, "m", "the line"); };
  const auto on = [&](Fields& g) {
    g.required().texts("objects", m.objects, "patterns of bodies or shapes");
  };
  f.forms("type", {{"mean-velocity", kind(Kind::mean_velocity, probe, axis, window)},
                   {"travel", kind(Kind::travel, probe, window)},
                   {"displacement", kind(Kind::displacement, probe, window)},
                   {"position", kind(Kind::position, probe, axis, at)},
                   {"coordinate", kind(Kind::coordinate, joints, when)},
                   {"rate", kind(Kind::rate, joints, when)},
                   {"largest", kind(Kind::largest, probe, axis, window)},
                   {"smallest", kind(Kind::smallest, probe, axis, window)},
                   {"first-pass", kind(Kind::first_pass, probe, axis, value)},
                   {"mean-force", kind(Kind::mean_force, on, window)},
                   {"work", kind(Kind::work, window)},
                   {"cost-of-transport", kind(Kind::cost_of_transport, probe, window)},
                   {"joint-gap", kind(Kind::joint_gap)},
                   {"energy-drift", kind(Kind::energy_drift)}});
}

namespace {

template <class T>
void read_list(Fields& f, const char* key, const char* about, std::vector<T>& items,
               void (*read)(Fields&, T&)) {
  f.list(key, about, [&](Fields& g) {
    T item;
    read(g, item);
    if (!g.writing_schema()) items.push_back(item);
  });
}

void read_obstacle(Fields& f, ShapeScene& s) {
  f.required();  // its first key, the name
  read_shape(f, s);
  if (!f.writing_schema() && s.name.empty()) throw f.error("name", "expected a name");
}

void read_visual(Fields& f, VisualScene& v) {
  f.required().text("body", v.shape.body, "a body's name, or world");
  read_shape(f, v.shape);
  std::vector<double> colour;
  f.number_or_list("colour", colour, "", "red, green, blue and opacity, 0 to 1", 4, 4,
                   {0, 1, false});
  if (colour.size() == 4) v.colour = Vec4(colour[0], colour[1], colour[2], colour[3]);
  if (v.shape.name.empty()) v.shape.name = v.shape.body;
}

void read_exclusion(Fields& f, ExclusionScene& e) {
  f.required().texts("bodies", e.bodies, "patterns of body names; of these none touches another");
}

void read_probe(Fields& f, Probe& p) {
  f.required().text("name", p.name, "");
  f.required().text("body", p.body, "a body's name, or centre-of-mass");
  f.vec3("point", p.point, "m", "in the body's frame");
}

void read_solver(Fields& f, Solver& solver) {
  ProxOptions o = options_of(solver);
  const int type = f.choice("type", 0, {"auto", "sor", "jor", "newton"},
                            "auto: a chain that ends converged or says so; projected Gauss-Seidel; "
                            "projected Jacobi; semismooth Newton");
  o.on = static_cast<ProxOptions::On>(
      f.choice("iterate", 0, {"delassus", "velocity"}, "what the iteration works on"));
  o.bilaterals = static_cast<ProxOptions::Bilaterals>(
      f.choice("bilaterals", 0, {"direct", "prox"}, "joints by a direct factor or iterated"));
  f.number("alpha", o.alpha, "", "relaxation, below 2", {0, 2, true});
  if (o.alpha >= 2) throw f.error("alpha", "expected a number below 2");
  f.number("tolerance", o.tolerance, "m/s", "on the residual (natural map)", positive);
  f.integer("max_iterations", o.max_iterations, "", 1);
  o.steps = static_cast<ProxOptions::Steps>(
      f.choice("steps", 0, {"row-sums", "diagonal"},
               "jor: its step lengths by the row sums of G, or as P2 by its diagonal"));
  f.boolean("auto_alpha", o.auto_alpha, "sor and jor: halve alpha on divergence, recover");
  const int local = f.choice("local", 0, {"prox", "exact"}, "the local step of sor; auto: exact");
  f.boolean("least_norm", o.least_norm, "of indeterminate impulses the smallest (auto and newton)");
  const auto take = [&](auto chosen) {
    const auto usual = chosen.local;  // exact in auto; sor and jor are P2's
    static_cast<ProxOptions&>(chosen) = o;
    chosen.local = local == 1 ? ProxOptions::Local::exact : usual;
    solver = chosen;
  };
  if (type == 0) take(AutoSolver{});
  if (type == 1) take(ProxGaussSeidel{});
  if (type == 2) take(ProxJacobi{});
  if (type == 3) take(Newton{});
}

void read_chain(Fields& f, ChainImpact& law) {
  f.number("energetic", law.energetic, "", "e*: of the kinetic energy, what may be left after",
           not_negative);
  // With a bound on the energy the velocities are attenuated unless said otherwise.
  const int control =
      f.choice("control", f.has("energetic") ? 1 : 0, {"none", "attenuation", "constraint"},
               "how e* is kept: velocities scaled, or a bound of the optimisation");
  law.control = static_cast<EnergyControl>(control);
  f.number("v_s", law.v_s, "m/s", "speed at which friction falls to its dynamic value", positive);
  f.number("exponent", law.a, "", "of that transition", positive);
  law.method = static_cast<DissipationMethod>(
      f.choice("method", 0, {"automatic", "exact", "nlp"},
               "of the dissipation principle: exact where it has one or two unknowns, else NLopt"));
}

ImpactLaw read_impact(Fields& f) {
  MoreauImpact moreau;
  ChainImpact chain;
  ImpactLaw law;
  const auto nothing = [](Fields&) {};
  const int named = f.choice_or_object(
      "impact", 0, {"capped", "newton", "moreau", "poisson", "chain"},
      "impact law, or with options", [&](Fields& g) {
        g.forms("law", {{"capped", nothing},
                        {"newton", [&](Fields&) { law = NewtonImpact{}; }},
                        {"moreau",
                         [&](Fields& h) {
                           h.number("restitution", moreau.restitution, "",
                                    "of all contacts; default: the least of those that approach",
                                    {0, 1, false});
                           law = moreau;
                         }},
                        {"poisson", [&](Fields&) { law = PoissonImpact{}; }},
                        {"chain", [&](Fields& h) {
                           read_chain(h, chain);
                           law = chain;
                         }}});
      });
  if (f.writing_schema()) return {};
  if (named == 1) law = NewtonImpact{};
  if (named == 2) law = MoreauImpact{};
  if (named == 3) law = PoissonImpact{};
  if (named == 4) law = ChainImpact{};
  return law;
}

void read_integrator(Fields& f, Scene& s) {
  MoreauMidpoint& o = s.stepping;
  s.method = static_cast<Method>(f.choice(
      "type", 0, {"moreau", "event-driven", "rk4-projection", "connection"},
      "time stepping; exact in time, mode by mode; P1's appendix A: fixed steps that project "
      "zero crossings of joints with dry friction; or P4's connection: without inertia, the net "
      "motion by axles or Stokes drag"));
  o.motors = static_cast<MotorScheme>(f.choice(
      "motors", 0, {"implicit", "implicit-end", "explicit"},
      "PD gains: linearly implicit at the mid-point, at the end of the step, or explicit"));
  o.projection = static_cast<Projection>(
      f.choice("projection", 0, {"mass", "root-fixed", "none"}, "removal of drift"));
  o.storage = static_cast<Storage>(
      f.choice("storage", 0, {"auto", "forest", "paths"},
               "how the mechanism is kept: a forest of any size, or the paths of small trees; the "
               "motion does not depend on it"));
  o.impact = read_impact(f);
  f.number("tolerance", s.events.tolerance, "", "event-driven and connection: of a step, relative",
           {0, 1, true});
  f.integer("max_events", s.events.max_events, "event-driven: between two landings", 1);
}

void read_initial(Fields& f, const std::string& joint, Scene& scene) {
  InitialScene start;
  double q = 0;
  if (f.scalar(q, "")) {
    start.q = {q};
  } else {
    // A floating body has 7 and 6, a segment of a rod as many as it has functions.
    f.number_or_list("q", start.q, "", "coordinates", 1, most_coefficients);
    f.number_or_list("v", start.v, "", "velocities", 1, most_coefficients);
  }
  if (f.writing_schema()) return;
  constexpr double most = 1e100;  // its square, an energy, still is a number
  for (const auto& [key, list] : {std::pair{"q", &start.q}, std::pair{"v", &start.v}})
    for (const double x : *list)
      if (std::abs(x) > most)
        throw f.error(f.has(key) ? key : "",
                      fmt::format("expected numbers of at most {:g} in size, got {:g}", most, x));
  scene.initial[joint] = start;
}

void read_whole(Fields& f, Scene& s, std::vector<RobotScene>& robots) {
  int version = 1;
  f.required().integer("saltus", version, "format version: 1", 1);
  if (!f.writing_schema() && version != 1) throw f.error("saltus", "expected format version 1");
  f.text("title", s.title, "");
  f.text("description", s.description, "");
  f.vec3("gravity", s.gravity, "", "[m/s^2]");
  f.boolean("planar", s.planar, "the model lives in the x-y plane");
  s.coordinates = static_cast<CoordinateSet>(
      f.choice("coordinates", 0, {"as-marked", "minimal", "maximal"}, "which joints are cut"));
  f.object("snake", "the planar snake of P0: link1 ... linkN, joint1 ...", [&](Fields& g) {
    SnakeScene snake;
    read_snake(g, snake);
    if (!g.writing_schema()) s.snake = snake;
  });
  f.object("worm", "the worms of P3: mass1 ... massN on a line, mass0 ... in the plane",
           [&](Fields& g) {
             WormScene worm;
             read_worm(g, worm);
             if (!g.writing_schema()) s.worm = worm;
           });
  read_list(f, "bodies", "", s.bodies, read_body);
  read_list(f, "bends", "links of constant curvature", s.bends, read_bend);
  read_list(f, "rods", "slender bodies whose shape is a field", s.rods, read_rod);
  read_list(f, "robots", "robot files whose parts are added to the scene's", robots,
            read_robot_key);
  read_list(f, "loops", "joints that close kinematic loops", s.loops, read_loop);
  read_list(f, "obstacles", "shapes fixed in the world", s.obstacles, read_obstacle);
  read_list(f, "contacts", "which shapes may touch, and how", s.contacts, read_contact);
  read_list(f, "exclusions", "bodies that never touch, whatever the contacts say", s.exclusions,
            read_exclusion);
  read_list(f, "visuals", "shapes that are only seen", s.visuals, read_visual);
  read_list(f, "supports", "friction under a given load", s.supports, read_support);
  read_list(f, "springs", "springs and dampers between points", s.springs, read_spring);
  read_list(f, "drags", "viscous drag on points", s.drags, read_drag);
  read_list(f, "gaps", "contacts given by their gaps as functions of joint coordinates", s.gaps,
            read_gap);
  read_list(f, "cables", "what pulls and never pushes", s.cables, read_cable);
  read_list(f, "runners", "knife edges and scales", s.runners, read_runner);
  read_list(f, "wheels", "discs that roll on a plane", s.wheels, read_wheel);
  read_list(f, "fluids", "what a fluid does to bodies besides added_mass", s.fluids, read_fluid);
  read_list(f, "wings", "flapping wings on bodies, by blade elements", s.fluids, read_wing);
  read_list(f, "motors", "", s.motors, read_motor);
  read_list(f, "gaits", "motions of several joints at once", s.gaits, read_shape_gait);
  f.object("shape", "what `saltus shape` looks at",
           [&](Fields& g) { read_net(g, s.net, s.fluids); });
  read_list(f, "sensors", "what is measured, recorded and told to controllers", s.sensors,
            read_sensor);
  f.object("locomotion", "the controller of a quadruped", [&](Fields& g) {
    LocomotionScene locomotion;
    read_locomotion(g, locomotion);
    if (!g.writing_schema()) s.locomotion = locomotion;
  });
  f.object("computed_torque", "a controller that makes joints and points follow references",
           [&](Fields& g) {
             ComputedTorqueScene computed;
             read_computed_torque(g, computed);
             if (!g.writing_schema()) s.computed_torque = computed;
           });
  read_list(f, "pushes", "impulses on bodies at given times", s.pushes, read_push);
  f.table("initial", "start of joints by name: q and v, or a number",
          [&](Fields& g, const std::string& joint) { read_initial(g, joint, s); });
  read_list(f, "probes", "named points", s.probes, read_probe);
  read_list(f, "metrics", "figures of the summary", s.metrics, read_metric);
  f.required().object("time", "", [&](Fields& g) {
    g.number("step", s.stepping.dt, "s", "", positive);
    g.required().number("end", s.end, "s", "", positive);
  });
  f.object("integrator", "", [&](Fields& g) { read_integrator(g, s); });
  f.object("solver", "", [&](Fields& g) { read_solver(g, s.stepping.solver); });
  f.object("output", "", [&](Fields& g) {
    g.number("interval", s.output.interval, "s", "between frames", positive);
    g.number("checkpoint", s.output.checkpoint, "s", "between checkpoints", positive);
    g.integer("impacts", s.output.impacts,
              "so many impacts keep their states; all are recorded otherwise", 0);
    g.boolean("modes", s.output.modes, "record changes of mode; event-driven runs always do");
  });
  f.boolean("allow_unconverged", s.allow_unconverged,
            "steps that miss the tolerance do not fail the run");
  s.overlap = static_cast<Overlap>(
      f.choice("overlap", static_cast<int>(s.overlap), {"warn", "separate", "refuse"},
               "shapes that begin inside each other: a warning; moved apart before the first step; "
               "an error"));
}

template <class T>
void refuse_twins(const Document& document, const char* list, const std::vector<T>& items) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!names.insert(items[i].name).second)
      throw document.error(fmt::format("{}[{}].name", list, i),
                           fmt::format("the name '{}' is taken", items[i].name));
}

}  // namespace

EventDriven event_driven(const Scene& scene) {
  EventDriven options = scene.events;
  options.dt = scene.stepping.dt;
  options.impact = scene.stepping.impact;
  return options;
}

Integrator integrator_of(const Scene& scene) {
  switch (scene.method) {
    case Method::moreau: return scene.stepping;
    case Method::event_driven: return event_driven(scene);
    case Method::rk4_projection: return Rk4Projection{scene.stepping.dt};
    case Method::connection: return ByConnection{scene.stepping.dt, scene.events.tolerance};
  }
  return scene.stepping;
}

bool records_modes(const Scene& scene) {
  return scene.method == Method::event_driven || scene.output.modes;
}

Scene bare_scene(const Document& document) {
  Scene scene;
  scene.document = std::make_shared<const Document>(document);
  Fields fields(*scene.document, scene.document->root(), "");
  std::vector<RobotScene> robots;
  read_whole(fields, scene, robots);
  fields.finish();
  add_robots(robots, scene);
  return scene;
}

Scene read_scene(const Document& document) {
  Scene scene = bare_scene(document);
  if (!scene.snake && !scene.worm && scene.bodies.empty() && scene.bends.empty() &&
      scene.rods.empty())
    throw scene.document->error("", "expected bodies, bends, rods, robots, a snake or a worm");
  if (scene.snake && scene.worm) throw scene.document->error("worm", "there is a snake already");
  if (scene.worm) add_worm_metrics(scene);
  if (scene.end < scene.stepping.dt)
    throw scene.document->error("time.end", "expected at least one step");
  constexpr double most_steps = 1e12;
  if (!(scene.end / scene.stepping.dt <= most_steps))
    throw scene.document->error(
        "time.end", fmt::format("expected at most {:g} steps, got {:g} s in steps of {:g} s",
                                most_steps, scene.end, scene.stepping.dt));
  if (!scene.loops.empty() && scene.stepping.projection == Projection::root_fixed)
    throw scene.document->error("integrator.projection", "root-fixed cannot close loops");
  refuse_twins(*scene.document, "probes", scene.probes);
  refuse_twins(*scene.document, "gaits", scene.gaits);
  refuse_twins(*scene.document, "metrics", scene.metrics);
  std::set<std::string> sensors;
  for (std::size_t i = 0; i < scene.sensors.size(); ++i)
    if (!sensors.insert(scene.sensors[i].sensor.name).second)
      throw scene.document->error(
          fmt::format("sensors[{}].name", i),
          fmt::format("the name '{}' is taken", scene.sensors[i].sensor.name));
  return scene;
}

Scene read_scene(Document document, const std::vector<std::string>& overrides) {
  for (const std::string& o : overrides) {
    // Settings that a file leaves out have defaults to change; a snake that is not there has none.
    for (const std::string animal : {"snake", "worm"})
      if (!document.root()[animal].IsDefined() && o.rfind(animal + ".", 0) == 0)
        throw InputError(fmt::format("--set {}: there is no {} in {}", o, animal, document.name()));
    document.set(o);
  }
  return read_scene(document);
}

Scene load_scene(const std::string& path, const std::vector<std::string>& overrides) {
  return read_scene(Document::from_file(path), overrides);
}

std::string scene_schema() {
  nlohmann::ordered_json definitions = nlohmann::ordered_json::object();
  Fields fields(definitions);
  Scene scene;
  std::vector<RobotScene> robots;
  read_whole(fields, scene, robots);
  nlohmann::ordered_json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["$id"] = "saltus-scene-1";
  schema["title"] = "Saltus scene";
  schema.update(fields.schema());
  schema["$defs"] = definitions;
  return schema.dump(2);
}

}  // namespace saltus
