#include "saltus/contact/finder.h"

#include <algorithm>

#include "saltus/base/parallel.h"

namespace saltus {

ContactFinder::ContactFinder(const Model& model) {
  std::vector<BroadObject> objects;
  std::vector<char> allowed;
  for (const GroupLaw& g : model.group_law) allowed.push_back(g.law >= 0);
  for (std::size_t i = 0; i < model.shapes.size(); ++i) {
    const ContactShape& s = model.shapes[i];
    objects.push_back({s.body.value, s.group});
    if (std::holds_alternative<HalfSpace>(s.shape)) {
      BroadPlane plane;
      plane.object = static_cast<int>(i);
      planes_.push_back(plane);
    }
  }
  broad_ = BroadPhase(std::move(objects), std::move(allowed), model.groups);
  pose_.resize(model.shapes.size());
  box_.resize(model.shapes.size());
  find_still_pairs(model);
}

namespace {

constexpr int most_still_pairs = 256;

// Of each shape, whether a velocity moves it.
std::vector<char> moving_shapes(const Model& m) {
  std::vector<char> body(m.bodies.size(), 0), shape;
  for (int i = 0; i < m.body_count(); ++i) {
    const Body& b = m.bodies[i];
    body[i] = b.nv > 0 || (b.parent.valid() && body[b.parent]);
  }
  for (const ContactShape& s : m.shapes) shape.push_back(s.body.valid() && body[s.body] ? 1 : 0);
  return shape;
}

bool is_excluded(const Model& m, int a, int b) {
  return a >= 0 && b >= 0 &&
         std::binary_search(m.excluded.begin(), m.excluded.end(),
                            std::pair(std::min(a, b), std::max(a, b)));
}

bool is_idle(const Model& m, const Workspace& w, int shape) {
  const BodyIndex body = m.shapes[shape].body;
  return body.valid() && w.idle[body];
}

void add_points(const Manifold& found, int a, int b, int law, std::vector<Contact>& contacts) {
  for (int i = 0; i < found.count; ++i) {
    Contact& c = contacts.emplace_back();
    c.key = {a, b, found.points[i].feature};
    c.law = law;
    c.point = found.points[i];
  }
}

// Calls f(a, b, law) for every pair of shapes that may meet, in the law's order, until it says no.
template <class F>
bool each_pair(const Model& m, const F& f) {
  for (int i = 0; i < static_cast<int>(m.shapes.size()); ++i)
    for (int j = i + 1; j < static_cast<int>(m.shapes.size()); ++j) {
      if (m.shapes[i].body == m.shapes[j].body) continue;
      int a = i, b = j;
      const int law = m.law_between(a, b);
      if (law < 0 || is_excluded(m, m.shapes[a].body, m.shapes[b].body)) continue;
      if (!f(a, b, law)) return false;
    }
  return true;
}

}  // namespace

bool touches_still_only(const Model& m) {
  const std::vector<char> moves = moving_shapes(m);
  return each_pair(m, [&](int a, int b, int) { return !(moves[a] && moves[b]); });
}

void ContactFinder::find_still_pairs(const Model& m) {
  if (m.shapes.size() > 4 * most_still_pairs) return;  // every pair would be asked for its law
  const std::vector<char> moves = moving_shapes(m);
  const bool all = each_pair(m, [&](int a, int b, int law) {
    if (moves[a] == moves[b]) return false;
    StillPair p;
    p.a = a, p.b = b, p.law = law, p.b_moves = moves[b] != 0;
    const Shape &moving = m.shapes[p.b_moves ? b : a].shape,
                &still = m.shapes[p.b_moves ? a : b].shape;
    p.half_space = std::holds_alternative<HalfSpace>(still);
    if (const auto* s = std::get_if<Sphere>(&moving); s && p.half_space) {
      p.sphere = true;
      p.radius = s->radius;
    } else {
      const Aabb box = bounds(moving, SE3{});
      p.radius = box.low.cwiseAbs().cwiseMax(box.high.cwiseAbs()).norm();
    }
    few_.push_back(p);
    return std::ssize(few_) <= most_still_pairs;
  });
  if (!all) few_.clear();
  std::sort(few_.begin(), few_.end(), [](const StillPair& x, const StillPair& y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  });
}

void ContactFinder::touch(const Model& m, const Workspace& w, const StillPair& p, double margin,
                          std::vector<Contact>& contacts) const {
  const ContactShape &moving = m.shapes[p.b_moves ? p.b : p.a],
                     &still = m.shapes[p.b_moves ? p.a : p.b];
  if (w.idle[moving.body]) return;
  const SE3& X = w.X[moving.body];
  const Vec3 centre = X.R * moving.frame.r + X.r;
  SE3 placed;
  if (still.body.valid()) placed = w.X[still.body] * still.frame;
  const SE3& at = still.body.valid() ? placed : still.frame;
  double height = 0;
  if (p.half_space) {
    height = at.R.col(2).dot(centre - at.r);
    if (height - p.radius > margin) return;
  }
  if (p.sphere) {
    Contact& c = contacts.emplace_back();
    c.key = {p.a, p.b, 0};
    c.law = p.law;
    const Vec3 n = at.R.col(2);
    c.point.gap = height - p.radius;
    c.point.normal = p.b_moves ? n : Vec3(-n);
    (p.b_moves ? c.point.on_b : c.point.on_a) = centre - p.radius * n;
    (p.b_moves ? c.point.on_a : c.point.on_b) = centre - height * n;
    return;
  }
  SE3 pose;
  pose.R.noalias() = X.R * moving.frame.R;
  pose.r = centre;
  Manifold found;
  contact_points(m.shapes[p.a].shape, p.b_moves ? at : pose, m.shapes[p.b].shape,
                 p.b_moves ? pose : at, margin, found);
  add_points(found, p.a, p.b, p.law, contacts);
}

void ContactFinder::place(const Model& model, const Workspace& w, double margin) {
  for (std::size_t i = 0; i < model.shapes.size(); ++i) {
    const ContactShape& s = model.shapes[i];
    pose_[i] = s.body.valid() ? w.X[s.body] * s.frame : s.frame;
    box_[i] = bounds(s.shape, pose_[i]);
    // Half the margin on either side of a pair.
    box_[i].low.array() -= 0.5 * margin;
    box_[i].high.array() += 0.5 * margin;
  }
  for (BroadPlane& p : planes_) {
    p.normal = pose_[p.object].R.col(2);
    p.offset = p.normal.dot(pose_[p.object].r) + 0.5 * margin;
  }
}

void ContactFinder::find(const Model& model, const Workspace& w, double margin,
                         std::vector<Contact>& contacts) {
  contacts.clear();
  if (model.contact_laws.empty()) return;
  if (!few_.empty()) {
    for (const StillPair& p : few_) touch(model, w, p, margin, contacts);
    return;
  }
  place(model, w, margin);
  const std::vector<IndexPair>& pairs = broad_.find(box_, planes_);
  // Whatever the number of threads, the pairs are cut alike and put together in order.
  constexpr int chunk = 256;
  const int chunks = (static_cast<int>(pairs.size()) + chunk - 1) / chunk;
  if (chunks > static_cast<int>(parts_.size())) parts_.resize(chunks);
  parallel_for(chunks, threads, [&](int k) {
    const int end = std::min((k + 1) * chunk, static_cast<int>(pairs.size()));
    parts_[k].clear();
    for (int i = k * chunk; i < end; ++i)
      if (!is_idle(model, w, pairs[i].i) && !is_idle(model, w, pairs[i].j))
        touch(model, pairs[i], margin, parts_[k]);
  });
  for (int k = 0; k < chunks; ++k)
    contacts.insert(contacts.end(), parts_[k].begin(), parts_[k].end());
  std::sort(contacts.begin(), contacts.end(),
            [](const Contact& x, const Contact& y) { return x.key < y.key; });
}

void ContactFinder::touch(const Model& model, const IndexPair& pair, double margin,
                          std::vector<Contact>& contacts) const {
  int a = pair.i, b = pair.j;
  const int law = model.law_between(a, b);
  if (is_excluded(model, model.shapes[a].body, model.shapes[b].body)) return;
  Manifold found;
  contact_points(model.shapes[a].shape, pose_[a], model.shapes[b].shape, pose_[b], margin, found);
  add_points(found, a, b, law, contacts);
}

Vec3 in_plane(const Mat3& R, const Vec3& n) {
  Vec3 t = R.col(0) - n.dot(R.col(0)) * n;
  if (t.squaredNorm() < 1e-6) t = R.col(1) - n.dot(R.col(1)) * n;
  return t.normalized();
}

Vec3 tangent_of(const Model& model, const Workspace& w, const Contact& c) {
  const bool of_a = model.contact_laws[c.law].axes == FrictionAxes::a;
  const ContactShape& s = model.shapes[of_a ? c.key.a : c.key.b];
  return in_plane(s.body.valid() ? Mat3(w.X[s.body].R * s.frame.R) : s.frame.R, c.point.normal);
}

}  // namespace saltus
