#include "saltus/contact/compact_contacts.h"

#include <algorithm>
#include <cmath>

#include "saltus/contact/assembly.h"
#include "saltus/contact/surface.h"
#include "saltus/dynamics/packed_ops.h"

namespace saltus {

namespace {

constexpr int most_pairs = 256;

bool is_excluded(const Model& m, int a, int b) {
  return a >= 0 && b >= 0 &&
         std::binary_search(m.excluded.begin(), m.excluded.end(),
                            std::pair(std::min(a, b), std::max(a, b)));
}

// Calls f(a, b, law) for every pair of shapes that may meet, in the law's order.
template <class F>
void each_pair(const Model& m, const F& f) {
  for (int i = 0; i < static_cast<int>(m.shapes.size()); ++i)
    for (int j = i + 1; j < static_cast<int>(m.shapes.size()); ++j) {
      if (m.shapes[i].body == m.shapes[j].body) continue;
      int a = i, b = j;
      const int law = m.law_between(a, b);
      if (law >= 0 && !is_excluded(m, m.shapes[a].body, m.shapes[b].body)) f(a, b, law);
    }
}

int link_of(const Model& m, const CompactTree& tree, int shape) {
  const BodyIndex body = m.shapes[shape].body;
  return body.valid() ? tree.bodies[body].link : -1;
}

}  // namespace

bool CompactContacts::holds(const Model& m, const CompactTree& tree) {
  if (first_surface(m)) return false;
  for (const ContactLaw& l : m.contact_laws)
    if (l.rolling > 0 || l.drilling > 0 || l.dynamic != 1) return false;
  for (const BlockSlot& s : m.slots)
    if (s.kind == BlockKind::joint_friction && m.coordinates[s.index].dof.dynamic != 1)
      return false;
  int count = 0;
  bool known = true;
  each_pair(m, [&](int a, int b, int) {
    ++count;
    known = known && (link_of(m, tree, a) < 0) != (link_of(m, tree, b) < 0);
  });
  return known && count <= most_pairs;
}

CompactContacts::CompactContacts(const Model& m, const CompactTree& tree)
    : margin_(contact_margin(m)), width_(tree.width()) {
  each_pair(m, [&](int a, int b, int law) {
    CompactPair p;
    p.a = a, p.b = b, p.law = law;
    p.b_moves = link_of(m, tree, b) >= 0;
    const ContactShape &moving = m.shapes[p.b_moves ? b : a], &other = m.shapes[p.b_moves ? a : b];
    p.link = tree.bodies[moving.body].link;
    p.in_link = tree.bodies[moving.body].in_link * moving.frame;
    p.fixed = other.body.valid() ? tree.bodies[other.body].in_link * other.frame : other.frame;
    p.half_space = std::holds_alternative<HalfSpace>(other.shape);
    if (const auto* s = std::get_if<Sphere>(&moving.shape); s && p.half_space) {
      p.sphere = true;
      p.radius = s->radius;
    } else {
      const Aabb box = bounds(moving.shape, SE3{});
      p.radius = box.low.cwiseAbs().cwiseMax(box.high.cwiseAbs()).norm();
    }
    pairs_.push_back(p);
  });
  std::sort(pairs_.begin(), pairs_.end(), [](const CompactPair& x, const CompactPair& y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  });
  for (int i = 0; i < static_cast<int>(m.slots.size()); ++i)
    if (m.slots[i].kind == BlockKind::joint_friction) {
      const Coordinate& c = m.coordinates[m.slots[i].index];
      frictions_.push_back({i, m.slots[i].row, c.v_index, c.dof.friction});
    }
  const int space = most_rows * width_;
  W_.assign(space, Pack{});
  Z_.assign(space, Pack{});
  G_.setZero(most_rows, most_rows);
  factor_.setZero(most_rows, most_rows);
  for (Vec* x : {&Lambda, &gamma_S, &c_, &xi_, &next_}) x->setZero(most_rows);
  blocks.reserve(most_rows);
  sticking_.reserve(most_rows);
  factored_.reserve(most_rows);
}

void CompactContacts::find(const Model& m, const CompactTree& tree,
                           std::vector<Contact>& contacts) const {
  contacts.clear();
  for (const CompactPair& p : pairs_) {
    const Vec3 centre = tree.point(p.link, p.in_link.r);
    double height = 0;
    if (p.half_space) {
      height = p.fixed.R.col(2).dot(centre - p.fixed.r);
      if (height - p.radius > margin_) continue;
    }
    if (p.sphere) {
      Contact& c = contacts.emplace_back();
      c.key = {p.a, p.b, 0};
      c.law = p.law;
      const Vec3 n = p.fixed.R.col(2);
      c.point.gap = height - p.radius;
      c.point.normal = p.b_moves ? n : Vec3(-n);
      (p.b_moves ? c.point.on_b : c.point.on_a) = centre - p.radius * n;
      (p.b_moves ? c.point.on_a : c.point.on_b) = centre - height * n;
      continue;
    }
    SE3 moving;
    moving.R.noalias() = tree.rotation(p.link) * p.in_link.R;
    moving.r = centre;
    Manifold found;
    contact_points(m.shapes[p.a].shape, p.b_moves ? p.fixed : moving, m.shapes[p.b].shape,
                   p.b_moves ? moving : p.fixed, margin_, found);
    for (int i = 0; i < found.count; ++i) {
      Contact& c = contacts.emplace_back();
      c.key = {p.a, p.b, found.points[i].feature};
      c.law = p.law;
      c.point = found.points[i];
    }
  }
}

bool CompactContacts::open(const Model& m, const CompactTree& tree, const State& state, double dt,
                           double closing, std::vector<Contact>& contacts) {
  blocks.clear();
  factored_.clear();
  rows = 0;
  std::size_t pair = 0;
  for (int i = 0; i < static_cast<int>(contacts.size()); ++i) {
    const ContactKey& key = contacts[i].key;
    while (pairs_[pair].a != key.a || pairs_[pair].b != key.b) ++pair;
    if (!open_contact(m, tree, state, closing, i, pairs_[pair], contacts)) return false;
  }
  return open_friction(tree, state, dt);
}

CompactBlock& CompactContacts::open_block(const Law& law, int link, int length) {
  CompactBlock& k = blocks.emplace_back();
  k.link = link;
  k.length = length;
  k.row = rows;
  k.rows = rows_of(law);
  k.block = {law, rows, k.rows, 0, 1};
  k.sets = sets_of(law);
  rows += k.rows;
  return k;
}

// Z of a block whose W is set.
void CompactContacts::half_solve(const CompactTree& tree, int block) {
  const CompactBlock& k = blocks[block];
  std::copy_n(rows_in(W_, block), k.length, rows_in(Z_, block));
  tree.half_solve(k.link, k.length, rows_in(Z_, block));
}

// Z and gamma_S of the last block.
void CompactContacts::set_rows(const CompactTree& tree, const double* v) {
  const CompactBlock& k = blocks.back();
  const int last = static_cast<int>(blocks.size()) - 1;
  half_solve(tree, last);
  const Vec3 rate = along(tree, last, v);
  for (int r = 0; r < k.rows; ++r) gamma_S[k.row + r] = rate[r];
}

bool CompactContacts::open_contact(const Model& m, const CompactTree& tree, const State& state,
                                   double closing, int contact, const CompactPair& p,
                                   std::vector<Contact>& contacts) {
  Contact& c = contacts[contact];
  c.mode = static_cast<unsigned char>(Mode::open);
  c.Lambda.fill(0);
  const ContactImpulse* last = find_contact(state, c.key);
  if (c.point.gap > closed_gap && !(last && last->Lambda[0] > 0)) return true;
  const ContactLaw& contact_law = m.contact_laws[c.law];
  const Law law = law_of(contact_law);
  const int n = rows_of(law);
  if (rows + n > most_rows) return false;
  CompactBlock& k = open_block(law, p.link, tree.length(p.link));
  k.contact = contact;
  k.sign = p.b_moves ? 1 : -1;
  k.known = last != nullptr;
  k.slipped = last && (last->mode & 3U) == static_cast<unsigned char>(Mode::slip);
  const bool axes_move = (contact_law.axes == FrictionAxes::b) == p.b_moves;
  if (n > 1) {
    Mat3 axes = p.fixed.R;
    if (axes_move) axes.noalias() = tree.rotation(p.link) * p.in_link.R;
    c.tangent = in_plane(axes, c.point.normal);
  }
  Mat3 D;
  D.col(0) = k.sign * c.point.normal;
  D.col(1) = k.sign * c.tangent;
  D.col(2) = k.sign * c.point.normal.cross(c.tangent);
  if (n == 1) D.rightCols<2>().setZero();
  tree.rows(p.link, p.b_moves ? c.point.on_b : c.point.on_a, D,
            rows_in(W_, static_cast<int>(blocks.size()) - 1));
  for (int r = 0; r < n; ++r) Lambda[k.row + r] = last ? last->Lambda[r] : 0;
  set_rows(tree, state.v.data());
  const double approach = -gamma_S[k.row];
  const bool rebounds = contact_law.restitution > 0 || contact_law.tangential_restitution != 0;
  k.strikes = !k.known && approach > closing;
  return !rebounds || !(approach > 0);
}

bool CompactContacts::open_friction(const CompactTree& tree, const State& state, double dt) {
  if (rows + static_cast<int>(frictions_.size()) > most_rows) return false;
  for (const CompactFriction& f : frictions_) {
    const double most = f.torque * dt, last = state.Lambda[f.row];
    CompactBlock& k = open_block(Interval{-most, most}, tree.link_of(f.v), tree.ancestors(f.v) + 1);
    k.slot = f.slot;
    if (!(std::abs(last) < most)) k.side = last > 0 ? 1 : -1;
    Lambda[k.row] = last;
    Pack* w = rows_in(W_, static_cast<int>(blocks.size()) - 1);
    std::fill_n(w, k.length - 1, Pack{});
    w[k.length - 1] = Pack{1, 0, 0, 0};
    set_rows(tree, state.v.data());
  }
  return true;
}

void CompactContacts::set_free(const CompactTree& tree, const double* v_free) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Vec3 rate = along(tree, static_cast<int>(b), v_free);
    for (int r = 0; r < blocks[b].rows; ++r) c_[blocks[b].row + r] = rate[r];
  }
}

