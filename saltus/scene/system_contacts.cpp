// What touches what in a scene, and by which law.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "saltus/scene/document.h"
#include "saltus/scene/system_builder.h"

namespace saltus {

namespace {

// Those that patterns name, in the order of `names`; one without a star is found at once.
std::vector<std::string> chosen(const std::vector<std::string>& patterns,
                                const std::vector<std::string>& names,
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

}  // namespace

// A body and its parent, or all stations of the parent.
void SystemBuilder::exclude_pair(const std::string& name, const std::string& parent) {
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
void SystemBuilder::exclude_neighbours() {
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

void SystemBuilder::add_exclusions() {
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

void SystemBuilder::add_contacts() {
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

void SystemBuilder::add_supports() {
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

}  // namespace saltus
