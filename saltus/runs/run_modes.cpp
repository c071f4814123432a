#include "saltus/runs/run_modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "saltus/base/error.h"
#include "saltus/runs/run_rows.h"

namespace saltus {

namespace {

using Json = nlohmann::ordered_json;

// What occurs, in the order of its places, and which part a place is.
std::map<PlaceKey, int> find_parts(const Json& header, const Rows& causes, const Rows& members,
                                   std::vector<ModePart>& parts) {
  std::map<PlaceKey, int> found;
  for (const Rows* rows : {&causes, &members})
    for (std::size_t r = 0; r < rows->count; ++r) found.try_emplace(place_at(*rows, r), -1);
  for (auto& [place, index] : found) {
    if (place.nowhere()) continue;
    index = static_cast<int>(parts.size());
    parts.push_back({place.element() ? header.at("labels").at(place.a).get<std::string>()
                                     : pair_name(header, place, "-"),
                     place_name(header, place), place.element()});
  }
  return found;
}

ModeHistory read_history(const RunReader& run) {
  const Json header = Json::parse(run.header());
  const std::vector<std::string> words = header.at("causes");
  // Of a run that is being written the modes are read first: their causes and members are there.
  const Rows modes(run, "modes"), causes(run, "causes"), members(run, "members");
  ModeHistory h;
  const auto part = find_parts(header, causes, members, h.parts);
  std::size_t c = 0, m = 0;
  for (std::size_t e = 0; e < modes.count; ++e) {
    ModeEvent event;
    event.t = modes.at("t", e);
    event.impact = modes.at("impact", e) != 0;
    event.kinetic_before = modes.at("kinetic_before", e);
    event.kinetic_after = modes.at("kinetic_after", e);
    event.share = modes.at("restitution_share", e);
    for (; c < static_cast<std::size_t>(modes.at("cause_end", e)); ++c)
      event.causes.push_back({words.at(causes.whole("cause", c)), part.at(place_at(causes, c)),
                              causes.at("value", c)});
    for (; m < static_cast<std::size_t>(modes.at("member_end", e)); ++m)
      event.members.push_back({part.at(place_at(members, m)), members.whole("status", m) == 1});
    std::sort(event.members.begin(), event.members.end());
    h.events.push_back(std::move(event));
  }
  const std::size_t frames = run.rows("frames");
  if (frames > 0) h.end = run.read("frames", "t", frames - 1, 1)[0];
  return h;
}

}  // namespace

bool has_modes(const RunReader& run) { return has_table(run, "modes"); }

ModeHistory read_modes(const RunReader& run, const std::string& path) {
  if (!has_modes(run))
    throw InputError(fmt::format(
        "{}: has no modes; record them with 'output: {{modes: true}}' in the scene (or --set "
        "output.modes=true), or run it with 'integrator: {{type: event-driven}}'",
        path));
  try {
    return read_history(run);
  } catch (const Json::exception& e) {
    throw InputError(fmt::format("{}: the header is damaged: {}", path, e.what()));
  } catch (const std::out_of_range&) {
    throw InputError(fmt::format("{}: the tables of modes are damaged", path));
  }
}

}  // namespace saltus
