// The interior-point method's steps, block by block.
#include "saltus/solvers/interior_point.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "saltus/solvers/newton_sets.h"

namespace saltus::interior_detail {

namespace {

using newton_detail::Shape;

double det(const Vec3& x) { return (x[0] - x.tail<2>().norm()) * (x[0] + x.tail<2>().norm()); }

// W x or W^-1 x.
Vec3 apply(const InteriorCone& c, const Vec3& x, bool inverse) {
  Vec3 y = Vec3::Zero();
  if (c.rows == 1) {
    y[0] = inverse ? x[0] / c.scale : x[0] * c.scale;
    return y;
  }
  const double side = inverse ? -1 : 1;
  const double along = c.w.tail<2>().dot(x.tail<2>());
  y[0] = c.w[0] * x[0] + side * along;
  y.tail<2>() = x.tail<2>() + c.w.tail<2>() * (side * x[0] + along / (1 + c.w[0]));
  return inverse ? Vec3(y / c.scale) : Vec3(y * c.scale);
}

// The scaling point of s and z.
void scale_cone(InteriorCone& c) {
  if (c.rows == 1) {
    c.scale = std::sqrt(c.s[0] / c.z[0]);
    c.lambda = Vec3(std::sqrt(c.s[0] * c.z[0]), 0, 0);
    return;
  }
  const double ds = std::sqrt(std::max(det(c.s), 1e-300)),
               dz = std::sqrt(std::max(det(c.z), 1e-300));
  const Vec3 s = c.s / ds, z = c.z / dz;
  const double gamma = std::sqrt(0.5 * (1 + s.dot(z)));
  c.w = Vec3(s[0] + z[0], s[1] - z[1], s[2] - z[2]) / (2 * gamma);
  c.w[0] = std::sqrt(1 + c.w.tail<2>().squaredNorm());
  c.scale = std::sqrt(ds / dz);
  c.lambda = apply(c, c.z, false);
}

Vec3 product(const InteriorCone& c, const Vec3& a, const Vec3& b) {
  if (c.rows == 1) return {a[0] * b[0], 0, 0};
  Vec3 y;
  y[0] = a.dot(b);
  y.tail<2>() = a[0] * b.tail<2>() + b[0] * a.tail<2>();
  return y;
}
// x with lambda o x = d.
Vec3 divide(const InteriorCone& c, const Vec3& d) {
  const Vec3& l = c.lambda;
  if (c.rows == 1) return {d[0] / l[0], 0, 0};
  Vec3 x;
  x[0] = (l[0] * d[0] - l.tail<2>().dot(d.tail<2>())) / std::max(det(l), 1e-300);
  x.tail<2>() = (d.tail<2>() - x[0] * l.tail<2>()) / l[0];
  return x;
}

// The longest t with x + t d in the cone.
double longest(const InteriorCone& c, const Vec3& x, const Vec3& d) {
  const double none = std::numeric_limits<double>::infinity();
  if (c.rows == 1) return d[0] < 0 ? -x[0] / d[0] : none;
  const double a = det(d), b = x[0] * d[0] - x.tail<2>().dot(d.tail<2>()), e = det(x);
  // a t^2 + 2 b t + e >= 0 and x0 + t d0 >= 0
  const double disc = b * b - a * e;
  double t = none;
  if (a < 0)
    t = (b + std::sqrt(std::max(disc, 0.0))) / -a;  // the one positive root
  else if (b < 0 && disc >= 0)
    t = e / (-b + std::sqrt(disc));
  if (d[0] < 0) t = std::min(t, -x[0] / d[0]);
  return std::max(t, 0.0);
}

// s = A y + a.
Vec3 slack(const InteriorCone& c, const double* y, double constant) {
  if (c.rows == 1) return {c.sign * y[c.first] + constant * c.offset, 0, 0};
  Vec3 s(c.normal ? y[0] : constant, y[c.first], 0);
  if (c.rows == 3) s[2] = y[c.first + 1];
  return s;
}
// y += A' x.
void gather(const InteriorCone& c, const Vec3& x, double* y) {
  if (c.rows == 1) {
    y[c.first] += c.sign * x[0];
    return;
  }
  if (c.normal) y[0] += x[0];
  for (int i = 1; i < c.rows; ++i) y[c.first + i - 1] += x[i];
}

// H += A' W^-2 A.
void add_metric(const InteriorCone& c, Mat6& H) {
  if (c.rows == 1) {
    H(c.first, c.first) += 1 / (c.scale * c.scale);
    return;
  }
  const Vec3 u(c.w[0], -c.w[1], -c.w[2]);
  Mat3 W = 2 * u * u.transpose();
  W(0, 0) -= 1;
  W(1, 1) += 1;
  W(2, 2) += 1;
  W /= c.scale * c.scale;
  for (int i = c.normal ? 0 : 1; i < c.rows; ++i)
    for (int j = c.normal ? 0 : 1; j < c.rows; ++j)
      H(i == 0 ? 0 : c.first + i - 1, j == 0 ? 0 : c.first + j - 1) += W(i, j);
}

}  // namespace

namespace {

// (W^-2 + delta)^-1 by the axes of W, which the general inverse loses the digits of: (1, +-u) with
// (w_0 +- |w|) scale, and across them scale. u is the direction of the friction in w.
void invert_cone(const InteriorCone& c, double delta, Mat6& inverse) {
  const double length = c.w.tail<2>().norm(), far = c.w[0] + length;
  const double square = c.scale * c.scale;
  const auto gain = [&](double own) { return 1 / (1 / own + delta); };
  const double plus = gain(square * far * far), minus = gain(square / (far * far));
  const double across = gain(square);
  const Vec2 u = length > 0 ? Vec2(c.w.tail<2>() / length) : Vec2(1, 0);
  inverse(0, 0) = 0.5 * (plus + minus);
  for (int i = 0; i + 1 < c.rows; ++i) {
    inverse(0, 1 + i) = inverse(1 + i, 0) = 0.5 * (plus - minus) * u[i];
    for (int j = 0; j + 1 < c.rows; ++j)
      inverse(1 + i, 1 + j) =
          (0.5 * (plus + minus) - across) * (u[i] * u[j]) + (i == j ? across : 0.0);
  }
}

}  // namespace

bool open(std::span<const Block> blocks, VecIn Lambda, VecIn xi, const NewtonWorkspace& w,
          InteriorScratch& p) {
  const auto rows = static_cast<int>(Lambda.size());
  for (Vec* x : {&p.S, &p.y, &p.eta})
    if (x->size() < rows) x->setZero(rows);
  if (p.slip.size() < static_cast<int>(blocks.size()))
    p.slip.setZero(static_cast<int>(blocks.size()));
  if (p.H.size() < blocks.size()) p.H.resize(blocks.size());
  p.cones.clear();
  p.begin.clear();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    const ConvexSets& sets = w.sets[b];
    p.begin.push_back(static_cast<int>(p.cones.size()));
    newton_detail::NaturalPoint at;
    newton_detail::scales_of(k, sets, w.judge[b], Lambda, xi, w, at);
    p.S.segment(k.row, k.rows) = at.S.head(k.rows);
    const bool friction =
        std::any_of(sets.begin(), sets.end(), [](const auto& s) { return s.scaled; });
    for (const ConvexSet& set : sets) {
      if (set.rule == SlipRule::hu) return false;
      InteriorCone c;
      c.first = set.first;
      if (set.shape == Shape::all) continue;
      if (set.scaled || set.shape == Shape::ellipse) {
        c.rows = set.rows + 1;
        c.normal = set.scaled;
        p.cones.push_back(c);
        continue;
      }
      if (friction) continue;  // the normal row is in the cones of its friction
      if (set.lower > -infinity) {
        c.offset = -set.lower;
        p.cones.push_back(c);
      }
      if (set.upper < infinity) {
        c.sign = -1;
        c.offset = set.upper;
        p.cones.push_back(c);
      }
    }
  }
  p.begin.push_back(static_cast<int>(p.cones.size()));
  return true;
}

