// The run file: HDF5 in SWMR mode, readable while it is written and after a kill.
//
//   /                attributes: format ("saltus-run"), format_version, checkpoint_version,
//                    saltus_version, commit
//   /scene           the scene text (uint8); /header: names and settings as JSON (uint8)
//   /<table>/<column>   chunked datasets [rows, width] (width 1: [rows]); attributes unit, about
//   /checkpoint_data/bytes  uint8, one checkpoint after the other, each as long as it needs
//   /checkpoints/step, end  int64 [n]: steps done, and where its bytes end
//   /summary         JSON (uint8), empty until the run ends
//
// Rows of a table are appended together; a reader counts the shortest column. Everything that may
// be written is created before SWMR starts (HDF5 allows no new objects after), under a temporary
// name that is renamed when complete: a file with the final name is always readable.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace saltus {

enum class ColumnType { f64, i32, i64, u8 };

struct Column {
  std::string name;
  ColumnType type = ColumnType::f64;
  int width = 1;
  std::string unit;   // "m", "N s", "" for none
  std::string about;  // one line
};

struct TableSpec {
  std::string name;
  std::vector<Column> columns;
};

struct RunFileSpec {
  std::string scene;   // text
  std::string header;  // JSON
  std::vector<TableSpec> tables;
  bool checkpoints = false;  // whether any may be written
  int format_version = 2;    // the one a reader understands; another only in tests
  // Of the bytes of a checkpoint: raised when those of a State, of the totals of a run or of the
  // memory of metrics change. Files of others are read, but not resumed. Absent: 1.
  int checkpoint_version = 4;
};

// Throws InputError when the path is taken by what a file must not replace: a folder, a device, ...
void require_replaceable(const std::string& path);

// Throws InputError when the file cannot be written; nothing is left half written. After a failed
// write the file is left as a kill leaves it: readable up to its last whole rows.
class RunWriter {
 public:
  // Without `publish` the file keeps its temporary name until publish() is called: what it copies
  // from may have the final name.
  RunWriter(const std::string& path, const RunFileSpec& spec, bool publish = true);
  ~RunWriter();
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  void publish();
  // Appends `rows` rows to a table; data[c] points at rows * width values of column c, whose type
  // is the column's. Rows are buffered; flush() (and every so many rows) hands them to the file.
  void append(int table, std::size_t rows, const std::vector<const void*>& data);
  // Flushes, too: the rows appended before are in the file before the checkpoint is.
  void checkpoint(std::int64_t step, const std::vector<std::uint8_t>& state);
  // Writes buffered rows, tables in the order of the spec, and makes them visible to readers.
  void flush();
  // Flushes, publishes if need be, writes the summary and closes the file.
  void finish(const std::string& summary_json);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Throws InputError: no such file, not a run, another format, a column that does not exist.
class RunReader {
 public:
  explicit RunReader(const std::string& path);
  ~RunReader();
  RunReader(const RunReader&) = delete;
  RunReader& operator=(const RunReader&) = delete;

  [[nodiscard]] std::string scene() const;
  [[nodiscard]] std::string header() const;   // JSON
  [[nodiscard]] std::string summary() const;  // JSON; empty: the run did not end
  [[nodiscard]] std::string version() const;  // of the saltus that wrote it
  [[nodiscard]] std::vector<TableSpec> tables() const;
  [[nodiscard]] std::size_t rows(const std::string& table) const;  // of the shortest column
  // rows [first, first + count) of a column, row-major; integers converted to double on request.
  [[nodiscard]] std::vector<double> read(const std::string& table, const std::string& column,
                                         std::size_t first, std::size_t count) const;
  // The raw bytes of rows of a column, for exact copies.
  [[nodiscard]] std::vector<std::uint8_t> read_raw(const std::string& table,
                                                   const std::string& column, std::size_t first,
                                                   std::size_t count) const;
  struct Checkpoint {
    std::int64_t step = 0;
    std::vector<std::uint8_t> state;
  };
  [[nodiscard]] int checkpoint_version() const;
  [[nodiscard]] std::size_t checkpoint_count() const;  // those whose bytes are there
  [[nodiscard]] Checkpoint checkpoint(std::size_t index) const;
  void refresh();                            // sees rows written since (SWMR)
  [[nodiscard]] bool being_written() const;  // when opened and now: or its writer was killed

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace saltus
