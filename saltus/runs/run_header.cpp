#include "saltus/runs/run_header.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "saltus/contact/rows/families.h"
#include "saltus/rods/segment.h"

namespace saltus {

namespace {

using Json = nlohmann::ordered_json;

Json numbers(const Vec3& x) { return {x.x(), x.y(), x.z()}; }

// The angle; null where it varies.
Json steering_json(const Signal* signal) {
  if (!signal) return 0.0;
  const auto* constant = std::get_if<Constant>(signal);
  return constant ? Json(constant->value) : Json(nullptr);
}

// "runner12": 6; where the number begins. 0 or the length: there is none, or nothing else.
std::size_t number_at(const std::string& label) {
  const std::size_t last = label.find_last_not_of("0123456789");
  return last == std::string::npos ? 0 : last + 1;
}

// Of a round section of the same area; 0 where none is given [m].
double radius_at(const RodSegment& segment, double X) {
  const SegmentSpec& s = segment.spec;
  if (s.given) return 0;
  const RodSection section =
      s.section_end ? tapered(s.section, *s.section_end, X / s.length) : s.section;
  return std::sqrt(section_moments(section).area / std::numbers::pi);
}

template <class V>
Json list_of(const V& x) {
  Json list = Json::array();
  for (Eigen::Index i = 0; i < x.size(); ++i) list.push_back(x[i]);
  return list;
}

// A place of a rod: a body, its section there, and what the coefficients do to the strain.
void add_place(const RodElement& r, int body, double X, double at, Json& rod) {
  const RodSegment& s = *r.segment;
  rod["bodies"].push_back(body);
  rod["at"].push_back(X + at);
  rod["radii"].push_back(radius_at(s, at));
  const RodPoint point = point_at(s, at);
  const RodProperties section = properties_at(s.spec, at);
  rod["rest"].push_back(list_of(strain_at(s, point, Vec(Vec::Zero(s.size)))));
  rod["stiffness"].push_back(list_of(Vec6(section.stiffness.diagonal())));
  rod["damping"].push_back(list_of(Vec6(section.damping.diagonal())));
  rod["segments"].back()["values"].push_back(list_of(point.here));
}

// Each rod as its bodies from base to tip, with arc length, radius and what strains them.
Json rods_json(const Model& m) {
  Json rods = Json::array();
  double X = 0;  // of a segment's base
  for (const RodElement& r : m.rods) {
    const bool begins = rods.empty() || rods.back()["name"] != r.rod;
    if (begins) {
      X = 0;
      rods.push_back({{"name", r.rod}});
    }
    Json& rod = rods.back();
    rod["segments"].push_back({{"q0", r.q0}, {"v0", r.v0}, {"component", r.segment->component}});
    if (begins) add_place(r, r.base.value, X, 0, rod);
    for (int i = 0; i < r.stations; ++i) {
      const int station = std::get<RodPiece>(m.bodies[r.first + i].joint).station;
      if (station > r.segment->tip()) continue;  // put where the rod touches
      add_place(r, r.first + i, X, r.segment->stations[station].X, rod);
    }
    X += r.segment->spec.length;
  }
  return rods;
}

// Where fluids act, and the vortices of the streets that they are.
void describe_fluids(const Model& m, Json& header) {
  if (m.fluids.empty()) return;
  std::vector<const Flow*> seen;
  for (const Fluid& f : m.fluids) {
    header["fluids"].push_back({{"body", f.body.value},
                                {"point", numbers(place_of(f))},
                                {"wake", !f.end.added.isZero(0)}});
    if (!f.flow || std::find(seen.begin(), seen.end(), f.flow.get()) != seen.end()) continue;
    seen.push_back(f.flow.get());
    const auto* street = std::get_if<VortexStreet>(f.flow.get());
    if (!street) continue;
    Json rows = Json::array();
    for (const VortexRow& r : street->rows)
      rows.push_back({{"x", r.x}, {"y", r.y}, {"circulation", r.circulation}});
    header["streets"].push_back(
        {{"period", street->period}, {"carried", street->carried}, {"rows", rows}});
  }
}

}  // namespace

Vec3 place_of(const Fluid& fluid) {
  return fluid.end.added.isZero(0) ? fluid.centre : fluid.end.point;
}

std::vector<std::string> element_labels(const Model& m) {
  std::vector<std::string> labels;
  std::vector<int> modal;
  for (int k = 0; k < static_cast<int>(m.slots.size()); ++k) {
    labels.push_back(label_of(m, k));
    if (has_mode(m.slots[k])) modal.push_back(k);
  }
  if (modal.empty() || !m.contact_laws.empty()) return labels;
  const std::string& first = labels[modal[0]];
  const std::string stem = first.substr(0, number_at(first));
  const bool alike = !stem.empty() && std::all_of(modal.begin(), modal.end(), [&](int k) {
    const std::size_t at = number_at(labels[k]);
    return at < labels[k].size() && labels[k].substr(0, at) == stem;
  });
  for (const int k : modal)
    if (alike) labels[k] = labels[k].substr(number_at(labels[k]));
  return labels;
}

void describe_elements(const Model& m, const Actuation& actuation, Json& header) {
  header["elements"] = Json::array();
  for (int k = 0; k < static_cast<int>(m.slots.size()); ++k)
    header["elements"].push_back(m.name_of({k, -1, -1, 0}));
  header["labels"] = element_labels(m);
  header["springs"] = Json::array();
  for (const Spring& s : m.springs)
    header["springs"].push_back({{"name", s.name},
                                 {"a", s.a.value},
                                 {"b", s.b.value},
                                 {"point_a", numbers(s.point_a)},
                                 {"point_b", numbers(s.point_b)},
                                 {"length", s.length}});
  if (!m.rods.empty()) header["rods"] = rods_json(m);
  describe_fluids(m, header);
  header["runners"] = Json::array();
  for (int i = 0; i < static_cast<int>(m.runners.size()); ++i) {
    const Runner& r = m.runners[i];
    header["runners"].push_back({{"name", r.name},
                                 {"body", r.body.value},
                                 {"point", numbers(r.point)},
                                 {"direction", numbers(r.direction)},
                                 {"normal", numbers(r.normal)},
                                 {"edge", r.edge},
                                 {"scales", r.scales},
                                 {"steering", steering_json(steering_of(actuation, i))}});
  }
}

}  // namespace saltus