void push_inside(std::span<const Block> blocks, double speed, VecRef Lambda,
                 const NewtonWorkspace& w, InteriorScratch& p) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    double* y = p.y.data() + k.row;
    for (int i = 0; i < k.rows; ++i)
      y[i] = newton_detail::scaled(Lambda[k.row + i], p.S[k.row + i]);
    double most = 0;  // a normal inside all cones of the block
    bool normal = false;
    for (int c = p.begin[b]; c < p.begin[b + 1]; ++c) {
      const InteriorCone& cone = p.cones[c];
      if (cone.rows > 1 && cone.normal) {
        normal = true;
        most = std::max(most, slack(cone, y, 1).tail<2>().norm());
      } else if (cone.rows > 1) {  // a disc: to nine tenths of it
        const double length = slack(cone, y, 1).tail<2>().norm();
        if (length > 0.9)
          for (int i = 0; i + 1 < cone.rows; ++i) y[cone.first + i] *= 0.9 / length;
      } else {
        const double room = speed * w.steps[b].r[0];
        double at = cone.sign * y[cone.first] + cone.offset, wide = infinity;
        if (p.begin[b + 1] - p.begin[b] == 2)
          wide = p.cones[p.begin[b]].offset + p.cones[p.begin[b] + 1].offset;
        const double least = std::min(room, 0.1 * wide);
        if (at < least) y[cone.first] += cone.sign * (least - at);
      }
    }
    if (normal) y[0] = std::max(y[0], most) + speed * w.steps[b].r[0];
    for (int i = 0; i < k.rows; ++i) Lambda[k.row + i] = p.S[k.row + i] * y[i];
    for (int c = p.begin[b]; c < p.begin[b + 1]; ++c) p.cones[c].s = slack(p.cones[c], y, 1);
  }
}

