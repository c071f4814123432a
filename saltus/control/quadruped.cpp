#include "saltus/control/quadruped.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "saltus/base/error.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/model/joint_traits.h"

namespace saltus {

namespace {

struct Search {
  const Model& model;
  const Workspace& work;
  std::string path;

  [[nodiscard]] InputError error(const std::string& key, const std::string& message) const {
    return InputError(key.empty() ? path : path + "." + key, message);
  }
  [[nodiscard]] bool moves(int body) const {
    return model.bodies[body].nv > 0 || model.bodies[body].cut.valid();
  }
  // The body and all that is fixed to it.
  [[nodiscard]] std::vector<int> fixed_to(int body) const {
    std::vector<int> all{body};
    for (std::size_t k = 0; k < all.size(); ++k)
      for (int i = 0; i < model.body_count(); ++i)
        if (model.bodies[i].parent == all[k] && !moves(i)) all.push_back(i);
    return all;
  }
  // Bodies that joints hang on one of these.
  [[nodiscard]] std::vector<int> moved_by(const std::vector<int>& group) const {
    std::vector<int> all;
    for (int i = 0; i < model.body_count(); ++i)
      if (moves(i) &&
          std::find(group.begin(), group.end(), model.bodies[i].parent.value) != group.end())
        all.push_back(i);
    return all;
  }
  [[nodiscard]] bool floats(int body) const {
    return !model.bodies[body].parent.valid() && is_floating(model.bodies[body].joint) &&
           !model.bodies[body].cut.valid();
  }

  [[nodiscard]] int find_root(const std::string& name) const {
    if (!name.empty()) {
      const auto at = model.body_of.find(name);
      if (at == model.body_of.end())
        throw error("trunk", fmt::format("no body is called '{}'", name));
      int body = at->second;
      while (!moves(body) && model.bodies[body].parent.valid()) body = model.bodies[body].parent;
      if (!floats(body))
        throw error("trunk", fmt::format("expected a body that floats, or is fixed to one; the "
                                         "joint of '{}' is {}",
                                         model.bodies[body].name,
                                         model.bodies[body].cut.valid()
                                             ? "cut"
                                             : name_of(model.bodies[body].joint)));
      return body;
    }
    std::vector<int> all;
    for (int i = 0; i < model.body_count(); ++i)
      if (floats(i) && !moved_by(fixed_to(i)).empty()) all.push_back(i);
    if (all.empty())
      throw error("",
                  "expected a robot on a floating trunk, in minimal coordinates: no floating "
                  "body has joints");
    if (all.size() > 1)
      throw error("", fmt::format("expected the name of a trunk: '{}' and '{}' both float",
                                  model.bodies[all[0]].name, model.bodies[all[1]].name));
    return all[0];
  }

  // The shape that is farthest from the joint, a sphere if there is one; -1: none.
  [[nodiscard]] int foot_of(const std::vector<int>& group) const {
    int best = -1;
    double far = -1;
    bool round = false;
    for (std::size_t i = 0; i < model.shapes.size(); ++i) {
      const ContactShape& s = model.shapes[i];
      if (std::find(group.begin(), group.end(), s.body.value) == group.end()) continue;
      const bool sphere = std::holds_alternative<Sphere>(s.shape);
      const double d = (work.X[s.body] * s.frame.r - work.motion[group[0] + 1].origin).norm();
      if (std::make_pair(sphere, d) <= std::make_pair(round, far)) continue;
      best = static_cast<int>(i);
      far = d;
      round = sphere;
    }
    return best;
  }

  // A chain from its first body; false when it branches, has a joint of several coordinates or no
  // shape at its end.
  [[nodiscard]] bool follow(int body, Leg& leg) const {
    for (;;) {
      const auto c =
          std::find_if(model.coordinates.begin(), model.coordinates.end(),
                       [&](const Coordinate& k) { return k.body == body && !k.cut.valid(); });
      if (model.bodies[body].nv != 1 || c == model.coordinates.end()) return false;
      leg.joints.emplace_back(static_cast<int>(c - model.coordinates.begin()));
      const std::vector<int> group = fixed_to(body), next = moved_by(group);
      if (next.size() > 1) return false;
      if (next.size() == 1) {
        body = next[0];
        continue;
      }
      leg.foot = ShapeIndex(foot_of(group));
      return leg.foot.valid();
    }
  }

  void take_foot(Leg& leg) const {
    const ContactShape& s = model.shapes[leg.foot];
    leg.body = s.body;
    leg.point = s.frame.r;
    if (const auto* sphere = std::get_if<Sphere>(&s.shape)) leg.radius = sphere->radius;
  }

