// What `saltus shape` says of a scene (docs/shape.md): its net group and shape, what kind of system
// it is, its connection, where its gaits take it and what they cost.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "saltus/analysis/area_rule.h"
#include "saltus/analysis/classify.h"
#include "saltus/analysis/net_motion.h"
#include "saltus/analysis/shape_dynamics.h"
#include "saltus/scene/scene.h"

namespace saltus {

struct NamedPath {
  std::string name, path;  // path: in the scene
  ShapePath shape;
};

// A scene as its shape sees it.
struct ShapeSystem {
  Model model;
  ShapeSpace space;
  Medium medium;
  NetForces forces;
  Vec start;                     // shape at the start
  std::vector<NamedPath> gaits;  // and, as "prescribed", what the joints are told
  std::optional<ShapePlane> plane;
};
// Throws InputError with the place in the scene.
[[nodiscard]] ShapeSystem shape_system(const Scene& scene);

struct GaitResult {
  std::string name;
  double duration = 0;
  bool closed = false;  // the shape returns
  std::string way;      // "connection" or "reduced dynamics"
  bool done = true;     // it reached the end
  double t = 0;         // reached
  SE3 g;                // of the reference body, from its start
  double turn = 0;      // of a planar creature
  std::optional<Obstruction> obstruction;
  std::vector<double> removable;
  std::optional<ReducedState> state;  // of reduced dynamics, at the end
  std::optional<AreaRule> area;       // of closed gaits in the plane
  bool singular_inside = false;       // instead: the gait goes round singular shapes
  struct Cost {                       // over samples of the gait
    Vec largest;                      // |tau| of each variable [N m], [N]
    Vec largest_lambda;               // |lambda_kin| of each row [N]
    double work = 0;                  // integral of the power [J]
  };
  std::optional<Cost> cost;  // where the creature has inertia
};

struct ShapeReport {
  ShapeSystem system;
  Vec at;  // the shape that is classified
  Classification kind;
  LocalForm form;
  std::vector<GaitResult> gaits;
};

// `at`: values of the shape variables; empty: the scene's start.
[[nodiscard]] ShapeReport shape_report(const Scene& scene, const std::vector<double>& at);
// Everything of it as a JSON object.
[[nodiscard]] std::string to_json(const ShapeReport& report);

}  // namespace saltus