namespace {

// eta with the compliance's part, and the slip speed.
void rates(std::span<const Block> blocks, VecIn Lambda, VecIn xi, const NewtonWorkspace& w,
           InteriorScratch& p) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    for (int i = k.row; i < k.row + k.rows; ++i)
      p.eta[i] = p.S[i] * (xi[i] + w.compliance[i] * Lambda[i]);
    p.slip[b] = 0;
    for (int c = p.begin[b]; c < p.begin[b + 1]; ++c)
      if (const InteriorCone& cone = p.cones[c]; cone.rows > 1 && cone.normal)
        p.slip[b] += p.eta.segment(k.row + cone.first, cone.rows - 1).norm();
  }
}

}  // namespace

void start_duals(std::span<const Block> blocks, VecIn Lambda, VecIn xi, double speed,
                 const NewtonWorkspace& w, InteriorScratch& p) {
  rates(blocks, Lambda, xi, w, p);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    const double* eta = p.eta.data() + k.row;
    const int count = p.begin[b + 1] - p.begin[b];
    for (int c = p.begin[b]; c < p.begin[b + 1]; ++c) {
      InteriorCone& cone = p.cones[c];
      if (cone.rows == 1) {
        const double S = p.S[k.row + cone.first];
        cone.z = Vec3(std::max(cone.sign * eta[cone.first], 0.0) + S * speed, 0, 0);
        continue;
      }
      cone.z = slack(cone, eta, 0);
      const double length = cone.z.tail<2>().norm();
      const double given = cone.normal ? (eta[0] + p.slip[b]) / count : length;
      const double floor =
          cone.normal ? 1.0 : p.S.segment(k.row + cone.first, cone.rows - 1).maxCoeff();
      cone.z[0] = std::max(given, length) + floor * speed;
    }
  }
}

double scale(std::span<const Block> blocks, VecIn Lambda, VecIn xi, NewtonWorkspace& w,
             InteriorScratch& p) {
  rates(blocks, Lambda, xi, w, p);
  double mu = 0;
  for (InteriorCone& c : p.cones) {
    scale_cone(c);
    mu += c.s.dot(c.z);
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    const int n = k.rows;
    Mat6 H = Mat6::Zero(), coupled = Mat6::Identity();
    for (int c = p.begin[b]; c < p.begin[b + 1]; ++c) {
      const InteriorCone& cone = p.cones[c];
      add_metric(cone, H);
      if (p.coupling == 0 || cone.rows == 1 || !cone.normal) continue;
      const double length = p.eta.segment(k.row + cone.first, cone.rows - 1).norm();
      if (!(length > 0)) continue;
      for (int i = 0; i + 1 < cone.rows; ++i)
        coupled(0, cone.first + i) = p.coupling * p.eta[k.row + cone.first + i] / length;
    }
    for (int i = 0; i < n; ++i) {
      const double S = p.S[k.row + i], own = w.diagonal[k.row + i];
      const double soft = S * S * w.compliance[k.row + i];
      H.col(i).head(n) += soft * coupled.col(i).head(n);
      H(i, i) += S > 0 ? p.delta * S * S * (own > 0 ? own : 1.0) : 1.0;
    }
    Mat6& inverse = p.H[b];
    inverse.setZero();
    const bool plain = p.begin[b + 1] == p.begin[b] + 1 && p.cones[p.begin[b]].normal &&
                       p.cones[p.begin[b]].rows == n && w.compliance[k.row] == 0 &&
                       p.S.segment(k.row, n).minCoeff() > 0;
    using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
    if (plain)
      invert_cone(p.cones[p.begin[b]],
                  p.delta * p.S.segment(k.row, n)
                                .cwiseAbs2()
                                .cwiseProduct(w.diagonal.segment(k.row, n))
                                .maxCoeff(),
                  inverse);
    else if (n == 1)
      inverse(0, 0) = 1 / H(0, 0);
    else if (n == 3)
      inverse.topLeftCorner<3, 3>() = H.topLeftCorner<3, 3>().inverse();
    else
      inverse.topLeftCorner(n, n) = Small(H.topLeftCorner(n, n)).partialPivLu().inverse();
    const auto S = p.S.segment(k.row, n);
    Small K = inverse.topLeftCorner(n, n) * coupled.topLeftCorner(n, n);
    if (p.coupling == 0) K = 0.5 * (K + K.transpose()).eval();
    w.K[b].topLeftCorner(n, n) = S.asDiagonal() * K * S.asDiagonal();
  }
  return p.cones.empty() ? 0 : mu / static_cast<double>(p.cones.size());
}

