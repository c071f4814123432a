// What `saltus shape` says of a scene (docs/shape.md): its net group and shape, what kind of system
// it is, its connection, where its gaits take it and what they cost.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "saltus/analysis/area_rule.h"
#include "saltus/analysis/classify.h"
#include "saltus/analysis/holds.h"
#include "saltus/analysis/mass_centre.h"
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
  std::vector<ConstraintRow> axles;
  std::vector<Hold> holds;  // those that hold at times
  StressOptions stress;
  bool stressed = false;         // `shape.stress` is there
  bool at_centre = false;        // seen from the centre of mass, axes of the reference body
  Vec start;                     // shape at the start
  SE3 pose;                      // of the reference body there
  std::vector<NamedPath> gaits;  // and, as "prescribed", what the joints are told
  std::optional<ShapePlane> plane;
};
// Throws InputError with the place in the scene.
[[nodiscard]] ShapeSystem shape_system(const Scene& scene);
// Of those that hold at t.
[[nodiscard]] std::vector<ConstraintRow> rows_at(const ShapeSystem& system, double t);

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
  bool strikes = false;  // what is held from then on would strike: no change without impact
  std::vector<double> removable;
  struct Phase {  // supports that change
    double from = 0, to = 0;
    ShapeClass kind = ShapeClass::free;
    std::vector<std::string> held;
  };
  std::vector<Phase> phases;
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

// At rest under gravity, at the start's pose: P4's feasibility of lambda_stat.
struct RestStress {
  Vec lambda_kin, tau_kin;
  bool balanced = false;  // the rows can hold it at all
  struct Point {
    std::string name;
    double missing_kin = 0, missing = 0;  // what f_N lacks [N], with lambda_kin and as chosen
  };
  std::vector<Point> points;
  Stress chosen;
};

// Classes and height functions over the plane of the scene, x fastest.
struct ShapeGrid {
  HeightMap heights;
  std::vector<ShapeClass> kind;
  std::vector<int> rank, rank_all;
};
[[nodiscard]] ShapeGrid shape_grid(const ShapeSystem& system, int cells);

struct ShapeReport {
  ShapeSystem system;
  Vec at;  // the shape that is classified
  Classification kind;
  LocalForm form;
  std::optional<RestStress> stress;
  std::vector<GaitResult> gaits;
  std::optional<ShapeGrid> grid;
  std::vector<std::string> notes;  // what the scene has and is not looked at here
};

// A gait along which holds come and go, each without impact: what is held rests already. Reduced
// dynamics from stretch to stretch, with a twist that is continuous.
[[nodiscard]] GaitResult follow_supports(const ShapeSystem& system, const NamedPath& gait);
[[nodiscard]] RestStress rest_stress(const ShapeSystem& system, VecIn at);

// `at`: values of the shape variables; empty: the scene's start. `cells`: of the grid, a side; 0:
// none.
[[nodiscard]] ShapeReport shape_report(const Scene& scene, const std::vector<double>& at,
                                       int cells = 0);
// Everything of it as a JSON object.
[[nodiscard]] std::string to_json(const ShapeReport& report);

}  // namespace saltus
