#include "apps/saltus/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "apps/saltus/impacts_json.h"
#include "apps/saltus/modes_json.h"
#include "apps/saltus/view_api.h"
#include "saltus/base/error.h"
#include "saltus/runs/run_impacts.h"
#include "saltus/runs/run_modes.h"

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::size_t>;

bool left_out(const std::string& table, const Column& c) {
  return table == "frames" && c.name == "q";  // the poses say the same
}

// Times and whole numbers keep all their digits.
std::size_t bytes_of(const Column& c) {
  const bool whole = c.type == ColumnType::i64 || c.type == ColumnType::i32;
  return c.name == "t" || whole ? sizeof(double) : sizeof(float);
}

std::size_t row_bytes(const TableSpec& table) {
  std::size_t sum = 0;
  for (const Column& c : table.columns)
    if (!left_out(table.name, c)) sum += bytes_of(c) * static_cast<std::size_t>(c.width);
  return sum;
}

Rows every(std::size_t rows, std::size_t stride) {
  Rows picked;
  for (std::size_t r = 0; r < rows; r += stride) picked.push_back(r);
  if (!picked.empty() && picked.back() != rows - 1) picked.push_back(rows - 1);
  return picked;
}

// Of every stretch of steps the one with the largest residual and the one with most iterations.
Rows telling_steps(const RunReader& run, std::size_t most) {
  const std::size_t rows = run.rows("steps");
  if (rows <= most) return every(rows, 1);
  const std::size_t stretch = (2 * rows + most - 1) / std::max<std::size_t>(2, most);
  Rows picked;
  for (std::size_t first = 0; first < rows; first += stretch) {
    const std::size_t n = std::min(stretch, rows - first);
    const auto residual = run.read("steps", "residual", first, n);
    const auto iterations = run.read("steps", "iterations", first, n);
    const auto a = static_cast<std::size_t>(std::ranges::max_element(residual) - residual.begin());
    const auto b =
        static_cast<std::size_t>(std::ranges::max_element(iterations) - iterations.begin());
    picked.push_back(first + std::min(a, b));
    if (a != b) picked.push_back(first + std::max(a, b));
  }
  return picked;
}

class Packer {
 public:
  Packer(const RunReader& run, ReportData& out) : run_(run), out_(out) {}

  // One row in `stride`: the page says so of this table.
  void table(const TableSpec& spec, const Rows& rows, std::size_t stride) {
    table(spec, rows);
    described(spec.name)["stride"] = stride;
  }

  // `change` may rewrite the values of a column before they are stored.
  using Change = std::function<void(const Column&, std::vector<double>&)>;
  void table(
      const TableSpec& spec, const Rows& rows,
      const Change& change = [](const Column&, std::vector<double>&) {}) {
    Json& columns = described(spec.name);
    columns["rows"] = rows.size();
    Json kept = Json::array();
    for (const Column& c : spec.columns) {
      if (left_out(spec.name, c)) continue;
      std::vector<double> values = read(spec.name, c, rows);
      change(c, values);
      kept.push_back({{"name", c.name},
                      {"width", c.width},
                      {"unit", c.unit},
                      {"about", c.about},
                      {"at", out_.bytes.size()},
                      {"bits", 8 * bytes_of(c)}});
      store(values, bytes_of(c));
    }
    columns["columns"] = kept;
  }

 private:
  Json& described(const std::string& name) {
    for (Json& table : out_.info["tables"])
      if (table["name"] == name) return table;
    throw InputError("the run has no table '" + name + "'");
  }

  // Rows that follow each other are read together.
  [[nodiscard]] std::vector<double> read(const std::string& table, const Column& c,
                                         const Rows& rows) const {
    std::vector<double> values;
    values.reserve(rows.size() * static_cast<std::size_t>(c.width));
    for (std::size_t i = 0; i < rows.size();) {
      std::size_t n = 1;
      while (i + n < rows.size() && rows[i + n] == rows[i] + n) ++n;
      const auto block = run_.read(table, c.name, rows[i], n);
      values.insert(values.end(), block.begin(), block.end());
      i += n;
    }
    return values;
  }

  void store(const std::vector<double>& values, std::size_t bytes) {
    for (const double value : values) {
      const auto single = static_cast<float>(value);
      if (bytes == sizeof value)
        out_.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
      else
        out_.bytes.append(reinterpret_cast<const char*>(&single), sizeof single);
    }
    while (out_.bytes.size() % 8 != 0) out_.bytes += '\0';
  }

  const RunReader& run_;
  ReportData& out_;
};

const TableSpec& find_table(const std::vector<TableSpec>& tables, const std::string& path,
                            const char* name) {
  const auto found = std::ranges::find(tables, name, &TableSpec::name);
  if (found == tables.end()) throw InputError(fmt::format("{}: has no table '{}'", path, name));
  return *found;
}

struct PickedRows {
  TableSpec table;
  std::size_t stride = 1;
  Rows rows;
};

