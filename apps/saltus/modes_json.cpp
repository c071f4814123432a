#include "apps/saltus/modes_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;

Json names(const ModeHistory& h, const std::vector<int>& parts) {
  Json list = Json::array();
  for (const int part : parts) list.push_back(h.parts[part].name);
  return list;
}

Json causes_json(const ModeHistory& h, const ModeEvent& event) {
  Json list = Json::array();
  for (const ModeCause& c : event.causes) {
    Json j = {{"cause", c.what}};
    j["at"] = c.part >= 0 ? Json(h.parts[c.part].name) : Json(nullptr);
    if (c.what == "accumulation") j["end"] = c.value;
    list.push_back(j);
  }
  return list;
}

// The stretches that are shown, in their order.
std::vector<std::size_t> longest(const std::vector<ModeStretch>& stretches, std::size_t most) {
  std::vector<std::size_t> kept(stretches.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  if (kept.size() <= most) return kept;
  const auto length = [&](std::size_t i) { return stretches[i].to - stretches[i].from; };
  std::stable_sort(kept.begin(), kept.end(),
                   [&](std::size_t a, std::size_t b) { return length(a) > length(b); });
  kept.resize(most);
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace

Json modes_json(const ModeHistory& h, const ModeGraph& g) {
  Json j;
  j["end"] = h.end;
  j["labels"] = Json::object();
  for (const ModePart& p : h.parts) j["labels"][p.label] = p.name;
  j["modes"] = Json::array();
  for (const SystemMode& m : g.modes)
    j["modes"].push_back({{"name", m.name},
                          {"holds", names(h, m.holds)},
                          {"slips", names(h, m.slips)},
                          {"count", m.count},
                          {"duration", m.duration},
                          {"first", m.first}});
  j["sequence"] = Json::array();
  j["events"] = Json::array();
  for (const ModeStretch& s : g.stretches) {
    const std::string& name = g.modes[s.mode].name;
    j["sequence"].push_back(
        {{"from", s.from}, {"to", s.to}, {"duration", s.to - s.from}, {"mode", name}});
    for (std::size_t e = s.event; e < s.event + s.events; ++e) {
      const ModeEvent& event = h.events[e];
      j["events"].push_back({{"t", event.t},
                             {"mode", name},
                             {"causes", causes_json(h, event)},
                             {"impact", event.impact},
                             {"kinetic_before", event.kinetic_before},
                             {"kinetic_after", event.kinetic_after},
                             {"restitution_share", event.share}});
    }
  }
  j["transitions"] = Json::array();
  for (const ModeTransition& t : g.transitions)
    j["transitions"].push_back({{"from", g.modes[t.from].name},
                                {"to", g.modes[t.to].name},
                                {"count", t.count},
                                {"impacts", t.impacts},
                                {"causes", t.causes}});
  return j;
}

Json modes_strip(const ModeHistory& h, std::size_t most) {
  const ModeGraph g = mode_graph(h);
  Json j = {{"modes", Json::array()},
            {"from", Json::array()},
            {"to", Json::array()},
            {"mode", Json::array()},
            {"cause", Json::array()}};
  std::vector<int> number(g.modes.size(), -1);  // of the modes that are shown
  const auto kept = longest(g.stretches, most);
  for (const std::size_t i : kept) {
    const ModeStretch& s = g.stretches[i];
    if (number[s.mode] < 0) {
      const SystemMode& m = g.modes[s.mode];
      number[s.mode] = static_cast<int>(j["modes"].size());
      j["modes"].push_back({{"name", m.name},
                            {"holds", labels_text(h, m.holds)},
                            {"slips", labels_text(h, m.slips)}});
    }
    j["from"].push_back(s.from);
    j["to"].push_back(s.to);
    j["mode"].push_back(number[s.mode]);
    j["cause"].push_back(causes_text(h, h.events[s.event]));
  }
  std::vector<double> impacts;
  for (const ModeEvent& e : h.events)
    if (e.impact) impacts.push_back(e.t);
  const std::size_t stride = std::max<std::size_t>(1, (impacts.size() + most - 1) / most);
  j["impacts"] = Json::array();
  for (std::size_t i = 0; i < impacts.size(); i += stride) j["impacts"].push_back(impacts[i]);
  j["left_out"] = {{"stretches", g.stretches.size() - kept.size()},
                   {"impacts", impacts.size() - j["impacts"].size()}};
  return j;
}

}  // namespace saltus::cli
