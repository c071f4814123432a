#include "apps/saltus/view_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace saltus::cli {

namespace {

constexpr std::size_t block_values = std::size_t{1} << 17;  // read at a time
// Beyond this many values a column is sampled instead of scanned.
constexpr std::size_t scan_values = std::size_t{1} << 24;

const Column time_column{.name = "t", .unit = "s", .about = ""};

std::size_t stride_for(std::size_t rows, std::size_t points) {
  return std::max<std::size_t>(1, (rows + points - 1) / points);
}

// The row of the least and of the greatest value in every stretch of `stride` rows, and the values.
struct Extremes {
  std::vector<double> rows, y;
  std::size_t least = 0, most = 0, seen = 0;
  double y_least = 0, y_most = 0;

  void add(std::size_t row, double value) {
    if (seen++ == 0) {
      least = most = row;
      y_least = y_most = value;
    } else if (value < y_least) {
      least = row;
      y_least = value;
    } else if (value > y_most) {
      most = row;
      y_most = value;
    }
  }
  void close() {
    if (seen == 0) return;
    const bool down = most < least;
    push(down ? most : least, down ? y_most : y_least);
    if (least != most) push(down ? least : most, down ? y_least : y_most);
    seen = 0;
  }
  void push(std::size_t row, double value) {
    rows.push_back(static_cast<double>(row));
    y.push_back(value);
  }
};

Series extremes(const RunReader& run, const std::string& table, const Column& column, int component,
                std::size_t rows, std::size_t points) {
  const auto width = static_cast<std::size_t>(column.width);
  const std::size_t stride = stride_for(rows, points / 2);
  const std::size_t block = std::max<std::size_t>(1, block_values / width);
  Extremes found;
  std::vector<double> t(rows);
  for (std::size_t first = 0; first < rows; first += block) {
    const std::size_t n = std::min(block, rows - first);
    const auto values = run.read(table, column.name, first, n);
    const auto times = run.read(table, "t", first, n);
    std::copy(times.begin(), times.end(), t.begin() + static_cast<std::ptrdiff_t>(first));
    for (std::size_t i = 0; i < n; ++i) {
      if ((first + i) % stride == 0) found.close();
      found.add(first + i, values[i * width + static_cast<std::size_t>(component)]);
    }
  }
  found.close();
  Series s{.t = {}, .y = std::move(found.y), .reduction = "extremes"};
  s.t.reserve(found.rows.size());
  for (const double row : found.rows) s.t.push_back(t[static_cast<std::size_t>(row)]);
  return s;
}

}  // namespace

std::vector<double> read_rows(const RunReader& run, const std::string& table, const Column& column,
                              std::size_t first, std::size_t count, std::size_t stride,
                              std::size_t offset, std::size_t width) {
  const auto whole = static_cast<std::size_t>(column.width);
  if (stride == 1 && width == whole) return run.read(table, column.name, first, count);
  std::vector<double> out;
  out.reserve(count * width);
  // Rows that lie close are cheaper to read together.
  const bool together = stride * whole <= 4096;
  const std::size_t block =
      together ? std::max<std::size_t>(1, block_values / (stride * whole)) : 1;
  for (std::size_t i = 0; i < count; i += block) {
    const std::size_t n = std::min(block, count - i);
    const auto values = run.read(table, column.name, first + i * stride, (n - 1) * stride + 1);
    for (std::size_t k = 0; k < n; ++k) {
      const auto at = values.begin() + static_cast<std::ptrdiff_t>(k * stride * whole + offset);
      out.insert(out.end(), at, at + static_cast<std::ptrdiff_t>(width));
    }
  }
  return out;
}

Series table_series(const RunReader& run, const std::string& table, const Column& column,
                    int component, std::size_t points) {
  const std::size_t rows = run.rows(table);
  const auto width = static_cast<std::size_t>(column.width);
  if (rows > points && rows * width <= scan_values)
    return extremes(run, table, column, component, rows, points);
  const std::size_t stride = stride_for(rows, points), n = (rows + stride - 1) / stride;
  Series s{.t = {}, .y = {}, .reduction = stride == 1 ? "exact" : "sampled"};
  if (n == 0) return s;
  s.t = read_rows(run, table, time_column, 0, n, stride, 0, 1);
  s.y = read_rows(run, table, column, 0, n, stride, static_cast<std::size_t>(component), 1);
  return s;
}

