#include "saltus/runs/run_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace saltus {

using Json = nlohmann::ordered_json;

bool has_table(const RunReader& run, const std::string& table) {
  const auto tables = run.tables();
  return std::any_of(tables.begin(), tables.end(),
                     [&](const TableSpec& t) { return t.name == table; });
}

std::size_t rows_until(const RunReader& run, const std::string& table, std::int64_t step) {
  const auto steps = run.read(table, "step", 0, run.rows(table));
  std::size_t n = 0;
  while (n < steps.size() && steps[n] <= static_cast<double>(step)) ++n;
  return n;
}

std::size_t end_of(const RunReader& run, const std::string& table, const std::string& column,
                   std::size_t rows) {
  return rows > 0 ? static_cast<std::size_t>(run.read(table, column, rows - 1, 1)[0]) : 0;
}

Rows::Rows(const RunReader& run, const std::string& table) : count(run.rows(table)) {
  for (const TableSpec& t : run.tables())
    if (t.name == table)
      for (const Column& c : t.columns) columns_[c.name] = run.read(table, c.name, 0, count);
}

std::array<double, 3> Rows::three(const char* name, std::size_t row) const {
  const auto& values = columns_.at(name);
  return {values.at(3 * row), values.at(3 * row + 1), values.at(3 * row + 2)};
}

PlaceKey place_at(const Rows& rows, std::size_t r) {
  return {rows.whole("kind", r), rows.whole("a", r), rows.whole("b", r), rows.whole("feature", r)};
}

std::string pair_name(const Json& header, const PlaceKey& contact, const char* between) {
  const Json& shapes = header.at("shapes");
  const std::string one = shapes.at(contact.a).at("name"), other = shapes.at(contact.b).at("name");
  return one + between + other + (contact.feature == 0 ? "" : fmt::format("#{}", contact.feature));
}

std::string place_name(const Json& header, const PlaceKey& place) {
  if (place.element()) return header.at("elements").at(place.a);
  return "contact " + pair_name(header, place, " - ");
}

}  // namespace saltus
