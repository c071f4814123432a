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
  place(model, w, margin);
  const std::vector<IndexPair>& pairs = broad_.find(box_, planes_);
  // Whatever the number of threads, the pairs are cut alike and put together in order.
  constexpr int chunk = 256;
  const int chunks = (static_cast<int>(pairs.size()) + chunk - 1) / chunk;
  if (chunks > static_cast<int>(parts_.size())) parts_.resize(chunks);
  parallel_for(chunks, threads, [&](int k) {
    const int end = std::min((k + 1) * chunk, static_cast<int>(pairs.size()));
    parts_[k].clear();
    for (int i = k * chunk; i < end; ++i) touch(model, pairs[i], margin, parts_[k]);
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
  const int body_a = model.shapes[a].body, body_b = model.shapes[b].body;
  if (!model.excluded.empty() && body_a >= 0 && body_b >= 0 &&
      std::binary_search(model.excluded.begin(), model.excluded.end(),
                         std::pair(std::min(body_a, body_b), std::max(body_a, body_b))))
    return;
  Manifold found;
  contact_points(model.shapes[a].shape, pose_[a], model.shapes[b].shape, pose_[b], margin, found);
  for (int i = 0; i < found.count; ++i) {
    Contact c;
    c.key = {a, b, found.points[i].feature};
    c.law = law;
    c.point = found.points[i];
    contacts.push_back(c);
  }
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