namespace {

// The value of a frame: rows [begin, end) of what was read.
struct ContactRows {
  const ContactPick& pick;
  std::size_t width, component;
  bool sum;
  std::vector<double> a, b, feature, values;

  void read(const RunReader& run, const Column& column, std::size_t first, std::size_t count) {
    a = run.read("contacts", "a", first, count);
    b = run.read("contacts", "b", first, count);
    if (pick.feature) feature = run.read("contacts", "feature", first, count);
    values = run.read("contacts", column.name, first, count);
  }
  [[nodiscard]] double value(std::size_t begin, std::size_t end) const {
    double y = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t r = begin; r < end; ++r) {
      if (a[r] != pick.a || b[r] != pick.b || (pick.feature && feature[r] != *pick.feature))
        continue;
      const double x = values[r * width + component];
      if (std::isnan(y))
        y = x;
      else if (sum)
        y += x;
    }
    return y;
  }
};

}  // namespace

Series contact_series(const RunReader& run, const Column& column, int component,
                      const ContactPick& pick, std::size_t points) {
  const std::size_t frames = run.rows("frames"), contacts = run.rows("contacts");
  const std::size_t stride = stride_for(frames, points);
  Series s{.t = {}, .y = {}, .reduction = stride == 1 ? "exact" : "sampled"};
  if (frames == 0) return s;
  ContactRows rows{.pick = pick,
                   .width = static_cast<std::size_t>(column.width),
                   .component = static_cast<std::size_t>(component),
                   .sum = column.unit == "N s",
                   .a = {},
                   .b = {},
                   .feature = {},
                   .values = {}};
  const auto ends = run.read("frames", "contact_end", 0, frames);
  s.t = read_rows(run, "frames", time_column, 0, (frames + stride - 1) / stride, stride, 0, 1);
  // One read for many frames where all are wanted, one a frame where few are.
  const std::size_t group = stride == 1 ? 256 : 1;
  for (std::size_t f = 0; f < frames; f += group * stride) {
    const std::size_t last = std::min(frames, f + (group - 1) * stride + 1);
    const auto row_before = [&](std::size_t frame) {
      return frame == 0 ? std::size_t{0}
                        : std::min(contacts, static_cast<std::size_t>(ends[frame - 1]));
    };
    const std::size_t begin = row_before(f), end = row_before(last);
    rows.read(run, column, begin, end - begin);
    for (std::size_t g = f; g < last; g += stride)
      s.y.push_back(rows.value(row_before(g) - begin, row_before(g + 1) - begin));
  }
  return s;
}

std::size_t ContactList::Hash::operator()(const Entry& e) const {
  std::uint64_t x = 0;
  for (const std::int32_t i : e) x = (x ^ static_cast<std::uint32_t>(i)) * 0x9e3779b97f4a7c15U;
  return x ^ (x >> 32);
}

void ContactList::scan(const RunReader& run, std::size_t rows, std::size_t most) {
  const std::size_t end = scanned_ + std::min(rows, run.rows("contacts") - scanned_);
  while (scanned_ < end && !full_) {
    const std::size_t n = std::min(block_values, end - scanned_);
    const auto a = run.read("contacts", "a", scanned_, n);
    const auto b = run.read("contacts", "b", scanned_, n);
    const auto feature = run.read("contacts", "feature", scanned_, n);
    for (std::size_t i = 0; i < n && !full_; ++i) {
      found_.insert({static_cast<std::int32_t>(a[i]), static_cast<std::int32_t>(b[i]),
                     static_cast<std::int32_t>(feature[i])});
      full_ = found_.size() >= most;
    }
    scanned_ += n;
  }
}

std::vector<ContactList::Entry> ContactList::sorted() const {
  std::vector<Entry> all(found_.begin(), found_.end());
  std::ranges::sort(all);
  return all;
}

}  // namespace saltus::cli
