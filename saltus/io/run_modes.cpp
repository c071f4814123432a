#include "saltus/io/run_modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "saltus/base/error.h"

namespace saltus {

namespace {

using Json = nlohmann::ordered_json;

using PlaceKey = std::tuple<int, int, int, int>;  // kind, a, b, feature
constexpr int nowhere = 2;                        // a kind

// Columns of a table, whole.
struct Rows {
  std::map<std::string, std::vector<double>> columns;
  std::size_t count;
  Rows(const RunReader& run, const char* table, const std::vector<const char*>& names)
      : count(run.rows(table)) {
    for (const char* name : names) columns[name] = run.read(table, name, 0, count);
  }
  [[nodiscard]] double at(const char* name, std::size_t row) const {
    return columns.at(name).at(row);
  }
  [[nodiscard]] int whole(const char* name, std::size_t row) const {
    return static_cast<int>(at(name, row));
  }
};

PlaceKey place_of(const Rows& rows, std::size_t r) {
  return {rows.whole("kind", r), rows.whole("a", r), rows.whole("b", r), rows.whole("feature", r)};
}

// What occurs, in the order of its places, and which part a place is.
std::map<PlaceKey, int> find_parts(const Json& header, const Rows& causes, const Rows& members,
                                   std::vector<ModePart>& parts) {
  std::map<PlaceKey, int> found;
  for (const Rows* rows : {&causes, &members})
    for (std::size_t r = 0; r < rows->count; ++r) found.try_emplace(place_of(*rows, r), -1);
  const std::vector<std::string> labels = header.at("labels"), elements = header.at("elements");
  const Json& shapes = header.at("shapes");
  for (auto& [key, index] : found) {
    const auto& [kind, a, b, feature] = key;
    if (kind == nowhere) continue;
    index = static_cast<int>(parts.size());
    if (kind == 1) {
      parts.push_back({labels.at(a), elements.at(a), true});
      continue;
    }
    const std::string one = shapes.at(a).at("name"), other = shapes.at(b).at("name");
    const std::string point = feature == 0 ? "" : fmt::format("#{}", feature);
    parts.push_back({fmt::format("{}-{}{}", one, other, point),
                     fmt::format("contact {} - {}{}", one, other, point), false});
  }
  return found;
}

ModeHistory read(const RunReader& run) {
  const Json header = Json::parse(run.header());
  const std::vector<std::string> words = header.at("causes");
  // Of a run that is being written the modes are read first: their causes and members are there.
  const Rows modes(run, "modes",
                   {"t", "impact", "kinetic_before", "kinetic_after", "restitution_share",
                    "cause_end", "member_end"});
  const Rows causes(run, "causes", {"kind", "a", "b", "feature", "cause", "value"});
  const Rows members(run, "members", {"kind", "a", "b", "feature", "status"});
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
      event.causes.push_back({words.at(causes.whole("cause", c)), part.at(place_of(causes, c)),
                              causes.at("value", c)});
    for (; m < static_cast<std::size_t>(modes.at("member_end", e)); ++m)
      event.members.push_back({part.at(place_of(members, m)), members.whole("status", m) == 1});
    std::sort(event.members.begin(), event.members.end());
    h.events.push_back(std::move(event));
  }
  const std::size_t frames = run.rows("frames");
  if (frames > 0) h.end = run.read("frames", "t", frames - 1, 1)[0];
  return h;
}

}  // namespace

bool has_modes(const RunReader& run) {
  const auto tables = run.tables();
  return std::any_of(tables.begin(), tables.end(),
                     [](const TableSpec& t) { return t.name == "modes"; });
}

ModeHistory read_modes(const RunReader& run, const std::string& path) {
  if (!has_modes(run))
    throw InputError(fmt::format(
        "{}: has no modes; record them with 'output: {{modes: true}}' in the scene (or --set "
        "output.modes=true), or run it with 'integrator: {{type: event-driven}}'",
        path));
  try {
    return read(run);
  } catch (const Json::exception& e) {
    throw InputError(fmt::format("{}: the header is damaged: {}", path, e.what()));
  } catch (const std::out_of_range&) {
    throw InputError(fmt::format("{}: the tables of modes are damaged", path));
  }
}

}  // namespace saltus
