// Commands on files: csv, info, schema.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltus/commands.h"
#include "apps/saltus/write_file.h"
#include "saltus/runs/run_file.h"
#include "saltus/scene/scene.h"

namespace saltus::cli {

namespace {

struct CsvArguments {
  std::string run, output, table = "frames";
  std::vector<std::string> columns;
};

void write_csv(std::FILE* out, const RunReader& reader, const TableSpec& table,
               const std::vector<Column>& columns) {
  std::string line;
  for (const Column& c : columns)
    for (int i = 0; i < c.width; ++i)
      line += fmt::format("{}{}{}{}", line.empty() ? "" : ",", c.name,
                          c.width > 1 ? fmt::format("[{}]", i) : "",
                          c.unit.empty() ? "" : " (" + c.unit + ")");
  fmt::print(out, "{}\n", line);
  constexpr std::size_t block = 4096;
  const std::size_t rows = reader.rows(table.name);
  for (std::size_t first = 0; first < rows; first += block) {
    const std::size_t n = std::min(block, rows - first);
    std::vector<std::vector<double>> data;
    data.reserve(columns.size());
    for (const Column& c : columns) data.push_back(reader.read(table.name, c.name, first, n));
    for (std::size_t r = 0; r < n; ++r) {
      line.clear();
      for (std::size_t c = 0; c < columns.size(); ++c)
        for (int i = 0; i < columns[c].width; ++i) {
          if (!line.empty()) line += ',';
          line += fmt::format("{}", data[c][r * columns[c].width + i]);
        }
      fmt::print(out, "{}\n", line);
    }
  }
}

int export_csv(const CsvArguments& a) {
  const RunReader reader(a.run);
  const auto tables = reader.tables();
  const TableSpec* table = nullptr;
  std::vector<std::string> names;
  for (const TableSpec& t : tables) {
    names.push_back(t.name);
    if (t.name == a.table) table = &t;
  }
  if (!table)
    throw InputError(
        fmt::format("{}: no table '{}'; it has: {}", a.run, a.table, fmt::join(names, ", ")));
  std::vector<Column> columns;
  for (const std::string& name : a.columns) {
    bool found = false;
    for (const Column& c : table->columns)
      if (c.name == name) columns.push_back(c), found = true;
    if (!found) throw InputError(fmt::format("{}: no column '{}' in '{}'", a.run, name, a.table));
  }
  if (columns.empty()) columns = table->columns;
  if (a.output.empty()) {
    write_csv(stdout, reader, *table, columns);
    return 0;
  }
  write_file(a.output, [&](std::FILE* out) { write_csv(out, reader, *table, columns); });
  return 0;
}

int print_info(const std::string& path) {
  const RunReader reader(path);
  const auto header = nlohmann::ordered_json::parse(reader.header());
  fmt::print("{}\n  written by saltus {}\n", header["title"].get<std::string>(), reader.version());
  for (const TableSpec& t : reader.tables()) {
    fmt::print("  {}: {} rows\n", t.name, reader.rows(t.name));
    for (const Column& c : t.columns)
      fmt::print("    {:<20} {:>4} {:<5} {}\n", c.name, c.width, c.unit, c.about);
  }
  fmt::print("  checkpoints: {}\n", reader.checkpoint_count());
  const std::string summary = reader.summary();
  fmt::print("{}\n", summary.empty() ? "  the run has not ended"
                                     : nlohmann::ordered_json::parse(summary).dump(2));
  return 0;
}

}  // namespace

void add_csv(CLI::App& app, Command& chosen) {
  auto a = std::make_shared<CsvArguments>();
  CLI::App* c = app.add_subcommand("csv", "a table of a run as CSV");
  c->add_option("run", a->run, "run file")->required();
  c->add_option("-t,--table", a->table, "frames (default), steps or contacts");
  c->add_option("-c,--columns", a->columns, "columns; default: all")->delimiter(',');
  c->add_option("-o,--output", a->output, "file; default: standard output");
  c->callback([a, &chosen] { chosen = [a] { return export_csv(*a); }; });
}

void add_info(CLI::App& app, Command& chosen) {
  auto path = std::make_shared<std::string>();
  CLI::App* c = app.add_subcommand("info", "what a run file holds");
  c->add_option("run", *path, "run file")->required();
  c->callback([path, &chosen] { chosen = [path] { return print_info(*path); }; });
}

void add_schema(CLI::App& app, Command& chosen) {
  CLI::App* c = app.add_subcommand("schema", "the JSON Schema of scenes");
  c->callback([&chosen] {
    chosen = [] {
      fmt::print("{}\n", scene_schema());
      return 0;
    };
  });
}

}  // namespace saltus::cli
