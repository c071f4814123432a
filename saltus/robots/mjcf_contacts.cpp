// Who touches whom, and under which law.
//
// MuJoCo decides by bits: two geoms meet if one's contype shares a bit with the other's
// conaffinity. Geoms with equal numbers are a class; every pair of classes that meets has one law.
// Of the two, the geom of higher priority gives condim and friction; equals: the larger of each.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "saltus/geometry/contact_points.h"
#include "saltus/robots/mjcf_reader.h"

namespace saltus::mjcf {

namespace {

using BodyPair = std::pair<int, int>;  // low, high

BodyPair ordered(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

// condim 1: no friction; 3: sliding; 4: and torsion; 6: and rolling.
ContactLaw law_of(int condim, const std::array<double, 5>& friction) {
  ContactLaw law;
  if (condim >= 3) {
    law.mu1 = friction[0];
    law.mu2 = friction[1];
  }
  if (condim >= 4) law.drilling = friction[2];
  if (condim >= 6) law.rolling = std::max(friction[3], friction[4]);
  return law;
}

Touch combined(const Touch& a, const Touch& b) {
  if (a.priority != b.priority) return a.priority > b.priority ? a : b;
  Touch both = a;
  both.condim = std::max(a.condim, b.condim);
  for (int i = 0; i < 3; ++i) both.friction[i] = std::max(a.friction[i], b.friction[i]);
  return both;
}

std::array<double, 5> five(const std::array<double, 3>& f) {
  return {f[0], f[0], f[1], f[2], f[2]};
}

bool bits_meet(const Touch& a, const Touch& b) {
  return ((static_cast<unsigned>(a.contype) & static_cast<unsigned>(b.conaffinity)) |
          (static_cast<unsigned>(b.contype) & static_cast<unsigned>(a.conaffinity))) != 0;
}

auto key(const ContactLaw& l) { return std::tuple(l.mu1, l.mu2, l.drilling, l.rolling); }

// A body's part in exclusions from what does not move, the world or bodies fixed to it: their
// shapes are the world's, so that laws tell them apart, not bodies.
struct StillRole {
  int still = -1;        // the body, where it does not move and an <exclude> names it
  std::set<int> avoids;  // of a body that moves: such bodies it never touches
  friend auto operator<=>(const StillRole&, const StillRole&) = default;
};

struct Contacts {
  Reader& reader;
  std::set<BodyPair> excluded{};          // <exclude>
  std::map<int, StillRole> still_role{};  // of the bodies that have one
  std::set<BodyPair> named{};             // in Robot::excluded

  [[nodiscard]] bool is_still(int body) const { return reader.bodies[body].weld == 0; }
  [[nodiscard]] int parent_weld(int weld) const {
    return reader.bodies[reader.bodies[weld].parent].weld;
  }

  // Bodies that move as one, and such a group and the one it is joined to. What does not move
  // touches everything.
  [[nodiscard]] bool may_touch(int a, int b) const {
    const int x = reader.bodies[a].weld, y = reader.bodies[b].weld;
    if (x == y || excluded.contains(ordered(a, b))) return false;
    return x == 0 || y == 0 || (parent_weld(x) != y && parent_weld(y) != x);
  }

  void exclude(int a, int b) {
    const auto& all = reader.bodies;
    if (a == 0 || b == 0 || a == b) return;  // the world is no body
    if (!named.insert(ordered(a, b)).second) return;
    reader.robot.excluded.emplace_back(all[a].name, all[b].name);
  }

  void read_excludes(const std::vector<Element>& elements) {
    for (const Element& e : elements) {
      if (e.name() != "exclude") continue;
      e.mark();
      (void)e.text("name");
      const int a = reader.find_body(e, "body1", e.required_text("body1")),
                b = reader.find_body(e, "body2", e.required_text("body2"));
      if (is_still(a) && is_still(b)) {
        reader.unneeded(e, nullptr, "neither body moves: they never touch");
        continue;
      }
      keep_apart(a, b);
    }
  }

  // Of which at most one does not move.
  void keep_apart(int a, int b) {
    excluded.insert(ordered(a, b));
    exclude(a, b);
    for (const auto& [still, other] : {std::pair(a, b), std::pair(b, a)})
      if (is_still(still)) {
        still_role[still].still = still;
        still_role[other].avoids.insert(still);
      }
  }

  // The base that a body which does not move is of, or the world.
  [[nodiscard]] int held_base(int body) const {
    while (body != 0 && !reader.bodies[body].held) body = reader.bodies[body].parent;
    return body;
  }

  void exclude_neighbours() {
    std::map<int, std::vector<int>> groups;
    for (std::size_t i = 1; i < reader.bodies.size(); ++i)
      if (reader.bodies[i].weld != 0) groups[reader.bodies[i].weld].push_back(static_cast<int>(i));
    for (const auto& [weld, members] : groups) {
      for (std::size_t i = 0; i < members.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) exclude(members[k], members[i]);
      const auto parent = groups.find(parent_weld(weld));
      if (parent == groups.end()) {
        // A base that is held by the options stays the neighbour that it is in the file.
        const int base = held_base(reader.bodies[weld].parent);
        for (int a = 1; base != 0 && a < static_cast<int>(reader.bodies.size()); ++a)
          if (is_still(a) && held_base(a) == base)
            for (const int b : members) keep_apart(a, b);
        continue;
      }
      for (const int a : parent->second)
        for (const int b : members) exclude(a, b);
    }
  }

  int geom(const Element& e, const char* attribute) {
    const std::string name = e.required_text(attribute);
    const auto found = reader.geom_of.find(name);
    if (found == reader.geom_of.end())
      throw e.error(attribute, fmt::format("no geom is called '{}'", name));
    return found->second;
  }

  void read_pair(const Element& e) {
    e.mark();
    (void)e.text("name");
    const Styled s = reader.defaults.styled(e, "");
    const GeomPart &a = reader.geoms[geom(e, "geom1")], &b = reader.geoms[geom(e, "geom2")];
    const Touch both = combined(a.touch, b.touch);
    const int condim = s.integer("condim").value_or(both.condim);
    if (condim != 1 && condim != 3 && condim != 4 && condim != 6)
      throw s.error("condim", fmt::format("expected 1, 3, 4 or 6, got {}", condim));
    const auto start = five(both.friction);
    const auto friction = s.numbers("friction", {start.begin(), start.end()});
    std::array<double, 5> f{};
    std::copy(friction.begin(), friction.end(), f.begin());
    if (*std::min_element(f.begin(), f.end()) < 0)
      throw s.error("friction", "expected numbers >= 0");
    if (a.shape.empty() || b.shape.empty() || !can_touch(a.solid, b.solid)) {
      reader.unused(e, nullptr, "one of the geoms has no shape, or theirs do not meet");
      return;
    }
    const int x = reader.bodies[a.body].weld, y = reader.bodies[b.body].weld;
    if (x == y || (x != 0 && y != 0 && named.contains(ordered(a.body, b.body)))) {
      reader.unused(e, nullptr, "bodies that are joined or excluded never touch");
      return;
    }
    if (f[0] != f[1]) reader.assumed(e, "friction", "the two directions are x and y of geom1");
    if (condim == 6 && f[3] != f[4])
      reader.assumed(e, "friction", "the larger coefficient of rolling holds both ways");
    ContactLaw law = law_of(condim, f);
    law.axes = FrictionAxes::a;
    reader.robot.contacts.push_back({{a.shape, b.shape}, law});
  }

  struct Class {
    Touch touch;
    StillRole role;
    Shape kind = Sphere{};  // of its first shape
    std::vector<std::string> shapes;
    std::set<int> bodies;
  };

  // Whether every shape can touch every other; else classes have shapes of one kind.
  [[nodiscard]] bool all_kinds_touch() const {
    std::map<std::size_t, const Shape*> kinds;
    for (const GeomPart& g : reader.geoms)
      if (!g.shape.empty() && !std::holds_alternative<HalfSpace>(g.solid))
        kinds.emplace(g.solid.index(), &g.solid);
    for (const auto& a : kinds)
      for (const auto& b : kinds)
        if (!can_touch(*a.second, *b.second)) return false;
    return true;
  }

  std::vector<Class> classes() const {
    const bool by_kind = !all_kinds_touch();
    std::vector<Class> all;
    std::map<std::tuple<Touch, StillRole, std::size_t>, std::size_t> index;
    for (const GeomPart& g : reader.geoms) {
      if (g.shape.empty() || (g.touch.contype == 0 && g.touch.conaffinity == 0)) continue;
      const auto known = still_role.find(g.body);
      const StillRole role = known == still_role.end() ? StillRole{} : known->second;
      const auto [at, added] =
          index.emplace(std::tuple(g.touch, role, by_kind ? g.solid.index() : 0), all.size());
      if (added) all.push_back({g.touch, role, g.solid, {}, {}});
      all[at->second].shapes.push_back(g.shape);
      all[at->second].bodies.insert(g.body);
    }
    return all;
  }

  [[nodiscard]] bool meet(const Class& a, const Class& b) const {
    if (a.role.avoids.contains(b.role.still) || b.role.avoids.contains(a.role.still)) return false;
    if (!bits_meet(a.touch, b.touch)) return false;
    for (const int x : a.bodies)
      for (const int y : b.bodies)
        if (may_touch(x, y)) return supported(a, b);
    return false;
  }

  [[nodiscard]] bool supported(const Class& a, const Class& b) const {
    if (can_touch(a.kind, b.kind)) return true;
    reader.unused(
        reader.sources.root(), nullptr,
        fmt::format("contact of {} with {}: not supported", name_of(a.kind), name_of(b.kind)));
    return false;
  }

  // Classes that meet the same others under the same law share an entry.
  void add_laws() {
    const std::vector<Class> all = classes();
    using LawKey = decltype(key(ContactLaw{}));
    struct Entry {
      ContactLaw law;
      std::vector<std::size_t> a, b;
    };
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::map<LawKey, Entry> mine;
      for (std::size_t k = i; k < all.size(); ++k) {
        if (!meet(all[i], all[k])) continue;
        const Touch both = combined(all[i].touch, all[k].touch);
        const ContactLaw law = law_of(both.condim, five(both.friction));
        Entry& entry = mine.emplace(key(law), Entry{law, {i}, {}}).first->second;
        entry.b.push_back(k);
      }
      for (const auto& one : mine) {
        const Entry& entry = one.second;
        const auto same = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) {
          return key(e.law) == one.first && e.b == entry.b;
        });
        if (same != entries.end())
          same->a.push_back(i);
        else
          entries.push_back(entry);
      }
    }
    const auto names = [&](const std::vector<std::size_t>& of) {
      std::vector<std::string> shapes;
      for (const std::size_t i : of)
        shapes.insert(shapes.end(), all[i].shapes.begin(), all[i].shapes.end());
      return fmt::format("{}", fmt::join(shapes, "|"));
    };
    for (const Entry& e : entries)
      reader.robot.contacts.push_back({{names(e.a), names(e.b)}, e.law});
  }
};

}  // namespace

void Reader::read_contacts() {
  Contacts contacts_reader{*this};
  const std::vector<Element> elements = sources.contents("contact");
  contacts_reader.read_excludes(elements);
  contacts_reader.exclude_neighbours();
  for (const Element& e : elements)
    if (e.name() == "pair") contacts_reader.read_pair(e);
  contacts_reader.add_laws();
  if (!contacts) robot.contacts.clear();
}

}  // namespace saltus::mjcf
