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

// Each rod as its bodies from base to tip, with arc length and radius.
Json rods_json(const Model& m) {
  Json rods = Json::array();
  double X = 0;  // of a segment's base
  for (const RodElement& r : m.rods) {
    if (rods.empty() || rods.back()["name"] != r.rod) {
      X = 0;
      rods.push_back({{"name", r.rod},
                      {"bodies", {r.base.value}},
                      {"at", {0.0}},
                      {"radii", {radius_at(*r.segment, 0)}}});
    }
    for (int i = 0; i < r.stations; ++i) {
      const int station = std::get<RodPiece>(m.bodies[r.first + i].joint).station;
      const double at = r.segment->stations[station].X;
      rods.back()["bodies"].push_back(r.first + i);
      rods.back()["at"].push_back(X + at);
      rods.back()["radii"].push_back(radius_at(*r.segment, at));
    }
    X += r.segment->spec.length;
  }
  return rods;
}

}  // namespace

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
