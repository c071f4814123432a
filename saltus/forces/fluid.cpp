#include "saltus/forces/fluid.h"

#include <algorithm>

#include "saltus/forces/flow.h"
#include "saltus/forces/wing.h"
#include "saltus/rods/segment.h"

namespace saltus {

namespace {

// A wrench at a point as one at the origin.
Vec6 at_point(const Vec3& point, const Vec3& force) { return join(force, point.cross(force)); }

// How far a section is below the surface, -1 .. 1 in halves of its extent.
double immersion(const WaterLine& line, const Vec3& gravity, const Vec3& x) {
  const double g = gravity.norm();
  const double depth = g > 0 ? line.height + gravity.dot(x) / g : line.height - x.z();
  return std::clamp(depth / line.half, -1.0, 1.0);
}
// (1 + sin)/2 would do as well; a cubic has a smooth slope at both ends.
double wet_share(double d) { return 0.5 + 0.75 * d - 0.25 * d * d * d; }
// Its integral over the depth, in halves.
double wet_depth(double d) {
  return 0.5 * (d + 1) + 0.375 * (d * d - 1) - 0.0625 * (d * d * d * d - 1);
}

void add_drag(const Fluid& fluid, double wet, const Vec6& V, const Vec6& carried, FluidForce& f) {
  Vec6 drag = -wet * (fluid.resistance * V);
  f.slope = wet * fluid.resistance;
  if (!fluid.quadratic.isZero(0)) {
    const Vec3& c = fluid.centre;
    Mat6 T = Mat6::Identity();  // v_c = v + omega x c
    T.topRightCorner<3, 3>() << 0, c.z(), -c.y(), -c.z(), 0, c.x(), c.y(), -c.x(), 0;
    const Vec6 at = T * V, k = wet * fluid.quadratic.cwiseProduct(at.cwiseAbs());
    drag -= T.transpose() * k.cwiseProduct(at);
    f.slope += T.transpose() * (2 * k).asDiagonal() * T;
  }
  f.wrench += drag;
  f.lost = drag.dot(V);
  f.given += drag.dot(carried);
}

// What a flow adds to inertia of added mass, and the pressure of its acceleration.
void add_flow(const Fluid& fluid, const FlowAt& flow, const SE3& X, const Vec6& twist,
              const Vec6& V, FluidForce& f) {
  const Vec3 omega = twist.tail<3>(), v = twist.head<3>() + omega.cross(fluid.centre);
  const Vec3 U = X.R.transpose() * flow.velocity;
  const Vec3 followed = X.R.transpose() * (flow.rate + flow.gradient * (X.R * v)) - omega.cross(U);
  const Vec3 pressed = X.R.transpose() * (flow.rate + flow.gradient * flow.velocity);
  const Mat6& A = fluid.added;
  const Vec6 wrench = A.leftCols<3>() * followed - dual_bracket(V, A * V) +
                      dual_bracket(twist, A * twist) + at_point(fluid.centre, fluid.lift * pressed);
  f.wrench += wrench;
  f.given += wrench.dot(twist);
}

void add_end(const Fluid& fluid, double t, const SE3& X, const Vec6& twist, FluidForce& f) {
  const FluidEnd& end = fluid.end;
  if (end.added.isZero(0)) return;
  const Vec3 own = twist.head<3>() + twist.tail<3>().cross(end.point);
  Vec3 v = own;
  if (fluid.flow) v -= X.R.transpose() * flow_at(*fluid.flow, X * end.point, t).velocity;
  const Vec3 p = end.added * v;
  const Vec3 G = v.dot(end.outward) * p - 0.5 * v.dot(p) * end.outward;
  f.wrench += at_point(end.point, G);
  f.given += G.dot(own);
}

// Pressure and drag of a wing are one law: nothing says that it only takes.
void add_wing(const Fluid& fluid, const Vec6& twist, const Vec6& carried, FluidForce& f) {
  const Vec6 wrench = wing_wrench(*fluid.wing, twist, carried.head<3>());
  f.wrench += wrench;
  f.given += wrench.dot(twist);
}

}  // namespace

FluidForce fluid_force(const Fluid& fluid, const Vec3& gravity, double t, const SE3& X,
                       const Vec6& twist) {
  FluidForce f;
  const Vec3 x = X * fluid.centre;
  const double wet = fluid.surface.half > 0 ? wet_share(immersion(fluid.surface, gravity, x)) : 1.0;
  Vec6 carried = Vec6::Zero();
  FlowAt flow;
  if (fluid.flow) {
    flow = flow_at(*fluid.flow, x, t);
    carried.head<3>() = X.R.transpose() * flow.velocity;
  }
  const Vec6 V = twist - carried;
  add_drag(fluid, wet, V, carried, f);
  Vec3 across = V.head<3>() + V.tail<3>().cross(fluid.centre);
  across.x() = 0;
  f.flux = 0.5 * across.dot(fluid.added.topLeftCorner<3, 3>() * across);
  if (fluid.flow) add_flow(fluid, flow, X, twist, V, f);
  add_end(fluid, t, X, twist, f);
  if (fluid.wing) add_wing(fluid, twist, carried, f);
  f.wrench += at_point(fluid.centre, -wet * fluid.lift * (X.R.transpose() * gravity));
  return f;
}

namespace {

// A station of a rod that stretches; null: none.
struct StretchPlace {
  const RodElement* rod = nullptr;
  double X = 0;
};

StretchPlace stretch_place(const Model& model, int body) {
  for (const RodElement& r : model.rods) {
    if (body < r.first || body >= r.first + r.stations) continue;
    const auto& bases = r.segment->spec.basis;
    if (std::none_of(bases.begin(), bases.end(),
                     [](const StrainBasis& b) { return b.component == Strain::stretch; }))
      return {};
    int heavy = body - r.first;
    for (const RodStation& s : r.segment->stations)
      if (s.heavy && heavy-- == 0) return {&r, s.X};
    return {};  // a place without inertia
  }
  return {};
}

// f(coefficient, its function) of the stretch there.
template <class F>
void each_stretch(const StretchPlace& at, const F& f) {
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, most_coefficients, 1> values;
  const SegmentSpec& spec = at.rod->segment->spec;
  int first = 0;
  for (const StrainBasis& b : spec.basis) {
    const int n = functions(b);
    if (b.component == Strain::stretch) {
      values.resize(n);
      evaluate(b, at.X / spec.length, values);
      for (int k = 0; k < n; ++k) f(first + k, values[k]);
    }
    first += n;
  }
}

double stretch_tension(const StretchPlace& at, double flux, VecIn q) {
  const auto& rest = at.rod->segment->spec.rest;
  double along = rest ? rest(at.X)[0] : 1;
  each_stretch(at, [&](int k, double value) { along += value * q[at.rod->q0 + k]; });
  return flux / along;
}

}  // namespace

void add_stretch(const Model& model, const Fluid& fluid, const FluidForce& force, VecIn q,
                 double scale, VecRef tau) {
  if (model.rods.empty() || force.flux == 0) return;
  const StretchPlace at = stretch_place(model, fluid.body);
  if (!at.rod) return;
  const double tension = scale * stretch_tension(at, force.flux, q);
  each_stretch(at, [&](int k, double value) { tau[at.rod->v0 + k] += tension * value; });
}

double stretch_power(const Model& model, const Fluid& fluid, const FluidForce& force, VecIn q,
                     VecIn v) {
  if (model.rods.empty() || force.flux == 0) return 0;
  const StretchPlace at = stretch_place(model, fluid.body);
  if (!at.rod) return 0;
  double rate = 0;
  each_stretch(at, [&](int k, double value) { rate += value * v[at.rod->v0 + k]; });
  return stretch_tension(at, force.flux, q) * rate;
}

double buoyancy_energy(const Model& model, const Workspace& work) {
  double U = 0;
  for (const Fluid& f : model.fluids) {
    if (f.lift == 0) continue;
    const Vec3 x = work.X[f.body] * f.centre;
    if (f.surface.half == 0) {
      U += f.lift * model.gravity.dot(x);
      continue;
    }
    // Of the work against it from where nothing is wet.
    const WaterLine& line = f.surface;
    const double g = model.gravity.norm(), d = immersion(line, model.gravity, x);
    const double deeper = g > 0 ? line.height + model.gravity.dot(x) / g - d * line.half : 0;
    U += f.lift * g * (line.half * wet_depth(d) + std::max(0.0, deeper));
  }
  return U;
}

}  // namespace saltus
