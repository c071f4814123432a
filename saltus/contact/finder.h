// Which shapes of a configuration touch, and where: broad phase, then contact points.
#pragma once
#include <vector>

#include "saltus/dynamics/workspace.h"
#include "saltus/geometry/broad_phase.h"
#include "saltus/geometry/contact_points.h"

namespace saltus {

// A point where two shapes touch or nearly do, under a law of the model.
struct Contact {
  ContactKey key;  // shapes in the law's order
  int law = 0;     // of Model::contact_laws
  ContactPoint point;
  // Of the step, for those who record it:
  Vec3 tangent = Vec3::UnitX();    // T1
  std::array<double, 6> Lambda{};  // impulses: normal, T1, T2, then rolling and drilling moments
  unsigned char mode = 0;          // Mode of solvers/inclusion.h
};

class ContactFinder {
 public:
  explicit ContactFinder(const Model& model);
  // All contact points with gap <= margin, sorted by key; needs forward_kinematics.
  void find(const Model& model, const Workspace& work, double margin,
            std::vector<Contact>& contacts);

  int threads = 1;

 private:
  void touch(const Model& model, const IndexPair& pair, double margin,
             std::vector<Contact>& contacts) const;
  void place(const Model& model, const Workspace& work, double margin);
  // Few pairs, of which one shape does not move: each is looked at, without a broad phase.
  struct StillPair {
    int a = 0, b = 0;  // shapes in the law's order
    int law = 0;
    bool b_moves = true, half_space = false;
    bool sphere = false;  // on a half-space: no dispatch
    double radius = 0;    // of the sphere, or round the moving shape about its frame [m]
  };
  void find_still_pairs(const Model& model);
  void touch(const Model& model, const Workspace& work, const StillPair& pair, double margin,
             std::vector<Contact>& contacts) const;
  std::vector<StillPair> few_;  // sorted; empty: all pairs by the broad phase
  BroadPhase broad_;
  std::vector<BroadPlane> planes_;
  std::vector<SE3> pose_;
  std::vector<Aabb> box_;
  std::vector<std::vector<Contact>> parts_;  // of chunks of pairs
};

// Whether of any two shapes that may meet one does not move.
[[nodiscard]] bool touches_still_only(const Model& model);

// Gaps up to this are looked at: a loaded contact may lie this far open at a mid-point [m].
[[nodiscard]] inline double contact_margin(const Model& model) { return 1e-3 * model.length_scale; }

// Gaps up to this count as closed: positions are corrected to it, so a smaller gap is rounding [m].
inline constexpr double closed_gap = 1e-10;

// T1 in the tangent plane: the x-axis of the shape whose axes carry the friction coefficients.
[[nodiscard]] Vec3 tangent_of(const Model& model, const Workspace& work, const Contact& contact);
// The x-axis of a frame laid into the plane across n, or where it stands upright, the y-axis.
[[nodiscard]] Vec3 in_plane(const Mat3& R, const Vec3& n);

}  // namespace saltus
