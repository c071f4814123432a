#include "apps/saltus/impacts_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "apps/saltus/json_number.h"

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;

Json contact_json(const AuditedContact& c) {
  return {{"at", c.name},
          {"before", c.before},
          {"after", c.after},
          {"impulse", c.impulse},
          {"work_normal", c.work_normal},
          {"work_tangential", c.work_tangential},
          {"restitution", c.restitution},
          {"mu", c.mu},
          {"feasible", number(c.feasible)}};
}

// The contacts with the largest work, and what else changed the energy, in words.
std::string about(const AuditedImpact& impact, const std::string& law) {
  constexpr std::size_t most = 4;
  std::string text = complaint(impact, law);
  for (std::size_t i = 0; i < std::min(most, impact.parts.size()); ++i) {
    const AuditedContact& c = impact.parts[i];
    text += fmt::format("{}{}: work {:.4g} J", text.empty() ? "" : "\n", c.name,
                        c.work_normal + c.work_tangential);
  }
  if (const int more = impact.contacts - static_cast<int>(most); more > 0)
    text += fmt::format("\nand {} more", more);
  if (impact.attenuated != 0)
    text += fmt::format("\nattenuation of the velocities: {:.4g} J", impact.attenuated);
  if (impact.drives != 0) text += fmt::format("\nprescribed motion: {:.4g} J", impact.drives);
  return text;
}

}  // namespace

Json impact_json(const AuditedImpact& i, const std::string& law) {
  Json j = {{"t", i.t},
            {"kinetic_before", i.before},
            {"kinetic_after", i.after},
            {"work_normal", i.normal},
            {"work_tangential", i.tangential},
            {"work_joints", i.joints},
            {"work_drives", i.drives},
            {"work_forces", i.forces},
            {"attenuated", i.attenuated},
            {"accumulated", i.accumulated},
            {"relative_gain", i.relative()},
            {"gained", i.gained},
            {"complaint", complaint(i, law)},
            {"restitution_share", i.share},
            {"attenuation", i.attenuation},
            {"bound", number(i.bound)},
            {"path", i.path},
            {"contact_count", i.contacts},
            {"contacts", Json::array()}};
  for (const AuditedContact& c : i.parts) j["contacts"].push_back(contact_json(c));
  return j;
}

Json impacts_strip(const ImpactHistory& h, std::size_t most) {
  std::vector<std::size_t> kept(h.impacts.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  if (kept.size() > most) {
    std::stable_sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) {
      const AuditedImpact &x = h.impacts[a], &y = h.impacts[b];
      return (x.gained > 0) != (y.gained > 0) ? x.gained > 0 : x.before > y.before;
    });
    kept.resize(most);
    std::sort(kept.begin(), kept.end());
  }
  Json j = {{"law", h.law},           {"t", Json::array()},      {"before", Json::array()},
            {"after", Json::array()}, {"gained", Json::array()}, {"about", Json::array()}};
  for (const std::size_t k : kept) {
    const AuditedImpact& i = h.impacts[k];
    j["t"].push_back(i.t);
    j["before"].push_back(i.before);
    j["after"].push_back(i.after);
    j["gained"].push_back(i.gained);
    j["about"].push_back(about(i, h.law));
  }
  j["left_out"] = h.impacts.size() - kept.size();
  return j;
}

}  // namespace saltus::cli
