#include "saltus/contact/compact_contacts.h"

#include <algorithm>
#include <cmath>

#include "saltus/contact/assembly.h"
#include "saltus/contact/surface.h"
#include "saltus/solvers/local.h"

namespace saltus {

namespace {

constexpr int most_pairs = 256, most_rows = 48;
constexpr int most_sweeps = 40;

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
  const int space = most_rows * width_;
  W_.setZero(space);
  Z_.setZero(space);
  G_.setZero(most_rows, most_rows);
  factor_.setZero(most_rows, most_rows);
  for (Vec* x : {&Lambda, &gamma_S, &c_, &xi_, &next_}) x->setZero(most_rows);
  blocks.reserve(most_rows);
  all_.reserve(most_rows);
  factored_.reserve(most_rows);
}

void CompactContacts::find(const Model& m, const CompactTree& tree,
                           std::vector<Contact>& contacts) const {
  contacts.clear();
  for (const CompactPair& p : pairs_) {
    const CompactTree::Pose& x = tree.poses[p.link];
    const Vec3 centre = x.p + x.R * p.in_link.r;
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
    moving.R.noalias() = x.R * p.in_link.R;
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

bool CompactContacts::open(const Model& m, const CompactTree& tree, const State& state,
                           double closing, std::vector<Contact>& contacts) {
  blocks.clear();
  all_.clear();
  factored_.clear();
  rows = 0;
  std::size_t pair = 0;
  for (int i = 0; i < static_cast<int>(contacts.size()); ++i) {
    Contact& c = contacts[i];
    c.mode = static_cast<unsigned char>(Mode::open);
    c.Lambda.fill(0);
    const ContactImpulse* last = find_contact(state, c.key);
    if (c.point.gap > closed_gap && !(last && last->Lambda[0] > 0)) continue;
    const ContactLaw& contact_law = m.contact_laws[c.law];
    while (pairs_[pair].a != c.key.a || pairs_[pair].b != c.key.b) ++pair;
    const CompactPair& p = pairs_[pair];
    const Law law = law_of(contact_law);
    const int n = rows_of(law);
    if (rows + n > most_rows) return false;
    CompactBlock& k = blocks.emplace_back();
    k.contact = i;
    k.link = p.link;
    k.row = rows;
    k.rows = n;
    k.sign = p.b_moves ? 1 : -1;
    k.block = {law, rows, n, 0, 1};
    k.sets = sets_of(law);
    k.known = last != nullptr;
    k.slipped = last && (last->mode & 3U) == static_cast<unsigned char>(Mode::slip);
    const bool axes_move = (contact_law.axes == FrictionAxes::b) == p.b_moves;
    if (n > 1) {
      Mat3 axes = p.fixed.R;
      if (axes_move) axes.noalias() = tree.poses[p.link].R * p.in_link.R;
      c.tangent = in_plane(axes, c.point.normal);
    }
    Mat3 D;
    D.col(0) = k.sign * c.point.normal;
    D.col(1) = k.sign * c.tangent;
    D.col(2) = k.sign * c.point.normal.cross(c.tangent);
    double* w = W_.data() + static_cast<std::ptrdiff_t>(rows) * width_;
    double* z = Z_.data() + static_cast<std::ptrdiff_t>(rows) * width_;
    // Of a frictionless contact the tangential rows are overwritten by the next one's.
    tree.rows(p.link, p.b_moves ? c.point.on_b : c.point.on_a, D, w, n > 1 ? w + width_ : z,
              n > 1 ? w + 2 * width_ : z);
    for (int r = 0; r < n; ++r) {
      const int row = rows + r;
      all_.push_back(row);
      Lambda[row] = last ? last->Lambda[r] : 0;
      std::copy_n(w + r * width_, tree.length(p.link), z + r * width_);
      tree.half_solve(p.link, z + r * width_);
      gamma_S[row] = along(tree, p.link, row, state.v.data());
    }
    rows += n;
    const double approach = -gamma_S[k.row];
    const bool rebounds = contact_law.restitution > 0 || contact_law.tangential_restitution != 0;
    if (rebounds ? approach > 0 : !k.known && approach > closing) return false;
  }
  return true;
}

void CompactContacts::set_free(const CompactTree& tree, const double* v_free) {
  for (const CompactBlock& k : blocks)
    for (int r = k.row; r < k.row + k.rows; ++r) c_[r] = along(tree, k.link, r, v_free);
}

double CompactContacts::along(const CompactTree& tree, int link, int row, const double* v) const {
  const double* w = W_.data() + static_cast<std::ptrdiff_t>(row) * width_;
  const int* way = tree.path(link);
  double sum = 0;
  for (int t = 0; t < tree.length(link); ++t) sum += w[t] * v[way[t]];
  return sum;
}

bool CompactContacts::delassus(const CompactTree& tree) {
  double most = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const CompactBlock& a = blocks[i];
    for (std::size_t j = 0; j <= i; ++j) {
      const CompactBlock& b = blocks[j];
      const int n = tree.common(a.link, b.link);
      for (int r = a.row; r < a.row + a.rows; ++r) {
        const double* x = Z_.data() + static_cast<std::ptrdiff_t>(r) * width_;
        for (int q = b.row; q < b.row + b.rows; ++q) {
          const double* y = Z_.data() + static_cast<std::ptrdiff_t>(q) * width_;
          double sum = 0;
          for (int t = 0; t < n; ++t) sum += x[t] * y[t];
          G_(q, r) = G_(r, q) = sum;
        }
      }
    }
    for (int r = a.row; r < a.row + a.rows; ++r) most = std::max(most, G_(r, r));
  }
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

void CompactContacts::velocities() {
  for (int r = 0; r < rows; ++r) {
    double sum = c_[r];
    const double* g = G_.col(r).data();
    for (int q = 0; q < rows; ++q) sum += g[q] * Lambda[q];
    xi_[r] = sum;
  }
}

// The residual that judges every solver (inclusion.h), of the impulses at hand.
double CompactContacts::judge(SolveReport& report) {
  velocities();
  Residual worst;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const CompactBlock& k = blocks[b];
    const BlockResidual e = block_residual(k.block, k.sets, Lambda.segment(k.row, k.rows),
                                           xi_.segment(k.row, k.rows), k.steps);
    if (!take_worst(e, static_cast<int>(b), worst)) break;
  }
  note(worst, 0, report);
  return worst.value;
}

bool CompactContacts::solve(double tolerance, SolveReport& report) {
  bool done = rows == 0 || stick(tolerance, report);
  if (!done) {
    report.solver = "warm start";
    done = judge(report) <= tolerance || sweeps(tolerance, report);
  }
  report.converged = done;
  return done;
}

// Nothing slips or parts: a linear system, and its solution is one if it lies in the cones.
bool CompactContacts::stick(double tolerance, SolveReport& report) {
  for (const CompactBlock& k : blocks)
    if (k.slipped) return false;
  if (!cholesky(all_)) return false;
  for (int r = 0; r < rows; ++r) next_[r] = -c_[r];
  substitute(rows, next_.data());
  for (const CompactBlock& k : blocks) {
    const double* x = next_.data() + k.row;
    if (!(x[0] > 0)) return false;
    if (k.rows < 3) continue;
    const double a = x[1] / (k.sets[1].axis(x[1]) * x[0]), b = x[2] / (k.sets[1].upper * x[0]);
    if (!(a * a + b * b < 1)) return false;
  }
  next_.head(rows).swap(Lambda.head(rows));
  velocities();  // of which there should be none: within the sets they are what is missed
  Residual worst;
  for (int r = 0; r < rows; ++r)
    if (const double miss = std::abs(xi_[r]); !(miss <= worst.value)) worst.value = miss;
  worst.normal = worst.tangential = worst.value;
  report.iterations = 1;
  report.solver = "stick";
  note(worst, tolerance, report);
  if (report.converged) return true;
  next_.head(rows).swap(Lambda.head(rows));
  return false;
}

// Gauss-Seidel with exact local steps.
bool CompactContacts::sweeps(double tolerance, SolveReport& report) {
  report.solver = ProxGaussSeidel::name;
  Vec6 q, x;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double change = 0;
    for (const CompactBlock& k : blocks) {
      for (int i = 0; i < k.rows; ++i) {
        const double* g = G_.col(k.row + i).data();
        double sum = c_[k.row + i];
        for (int c = 0; c < k.row; ++c) sum += g[c] * Lambda[c];
        for (int c = k.row + k.rows; c < rows; ++c) sum += g[c] * Lambda[c];
        q[i] = sum;
        x[i] = Lambda[k.row + i];
      }
      solve_block(k.sets, k.rows, k.A, q, x);
      for (int i = 0; i < k.rows; ++i) {
        change = std::max(change, k.A(i, i) * std::abs(x[i] - Lambda[k.row + i]));
        Lambda[k.row + i] = x[i];
      }
    }
    ++report.iterations;
    ++report.sweeps;
    if (!std::isfinite(change)) return false;
    if (change <= tolerance && judge(report) <= tolerance) return true;
  }
  return false;
}

void CompactContacts::apply(const CompactTree& tree, const Vec& x, Vec& y) const {
  y.setZero();
  for (const CompactBlock& k : blocks) {
    const int* way = tree.path(k.link);
    for (int r = k.row; r < k.row + k.rows; ++r) {
      if (x[r] == 0) continue;
      const double* z = Z_.data() + static_cast<std::ptrdiff_t>(r) * width_;
      for (int t = 0; t < tree.length(k.link); ++t) y[way[t]] += z[t] * x[r];
    }
  }
  tree.solve_lower(y.data());
}

// G of some rows = C C', lower; the inverses of C's diagonal on the diagonal.
bool CompactContacts::cholesky(const std::vector<int>& of) {
  factored_.clear();
  const int n = static_cast<int>(of.size());
  for (int j = 0; j < n; ++j) {
    double* own = factor_.col(j).data();
    const double* from = G_.col(of[j]).data();
    for (int i = j; i < n; ++i) own[i] = from[of[i]];
    for (int k = 0; k < j; ++k) {
      const double* other = factor_.col(k).data();
      const double x = other[j];
      for (int i = j; i < n; ++i) own[i] -= x * other[i];
    }
    if (!(own[j] > 1e-10 * from[of[j]])) return false;  // rows that depend on each other
    const double inverse = 1 / std::sqrt(own[j]);
    own[j] = inverse;
    for (int i = j + 1; i < n; ++i) own[i] *= inverse;
  }
  factored_ = of;
  return true;
}

void CompactContacts::substitute(int n, double* x) const {
  for (int j = 0; j < n; ++j) {
    const double* own = factor_.col(j).data();
    const double y = x[j] *= own[j];
    for (int i = j + 1; i < n; ++i) x[i] -= own[i] * y;
  }
  for (int j = n - 1; j >= 0; --j) {
    const double* own = factor_.col(j).data();
    double sum = x[j];
    for (int i = j + 1; i < n; ++i) sum -= own[i] * x[i];
    x[j] = sum * own[j];
  }
}

bool CompactContacts::factor_held(const std::vector<int>& of) {
  return factored_ == of || cholesky(of);
}

void CompactContacts::correct(const std::vector<int>& of, const Vec& gap, Vec& x) const {
  const int n = static_cast<int>(of.size());
  x.setZero();
  double packed[most_rows];
  for (int i = 0; i < n; ++i) packed[i] = -gap[of[i]];
  substitute(n, packed);
  for (int i = 0; i < n; ++i) x[of[i]] = packed[i];
}

}  // namespace saltus