SALTUS_VECTORIZED Vec3 CompactContacts::along(const CompactTree& tree, int block,
                                              const double* v) const {
  const CompactBlock& k = blocks[block];
  const Pack* w = rows_in(W_, block);
  const int* way = tree.path(k.link);
  Pack sum{};
  for (int t = 0; t < k.length; ++t) sum += w[t] * v[way[t]];
  return unpack(sum);
}

bool CompactContacts::delassus(const CompactTree& tree) {
  for (int a = 0; a < static_cast<int>(blocks.size()); ++a) delassus(tree, a);
  return set_steps();
}

// G's part of a block and those before it.
void CompactContacts::delassus(const CompactTree& tree, int block) {
  for (int b = 0; b <= block; ++b) delassus(tree, block, b);
}

// The part of G of two blocks.
SALTUS_VECTORIZED void CompactContacts::delassus(const CompactTree& tree, int i, int j) {
  const CompactBlock &a = blocks[i], &b = blocks[j];
  const int n = std::min({tree.common(a.link, b.link), a.length, b.length});
  const Pack *x = rows_in(Z_, i), *y = rows_in(Z_, j);
  Pack column[3] = {};  // of G, rows those of a
  for (int t = 0; t < n; ++t) {
    column[0] += x[t] * y[t][0];
    column[1] += x[t] * y[t][1];
    column[2] += x[t] * y[t][2];
  }
  for (int q = 0; q < b.rows; ++q)
    for (int r = 0; r < a.rows; ++r)
      G_(a.row + r, b.row + q) = G_(b.row + q, a.row + r) = column[q][r];
}

