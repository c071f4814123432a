// Where a rod touches between its stations.
//
// A rod whose stations carry spheres is a tube. Of such a tube against a shape the gap is a
// function of the arc length, g(X); its stations stand for it to where it has a minimum between two
// of them that is deeper than both. There a station without inertia is put (SegmentSpec::touches):
// at an isolated minimum the rate of the gap at a fixed X is that of the minimum itself, so the row
// is exact; where a rod lies down, it is one more point of collocation. Slopes change sign at a
// minimum,
//   dg/dX = -n . dc/dX,   c the centre of the sphere, n from it to the other,
// and are found to rounding between stations whose slopes say that there is one.
#pragma once
#include <vector>

#include "saltus/dynamics/workspace.h"
#include "saltus/geometry/contact_points.h"

namespace saltus {

// How much deeper than the stations beside it a rod may be before it is given a point there [m].
inline constexpr double touch_depth = 1e-6;

class RodTouches {
 public:
  explicit RodTouches(const Model& model);
  [[nodiscard]] bool empty() const { return lines_.empty(); }

  // At the beginning of a step: places that carried load follow their minimum or, where there is
  // none, stay; the others are free for new minima with gaps up to the margin. Needs the
  // kinematics of q; changes state.touches alone. True if it did.
  bool choose(const Model& model, const Workspace& work, VecIn q, double margin, State& state);
  // At its end: adds places where the rod is deeper in something than `touch_depth` and than where
  // it has points. False if it added none; `deepest` is the depth of the deepest such place, 0
  // where there is none.
  bool add_missing(const Model& model, const Workspace& work, const State& state, Vec& touches,
                   double& deepest);

  // How the gap of a contact between stations runs along the rod: a valley where it is that of an
  // isolated minimum against a shape, so that the place moves with it.
  struct Run {
    bool valley = false;
    double slope = 0, curvature = 0;  // dg/dX, d2g/dX2
  };
  [[nodiscard]] Run run(const Model& model, const Workspace& work, VecIn q, const ContactKey& key,
                        const Vec& touches);

 private:
  // A tube: a sphere at every station of a segment.
  struct Line {
    int rod = 0;    // of Model::rods
    int shape = 0;  // its first touch's: law, frame, radius
    Vec3 centre = Vec3::Zero();
    double radius = 0;
    std::vector<int> others;  // shapes that it may meet, but for tubes
    std::vector<int> lines;   // tubes that it may meet, of those after it
  };
  struct Spot {
    double X = 0;
    Vec3 centre = Vec3::Zero(), along = Vec3::Zero();  // dc/dX
  };
  struct Sample {
    double X = 0, gap = 0, slope = 0;
    bool near = false;
  };
  struct Minimum {
    int rod = 0;
    double X = 0, gap = 0;
    bool of_tube = false;  // against another rod
  };
  struct Context {
    const Model& model;
    const Workspace& work;
    VecIn q;
    double reach = 0;  // gaps beyond it are of no interest [m]
  };
  [[nodiscard]] Spot spot(const Context& c, const Line& line, const RodPoint& point) const;
  [[nodiscard]] Sample sample(const Context& c, const Line& line, const Spot& at, int other) const;
  [[nodiscard]] Sample sample_at(const Context& c, const Line& line, double X, int other);
  [[nodiscard]] Sample least(const Context& c, const Line& line, Sample a, Sample b, int other);
  void find_spots(const Context& c);
  // About a place: between which others it is, and the gap there.
  struct Valley {
    double low = 0, high = 0;
    Sample here;
    double curvature = 0;
    bool isolated = false;
  };
  [[nodiscard]] Valley valley(const Context& c, int line, int other, int touch, const Vec& X);
  void follow(const Context& c, int line, int other, int touch, Vec& X);
  void scan(const Context& c, const Vec& X, double depth);
  void scan_shape(const Context& c, int line, int other, const Vec& X, double depth);
  void scan_tube(const Context& c, int a, int b, double depth);
  [[nodiscard]] bool is_tube(const Model& model, int shape) const;
  void find_loaded(const Model& model, const State& state);
  bool assign(const Model& model, bool follow, Vec& X, double& deepest);

  std::vector<Line> lines_;
  std::vector<std::vector<RodPoint>> points_;  // by rods: base, stations, tip
  std::vector<int> touch_of_;                  // of each shape: which of State::touches, or -1
  std::vector<int> line_of_;                   // of each shape of a touch: its line, or -1
  std::vector<char> tube_;                     // of each body: a station of such a segment
  // Scratch.
  std::vector<std::vector<Spot>> spots_;  // by lines, at points_
  std::vector<Aabb> box_;                 // of lines, with their radius
  std::vector<Sample> samples_;
  std::vector<Minimum> minima_;
  // Of touches: carries load; against a rod; was put in this call.
  std::vector<char> loaded_, on_tube_, placed_;
  std::vector<RodPoint> point_;  // by rods
  Vec before_;
  double widest_ = 0;  // distance of stations [m]
};

}  // namespace saltus