  [[nodiscard]] std::vector<Leg> chains(const std::vector<int>& trunk) const {
    std::vector<Leg> all;
    for (const int body : moved_by(trunk)) {
      Leg leg;
      if (!follow(body, leg)) continue;
      take_foot(leg);
      all.push_back(leg);
    }
    return all;
  }

  [[nodiscard]] Vec3 foot_in(int root, const Leg& leg) const {
    return work.X[root].inverse() * (work.X[leg.body] * leg.point);
  }

  // By place: the front and the hind two, each with its left one first.
  [[nodiscard]] std::array<Leg, leg_count> by_place(int root, std::vector<Leg> legs) const {
    if (legs.size() != leg_count) {
      std::vector<std::string> names;
      names.reserve(legs.size());
      for (const Leg& l : legs) names.push_back(model.shapes[l.foot].name);
      throw error("", fmt::format("expected four legs, chains of joints from the trunk '{}' to a "
                                  "shape that is the foot; it has {}{}{}",
                                  model.bodies[root].name, legs.size(), legs.empty() ? "" : ": ",
                                  fmt::join(names, ", ")));
    }
    const auto at = [&](const Leg& l) { return foot_in(root, l); };
    std::stable_sort(legs.begin(), legs.end(),
                     [&](const Leg& a, const Leg& b) { return at(a)[0] > at(b)[0]; });
    for (const int pair : {0, 2})
      if (at(legs[pair])[1] < at(legs[pair + 1])[1]) std::swap(legs[pair], legs[pair + 1]);
    for (const int pair : {0, 2})
      if (!(at(legs[pair])[1] > at(legs[pair + 1])[1]) || !(at(legs[0])[0] > at(legs[2])[0]))
        throw error("",
                    "expected two feet before and two behind, each pair left and right (x "
                    "forwards, y to the left); name them by 'feet'");
    return {legs[0], legs[1], legs[2], legs[3]};
  }

  [[nodiscard]] std::array<Leg, leg_count> by_name(const std::vector<Leg>& legs,
                                                   const std::vector<std::string>& feet) const {
    if (feet.size() != leg_count)
      throw error("feet", fmt::format("expected four names of shapes: LF, RF, LH, RH; got {}",
                                      feet.size()));
    std::array<Leg, leg_count> all;
    for (int i = 0; i < leg_count; ++i) {
      const auto shape = std::find_if(model.shapes.begin(), model.shapes.end(),
                                      [&](const ContactShape& s) { return s.name == feet[i]; });
      if (shape == model.shapes.end())
        throw error("feet", fmt::format("no shape is called '{}'", feet[i]));
      const auto leg = std::find_if(legs.begin(), legs.end(), [&](const Leg& l) {
        return l.body == shape->body || model.bodies[shape->body].parent == l.body;
      });
      if (leg == legs.end())
        throw error("feet", fmt::format("shape '{}' is not at the end of a leg", feet[i]));
      all[i] = *leg;
      all[i].foot = ShapeIndex(static_cast<int>(shape - model.shapes.begin()));
      take_foot(all[i]);
      for (int j = 0; j < i; ++j)
        if (all[j].joints == all[i].joints)
          throw error("feet", fmt::format("'{}' and '{}' are of one leg", feet[j], feet[i]));
    }
    return all;
  }
};

}  // namespace

bool Quadruped::in_trunk(int body) const {
  return std::find(trunk.begin(), trunk.end(), body) != trunk.end();
}

Quadruped find_quadruped(const Model& model, VecIn q, const std::string& trunk,
                         const std::vector<std::string>& feet, const std::string& path) {
  Workspace work(model);
  forward_kinematics(model, q, Vec::Zero(model.nv), work);
  const Search search{model, work, path};
  Quadruped robot;
  robot.root = BodyIndex(search.find_root(trunk));
  robot.trunk = search.fixed_to(robot.root);
  const std::vector<Leg> legs = search.chains(robot.trunk);
  robot.legs = feet.empty() ? search.by_place(robot.root, legs) : search.by_name(legs, feet);
  for (int i = 0; i < leg_count; ++i) {
    const auto n = robot.legs[i].joints.size();
    if (n < 3 || n > most_leg_joints)
      throw search.error(
          "", fmt::format("leg {} ('{}') has {} joints: expected 3 to {}, to place "
                          "a foot in space",
                          leg_names[i], model.shapes[robot.legs[i].foot].name, n, most_leg_joints));
  }
  return robot;
}

}  // namespace saltus
