#include "saltus/integrators/moreau/books.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "saltus/contact/rows/families.h"
#include "saltus/dynamics/coordinates.h"
#include "saltus/dynamics/kinematics.h"
#include "saltus/integrators/moreau/stepper.h"

namespace saltus {

namespace {

// Velocities pay once the gains of an episode reach this share of its bound.
constexpr double tolerated = 0.5;
// What a part keeps of what it has when it pays: one that is almost at rest and paid all would lose
// its approach to what it must come to rest on, and fall and be lifted for ever.
constexpr double kept_share = 0.5, kept_of_bound = 0.01;
// What begins deeper inside is told (simulate/start_check.h) [m, rad].
constexpr double told_overlap = 1e-6;
// Flights of fewer steps do not part two episodes of contact.
constexpr int chatter = 10;

// A step of an episode, or a piece of one: of pieces it is their sum that counts.
struct Entry {
  double gain, before;  // before: of the pieces before it
  double paid, T, U, t;
  Place deepest;
};

void enter(const Entry& e, EnergyTally& t) {
  const double step = e.before + e.gain;
  t.gained += std::max(step, 0.0) - std::max(e.before, 0.0);
  if (step > t.most) {
    t.most = step;
    t.most_t = e.t;
    t.at = e.deepest;
  }
  t.paid = std::max(0.0, t.paid + e.paid);
  t.most_T = std::max(t.most_T, e.T);
  t.least_U = std::min(t.least_U, e.U);
  t.most_U = std::max(t.most_U, e.U);
}

EnergyTally begin(double T, double U) {
  EnergyTally t;
  t.most_T = T;
  t.least_U = t.most_U = U;
  return t;
}

bool in_short_flight(const EnergyBooks& b) {
  return b.flight_steps > 0 && b.flight_steps < chatter;
}

bool exceeds(const EnergyTally& t, double share, const EnergyBooks& b) {
  return t.gained > share * (energy_bound * t.scale() + b.rounding);
}

void judge(const EnergyTally& episode, EnergyBooks& b) {
  const double gained = episode.gained - b.rounding;
  if (!(gained > 0)) return;
  const double share = gained / episode.scale();  // infinite where nothing moved
  if (share > energy_bound) ++b.broken;
  if (!(share > b.worst)) return;
  b.worst = share;
  b.worst_episode = episode;
}

// The verdict on an episode of contact that a flight has ended, which counted the flight's too.
void part(EnergyBooks& b) {
  EnergyTally contact = b.episode;
  contact.gained -= b.flight.gained;
  judge(contact, b);
}

}  // namespace

void close_episode(EnergyBooks& b) {
  if (!in_short_flight(b)) return judge(b.episode, b);
  part(b);  // the run ends in a flight
  judge(b.flight, b);
}

EnergyParts::EnergyParts(const Model& m) : of_tree(m.tree_begin.size() - 1) {
  const auto trees = static_cast<int>(of_tree.size());
  std::iota(of_tree.begin(), of_tree.end(), 0);
  const auto join = [&](int a, int b) {  // bodies
    if (a < 0 || b < 0) return;
    const int x = of_tree[m.tree[a]], y = of_tree[m.tree[b]];
    std::replace(of_tree.begin(), of_tree.end(), std::max(x, y), std::min(x, y));
  };
  for (const Cut& c : m.cuts) join(c.parent, c.child);
  for (const Spring& s : m.springs) join(s.a, s.b);
  for (const Cable& c : m.cables) join(c.a, c.b);
  if (m.has_compliant) std::fill(of_tree.begin(), of_tree.end(), 0);
  std::vector<int> number(trees, -1);
  for (int& part : of_tree) {
    if (number[part] < 0) number[part] = count++;
    part = number[part];
  }
  std::vector<int> roots(count, 0);
  free.assign(count, 1);
  for (int t = 0; t < trees; ++t) {
    if (m.tree_v[t] == m.tree_v[t + 1]) continue;
    ++roots[of_tree[t]];
    const Body& root = m.bodies[m.v_body[m.tree_v[t]]];
    const int whole = m.planar ? 3 : 6;
    if (root.nv != whole || root.stations > 1) free[of_tree[t]] = 0;
    for (int k = root.v0; k < root.v0 + root.nv; ++k)
      if (m.prescribed[k]) free[of_tree[t]] = 0;
  }
  const auto to_world = [&](int a, int b) {
    if (a < 0 && b >= 0) free[of_body(m, b)] = 0;
    if (b < 0 && a >= 0) free[of_body(m, a)] = 0;
  };
  for (const Cut& c : m.cuts) to_world(c.parent, c.child);
  given.assign(count, 0);
  immersed.assign(count, 0);
  if (!m.any_prescribed) return;
  for (int part = 0; part < count; ++part) given[part] = free[part] && roots[part] == 1;
  for (int k = 0; k < m.nv; ++k)
    if (!m.prescribed[k] && m.v_body[k] != m.v_body[m.tree_v[m.tree[m.v_body[k]]]])
      given[of_body(m, m.v_body[k])] = 0;
  for (int i = 0; i < m.body_count(); ++i) {
    const Body& b = m.bodies[i];
    if (!(b.inertia - spatial_inertia(b.rigid)).isZero(1e-12 * b.inertia.norm()))
      immersed[of_body(m, i)] = 1;
  }
  for (int k = 0; k < m.nv; ++k) any_given |= m.prescribed[k] && given[of_body(m, m.v_body[k])];
}

BooksWork::BooksWork(const Model& m) : parts(m) {
  const auto n = static_cast<std::size_t>(parts.count);
  for (std::vector<double>* each : {&defect, &kinetic, &scaled, &kept}) each->assign(n, 0.0);
  held.assign(n, 0);
  touched.assign(n, 0);
  motion.resize(n);
  wanted.resize(n);
  net.resize(n);
  locked.resize(n);
  for (Vec* each : {&x, &y, &mean, &bias, &bias_at_rest, &zero}) each->setZero(m.nv);
  q.setZero(m.nq);
  weight = m.total_mass() * m.gravity.norm();
}

// Kinetic energy of every part at the last place(), with the velocities v.
void Stepper::kinetic_of_parts(VecIn v, std::vector<double>& T) {
  mech.publish(v);
  std::fill(T.begin(), T.end(), 0.0);
  for (int i = 0; i < m.body_count(); ++i)
    T[w.books.parts.of_body(m, i)] += 0.5 * out.work.V[i].dot(m.bodies[i].inertia * out.work.V[i]);
  for (int c = 0; c < coordinate_count(); ++c) {
    const Coordinate& k = m.coordinates[c];
    if (!(k.dof.armature > 0)) continue;
    const double rate = coordinate_rate(m, out.work, v, CoordinateIndex(c));
    const int body = k.v_index >= 0 ? m.v_body[k.v_index] : static_cast<int>(m.cuts[k.cut].child);
    T[w.books.parts.of_body(m, body)] += 0.5 * k.dof.armature * rate * rate;
  }
}

namespace {

// Parts that blocks with an impulse act on; held: against what does not move.
void mark_parts(const Model& m, const Assembly& rows, BooksWork& b) {
  const auto moves = [&](int body) {
    if (body < 0) return false;
    const int tree = m.tree[body];
    return m.tree_v[tree] < m.tree_v[tree + 1];
  };
  for (std::size_t i = 0; i < rows.blocks.size(); ++i) {
    const Block& k = rows.blocks[i];
    const BlockSource& from = rows.source[i];
    if (from.velocity >= 0 || from.internal) continue;
    if (rows.Lambda.segment(k.row, k.rows).isZero(0)) continue;
    if (from.gap) {
      b.held[b.parts.of_body(m, m.v_body[from.gap->terms[0].velocity])] = 1;
      continue;
    }
    const bool a = moves(from.a), both = a && moves(from.b);
    const int one = b.parts.of_body(m, a ? from.a : from.b);
    if (!both) {
      b.held[one] = 1;
    } else if (const int other = b.parts.of_body(m, from.b); other != one) {
      b.touched[one] = b.touched[other] = 1;
    }
  }
}

}  // namespace

void Stepper::find_held(const StepReport& report) {
  BooksWork& b = w.books;
  const bool pushed = act.user || !act.pushes.empty() || m.has_compliant;
  for (int p = 0; p < b.parts.count; ++p) {
    b.held[p] = !b.parts.free[p];
    b.touched[p] = pushed;
  }
  mark_parts(m, out.assembly, b);
  if (report.projection.iterations > 0) mark_parts(m, w.projection.assembly, b);
  for (const Drag& d : m.drags) b.held[b.parts.of_body(m, d.body)] = 1;
  for (const Fluid& f : m.fluids) b.held[b.parts.of_body(m, f.body)] = 1;
}

// Of every part at the last place(), with the velocities v.
void Stepper::motion_of_parts(VecIn v, std::vector<PartMotion>& parts) {
  mech.publish(v);
  std::fill(parts.begin(), parts.end(), PartMotion{});
  for (int i = 0; i < m.body_count(); ++i) {
    PartMotion& p = parts[w.books.parts.of_body(m, i)];
    p.mass += m.bodies[i].rigid.mass;
    p.com += m.bodies[i].rigid.mass * (out.work.X[i] * m.bodies[i].rigid.com);
  }
  for (PartMotion& p : parts)
    if (p.mass > 0) p.com /= p.mass;
  for (int i = 0; i < m.body_count(); ++i) {
    PartMotion& p = parts[w.books.parts.of_body(m, i)];
    const SE3 about{out.work.X[i].R, out.work.X[i].r - p.com};
    const Vec6 h = wrench_to_parent(about, m.bodies[i].inertia * out.work.V[i]);
    p.P += h.head<3>();
    p.L += h.tail<3>();
    const Mat6 to_body = adjoint(about.inverse());
    p.I += (to_body.transpose() * m.bodies[i].inertia * to_body).bottomRightCorner<3, 3>();
  }
}

// Adds the rigid motion of a part: velocity of its centre of mass, angular velocity.
void Stepper::add_rigid(int part, const PartMotion& at, const Vec3& linear, const Vec3& angular,
                        VecRef v) const {
  const Vec6 twist = (Vec6() << linear - angular.cross(at.com), angular).finished();
  for (std::size_t tree = 0; tree < w.books.parts.of_tree.size(); ++tree) {
    if (w.books.parts.of_tree[tree] != part || m.tree_v[tree] == m.tree_v[tree + 1]) continue;
    const int body = m.v_body[m.tree_v[tree]];
    const Body& root = m.bodies[body];
    const Vec6 of_root = adjoint(out.work.X[body].inverse()) * twist;
    const Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, 6> S =
        out.work.S.middleCols(root.s0, root.nv);  // at most six columns: nothing is allocated
    v.segment(root.v0, root.nv) += S.colPivHouseholderQr().solve(of_root);
  }
}

namespace {

Vec3 spin(const PartMotion& p, const Vec3& L, bool planar) {
  if (planar) return {0, 0, p.I(2, 2) > 0 ? L[2] / p.I(2, 2) : 0};
  return p.I.ldlt().solve(L);
}

}  // namespace

// Parts that nothing holds have, at q_E, the momentum that gravity leaves them; those that touch
// others the momentum that they had before the correction moved them.
void Stepper::restore_momentum() {
  BooksWork& b = w.books;
  const auto some = [&](bool touched) {
    for (int p = 0; p < b.parts.count; ++p)
      if (!b.held[p] && static_cast<bool>(b.touched[p]) == touched) return true;
    return false;
  };
  const auto want = [&](VecIn q, VecIn v, bool touched) {
    if (!some(touched)) return;
    mech.place(q, v);
    motion_of_parts(v, b.motion);
    for (int p = 0; p < b.parts.count; ++p)
      if (static_cast<bool>(b.touched[p]) == touched) b.wanted[p] = b.motion[p];
  };
  want(w.q_S, w.v_S, false);
  for (int p = 0; p < b.parts.count; ++p)
    if (!b.touched[p]) b.wanted[p].P += (t.E - t.S) * b.wanted[p].mass * m.gravity;
  want(b.q, w.v_E, true);
  mech.place(s.q, s.v);
  motion_of_parts(s.v, b.motion);
  for (int p = 0; p < b.parts.count; ++p) {
    const PartMotion& at = b.motion[p];
    if (b.held[p] || keeps_momentum(p) || !(at.mass > 0)) continue;
    add_rigid(p, at, (b.wanted[p].P - at.P) / at.mass, spin(at, b.wanted[p].L - at.L, m.planar),
              s.v);
  }
}

namespace {

// About the inertial origin, of one body with the pose X.
Mat6 locked_inertia(const Body& b, const SE3& X) {
  const Mat6 to_body = adjoint(X.inverse());
  return to_body.transpose() * b.inertia * to_body;
}

}  // namespace

// Of the parts whose shape is given, at the last place() with its velocities.
void Stepper::net_momenta(std::vector<NetMomentum>& parts) const {
  const EnergyParts& all = w.books.parts;
  std::fill(parts.begin(), parts.end(), NetMomentum{});
  for (int i = 0; i < m.body_count(); ++i) {
    const int part = all.of_body(m, i);
    if (!all.given[part]) continue;
    const Body& b = m.bodies[i];
    const SE3& X = out.work.X[i];
    NetMomentum& p = parts[part];
    p.mass += b.rigid.mass;
    p.first += b.rigid.mass * (X * b.rigid.com);
    p.H += wrench_to_parent(X, b.inertia * out.work.V[i]);
  }
}

// Nothing but weight acts on it, and its shape is given; after find_held().
bool Stepper::keeps_momentum(int part) const {
  const BooksWork& b = w.books;
  return b.parts.given[part] && !b.held[part] && !b.touched[part];
}

// With a given shape the root's rows are those of the net momentum (P4 eq. 16): at q_E it is what
// it was, but for the impulse of the weight. M(q_M) (v_E - v_S) says so to second order only. The
// centre of mass, which without added mass moves as that momentum says, is put where it must be.
// Where anything but weight acts on a part it stays as the step found it.
void Stepper::keep_momentum(const StepReport& report) {
  BooksWork& b = w.books;
  if (!b.parts.any_given) return;
  find_held(report);
  net_momenta(b.net);
  std::fill(b.locked.begin(), b.locked.end(), Mat6::Zero());
  for (int i = 0; i < m.body_count(); ++i)
    if (const int part = b.parts.of_body(m, i); b.parts.given[part])
      b.locked[part] += locked_inertia(m.bodies[i], out.work.X[i]);
  const double dt = t.E - t.S;
  b.x.setZero();  // a displacement
  for (int p = 0; p < b.parts.count; ++p) {
    if (!keeps_momentum(p) || !(b.net[p].mass > 0)) continue;
    const NetMomentum &was = out.end.net[p], &is = b.net[p];
    const Vec3 weight = dt * was.mass * m.gravity, P = was.H.head<3>();
    PartMotion at;
    at.com = is.first / is.mass;
    const SE3 here = SE3::translation(at.com);
    const Mat6 from = adjoint(here);
    Vec6 lack = from.transpose() * (-is.H);  // about the centre of mass
    lack.head<3>() += P + weight;
    const Vec3 c_S = was.first / was.mass;
    if (b.parts.immersed[p]) {
      const Vec3 L = was.H.tail<3>() + (0.5 * (c_S + at.com)).cross(weight);
      lack.tail<3>() += L - at.com.cross(Vec3(P + weight));
    } else {
      lack.tail<3>() += was.H.tail<3>() - c_S.cross(P);
      const Vec3 c_E = c_S + dt * (P + 0.5 * weight) / was.mass;
      add_rigid(p, at, c_E - at.com, Vec3::Zero(), b.x);
    }
    const Mat6 M = from.transpose() * b.locked[p] * from;
    Vec6 twist = Vec6::Zero();  // of the point at the centre of mass, inertial axes
    if (m.planar) {
      Mat3 plane;
      plane << M(0, 0), M(0, 1), M(0, 5), M(1, 0), M(1, 1), M(1, 5), M(5, 0), M(5, 1), M(5, 5);
      const Vec3 x = plane.ldlt().solve(Vec3(lack[0], lack[1], lack[5]));
      twist << x[0], x[1], 0, 0, 0, x[2];
    } else {
      twist = M.ldlt().solve(lack);
    }
    if (!twist.allFinite()) continue;  // nothing turns it: its root's row is empty
    add_rigid(p, at, twist.head<3>(), twist.tail<3>(), s.v);
  }
  advance(m, s.q, b.x, 1);
  mech.place(s.q, s.v);
}

// v = x + y: y is the rigid motion of parts that nothing holds, and what is prescribed; of such a
// part whose shape is given that is all.
void Stepper::split_velocity() {
  BooksWork& b = w.books;
  b.x = s.v;
  b.y.setZero();
  for (int k = 0; k < m.nv; ++k) {
    const int part = b.parts.of_body(m, m.v_body[k]);
    if (m.prescribed[k] || keeps_momentum(part)) {
      b.y[k] = b.x[k];
      b.x[k] = 0;
    }
  }
  motion_of_parts(s.v, b.motion);
  for (int p = 0; p < b.parts.count; ++p) {
    const PartMotion& at = b.motion[p];
    if (b.held[p] || keeps_momentum(p) || !(at.mass > 0)) continue;
    const Vec3 linear = at.P / at.mass, angular = spin(at, at.L, m.planar);
    add_rigid(p, at, linear, angular, b.y);
    add_rigid(p, at, -linear, -angular, b.x);
  }
}

// Of its kinetic energy T, a part that pays.
double Stepper::keeps(double T) const {
  return std::min(kept_share * T, kept_of_bound * energy_bound * s.books.episode.scale());
}

// Of the step's defect e, the parts' own: kinetic of the scheme, and what the correction did. Which
// of several pays is a matter of shares only; their sum is e.
void Stepper::share_defect(double e) {
  BooksWork& b = w.books;
  if (b.parts.count == 1) {
    b.defect[0] = e;
    return;
  }
  std::fill(b.defect.begin(), b.defect.end(), 0.0);
  const auto add_kinetic = [&](VecIn v, double sign) {
    kinetic_of_parts(v, b.kinetic);
    for (int p = 0; p < b.parts.count; ++p) b.defect[p] += sign * b.kinetic[p];
  };
  const auto add_weight = [&](double sign) {
    for (int i = 0; i < m.body_count(); ++i) {
      const RigidInertia& r = m.bodies[i].rigid;
      b.defect[b.parts.of_body(m, i)] -= sign * r.mass * m.gravity.dot(out.work.X[i] * r.com);
    }
  };
  mech.place(b.q, w.v_E);  // before the correction: its gain, and the scheme's kinetic energy
  add_weight(-1);
  mech.place(w.q_W, w.v_E);
  add_kinetic(w.v_E, -1);
  add_kinetic(w.v_S, 1);
  mech.load_bias();
  b.mean = 0.5 * (w.v_S + w.v_E);
  mech.bias(b.mean, b.bias);
  mech.bias(b.zero, b.bias_at_rest);
  for (int k = 0; k < m.nv; ++k)
    b.defect[b.parts.of_body(m, m.v_body[k])] -= o.dt * b.mean[k] * (b.bias[k] - b.bias_at_rest[k]);
  mech.place(w.q_S, w.v_S);
  add_kinetic(w.v_S, -1);
  mech.place(s.q, w.v_E);
  add_kinetic(w.v_E, 1);
  add_weight(1);
  double sum = 0;
  for (double& d : b.defect) {
    if (!(d * e > 0)) d = 0;
    sum += d;
  }
  if (sum != 0) {
    for (double& d : b.defect) d *= e / sum;
    return;
  }
  kinetic_of_parts(s.v, b.kinetic);
  sum = std::accumulate(b.kinetic.begin(), b.kinetic.end(), 0.0);
  for (int p = 0; p < b.parts.count; ++p) b.defect[p] = sum > 0 ? e * b.kinetic[p] / sum : 0;
}

// Takes e [J] out of the kinetic energy T of s.v; gives it back where it is negative.
void Stepper::pay(double e, double T, const StepReport& report) {
  BooksWork& b = w.books;
  find_held(report);
  if (b.parts.count == 1 && b.held[0] && !m.any_prescribed) {  // all of it is scaled
    const double d = std::min(e, T - keeps(T));
    if (T > 0) s.v *= std::sqrt(1 - d / T);
    return;
  }
  share_defect(e);
  if (e > 0) {
    kinetic_of_parts(s.v, b.scaled);
    restore_momentum();
  }
  split_velocity();
  kinetic_of_parts(s.v, b.kinetic);
  if (e > 0)
    for (int p = 0; p < b.parts.count; ++p)
      b.defect[p] = std::max(0.0, b.defect[p] + b.kinetic[p] - b.scaled[p]);
  kinetic_of_parts(b.x, b.scaled);
  kinetic_of_parts(b.y, b.kept);
  for (int p = 0; p < b.parts.count; ++p) {
    // T(f x + y) = f^2 T_x + f c + T_y = T - d, f nearest to 1.
    const double T_x = b.scaled[p], c = b.kinetic[p] - T_x - b.kept[p];
    const double d = std::min(b.defect[p], b.kinetic[p] - keeps(b.kinetic[p]));
    double f = 1;
    if (T_x > 0 && d != 0) {
      const double slope = 2 * T_x + c;  // at f = 1; there T_x (f-1)^2 + slope (f-1) + d = 0
      const double root = slope * slope - 4 * T_x * d;
      if (slope > 0) f = root > 0 ? 1 - 2 * d / (slope + std::sqrt(root)) : 1 - slope / (2 * T_x);
    }
    b.scaled[p] = f;
  }
  for (int k = 0; k < m.nv; ++k)
    s.v[k] = b.scaled[b.parts.of_body(m, m.v_body[k])] * b.x[k] + b.y[k];
}

bool Stepper::touches(const StepReport& report) const {
  if (report.struck || report.projection.raw_penetration > 0) return true;
  for (std::size_t i = 0; i < out.assembly.blocks.size(); ++i) {
    const Block& k = out.assembly.blocks[i];
    const BlockSource& from = out.assembly.source[i];
    const Account account = account_of(m, from);
    if ((account == Account::contact || account == Account::friction) &&
        !out.assembly.Lambda.segment(k.row, k.rows).isZero(0))
      return true;
  }
  return false;
}

// Contacts begin and end episodes. The step in which one begins is its own as a whole, with what
// its pieces gained so far. T_S, U_S: before the step or piece; at its end its are those of `e`.
void Stepper::find_episode(const EnergyTerms& e, const StepReport& report) {
  EnergyBooks& b = s.books;
  const double T_S = out.end.kinetic, U_S = out.end.value - out.end.kinetic;
  if (b.flight_steps < 0) {
    b.episode = b.flight = begin(T_S, U_S);
    b.flight_steps = chatter;  // until something touches, a flight
  }
  if (touches(report)) {
    if (b.flight_steps >= chatter) {
      const double taken = std::max(earlier_gain, 0.0);
      b.episode.gained -= taken;
      judge(b.episode, b);
      b.episode = begin(T_S, U_S);
      b.episode.gained = taken;
    }
    b.flight_steps = 0;
    b.flight = begin(e.kinetic, e.potential);
  } else if (b.flight_steps < chatter) {
    b.flight_steps += o.dt / w.whole_step;
    if (b.flight_steps >= chatter) {
      part(b);
      b.episode = b.flight;
    }
  }
}

// Whether anything was inside others or beyond its limits at the start of the step, by more than is
// allowed after a correction.
bool Stepper::began_inside() {
  mech.place(w.q_S, w.v_S);
  bool inside =
      project(m, Projection::none, w.q_S, w.v_S, s.turns, out.work, mech, w.finder, w.projection)
          .raw_penetration > told_overlap;
  for (int c = 0; c < coordinate_count() && !inside; ++c) {
    const JointDof& dof = m.coordinates[c].dof;
    const double x = coordinate_value(m, out.work, w.q_S, s.turns, CoordinateIndex(c));
    inside = std::max(dof.lower - x, x - dof.upper) > told_overlap;
  }
  mech.place(s.q, s.v);
  return inside;
}

// Enters the step in the books of its episode, and lets velocities pay where it gained too much.
void Stepper::settle_books(StepReport& report) {
  EnergyTerms& e = report.energy;
  EnergyBooks& books = s.books;
  find_episode(e, report);
  books.most_energy = std::max(books.most_energy, e.kinetic + std::abs(e.potential));
  books.rounding = energy_rounding * books.most_energy + position_rounding * w.books.weight;
  // What begins beyond its limits, or inside others, is told, and no gain of the motion.
  const bool first = w.begin.step == 0 && s.step == 0;
  const double start = first && e.correction > 0 && began_inside() ? e.correction : 0;
  const double gained = report.energy_error() - start;
  Entry entry{gained,
              earlier_gain,
              0,
              e.kinetic,
              e.potential,
              s.t,
              report.projection.deepest == Place{} ? report.worst : report.projection.deepest};
  const auto over = [&](EnergyTally tally) {
    enter(entry, tally);
    return exceeds(tally, tolerated, books);
  };
  // Compliant contacts are forces, explicit ones: their error is a matter of dt.
  const bool pays =
      !m.has_compliant && (over(books.episode) || (in_short_flight(books) && over(books.flight)));
  // What pieces before this one lost, it may gain.
  const double counted = gained > 0 ? std::max(0.0, gained + std::min(0.0, earlier_gain)) : gained;
  const double due = pays ? std::max(counted, -books.episode.paid) : 0.0;
  double paid = 0;
  if (due != 0) {
    pay(due, e.kinetic, report);
    const double T = mech.kinetic_energy(s.v);
    paid = e.kinetic - T;
    e.kinetic = T;
    // For what the correction lifted first: a body that is lifted must be slower there.
    const double lifted = std::clamp(paid, 0.0, std::max(0.0, e.correction));
    e.correction -= lifted;
    e.integrator -= paid - lifted;
    report.paid = paid;
    report.owed = std::max(0.0, due - paid);
  }
  entry.gain = gained - paid;
  entry.paid = paid;
  entry.T = e.kinetic;
  enter(entry, books.episode);
  if (in_short_flight(books)) enter(entry, books.flight);
  earlier_gain += entry.gain;
}

}  // namespace saltus
