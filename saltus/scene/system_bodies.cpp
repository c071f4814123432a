// The bodies of a scene, bends and rods among them, and their shapes.
#include <fmt/format.h>

#include <algorithm>

#include "saltus/scene/document.h"
#include "saltus/scene/system_builder.h"

namespace saltus {

namespace {

constexpr int most_default_touches = 8;

}  // namespace

void SystemBuilder::add_shape(const ShapeScene& s, const std::string& path) {
  if (!shape_names.insert(s.name).second)
    throw error(s.source.empty() ? path + ".name" : "robots",
                fmt::format("{}{}the shape name '{}' is taken", s.source,
                            s.source.empty() ? "" : ": ", s.name));
  builder.shape(s.name, s.body, s.frame, s.shape, s.surface);
  shapes.push_back({s.name, s.body});
}

void SystemBuilder::add_bodies() {
  builder.planar(scene.planar || scene.snake.has_value() || (scene.worm && scene.worm->spec.planar))
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

void SystemBuilder::add_element(const ElementNames& element) {
  for (const std::string& station : element.stations) element_of.emplace(station, elements.size());
  elements.push_back(element);
}

// The shapes of an element, at one of its stations.
void SystemBuilder::add_station_shapes(const std::vector<ShapeScene>& of, const std::string& name,
                                       const std::string& station, const std::string& path) {
  for (std::size_t k = 0; k < of.size(); ++k) {
    ShapeScene s = of[k];
    s.name += station.substr(name.size());
    s.body = station;
    add_shape(s, fmt::format("{}.shapes[{}]", path, k));
  }
}

// After the bodies: the builder counts its stations among them.
void SystemBuilder::add_bend(std::size_t index) {
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
int SystemBuilder::touches_of(const RodScene& rod, const std::string& path) const {
  const bool round = std::any_of(rod.shapes.begin(), rod.shapes.end(), [](const ShapeScene& s) {
    return std::holds_alternative<Sphere>(s.shape);
  });
  if (rod.touches > 0 && !round)
    throw error(path + ".touches", "expected a sphere or a point among the rod's shapes");
  if (rod.touches >= 0) return rod.touches;
  if (!round || scene.method != Method::moreau) return 0;
  return std::min(most_default_touches, heavy_stations(rod.spec.segments.front()) + 3);
}

void SystemBuilder::add_rod(std::size_t index) {
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

}  // namespace saltus
