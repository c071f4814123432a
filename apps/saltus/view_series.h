// A recorded quantity over time, with no more points than a plot can show. Every point is a row of
// the file: nothing is averaged.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "saltus/runs/run_file.h"

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

// Two shapes that touch, or the supports of a body; all their points, or one.
struct ContactPick {
  int a = -1, b = -1;  // columns a and b of the table contacts; a support: a = -1
  std::optional<int> feature;
};

// A column of the table contacts, frame by frame; NaN where the contact is open. Without a feature
// impulses are summed over the points of the two shapes; of other columns the first point counts.
[[nodiscard]] Series contact_series(const RunReader& run, const Column& column, int component,
                                    const ContactPick& pick, std::size_t points);

// The contacts that occur in a run: it is read in pieces, and no row twice.
class ContactList {
 public:
  using Entry = std::array<std::int32_t, 3>;  // a, b, feature
  // Goes on with at most `rows` rows; stops for good when `most` contacts are found.
  void scan(const RunReader& run, std::size_t rows, std::size_t most);
  [[nodiscard]] std::vector<Entry> sorted() const;
  [[nodiscard]] std::size_t scanned() const { return scanned_; }  // rows
  [[nodiscard]] bool full() const { return full_; }

 private:
  struct Hash {
    std::size_t operator()(const Entry& e) const;
  };
  std::unordered_set<Entry, Hash> found_;
  std::size_t scanned_ = 0;
  bool full_ = false;
};

// Rows first, first + stride, ...: `count` of them, columns [offset, offset + width) of each.
[[nodiscard]] std::vector<double> read_rows(const RunReader& run, const std::string& table,
                                            const Column& column, std::size_t first,
                                            std::size_t count, std::size_t stride,
                                            std::size_t offset, std::size_t width);

}  // namespace saltus::cli
