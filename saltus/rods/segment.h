// A segment of a rod as flat tables: what its kernels read.
//
// The segment is cut into cells where no basis function has a knot inside; a cell carries Gauss
// stations with the inertia, and its end is a station without. Poses go from station to station by
// Magnus steps (lie/magnus.h). Stiffness is linear in q, so K = int B' H B dX and D = int B' mu B
// dX are constant. The unknowns of a segment are its own: a rod of several segments is a chain.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "saltus/rods/section.h"
#include "saltus/rods/strain_basis.h"

namespace saltus {

struct SegmentSpec {
  double length = 0;  // of the rest shape [m]
  std::vector<StrainBasis> basis;
  RodMaterial material;
  RodSection section;
  std::optional<RodSection> section_end;         // tapered: the section at X = length
  std::function<RodProperties(double X)> given;  // instead of material and sections
  std::function<Vec6(double X)> rest;  // xi_0 [-, 1/m]; empty: straight, (1, 0, 0, 0, 0, 0)
  // What a section's forces and moments have beyond H (xi - xi_0) + mu dxi/dt: any function of the
  // strain and its rate. Explicit in a step; its work is external.
  std::function<Vec6(double X, const Vec6& strain, const Vec6& rate)> rheology;
  int cells = 1;   // equal ones, cut further at the knots of the basis
  int points = 0;  // Gauss stations of a cell; 0: as many as its functions ask for, at least 3
  int steps = 1;   // Magnus steps between stations
  // Of a model: how many stations without inertia may be put anywhere between the others, where the
  // rod touches something there (RodShapeOf::touch).
  int touches = 0;
};

inline constexpr int most_coefficients = 200;  // of a segment in a model: its work is their cube
// Refuses more of them, before any of that work is done.
void check_coefficients(const SegmentSpec& spec, const std::string& path);
inline constexpr int most_touches = 64;  // of a segment

struct RodStation {
  double X = 0;                 // arc length from the segment's base [m]
  bool heavy = false;           // it carries inertia
  Mat6 inertia = Mat6::Zero();  // of its share of the length, body frame [kg, kg m^2]
};
// A coefficient that acts on a step: its component of xi and its function at the two Magnus points.
struct RodEntry {
  int coefficient = 0, component = 0;
  double first = 0, second = 0;
};
struct RodStep {
  double h = 0;  // [m]
  Vec6 rest1 = Vec6::Zero(), rest2 = Vec6::Zero();
  int begin = 0, end = 0;  // of its entries
};

// Where the rheology is asked: the functions there, and its share of the length.
struct RheologyPoint {
  double X = 0, weight = 0;  // [m]
  Vec values;                // of all functions
  Vec6 rest = Vec6::Zero();
};

struct RodSegment {
  SegmentSpec spec;
  int size = 0;                      // coefficients
  std::vector<int> component;        // of each
  std::vector<RodStation> stations;  // the first at X = 0, the last at the tip
  std::vector<RodStep> steps;        // steps[k] leads from station k to k + 1
  std::vector<RodEntry> entries;
  std::vector<double> cells;            // where they end, 0 first [m]
  Mat K, D;                             // stiffness and damping over the coefficients
  std::vector<RheologyPoint> rheology;  // none without one
  [[nodiscard]] int tip() const { return static_cast<int>(stations.size()) - 1; }
};

// "bend_z.2": its component, and which of the component's coefficients it is, from 0 on.
[[nodiscard]] std::string coefficient_name(const RodSegment& segment, int coefficient);

// How many stations of a segment carry inertia.
[[nodiscard]] int heavy_stations(const SegmentSpec& spec);

// Throws InputError where the spec makes no sense, `path` naming the place.
[[nodiscard]] RodSegment make_segment(const SegmentSpec& spec, const std::string& path = "rod");

// A place between stations: the Magnus step that leads to it from the station before.
struct RodPoint {
  double X = -1;    // [m]; negative: nowhere
  int station = 0;  // before it
  RodStep step;     // of its own entries
  std::vector<RodEntry> entries;
  Vec first, second, here;  // all functions at the step's two Magnus points, and at X
  [[nodiscard]] bool idle() const { return X < 0; }
};
[[nodiscard]] RodPoint point_at(const RodSegment& segment, double X);
// The same; allocates for a point's first time only.
void put_point(const RodSegment& segment, double X, RodPoint& point);
// xi there.
[[nodiscard]] Vec6 strain_at(const RodSegment& segment, const RodPoint& point, VecIn q);

// tau -= int B' rheology dX, at the coefficients q and rates v. False, and nothing added, if it
// gave a number that is not finite.
[[nodiscard]] bool add_rheology(const RodSegment& segment, VecIn q, VecIn v, VecRef tau);

[[nodiscard]] RodProperties properties_at(const SegmentSpec& spec, double X);
// xi at X: xi_0 + B q.
[[nodiscard]] Vec6 strain_at(const RodSegment& segment, VecIn q, double X);
// B at X, 6 x size.
[[nodiscard]] Mat6X basis_at(const RodSegment& segment, double X);

}  // namespace saltus