namespace {

Vec3 wanted(const InteriorCone& c, double target, bool corrector) {
  Vec3 d = -product(c, c.lambda, c.lambda);
  d[0] += target;
  if (corrector) d -= product(c, apply(c, c.ds, true), apply(c, c.dz, false));
  return divide(c, d);
}

}  // namespace

void right_side(std::span<const Block> blocks, double target, bool corrector, NewtonWorkspace& w,
                InteriorScratch& p) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    Vec6 r = Vec6::Zero();
    r.head(k.rows) = -p.eta.segment(k.row, k.rows);
    r[0] -= p.slip[b];
    for (int c = p.begin[b]; c < p.begin[b + 1]; ++c) {
      InteriorCone& cone = p.cones[c];
      const Vec3 q = wanted(cone, target, corrector);
      gather(cone, cone.z + apply(cone, q, true), r.data());
    }
    const int n = k.rows;
    w.g.segment(k.row, n) =
        p.S.segment(k.row, n).cwiseProduct(p.H[b].topLeftCorner(n, n) * r.head(n));
  }
}

double directions(std::span<const Block> blocks, double target, bool corrector,
                  const NewtonWorkspace& w, InteriorScratch& p) {
  double t = std::numeric_limits<double>::infinity();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    double dy[6];
    for (int i = 0; i < k.rows; ++i)
      dy[i] = newton_detail::scaled(w.dLambda[k.row + i], p.S[k.row + i]);
    for (int c = p.begin[b]; c < p.begin[b + 1]; ++c) {
      InteriorCone& cone = p.cones[c];
      const Vec3 q = wanted(cone, target, corrector);
      cone.ds = slack(cone, dy, 0);
      cone.dz = apply(cone, q - apply(cone, cone.ds, true), true);
      t = std::min({t, longest(cone, cone.s, cone.ds), longest(cone, cone.z, cone.dz)});
    }
  }
  return t;
}

double gap_at(double t, const InteriorScratch& p) {
  double sum = 0;
  for (const InteriorCone& c : p.cones) sum += (c.s + t * c.ds).dot(c.z + t * c.dz);
  return sum / static_cast<double>(std::max<std::size_t>(p.cones.size(), 1));
}

bool central(double t, double share, const InteriorScratch& p) {
  const double mu = gap_at(t, p);
  for (const InteriorCone& c : p.cones) {
    const Vec3 s = c.s + t * c.ds, z = c.z + t * c.dz;
    if (c.rows == 1) {
      if (!(s[0] * z[0] >= share * mu)) return false;
      continue;
    }
    if (!(det(s) > 0 && det(z) > 0)) return false;
    if (!(std::sqrt(det(s) * det(z)) >= share * mu)) return false;
  }
  return true;
}

void move(std::span<const Block> blocks, double t, const NewtonWorkspace& w, InteriorScratch& p) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& k = blocks[b];
    for (int c = p.begin[b]; c < p.begin[b + 1]; ++c) {
      InteriorCone& cone = p.cones[c];
      cone.s += t * cone.ds;
      cone.z += t * cone.dz;
      if (p.coupling == 0 || cone.rows == 1 || !cone.normal) continue;
      double before = 0, after = 0, slope = 0;
      for (int i = k.row + cone.first; i < k.row + cone.first + cone.rows - 1; ++i) {
        const double old = p.eta[i];
        const double d = t * p.S[i] * (w.dxi[i] + w.compliance[i] * w.dLambda[i]);
        before += old * old;
        slope += old * d;
        after += (old + d) * (old + d);
      }
      before = std::sqrt(before);
      if (before > 0) slope /= before;
      cone.z[0] += std::max(0.0, std::sqrt(after) - before - p.coupling * slope);
    }
  }
}

}  // namespace saltus::interior_detail
