// A robot as a model, and where its file draws it.
#pragma once
#include <string>
#include <vector>

#include "saltus/analysis/metrics.h"
#include "saltus/model/builder.h"
#include "saltus/model/state.h"
#include "saltus/robots/robot.h"

namespace saltus::test {

inline Model model_of(const Robot& robot) {
  ModelBuilder builder;
  if (robot.gravity) builder.gravity(*robot.gravity);
  std::vector<std::string> shapes;
  const auto add = [&](const ShapeScene& s) {
    builder.shape(s.name, s.body, s.frame, s.shape);
    shapes.push_back(s.name);
  };
  for (const BodyScene& b : robot.bodies) {
    builder.body(b.name, b.inertia, b.joint);
    for (const ShapeScene& s : b.shapes) add(s);
    if (b.joint.parent != "world") builder.exclude(b.name, b.joint.parent);
  }
  for (const ShapeScene& s : robot.obstacles) add(s);
  for (const LoopScene& l : robot.loops) builder.loop(l.child, l.joint);
  for (const auto& [a, b] : robot.excluded) builder.exclude(a, b);
  for (const ContactScene& c : robot.contacts) {
    std::vector<std::string> side[2];
    for (const std::string& s : shapes)
      for (int k = 0; k < 2; ++k)
        if (matches(c.between[k], s)) side[k].push_back(s);
    builder.contact(side[0], side[1], c.law);
  }
  return builder.build();
}

inline State start_of(const Robot& robot, const Model& model) {
  State state = make_state(model);
  for (const Body& body : model.bodies)
    for (const BodyScene& b : robot.bodies) {
      if (b.name != body.name) continue;
      const auto found = robot.initial.find(b.joint.name);
      if (found == robot.initial.end()) continue;
      for (int k = 0; k < body.nq; ++k) state.q[body.q0 + k] = found->second.q[k];
    }
  return state;
}

}  // namespace saltus::test
