// Reading the tables of a run file: whole columns, rows up to a step, and the names of places.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "saltus/runs/run_file.h"

namespace saltus {

[[nodiscard]] bool has_table(const RunReader& run, const std::string& table);

// How many rows of a table that counts steps are of this step or an earlier one.
[[nodiscard]] std::size_t rows_until(const RunReader& run, const std::string& table,
                                     std::int64_t step);
// Where what belongs to the first `rows` rows ends in a flat table: the last of them in this
// column.
[[nodiscard]] std::size_t end_of(const RunReader& run, const std::string& table,
                                 const std::string& column, std::size_t rows);

// A table, whole. A column or row that it does not have is a std::out_of_range.
class Rows {
 public:
  Rows(const RunReader& run, const std::string& table);
  std::size_t count;
  [[nodiscard]] double at(const char* name, std::size_t row) const {
    return columns_.at(name).at(row);
  }
  [[nodiscard]] int whole(const char* name, std::size_t row) const {
    return static_cast<int>(at(name, row));
  }
  [[nodiscard]] std::array<double, 3> three(const char* name, std::size_t row) const;

 private:
  std::map<std::string, std::vector<double>> columns_;
};

// A place as a row has it (with_place of impact_tables.h).
struct PlaceKey {
  int kind = 2, a = -1, b = -1, feature = 0;
  [[nodiscard]] bool nowhere() const { return kind == 2; }
  [[nodiscard]] bool element() const { return kind == 1; }  // number a of header.elements
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy takes the 0 that < compares with for one
  auto operator<=>(const PlaceKey&) const = default;
};
[[nodiscard]] PlaceKey place_at(const Rows& rows, std::size_t row);

// Names of the two shapes of a contact and, unless it is the first, which of their points.
[[nodiscard]] std::string pair_name(const nlohmann::ordered_json& header, const PlaceKey& contact,
                                    const char* between);
// An element's name, or "contact ground - wheel".
[[nodiscard]] std::string place_name(const nlohmann::ordered_json& header, const PlaceKey& place);

}  // namespace saltus
