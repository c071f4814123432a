#include "saltus/runs/run_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "saltus/integrators/mode_change.h"

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

std::string own_label(const Model& m, int slot) {
  const BlockSlot& s = m.slots[slot];
  const auto or_body = [&](const SupportFriction& f) {
    return f.name.empty() ? m.bodies[f.body].name : f.name;
  };
  switch (s.kind) {
    case BlockKind::scale: return m.runners[s.index].name;
    case BlockKind::gap_contact: return m.gap_contacts[s.index].name;
    case BlockKind::support: return or_body(m.supports[s.index]);
    case BlockKind::joint_friction: return m.coordinates[s.index].name + " friction";
    case BlockKind::joint_limit:
      return fmt::format("{} {} limit", m.coordinates[s.index].name,
                         s.feature == 0 ? "lower" : "upper");
    default: return m.name_of({slot, -1, -1, 0});
  }
}

// "runner12": 6; where the number begins. 0 or the length: there is none, or nothing else.
std::size_t number_at(const std::string& label) {
  const std::size_t last = label.find_last_not_of("0123456789");
  return last == std::string::npos ? 0 : last + 1;
}

}  // namespace

std::vector<std::string> element_labels(const Model& m) {
  std::vector<std::string> labels;
  std::vector<int> modal;
  for (int k = 0; k < static_cast<int>(m.slots.size()); ++k) {
    labels.push_back(own_label(m, k));
    if (has_mode(m.slots[k].kind)) modal.push_back(k);
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
