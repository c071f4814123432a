// The run file: what goes in comes out, while it is written, after a kill, and never from rubbish.
#include "saltus/runs/run_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <thread>

#include "saltus/base/error.h"
#include "saltus/version.h"

namespace saltus {
namespace {

namespace fs = std::filesystem;

class RunFile : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = testing::TempDir() + "run_file_" + test->name() + std::to_string(::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name = "run.h5") const {
    return folder_ + "/" + name;
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  std::string folder_;
};

// Every type, narrow and wide; rows wider than a chunk too.
RunFileSpec full_spec() {
  using enum ColumnType;
  return {.scene = "scene: snake\n# \xc3\xa4\n",
          .header = R"({"bodies": ["head"]})",
          .tables = {{"frames",
                      {{"time", f64, 1, "s", "time"},
                       {"q", f64, 7, "m", "positions"},
                       {"field", f64, 9000, "N s", ""},
                       {"mode", i32, 1, "", "what it does"},
                       {"contacts", i32, 5, "", ""},
                       {"step", i64, 1, "", ""},
                       {"counts", i64, 3, "", ""}}},
                     {"events", {{"kind", u8, 1, "", "0: impact"}, {"flags", u8, 6, "", ""}}},
                     {"nothing", {}}},
          .checkpoints = true};
}

std::size_t value_bytes(ColumnType type) {
  return type == ColumnType::u8 ? 1 : type == ColumnType::i32 ? 4 : 8;
}

// The value number i of a column, different for neighbours and never 0, which is what gaps read as.
double value_at(ColumnType type, std::size_t i) {
  switch (type) {
    case ColumnType::f64: return 0.25 + static_cast<double>(i);
    case ColumnType::i32: return -1.0 - static_cast<double>(i % 1000003);
    case ColumnType::i64: return 1e12 + static_cast<double>(i);
    case ColumnType::u8: break;
  }
  return static_cast<double>(1 + i % 255);
}

// The bytes of rows [first, first + count) as append() takes and read_raw() gives them.
std::vector<std::uint8_t> bytes_of(const Column& column, std::size_t first, std::size_t count) {
  const auto width = static_cast<std::size_t>(column.width);
  const std::size_t size = value_bytes(column.type);
  std::vector<std::uint8_t> bytes(count * width * size);
  const auto put = [&](std::size_t i, auto value) {
    std::memcpy(bytes.data() + i * size, &value, sizeof value);
  };
  for (std::size_t i = 0; i < count * width; ++i) {
    const double value = value_at(column.type, first * width + i);
    switch (column.type) {
      case ColumnType::f64: put(i, value); break;
      case ColumnType::i32: put(i, static_cast<std::int32_t>(value)); break;
      case ColumnType::i64: put(i, static_cast<std::int64_t>(value)); break;
      case ColumnType::u8: put(i, static_cast<std::uint8_t>(value)); break;
    }
  }
  return bytes;
}

void append(RunWriter& writer, const RunFileSpec& spec, int table, std::size_t first,
            std::size_t count) {
  std::vector<std::vector<std::uint8_t>> columns;
  std::vector<const void*> data;
  for (const Column& column : spec.tables[static_cast<std::size_t>(table)].columns)
    data.push_back(columns.emplace_back(bytes_of(column, first, count)).data());
  writer.append(table, count, data);
}

// Of a size of its own, sometimes none, sometimes more than the writer's buffer.
std::vector<std::uint8_t> state_at(std::int64_t step) {
  const std::size_t size = step % 17 == 4 ? 0 : step % 13 == 5 ? 300'000 : 400 + step % 11 * 300;
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::uint8_t>((static_cast<std::size_t>(step) + i) % 251 + 1);
  return bytes;
}

// Compares all rows from `first` on.
void expect_rows(const RunReader& reader, const TableSpec& table, std::size_t first = 0) {
  const std::size_t count = reader.rows(table.name) - first;
  for (const Column& column : table.columns)
    EXPECT_TRUE(reader.read_raw(table.name, column.name, first, count) ==
                bytes_of(column, first, count))
        << table.name << "/" << column.name << ", " << count << " rows from " << first;
}

void expect_checkpoints(const RunReader& reader) {
  for (std::size_t i = 0; i < reader.checkpoint_count(); ++i) {
    const auto checkpoint = reader.checkpoint(i);
    EXPECT_TRUE(checkpoint.state == state_at(checkpoint.step)) << "checkpoint " << i;
  }
}

// The message of the InputError that `work` throws.
template <class Work>
std::string message(const Work& work) {
  try {
    work();
  } catch (const InputError& error) { return error.what(); }
  return "(no InputError)";
}

std::string open_message(const std::string& path) {
  return message([&] { const RunReader reader(path); });
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(RunFile, RoundTripOfAllTypesAndWidths) {
  const RunFileSpec spec = full_spec();
  {
    RunWriter writer(path(), spec);
    append(writer, spec, 0, 0, 3);
    append(writer, spec, 1, 0, 10);
    append(writer, spec, 0, 3, 0);
    append(writer, spec, 0, 3, 4);
    writer.checkpoint(100, state_at(100));
    append(writer, spec, 1, 10, 1);
    for (const std::int64_t other : {5, 4, 21, 246}) writer.checkpoint(-other, state_at(other));
    writer.finish(R"({"end": "done"})");
  }
  EXPECT_EQ(files(), 1u);
  const RunReader reader(path());
  EXPECT_EQ(reader.scene(), spec.scene);
  EXPECT_EQ(reader.header(), spec.header);
  EXPECT_EQ(reader.summary(), R"({"end": "done"})");
  EXPECT_EQ(reader.version(), version);
  const auto tables = reader.tables();
  ASSERT_EQ(tables.size(), spec.tables.size());
  for (std::size_t t = 0; t < tables.size(); ++t) {
    EXPECT_EQ(tables[t].name, spec.tables[t].name);
    ASSERT_EQ(tables[t].columns.size(), spec.tables[t].columns.size());
    for (std::size_t c = 0; c < tables[t].columns.size(); ++c) {
      const Column &read = tables[t].columns[c], &wrote = spec.tables[t].columns[c];
      EXPECT_EQ(std::tie(read.name, read.type, read.width, read.unit, read.about),
                std::tie(wrote.name, wrote.type, wrote.width, wrote.unit, wrote.about));
    }
  }
  EXPECT_EQ(reader.rows("frames"), 7u);
  EXPECT_EQ(reader.rows("events"), 11u);
  EXPECT_EQ(reader.rows("nothing"), 0u);
  for (const TableSpec& table : spec.tables) expect_rows(reader, table);
  ASSERT_EQ(reader.checkpoint_count(), 5u);
  EXPECT_EQ(reader.checkpoint(0).step, 100);
  EXPECT_EQ(reader.checkpoint(0).state, state_at(100));
  for (const auto& [i, other] : {std::pair<std::size_t, int>{4, 246}, {1, 5}, {3, 21}, {2, 4}}) {
    EXPECT_EQ(reader.checkpoint(i).step, -other);
    EXPECT_TRUE(reader.checkpoint(i).state == state_at(other)) << i;
  }
  EXPECT_EQ(state_at(5).size(), 300'000u);
  EXPECT_TRUE(reader.checkpoint(2).state.empty());
}

TEST_F(RunFile, IntegersReadAsDoubles) {
  const RunFileSpec spec = full_spec();
  {
    RunWriter writer(path(), spec);
    append(writer, spec, 0, 0, 9);
    writer.finish("{}");
  }
  const RunReader reader(path());
  for (const Column& column : spec.tables[0].columns) {
    const auto width = static_cast<std::size_t>(column.width);
    const auto values = reader.read("frames", column.name, 2, 5);
    ASSERT_EQ(values.size(), 5 * width);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], value_at(column.type, 2 * width + i)) << column.name;
  }
  EXPECT_TRUE(reader.read("frames", "q", 9, 0).empty());
}

TEST_F(RunFile, EmptyRun) {
  RunWriter(path(), {}).finish("");
  const RunReader reader(path());
  EXPECT_EQ(reader.scene() + reader.header() + reader.summary(), "");
  EXPECT_TRUE(reader.tables().empty());
  EXPECT_EQ(reader.checkpoint_count(), 0u);
}

TEST_F(RunFile, AppendsOverManyChunks) {
  const unsigned seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  RunFileSpec spec = full_spec();
  std::erase_if(spec.tables[0].columns, [](const Column& c) { return c.width > 100; });
  std::size_t frames = 0, events = 0;
  {
    RunWriter writer(path(), spec);
    for (int round = 0; round < 40; ++round) {
      const std::size_t more_frames = random() % 2000, more_events = random() % 5000;
      append(writer, spec, 0, frames, more_frames);
      append(writer, spec, 1, events, more_events);
      frames += more_frames, events += more_events;
      if (random() % 5 == 0) writer.flush();
    }
    append(writer, spec, 1, events, 300'000);  // more than the buffer in one go
    events += 300'000;
  }  // no finish(): the destructor keeps what was appended
  const RunReader reader(path());
  EXPECT_EQ(reader.summary(), "");
  EXPECT_EQ(reader.rows("frames"), frames);
  EXPECT_EQ(reader.rows("events"), events);
  for (const TableSpec& table : spec.tables) expect_rows(reader, table);
}

TEST_F(RunFile, ReaderInTheProcessOfTheWriter) {
  const RunFileSpec spec = full_spec();
  RunWriter writer(path(), spec);
  append(writer, spec, 0, 0, 5);
  writer.flush();
  RunReader reader(path());
  EXPECT_EQ(reader.rows("frames"), 5u);
  for (std::size_t rows = 5; rows < 50; rows += 5) {
    append(writer, spec, 0, rows, 5);
    const auto step = static_cast<std::int64_t>(rows);
    writer.checkpoint(step, state_at(step));
    reader.refresh();
    ASSERT_EQ(reader.rows("frames"), rows + 5);
    expect_rows(reader, spec.tables[0]);
    ASSERT_EQ(reader.checkpoint_count(), rows / 5);
    expect_checkpoints(reader);
  }
  EXPECT_EQ(reader.summary(), "");
  writer.finish("{}");
  reader.refresh();
  EXPECT_EQ(reader.summary(), "{}");
  EXPECT_EQ(RunReader(path()).checkpoint_count(), 9u);
}

struct Rows {
  std::size_t frames = 0, events = 0, checkpoints = 0;
};

// Writes for ever; after each flush sends the numbers of rows it flushed down the pipe.
[[noreturn]] void write_until_killed(const std::string& path, const RunFileSpec& spec, int pipe,
                                     unsigned long seed) {
  std::mt19937 random(seed);
  RunWriter writer(path, spec);
  for (Rows rows;;) {
    const std::size_t frames = random() % 20, events = random() % 3000;
    append(writer, spec, 0, rows.frames, frames);
    append(writer, spec, 1, rows.events, events);
    rows.frames += frames, rows.events += events;
    if (random() % 4 == 0) {
      const auto step = static_cast<std::int64_t>(rows.frames);
      writer.checkpoint(step, state_at(step));
      ++rows.checkpoints;
    } else {
      writer.flush();
    }
    if (::write(pipe, &rows, sizeof rows) != sizeof rows) std::_Exit(1);
  }
}

// Follows a run until the deadline: rows only come, and are right.
void follow(const std::string& path, const RunFileSpec& spec, Rows& seen,
            std::chrono::steady_clock::time_point deadline) {
  RunReader reader(path);
  do {
    reader.refresh();
    ASSERT_GE(reader.rows("frames"), seen.frames);
    ASSERT_GE(reader.rows("events"), seen.events);
    ASSERT_GE(reader.checkpoint_count(), seen.checkpoints);
    expect_rows(reader, spec.tables[0], seen.frames);
    expect_rows(reader, spec.tables[1], seen.events);
    expect_checkpoints(reader);
    seen = {reader.rows("frames"), reader.rows("events"), reader.checkpoint_count()};
  } while (std::chrono::steady_clock::now() < deadline);
}

void expect_whole(const std::string& path, const RunFileSpec& spec, const Rows& least) {
  const RunReader reader(path);
  EXPECT_GE(reader.rows("frames"), least.frames);
  EXPECT_GE(reader.rows("events"), least.events);
  EXPECT_GE(reader.checkpoint_count(), least.checkpoints);
  for (const TableSpec& table : spec.tables) expect_rows(reader, table);
  expect_checkpoints(reader);
  const std::size_t n = reader.checkpoint_count();
  const std::int64_t last = n > 0 ? reader.checkpoint(n - 1).step : 0;
  EXPECT_LE(last, static_cast<std::int64_t>(reader.rows("frames")));  // never before its rows
  EXPECT_EQ(reader.scene(), spec.scene);
  EXPECT_EQ(reader.summary(), "");
}

TEST_F(RunFile, KilledWriterLeavesAReadableFile) {
  const unsigned seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  const RunFileSpec spec = full_spec();
  for (int kill_number = 0; kill_number < 20 && !HasFailure(); ++kill_number) {
    SCOPED_TRACE("kill " + std::to_string(kill_number));
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const unsigned long child_seed = random();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_until_killed(path(), spec, pipe[1], child_seed);
    ::close(pipe[1]);
    Rows seen, flushed;
    ASSERT_EQ(::read(pipe[0], &seen, sizeof seen), ssize_t{sizeof seen});
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 40'000);
    if (kill_number % 2 == 0) follow(path(), spec, seen, deadline);
    std::this_thread::sleep_until(deadline);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed before it was killed";
    while (::read(pipe[0], &flushed, sizeof flushed) > 0) {}  // the last message counts
    ::close(pipe[0]);
    expect_whole(path(), spec, seen);
    expect_whole(path(), spec, flushed);
  }
}

TEST_F(RunFile, ReplacesAFileOnlyWhenReady) {
  write_bytes(path(), "precious");
  RunFileSpec twice = full_spec();
  twice.tables.push_back(twice.tables[0]);
  EXPECT_EQ(message([&] { RunWriter(path(), twice); }), "table 'frames': the name is taken");
  EXPECT_EQ(read_bytes(path()), "precious");
  EXPECT_EQ(files(), 1u);
  RunWriter(path(), full_spec()).finish("{}");
  RunReader old(path());
  RunWriter writer(path(), {});
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(RunReader(path()).tables().empty());
  old.refresh();
  EXPECT_EQ(old.summary(), "{}");  // who has the old file open keeps it
}

TEST_F(RunFile, UnpublishedRunStaysBesideTheOldFile) {
  write_bytes(path(), "precious");
  { RunWriter writer(path(), full_spec(), false); }
  EXPECT_EQ(files(), 1u);
  RunWriter writer(path(), full_spec(), false);
  EXPECT_EQ(read_bytes(path()), "precious");
  writer.publish();
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(RunReader(path()).rows("frames"), 0u);
}

TEST_F(RunFile, UnwritablePathLeavesNothing) {
  const std::string inside = path("none/run.h5"), folder = path("folder");
  EXPECT_EQ(message([&] { RunWriter(inside, {}); }),
            inside + ": cannot write: No such file or directory");
  fs::create_directory(folder);
  EXPECT_EQ(message([&] { RunWriter(folder, {}); }), folder + ": cannot write: Is a directory");
  EXPECT_EQ(files(), 1u);
}

// Exits with 0 if the limit was reported, now and later, and the file is still good for a reader.
[[noreturn]] void fill_disk(const std::string& path, const RunFileSpec& spec) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{2'000'000, 2'000'000};  // bytes a file may have
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string first, second;
  {
    RunWriter writer(path, spec);
    const auto write_on = [&] {
      for (std::size_t row = 0;; row += 10) {
        append(writer, spec, 0, row, 10);
        writer.flush();
      }
    };
    first = message(write_on);
    second = message([&] { writer.finish("{}"); });
  }
  const bool good = RunReader(path).rows("frames") >= 10;
  std::exit(good && first == path + ": cannot write: File too large" && second == first ? 0 : 1);
}

TEST_F(RunFile, FullDiskIsReportedAndFlushedRowsStay) {
  const RunFileSpec spec = full_spec();
  EXPECT_EXIT(fill_disk(path(), spec), testing::ExitedWithCode(0), "");
  const RunReader reader(path());
  EXPECT_GE(reader.rows("frames"), 10u);
  expect_rows(reader, spec.tables[0]);
}

TEST_F(RunFile, RejectsWhatIsNoRun) {
  EXPECT_EQ(open_message(path()), path() + ": cannot read: No such file or directory");
  EXPECT_EQ(open_message(folder_), folder_ + ": cannot read: Is a directory");
  const std::string no_hdf5 = path() + ": expected a Saltus run, this is not an HDF5 file";
  for (const char* text : {"", "scene: snake\n", "\x89HDF\r\n"}) {
    write_bytes(path(), text);
    EXPECT_EQ(open_message(path()), no_hdf5);
  }
  std::mt19937 random(1);
  std::string rubbish("\x89HDF\r\n\x1a\n");
  for (int i = 0; i < 5000; ++i) rubbish += static_cast<char>(random());
  write_bytes(path(), rubbish);
  EXPECT_TRUE(open_message(path()).starts_with(path() + ": cannot read, the file is damaged"));
}

// Reads everything; wrong values are failures, InputErrors are not. True: all could be read.
bool reads_right_or_throws(const std::string& path, const RunFileSpec& spec) {
  try {
    const RunReader reader(path);
    EXPECT_EQ(reader.scene(), spec.scene);
    EXPECT_EQ(reader.header(), spec.header);
    for (const TableSpec& table : spec.tables) expect_rows(reader, table);
    expect_checkpoints(reader);
    return true;
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(path + ": cannot read")) << error.what();
    return false;
  }
}

TEST_F(RunFile, TruncatedFileIsAnError) {
  const RunFileSpec spec = full_spec();
  std::string running, finished;
  {
    RunWriter writer(path(), spec);
    for (std::size_t row = 0; row < 30; row += 10) {
      append(writer, spec, 0, row, 10);
      append(writer, spec, 1, row, 10);
      const auto step = static_cast<std::int64_t>(row);
      writer.checkpoint(step, state_at(step));
    }
    running = read_bytes(path());
    writer.finish("{}");
    finished = read_bytes(path());
  }
  for (const std::string& whole : {running, finished}) {
    write_bytes(path("cut.h5"), whole);
    EXPECT_TRUE(reads_right_or_throws(path("cut.h5"), spec));
    for (const double part : {0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99}) {
      const auto bytes = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
      write_bytes(path("cut.h5"), whole.substr(0, bytes));
      EXPECT_FALSE(reads_right_or_throws(path("cut.h5"), spec)) << bytes << " of " << whole.size();
    }
  }
}

TEST_F(RunFile, UnknownNamesAndRows) {
  const RunFileSpec spec = full_spec();
  RunWriter writer(path(), spec);
  append(writer, spec, 1, 0, 7);
  writer.finish("{}");
  const RunReader reader(path());
  EXPECT_EQ(message([&] { (void)reader.read("events", "foo", 0, 1); }),
            path() + ": no column 'foo' in table 'events'; it has: kind, flags");
  EXPECT_EQ(message([&] { (void)reader.rows("foo"); }),
            path() + ": no table 'foo'; it has: frames, events, nothing");
  EXPECT_EQ(message([&] { (void)reader.read("events", "kind", 5, 3); }),
            path() + ": table 'events' has 7 rows, asked for 3 from row 5");
  EXPECT_EQ(message([&] { (void)reader.checkpoint(0); }),
            path() + ": no checkpoint 0; there are 0");
}

TEST_F(RunFile, OtherFormats) {
  RunWriter(path(), {.scene = "", .header = "", .tables = {}, .format_version = 3}).finish("{}");
  EXPECT_EQ(open_message(path()),
            path() + ": run format 3 is newer than this saltus understands (2)");
  RunWriter(path(), {.scene = "", .header = "", .tables = {}, .format_version = 1}).finish("{}");
  EXPECT_EQ(open_message(path()),
            path() + ": run format 1 is older than this saltus understands (2)");
}

TEST_F(RunFile, RejectsWrongCalls) {
  RunFileSpec spec = full_spec();
  RunWriter writer(path(), spec);
  const double time = 0;
  EXPECT_EQ(message([&] { writer.append(1, 1, {&time}); }),
            path() + ": table 'events' has 2 columns, rows with 1 were appended");
  EXPECT_EQ(message([&] { writer.append(3, 1, {&time}); }), path() + ": no table 3; there are 3");
  RunWriter without(path("without.h5"), {});
  EXPECT_EQ(message([&] {
              without.checkpoint(0, {1, 2});
            }),
            path("without.h5") + ": this run has no checkpoints");
  for (const char* name : {"checkpoints", "checkpoint_data"}) {
    RunFileSpec taken;
    taken.tables.push_back({.name = name, .columns = {}});
    EXPECT_EQ(message([&] { RunWriter(path(), taken); }),
              "table '" + std::string(name) + "': the name is taken");
  }
  writer.finish("{}");
  EXPECT_EQ(message([&] { writer.finish("{}"); }), "a run was finished twice");
  spec.tables[0].columns[0].width = 0;
  EXPECT_EQ(message([&] { RunWriter(path(), spec); }),
            "column 'time' of table 'frames': cannot be 0 wide");
}

}  // namespace
}  // namespace saltus
