#include "saltus/analysis/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace saltus {

namespace {

// The number that a label is; none: it is a word.
std::optional<long> number_of(const std::string& label) {
  if (label.empty() || label.size() > 9 ||
      label.find_first_not_of("0123456789") != std::string::npos)
    return {};
  return std::stol(label);
}

// What holds, and which contacts slip. Elements that do not hold slip: P3 leaves them out.
std::string short_name(const ModeHistory& h, const SystemMode& m) {
  std::vector<int> contacts;
  for (const int part : m.slips)
    if (!h.parts[part].element) contacts.push_back(part);
  const std::string held = labels_text(h, m.holds), slips = labels_text(h, contacts, "~");
  return fmt::format("{{{}{}{}}}", held, held.empty() || slips.empty() ? "" : ", ", slips);
}

std::string full_name(const ModeHistory& h, const SystemMode& m) {
  const std::string held = labels_text(h, m.holds), slips = labels_text(h, m.slips, "~");
  return fmt::format("{{{}{}{}}}", held, held.empty() || slips.empty() ? "" : ", ", slips);
}

// Two modes may differ only in elements that slip or are open: then these are named, too.
void name_modes(const ModeHistory& h, std::vector<SystemMode>& modes) {
  std::map<std::string, int> seen;
  for (SystemMode& m : modes) ++seen[m.name = short_name(h, m)];
  for (SystemMode& m : modes)
    if (seen[m.name] > 1) m.name = full_name(h, m);
}

}  // namespace

std::string labels_text(const ModeHistory& h, const std::vector<int>& parts, const char* prefix) {
  std::string text;
  for (std::size_t i = 0; i < parts.size();) {
    const auto number = [&](std::size_t k) { return number_of(h.parts[parts[k]].label); };
    std::size_t n = 1;
    while (i + n < parts.size() && number(i) && number(i + n) &&
           *number(i + n) == *number(i) + static_cast<long>(n))
      ++n;
    if (n < 3) n = 1;  // 1, 2 is no longer than 1-2
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", prefix, h.parts[parts[i]].label);
    if (n > 1) text += "-" + h.parts[parts[i + n - 1]].label;
    i += n;
  }
  return text;
}

std::string text_of(const ModeHistory& h, const ModeCause& cause) {
  std::string text = cause.what;
  if (cause.part >= 0) text += " " + h.parts[cause.part].label;
  if (cause.what == "accumulation") text += fmt::format(" until {:.9g} s", cause.value);
  return text;
}

std::string causes_text(const ModeHistory& h, const ModeEvent& event) {
  std::vector<std::pair<std::string, std::vector<int>>> kinds;  // in their order
  std::string rest;
  for (const ModeCause& c : event.causes) {
    if (c.part < 0 || c.what == "accumulation") {
      rest += (rest.empty() ? "" : "; ") + text_of(h, c);
      continue;
    }
    auto at = std::find_if(kinds.begin(), kinds.end(),
                           [&](const auto& kind) { return kind.first == c.what; });
    if (at == kinds.end()) at = kinds.insert(at, {c.what, {}});
    at->second.push_back(c.part);
  }
  std::string text;
  for (const auto& [what, parts] : kinds)
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", what, labels_text(h, parts));
  return text + (text.empty() || rest.empty() ? "" : "; ") + rest;
}

ModeGraph mode_graph(const ModeHistory& h) {
  ModeGraph g;
  std::map<std::vector<ModeMark>, int> known;
  std::map<std::pair<int, int>, ModeTransition> edges;
  for (std::size_t e = 0; e < h.events.size(); ++e) {
    const ModeEvent& event = h.events[e];
    const auto [at, is_new] = known.try_emplace(event.members, static_cast<int>(g.modes.size()));
    const int mode = at->second;
    if (is_new) {
      SystemMode m;
      m.first = event.t;
      for (const ModeMark& mark : event.members)
        (mark.holds ? m.holds : m.slips).push_back(mark.part);
      g.modes.push_back(std::move(m));
    }
    if (e > 0) {
      const int before = g.stretches.back().mode;
      ModeTransition& edge = edges[{before, mode}];
      edge.from = before;
      edge.to = mode;
      ++edge.count;
      edge.impacts += event.impact;
      const std::string cause = causes_text(h, event);
      if (std::find(edge.causes.begin(), edge.causes.end(), cause) == edge.causes.end())
        edge.causes.push_back(cause);
      g.stretches.back().to = event.t;
      if (before == mode) {
        ++g.stretches.back().events;
        continue;
      }
    }
    g.stretches.push_back({mode, event.t, event.t, e, 1});
    ++g.modes[mode].count;
  }
  if (!g.stretches.empty()) g.stretches.back().to = std::max(h.end, g.stretches.back().from);
  for (const ModeStretch& s : g.stretches) g.modes[s.mode].duration += s.to - s.from;
  for (auto& [key, edge] : edges) g.transitions.push_back(std::move(edge));
  name_modes(h, g.modes);
  return g;
}

}  // namespace saltus