int CompactContacts::add_row(const CompactTree& tree, int link, const Vec3& point,
                             const Vec3& direction) {
  if (rows == most_rows) return -1;
  CompactBlock& k = open_block(Unilateral{}, link, tree.length(link));
  Mat3 D = Mat3::Zero();
  D.col(0) = direction;
  const int block = static_cast<int>(blocks.size()) - 1;
  tree.rows(link, point, D, rows_in(W_, block));
  half_solve(tree, block);
  delassus(tree, block);
  return k.row;
}

void CompactContacts::renew(const CompactTree& tree) {
  factored_.clear();
  for (int b = 0; b < static_cast<int>(blocks.size()); ++b) {
    half_solve(tree, b);
    delassus(tree, b);
  }
}

const CompactPair& CompactContacts::pair_of(const ContactKey& key) const {
  return *std::lower_bound(pairs_.begin(), pairs_.end(), key,
                           [](const CompactPair& p, const ContactKey& k) {
                             return std::pair(p.a, p.b) < std::pair(k.a, k.b);
                           });
}

// Step lengths and a block's own part of G.
bool CompactContacts::set_steps() {
  double most = 0;
  for (int r = 0; r < rows; ++r) most = std::max(most, G_(r, r));
  for (CompactBlock& k : blocks) {
    for (int i = 0; i < k.rows; ++i) {
      if (!(G_(k.row + i, k.row + i) > 1e-14 * most)) return false;
      for (int j = 0; j < k.rows; ++j) k.A(i, j) = G_(k.row + i, k.row + j);
    }
    for (int s = 0; s < k.sets.count; ++s) {
      double d = 0;
      for (int i = k.sets[s].first; i < k.sets[s].first + k.sets[s].rows; ++i)
        d = std::max(d, k.A(i, i));
      k.steps.r[s] = 1 / d;
    }
  }
  return true;
}

SALTUS_VECTORIZED void CompactContacts::apply(const CompactTree& tree, const Vec& x, Vec& y) const {
  y.setZero();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const CompactBlock& k = blocks[b];
    Pack own{};
    for (int r = 0; r < k.rows; ++r) own[r] = x[k.row + r];
    const Pack* z = rows_in(Z_, static_cast<int>(b));
    const int* way = tree.path(k.link);
    for (int t = 0; t < k.length; ++t) y[way[t]] += dot(z[t], own);
  }
  tree.solve_lower(y.data());
}

}  // namespace saltus
