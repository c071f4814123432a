// A recorded quantity over time, with no more points than a plot can show. Every point is a row of
// the file: nothing is averaged.
#pragma once
#include <string_view>
#include <vector>

#include "saltus/io/run_file.h"

namespace saltus::cli {

struct Series {
  std::vector<double> t, y;  // [s], the column's unit
  // "exact": every row; "extremes": the least and the greatest of equal stretches, in their order;
  // "sampled": every so many rows, where reading all of them would take too long.
  std::string_view reduction = "exact";
};

// The table has a column t.
[[nodiscard]] Series table_series(const RunReader& run, const std::string& table,
                                  const Column& column, int component, std::size_t points);

// A column of the table contacts for one slot, frame by frame; NaN where the contact is open.
[[nodiscard]] Series contact_series(const RunReader& run, const Column& column, int component,
                                    int slot, std::size_t points);

// Rows first, first + stride, ...: `count` of them, columns [offset, offset + width) of each.
[[nodiscard]] std::vector<double> read_rows(const RunReader& run, const std::string& table,
                                            const Column& column, std::size_t first,
                                            std::size_t count, std::size_t stride,
                                            std::size_t offset, std::size_t width);

}  // namespace saltus::cli