// Readings of the sensors, thinned evenly until together they take no more than `most` bytes.
std::vector<PickedRows> sensor_rows(const RunReader& run, const std::vector<TableSpec>& tables,
                                    std::size_t most) {
  std::vector<PickedRows> picked;
  std::size_t all = 0;
  for (const TableSpec& t : tables)
    if (t.name.starts_with("sensor_")) {
      all += run.rows(t.name) * row_bytes(t);
      picked.push_back({t, 1, {}});
    }
  const std::size_t stride = std::max<std::size_t>(1, (all + most - 1) / most);
  for (PickedRows& p : picked) {
    p.stride = stride;
    p.rows = every(run.rows(p.table.name), stride);
  }
  return picked;
}

constexpr std::size_t most_stretches = 2000;  // of modes: more than a screen has pixels
constexpr std::size_t most_impacts = 2000;

// The strips of modes and impacts instead of their tables; returns how many bytes they take.
std::size_t put_strips(const std::string& path, const RunReader& run, Json& info) {
  const std::vector<std::string> out = {"modes",   "causes",          "members",
                                        "impacts", "impact_contacts", "impact_states"};
  Json kept = Json::array();
  for (Json& table : info["tables"])
    if (std::ranges::find(out, table["name"].get<std::string>()) == out.end())
      kept.push_back(std::move(table));
  info["tables"] = std::move(kept);
  info["modes"] = info["impacts"] = nullptr;
  if (has_modes(run)) info["modes"] = modes_strip(read_modes(run, path), most_stretches);
  if (has_impacts(run)) info["impacts"] = impacts_strip(read_impacts(run, path), most_impacts);
  return info["modes"].dump().size() + info["impacts"].dump().size();
}

}  // namespace

ReportData report_data(const std::string& path, const RunReader& run, std::size_t most_bytes) {
  ReportData data{.info = describe_run(path, run), .bytes = {}};
  const std::size_t strip_bytes = put_strips(path, run, data.info);
  if (strip_bytes >= most_bytes)
    throw InputError(fmt::format("--size-cap: the modes and impacts of {} do not fit", path));
  most_bytes -= strip_bytes;
  const auto tables = run.tables();
  const TableSpec &frames = find_table(tables, path, "frames"),
                  &contacts = find_table(tables, path, "contacts"),
                  &steps = find_table(tables, path, "steps");
  const std::size_t frame_count = run.rows("frames"), step_count = run.rows("steps");
  const auto ends = run.read("frames", "contact_end", 0, frame_count);
  const auto contacts_of = [&](std::size_t frame) {
    const auto row = [&](std::size_t f) { return static_cast<std::size_t>(ends[f]); };
    return std::pair{frame == 0 ? 0 : row(frame - 1), row(frame)};
  };

  const auto sensors = sensor_rows(run, tables, most_bytes / 5);
  for (const PickedRows& s : sensors) {
    // The last row comes on top of every stride-th, and columns are padded.
    const std::size_t bytes = s.rows.size() * row_bytes(s.table) + 8 * s.table.columns.size();
    if (bytes >= most_bytes)
      throw InputError(fmt::format("--size-cap: the sensors of {} do not fit", path));
    most_bytes -= bytes;
  }
  const Rows step_rows = telling_steps(run, most_bytes / 5 / row_bytes(steps));
  const auto size = [&](const Rows& rows) {
    std::size_t sum = step_rows.size() * row_bytes(steps) + rows.size() * row_bytes(frames) + 1024;
    for (const std::size_t f : rows)
      sum += (contacts_of(f).second - contacts_of(f).first) * row_bytes(contacts);
    return sum;
  };
  std::size_t stride = std::max<std::size_t>(1, size(every(frame_count, 1)) / most_bytes);
  Rows frame_rows = every(frame_count, stride);
  while (size(frame_rows) > most_bytes) {
    if (frame_rows.size() <= 2)
      throw InputError(fmt::format("--size-cap: two frames of {} do not fit", path));
    frame_rows = every(frame_count, ++stride);
  }

  Rows contact_rows;
  std::vector<double> new_ends;
  for (const std::size_t f : frame_rows) {
    for (std::size_t r = contacts_of(f).first; r < contacts_of(f).second; ++r)
      contact_rows.push_back(r);
    new_ends.push_back(static_cast<double>(contact_rows.size()));
  }
  Packer packer(run, data);
  packer.table(frames, frame_rows, [&](const Column& c, std::vector<double>& values) {
    if (c.name == "contact_end") values = new_ends;
  });
  packer.table(contacts, contact_rows);
  packer.table(steps, step_rows);
  for (const PickedRows& s : sensors) packer.table(s.table, s.rows, s.stride);
  data.info["stride"] = stride;
  const auto share = [](std::size_t kept, std::size_t all, const char* what, const char* which) {
    return kept == all ? fmt::format("all {} {}", all, what)
                       : fmt::format("{} of {} {} ({})", kept, all, what, which);
  };
  data.info["decimated"] = fmt::format(
      "This page holds {} and {} of the run, in single precision.",
      share(frame_rows.size(), frame_count, "frames", fmt::format("one in {}", stride).c_str()),
      share(step_rows.size(), step_count, "steps", "largest residual, most iterations"));
  return data;
}

}  // namespace saltus::cli
