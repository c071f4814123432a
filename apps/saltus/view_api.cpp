#include "apps/saltus/view_api.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/saltus/impacts_json.h"
#include "apps/saltus/modes_json.h"
#include "apps/saltus/view_assets.h"
#include "saltus/base/error.h"
#include "saltus/runs/run_impacts.h"
#include "saltus/runs/run_modes.h"

namespace saltus::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_values = std::size_t{1} << 22;   // of an answer: 32 MiB
constexpr std::size_t most_points = 20'000;                 // of a series
constexpr std::size_t most_contacts = 5'000;                // of a list
constexpr std::size_t most_stretches_shown = 5'000;         // of modes
constexpr std::size_t most_impacts_shown = 5'000;           // of the strip
constexpr std::size_t contact_rows = std::size_t{1} << 22;  // looked at in one request
constexpr std::size_t no_limit = std::size_t{1} << 53, most_index = (std::size_t{1} << 31) - 1;

HttpReply json_reply(const Json& json) {
  return {.body = json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

// Numbers travel as little-endian doubles; every machine we build for has these.
void append_bytes(std::string& to, const std::vector<double>& values) {
  to.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
}

Column find_column(const RunReader& run, const std::string& table, const std::string& column) {
  for (const TableSpec& t : run.tables())
    if (t.name == table)
      for (const Column& c : t.columns)
        if (c.name == column) return c;
  throw HttpError(400, "the run has no column '" + column + "' in a table '" + table + "'");
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

// 0: there is no such file.
std::uintmax_t file_number(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

Json parse_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json::parse(text, nullptr, false);
}

}  // namespace

Json describe_run(const std::string& path, const RunReader& run) {
  Json j;
  j["name"] = std::filesystem::path(path).filename().string();
  j["version"] = run.version();
  j["header"] = parse_or_null(run.header());
  if (!j["header"].is_object()) throw InputError(path + ": the header is damaged");
  j["summary"] = parse_or_null(run.summary());
  j["scene"] = run.scene();
  j["tables"] = Json::array();
  for (const TableSpec& t : run.tables()) {
    Json table = {{"name", t.name}, {"rows", run.rows(t.name)}, {"columns", Json::array()}};
    for (const Column& c : t.columns)
      table["columns"].push_back(
          {{"name", c.name}, {"width", c.width}, {"unit", c.unit}, {"about", c.about}});
    j["tables"].push_back(table);
  }
  return j;
}

ViewApi::ViewApi(const std::vector<std::string>& paths, LiveControl* live) : live_(live) {
  for (const std::string& path : paths) {
    runs_.push_back({.path = path, .reader = std::make_unique<RunReader>(path)});
    (void)describe_run(path, *runs_.back().reader);  // complains now, not in the page
  }
}

ViewApi::ViewApi(std::string path, LiveControl& live) : live_(&live) {
  const std::uintmax_t older = file_number(path);
  runs_.push_back({.path = std::move(path), .reader = nullptr, .older = older});
}

const RunReader& ViewApi::reader(std::size_t index) {
  Served& served = runs_[index];
  if (!served.reader) {
    const std::uintmax_t now = file_number(served.path);
    if (now == 0 || now == served.older) throw HttpError(503, "the run has not begun yet");
    served.reader = std::make_unique<RunReader>(served.path);
  }
  return *served.reader;
}

HttpReply ViewApi::runs() {
  Json list = Json::array();
  for (std::size_t i = 0; i < runs_.size(); ++i)
    list.push_back(describe_run(runs_[i].path, reader(i)));
  return json_reply(list);
}

HttpReply ViewApi::status() {
  Json j = {{"runs", Json::array()}, {"live", nullptr}};
  // Before the rows: a run that waits has flushed them.
  if (live_)
    j["live"] = {{"running", live_->running.load()},
                 {"paused", live_->paused.load()},
                 {"waiting", live_->waiting.load()}};
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const RunReader& run = reader(i);
    runs_[i].reader->refresh();
    Json rows = Json::object();
    for (const TableSpec& t : run.tables()) rows[t.name] = run.rows(t.name);
    j["runs"].push_back({{"rows", rows}, {"summary", parse_or_null(run.summary())}});
  }
  return json_reply(j);
}

HttpReply ViewApi::data(const HttpQuery& q) {
  const RunReader& run = reader(q.count("run", 0, runs_.size() - 1));
  const std::string table = q.text("table");
  std::vector<Column> columns;
  std::size_t values = 0;  // of a row
  for (const std::string& name : split(q.text("columns"))) {
    columns.push_back(find_column(run, table, name));
    values += static_cast<std::size_t>(columns.back().width);
    if (columns.size() > 64) throw HttpError(400, "'columns': at most 64");
  }
  if (columns.size() > 1 && (q.has("offset") || q.has("width")))
    throw HttpError(400, "'offset' and 'width' go with a single column");
  const std::size_t rows = run.rows(table);
  const std::size_t first = q.count("first", 0, no_limit), count = q.count("count", 0, no_limit);
  const std::size_t stride = q.count_or("stride", 1, 1, no_limit);
  const std::size_t offset = q.count_or("offset", 0, 0, values - 1);
  const std::size_t width = q.count_or("width", values - offset, 1, values - offset);
  if (count > most_values / width) throw HttpError(400, "'count': an answer has at most 32 MiB");
  if (count > 0 && (first >= rows || count - 1 > (rows - 1 - first) / stride))
    throw HttpError(400, "the table has " + std::to_string(rows) + " rows");
  HttpReply reply{.type = "application/octet-stream", .body = {}};
  if (count == 0) return reply;
  for (const Column& c : columns)
    append_bytes(reply.body,
                 read_rows(run, table, c, first, count, stride, offset,
                           columns.size() == 1 ? width : static_cast<std::size_t>(c.width)));
  return reply;
}

HttpReply ViewApi::series(const HttpQuery& q) {
  const RunReader& run = reader(q.count("run", 0, runs_.size() - 1));
  const std::string table = q.text("table");
  const Column column = find_column(run, table, q.text("column"));
  const auto component =
      static_cast<int>(q.count_or("component", 0, 0, static_cast<std::size_t>(column.width) - 1));
  const std::size_t points = q.count("points", 2, most_points);
  Series s;
  if (table == "contacts") {
    const auto index = [&](const char* key) {
      return static_cast<int>(q.count(key, 0, most_index));
    };
    ContactPick pick{.a = q.has("a") ? index("a") : -1, .b = index("b"), .feature = {}};
    if (q.has("feature")) pick.feature = index("feature");
    s = contact_series(run, column, component, pick, points);
  } else {
    (void)find_column(run, table, "t");
    s = table_series(run, table, column, component, points);
  }
  HttpReply reply{.type = "application/octet-stream", .body = {}};
  reply.headers["X-Saltus-Reduction"] = std::string(s.reduction);
  append_bytes(reply.body, s.t);
  append_bytes(reply.body, s.y);
  return reply;
}

// As far as it is known; "complete" says whether all rows were looked at.
HttpReply ViewApi::contacts(const HttpQuery& q) {
  const std::size_t index = q.count("run", 0, runs_.size() - 1);
  const RunReader& run = reader(index);
  ContactList& list = runs_[index].contacts;
  list.scan(run, contact_rows, most_contacts);
  const std::size_t rows = run.rows("contacts");
  return json_reply({{"contacts", list.sorted()},
                     {"scanned", list.scanned()},
                     {"complete", list.scanned() == rows && !list.full()},
                     {"full", list.full()}});
}

// null: the run records none.
HttpReply ViewApi::modes(const HttpQuery& q) {
  const std::size_t index = q.count("run", 0, runs_.size() - 1);
  const RunReader& run = reader(index);
  if (!has_modes(run)) return json_reply(nullptr);
  return json_reply(modes_strip(read_modes(run, runs_[index].path), most_stretches_shown));
}

// null: an older run, which records none.
HttpReply ViewApi::impacts(const HttpQuery& q) {
  const std::size_t index = q.count("run", 0, runs_.size() - 1);
  const RunReader& run = reader(index);
  if (!has_impacts(run)) return json_reply(nullptr);
  return json_reply(impacts_strip(read_impacts(run, runs_[index].path), most_impacts_shown));
}

HttpReply ViewApi::steer(const HttpQuery& q) {
  if (!live_) throw HttpError(404, "no simulation is attached to this page");
  const std::string what = q.text("do");
  if (what == "pause") {
    live_->granted = 0;
    live_->paused = true;
  } else if (what == "resume") {
    live_->paused = false;
    live_->granted = 0;
  } else if (what == "step") {
    live_->paused = true;
    if (live_->granted < 1000) ++live_->granted;
  } else {
    throw HttpError(400, "'do': expected pause, resume or step");
  }
  return json_reply({{"paused", live_->paused.load()}});
}

// Beside a writer a block may be met half written, and on a busy machine the writer may be kept
// from finishing it for longer than HDF5 waits: what fails then is looked at again, for two seconds
// at most.
HttpReply ViewApi::patiently(const std::function<HttpReply()>& answer) {
  for (int tries = 20;; --tries) {
    try {
      if (tries < 20)
        for (const Served& served : runs_)
          if (served.reader) served.reader->refresh();
      return answer();
    } catch (const InputError&) {
      const auto written = [](const Served& s) { return s.reader && s.reader->being_written(); };
      if (tries == 1 || std::ranges::none_of(runs_, written)) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void ViewApi::install(LocalServer& server) {
  server.get("/", [](const HttpQuery&) {
    return HttpReply{.type = "text/html; charset=utf-8", .body = std::string(viewer_page())};
  });
  const auto locked = [this](auto method) {
    return [this, method](const HttpQuery& query) {
      const std::lock_guard lock(mutex_);
      return patiently([&] { return (this->*method)(query); });
    };
  };
  const auto plain = [this](auto method) {
    return [this, method](const HttpQuery&) {
      const std::lock_guard lock(mutex_);
      return patiently([&] { return (this->*method)(); });
    };
  };
  server.get("/api/runs", plain(&ViewApi::runs));
  server.get("/api/status", plain(&ViewApi::status));
  server.get("/api/data", locked(&ViewApi::data));
  server.get("/api/series", locked(&ViewApi::series));
  server.get("/api/contacts", locked(&ViewApi::contacts));
  server.get("/api/modes", locked(&ViewApi::modes));
  server.get("/api/impacts", locked(&ViewApi::impacts));
  server.post("/api/live", locked(&ViewApi::steer));
}

}  // namespace saltus::cli
