#include "saltus/contact/rows/contact.h"

namespace saltus {

int open_contact(const Model& model, const Workspace& w, int k, const Contact& c, const Law& law,
                 Assembly& out) {
  const ContactLaw& l = model.contact_laws[c.law];
  BlockSource from;
  from.contact = k;
  from.a = model.shapes[c.key.a].body;
  from.b = model.shapes[c.key.b].body;
  const bool moments = l.rolling > 0 || l.drilling > 0;
  const int row = out.open(law, from, 0, moments ? model.length_scale : 1);
  set_contact_rows(model, w, c, row, rows_of(law), out);
  return row;
}

bool contact_of_key(const Model& model, const Workspace& w, const ContactKey& key, double margin,
                    Contact& c) {
  const auto pose = [&](int shape) {
    const ContactShape& s = model.shapes[shape];
    return s.body.valid() ? w.X[s.body] * s.frame : s.frame;
  };
  Manifold found;
  contact_points(model.shapes[key.a].shape, pose(key.a), model.shapes[key.b].shape, pose(key.b),
                 margin, found);
  for (int i = 0; i < found.count; ++i) {
    if (found.points[i].feature != key.feature) continue;
    c.point = found.points[i];
    return true;
  }
  return false;
}

}  // namespace saltus
