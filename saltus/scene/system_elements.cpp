// Springs, drags, runners, wheels, fluids, gaps and cables of a scene.
#include <fmt/format.h>

#include <algorithm>

#include "saltus/scene/document.h"
#include "saltus/scene/system_builder.h"

namespace saltus {

namespace {

FluidAlong along_of(const FluidScene& f) {
  return {[section = *f.along](double) { return section; }, f.fluid.flow, f.fluid.surface};
}

}  // namespace

void SystemBuilder::add_elements() {
  for (const SpringScene& s : scene.springs) builder.spring(s.spring, s.between[0], s.between[1]);
  for (const DragScene& d : scene.drags) builder.drag(d.drag, d.body);
  for (const RunnerScene& r : scene.runners) builder.runner(r.runner, r.body);
  for (const WheelScene& w : scene.wheels) builder.wheel(w.wheel, w.body);
  for (const FluidScene& f : scene.fluids) add_fluid(f);
  for (const GapScene& g : scene.gaps) builder.gap_contact(g.contact, g.joints);
  for (const CableScene& c : scene.cables) builder.cable(c.cable, c.bodies, c.joints);
}

// Whose names the patterns match; the last of them ends in a tail.
void SystemBuilder::add_fluid(const FluidScene& f) {
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

void SystemBuilder::add_fluid(const FluidScene& f, const std::string& body) {
  if (f.along)
    builder.fluid_along(along_of(f), body, f.length, f.middle, f.points);
  else
    builder.fluid(f.fluid, body);
}

void SystemBuilder::add_tail(const FluidScene& f, const std::string& body) {
  Fluid tail;
  tail.flow = f.fluid.flow;
  tail.surface = f.fluid.surface;
  tail.end = {f.tail->point, f.tail->outward, Mat3(f.along->added.asDiagonal())};
  builder.fluid(tail, body);
}

// Signals of springs and runners, in the model's order.
void SystemBuilder::add_element_signals() {
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

}  // namespace saltus
