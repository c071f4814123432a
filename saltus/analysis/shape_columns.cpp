#include "saltus/analysis/shape_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "saltus/base/error.h"
#include "saltus/dynamics/joint_kinematics.h"
#include "saltus/model/joint_traits.h"
#include "saltus/rods/reconstruction.h"

namespace saltus {

namespace {

// Twists of the parent's frame, one a column, in the frame of a body at X.
Mat6X to_body(const SE3& X, const Mat6X& twists) { return adjoint(X.inverse()) * twists; }

struct JointAtShape {
  SE3 X;        // of the body in its parent
  Mat6X S;      // its columns, in the body's frame
  Mat6X along;  // D_u of them
};

JointAtShape joint_at(const Body& body, VecIn q, VecIn u) {
  JointAtShape j;
  SE3 moved;
  Columns6 S = Columns6::Zero(), scratch = Columns6::Zero();
  const int nv = body.nv;
  const auto bias_at = [&](const Vec& v) {
    Vec6 bias;
    joint_kinematics(body.joint, q, v, moved, scratch, bias);
    return bias;
  };
  Vec6 bias;
  joint_kinematics(body.joint, q, u, moved, S, bias);
  j.X = body.placement * moved * body.in_body.inverse();
  j.S.resize(6, nv);
  j.along.setZero(6, nv);
  const Mat6 turned = adjoint(body.in_body);
  j.S = turned * S.leftCols(nv);
  if (!has_scalar_coordinates(body.joint)) return j;  // of a spherical joint they stand still
  const Vec6 moving = S.leftCols(nv) * u;
  for (int i = 0; i < nv; ++i) {
    const Vec e = Vec::Unit(nv, i);
    const Vec6 polar = bias_at(u + e) - bias - bias_at(e);
    j.along.col(i) = turned * (0.5 * (polar + bracket(S.col(i), moving)));
  }
  return j;
}

const RodElement& rod_of(const Model& model, int first) {
  return *std::find_if(model.rods.begin(), model.rods.end(),
                       [&](const RodElement& r) { return r.first == first; });
}

// The stations of a rod's segment, in the order of their bodies; as of a joint, with its columns
// once for all of them.
std::vector<JointAtShape> segment_at(const Model& model, const RodElement& rod, VecIn q, VecIn u) {
  const RodSegment& segment = *rod.segment;
  const int n = rod.size;
  std::vector<int> places;
  for (int i = 0; i <= segment.tip(); ++i)
    if (segment.stations[i].heavy) places.push_back(i);
  for (int j = 0; j < rod.touches; ++j) places.push_back(segment.tip() + 1 + j);
  places.push_back(segment.tip());
  RodShape shape;
  shape.resize(segment);
  reconstruct<double>(segment, q, shape);
  columns<double>(segment, shape);
  std::vector<JointAtShape> at(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Body& b = model.bodies[rod.first + static_cast<int>(k)];
    at[k].X = b.placement * generic::pose_of(shape.pose[places[k]]) * b.in_body.inverse();
    at[k].S = adjoint(b.in_body) * shape.columns_at(segment, places[k]);
    at[k].along.setZero(6, n);
  }
  if (u.isZero(0)) return at;  // columns alone, or a segment at rest
  const auto biases = [&](const Vec& v) {
    rates<double>(segment, v, shape);
    Mat6X all(6, places.size());
    for (std::size_t k = 0; k < places.size(); ++k)
      all.col(static_cast<Eigen::Index>(k)) = shape.bias[places[k]];
    return all;
  };
  const Mat6X moving = biases(u);
  for (int i = 0; i < n; ++i) {
    const Vec e = Vec::Unit(n, i);
    const Mat6X polar = biases(u + e) - moving - biases(e);
    for (std::size_t k = 0; k < places.size(); ++k) {
      const auto S = shape.columns_at(segment, places[k]);
      at[k].along.col(i) =
          adjoint(model.bodies[rod.first + static_cast<int>(k)].in_body) *
          (0.5 * (polar.col(static_cast<Eigen::Index>(k)) + bracket(Vec6(S.col(i)), Vec6(S * u))));
    }
  }
  return at;
}

// Columns of the shape in each body's frame while the root is held, and their derivatives.
struct HeldRoot {
  std::vector<SE3> X;  // bodies in the root's frame
  std::vector<Mat6X> S, along;
};

HeldRoot held_root(const Model& model, const ShapeSpace& space, VecIn r, VecIn u) {
  const Vec q = shape_q(model, space, r);
  const int p = space.p();
  HeldRoot h;
  h.X.resize(model.bodies.size());
  h.S.resize(model.bodies.size());
  h.along.resize(model.bodies.size());
  std::vector<JointAtShape> stations;  // of the segment at hand
  for (int i = 0; i < model.body_count(); ++i) {
    if (!space.moves[i]) continue;
    h.S[i].setZero(6, p);
    h.along[i].setZero(6, p);
    if (i == space.root) continue;
    const Body& b = model.bodies[i];
    const int first = space.first[i];
    const Vec own = b.nv > 0 ? Vec(u.segment(first, b.nv)) : Vec(0);
    const bool of_rod = is_rod(b.joint);
    if (of_rod && b.station == 0)
      stations = segment_at(model, rod_of(model, i), q.segment(b.q0, b.nq), own);
    const JointAtShape j = of_rod ? stations[b.station] : joint_at(b, q.segment(b.q0, b.nq), own);
    h.X[i] = h.X[b.parent] * j.X;
    const Mat6X carried = to_body(j.X, h.S[b.parent]);
    h.S[i] = carried;
    h.along[i] = to_body(j.X, h.along[b.parent]);
    if (b.nv == 0) continue;
    h.along[i] -= bracket_matrix(j.S * own) * carried;
    h.S[i].middleCols(first, b.nv) += j.S;
    h.along[i].middleCols(first, b.nv) += j.along;
  }
  return h;
}

// Angles and lengths beyond what squares hold (1e154) have no place.
[[noreturn]] void refuse_shape(const Model& model, const ShapeSpace& space, VecIn r, int body) {
  Eigen::Index worst = 0;
  r.cwiseAbs().maxCoeff(&worst);
  throw InputError(fmt::format("'{}' has no finite place at the shape with {} = {}",
                               model.bodies[body].name, space.variables[worst].name, r[worst]));
}

}  // namespace

void require_finite(const Mat& m, const char* what) {
  if (!m.allFinite())
    throw InputError(
        fmt::format("the {} of the creature overflow: expected smaller numbers", what));
}

ShapeColumns shape_columns(const Model& model, const ShapeSpace& space, VecIn r) {
  HeldRoot h = held_root(model, space, r, Vec::Zero(space.p()));
  ShapeColumns c;
  c.X.resize(h.X.size());
  c.net.resize(h.X.size());
  c.shape.resize(h.X.size());
  const SE3 to_reference = h.X[space.reference].inverse();
  for (std::size_t i = 0; i < h.X.size(); ++i) {
    if (!space.moves[i]) continue;
    c.X[i] = to_reference * h.X[i];
    c.net[i] = to_body(c.X[i], space.basis);
    c.shape[i] = h.S[i] - to_body(c.X[i], h.S[space.reference]);
    if (!c.net[i].allFinite() || !c.shape[i].allFinite())
      refuse_shape(model, space, r, static_cast<int>(i));
  }
  return c;
}

ShapeColumns shape_columns_along(const Model& model, const ShapeSpace& space, VecIn r,
                                 const ShapeColumns& columns, VecIn u) {
  const HeldRoot h = held_root(model, space, r, u);
  ShapeColumns d;
  d.net.resize(h.X.size());
  d.shape.resize(h.X.size());
  for (std::size_t i = 0; i < h.X.size(); ++i) {
    if (!space.moves[i]) continue;
    const Mat6 turning = bracket_matrix(columns.shape[i] * u);
    d.net[i] = -turning * columns.net[i];
    d.shape[i] = h.along[i] - to_body(columns.X[i], h.along[space.reference]) +
                 turning * to_body(columns.X[i], h.S[space.reference]);
  }
  return d;
}

NetMatrices net_matrices(const ShapeColumns& c, const std::vector<Mat6>& K) {
  NetMatrices m;
  for (std::size_t i = 0; i < c.net.size(); ++i) {
    if (c.net[i].cols() == 0) continue;
    if (m.net.size() == 0) {
      m.net.setZero(c.net[i].cols(), c.net[i].cols());
      m.mixed.setZero(c.net[i].cols(), c.shape[i].cols());
      m.shape.setZero(c.shape[i].cols(), c.shape[i].cols());
    }
    const Mat6X KN = K[i] * c.net[i], KS = K[i] * c.shape[i];
    m.net += c.net[i].transpose() * KN;
    m.mixed += c.net[i].transpose() * KS;
    m.shape += c.shape[i].transpose() * KS;
  }
  for (const Mat* part : {&m.net, &m.mixed, &m.shape})
    require_finite(*part, "inertias or resistances");
  return m;
}

NetMatrices net_matrices_along(const ShapeColumns& c, const ShapeColumns& d,
                               const std::vector<Mat6>& K) {
  NetMatrices m = net_matrices(c, std::vector<Mat6>(K.size(), Mat6::Zero()));
  for (std::size_t i = 0; i < c.net.size(); ++i) {
    if (c.net[i].cols() == 0) continue;
    const Mat6X KN = K[i] * c.net[i], KS = K[i] * c.shape[i];
    const Mat half = d.net[i].transpose() * KN, own = d.shape[i].transpose() * KS;
    m.net += half + half.transpose();
    m.mixed += d.net[i].transpose() * KS + KN.transpose() * d.shape[i];
    m.shape += own + own.transpose();
  }
  return m;
}

std::vector<Mat6> inertias(const Model& model) {
  std::vector<Mat6> K;
  for (const Body& b : model.bodies) K.push_back(b.inertia);
  return K;
}

}  // namespace saltus
