// The writer; the reader is in run_reader.cpp.
#include "saltus/runs/run_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <set>

#include "saltus/base/error.h"
#include "saltus/runs/hdf5_handle.h"
#include "saltus/version.h"

namespace saltus {

using hdf5::Handle, hdf5::must;

namespace {

constexpr std::size_t chunk_bytes = 64 * 1024, buffer_bytes = 256 * 1024;
constexpr std::size_t max_chunk_rows = 4096;
const std::string checkpoints_name = "checkpoints", checkpoint_data_name = "checkpoint_data";

std::size_t row_bytes(const Column& column) {
  return static_cast<std::size_t>(column.width) * hdf5::type_info(column.type).bytes;
}

void check_name(const std::string& what, const std::string& name, std::set<std::string>& taken) {
  if (name.empty() || name == "." || name.find_first_of(std::string("/\0", 2)) != name.npos)
    throw InputError(what + " '" + name + "': expected a name without '/'");
  if (!taken.insert(name).second) throw InputError(what + " '" + name + "': the name is taken");
}

void check_spec(const std::vector<TableSpec>& tables) {
  std::set<std::string> table_names = {"scene", "header", "summary", checkpoints_name,
                                       checkpoint_data_name};
  for (const TableSpec& table : tables) {
    check_name("table", table.name, table_names);
    std::set<std::string> column_names;
    for (const Column& column : table.columns) {
      check_name("column of table '" + table.name + "'", column.name, column_names);
      // a row lies in one chunk, and a chunk has less than 4 GiB
      if (column.width < 1 || row_bytes(column) > std::numeric_limits<std::uint32_t>::max())
        throw InputError("column '" + column.name + "' of table '" + table.name + "': cannot be " +
                         std::to_string(column.width) + " wide");
    }
  }
}

// Checkpoints are tables like the others, the last: nobody sees one before the rows it follows and
// before its own bytes.
std::vector<TableSpec> checkpoint_tables() {
  using enum ColumnType;
  return {{checkpoint_data_name, {{"bytes", u8, 1, "", "the whole state, to go on from"}}},
          {checkpoints_name,
           {{"step", i64, 1, "", "steps done at the checkpoint"},
            {"end", i64, 1, "", "end of its bytes in checkpoint_data"}}}};
}

Handle create_group(hid_t file, const std::string& name) {
  const Handle how(H5Pcreate(H5P_GROUP_CREATE));
  must(H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
  return Handle(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, how, H5P_DEFAULT));
}

// An empty dataset that grows by rows.
Handle create_rows(hid_t group, const std::string& name, ColumnType type, int width,
                   std::size_t most_rows = max_chunk_rows) {
  const auto& info = hdf5::type_info(type);
  const auto values = static_cast<hsize_t>(width);
  const std::size_t rows =
      std::clamp<std::size_t>(chunk_bytes / (values * info.bytes), 1, most_rows);
  const std::array<hsize_t, 2> now{0, values}, most{H5S_UNLIMITED, values}, chunk{rows, values};
  const int rank = width == 1 ? 1 : 2;
  const Handle space(H5Screate_simple(rank, now.data(), most.data()));
  const Handle how(H5Pcreate(H5P_DATASET_CREATE));
  must(H5Pset_chunk(how, rank, chunk.data()));
  return Handle(
      H5Dcreate2(group, name.c_str(), info.in_file, space, H5P_DEFAULT, how, H5P_DEFAULT));
}

void create_text(hid_t file, const char* name, const std::string& text) {
  const hsize_t bytes = text.size();
  const Handle space(H5Screate_simple(1, &bytes, nullptr));
  const Handle set(
      H5Dcreate2(file, name, H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  if (bytes > 0) must(H5Dwrite(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()));
}

void create_table(hid_t file, const TableSpec& table) {
  const Handle group = create_group(file, table.name);
  const std::size_t chunk_rows = table.name == checkpoint_data_name ? chunk_bytes : max_chunk_rows;
  for (const Column& column : table.columns) {
    const Handle set = create_rows(group, column.name, column.type, column.width, chunk_rows);
    hdf5::write_attribute(set, "unit", column.unit);
    hdf5::write_attribute(set, "about", column.about);
  }
}

Handle create_file(const std::string& name) {
  const Handle how(H5Pcreate(H5P_FILE_CREATE)), access = hdf5::file_access();
  must(H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
  // A kill can cut a write at the borders of memory pages: blocks of metadata must not cross them.
  must(H5Pset_file_space_strategy(how, H5F_FSPACE_STRATEGY_PAGE, false, 1));
  must(H5Pset_file_space_page_size(how, 4096));
  return Handle(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, how, access));
}

// Grows the dataset to first + count rows and makes the new ones visible: HDF5 writes the values,
// then the index of chunks, then the number of rows.
void write_rows(hid_t set, hid_t type, hsize_t width, hsize_t first, hsize_t count,
                const void* data) {
  const std::array<hsize_t, 2> size{first + count, width}, start{first, 0}, block{count, width};
  must(H5Dset_extent(set, size.data()));
  const Handle space(H5Dget_space(set));
  must(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, block.data(), nullptr));
  const Handle memory(H5Screate_simple(H5Sget_simple_extent_ndims(space), block.data(), nullptr));
  must(H5Dwrite(set, type, memory, space, H5P_DEFAULT, data));
  must(H5Dflush(set));
}

struct ColumnWriter {
  Handle set;
  Column spec;
  std::vector<std::uint8_t> buffer;
};

struct TableWriter {
  std::string name;
  std::vector<ColumnWriter> columns;
  hsize_t written = 0, buffered = 0;  // rows
};

}  // namespace

struct RunWriter::Impl {
  std::string path, temporary;  // temporary: its name now; empty when it has the final one
  std::string failed;           // why nothing can be written any more
  Handle file, summary;
  std::vector<TableWriter> tables;  // the spec's, then those of checkpoints
  std::size_t own_tables = 0;       // of the spec
  std::int64_t checkpoint_end = 0;  // bytes of checkpoints so far

  void create(const std::string& name, const RunFileSpec& spec,
              const std::vector<TableSpec>& all_tables);
  void open(const std::vector<TableSpec>& all_tables);
  void append(TableWriter& table, std::size_t rows, const std::vector<const void*>& data);
  void write(TableWriter& table);
  void flush();
  void close(const std::string& summary_json);
  void abandon();

  template <class Work>
  void guarded(const Work& work) {
    hdf5::prepare();
    if (!failed.empty()) throw InputError(failed);
    try {
      work();
    } catch (const hdf5::Failure& failure) {
      failed = path + ": cannot write: " + failure.what();
      abandon();
      throw InputError(failed);
    }
  }
};

// Closing a file that could not be written fails again, but first takes away the marks by which
// readers know a cut-off file; and HDF5 frees what it fails to close, yet keeps its identifier, to
// crash over it later. So the file stays open until the process ends, as a kill would leave it.
void RunWriter::Impl::abandon() {
  file.release();
  summary.release();
  for (TableWriter& table : tables)
    for (ColumnWriter& column : table.columns) column.set.release();
}

void require_replaceable(const std::string& path) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  if (kind == std::filesystem::file_type::directory)
    throw InputError(path + ": cannot write: Is a directory");
  if (std::filesystem::exists(path, ignored) && kind != std::filesystem::file_type::regular)
    throw InputError(path +
                     ": cannot write: expected a plain file or none, this is a device or a pipe");
}

void RunWriter::Impl::create(const std::string& name, const RunFileSpec& spec,
                             const std::vector<TableSpec>& all_tables) {
  file = create_file(name);
  const Handle root(H5Gopen2(file, "/", H5P_DEFAULT));
  hdf5::write_attribute(root, "format", "saltus-run");
  hdf5::write_attribute(root, "format_version", spec.format_version);
  hdf5::write_attribute(root, "checkpoint_version", spec.checkpoint_version);
  hdf5::write_attribute(root, "saltus_version", version);
  hdf5::write_attribute(root, "commit", commit);
  create_text(root, "scene", spec.scene);
  create_text(root, "header", spec.header);
  for (const TableSpec& table : all_tables) create_table(root, table);
  create_rows(root, "summary", ColumnType::u8, 1);
}

// Everything is closed and opened again around the start of SWMR, which allows few open objects.
void RunWriter::Impl::open(const std::vector<TableSpec>& all_tables) {
  must(H5Fstart_swmr_write(file));
  summary = Handle(H5Dopen2(file, "summary", H5P_DEFAULT));
  for (const TableSpec& table : all_tables) {
    TableWriter& writer = tables.emplace_back();
    writer.name = table.name;
    for (const Column& column : table.columns) {
      const std::string name = table.name + "/" + column.name;
      writer.columns.push_back({Handle(H5Dopen2(file, name.c_str(), H5P_DEFAULT)), column, {}});
    }
  }
  must(H5Fflush(file, H5F_SCOPE_GLOBAL));
}

void RunWriter::Impl::append(TableWriter& table, std::size_t rows,
                             const std::vector<const void*>& data) {
  if (data.size() != table.columns.size())
    throw InputError(path + ": table '" + table.name + "' has " +
                     std::to_string(table.columns.size()) + " columns, rows with " +
                     std::to_string(data.size()) + " were appended");
  std::size_t largest = 0;
  for (std::size_t c = 0; c < data.size(); ++c) {
    ColumnWriter& column = table.columns[c];
    const auto* bytes = static_cast<const std::uint8_t*>(data[c]);
    column.buffer.insert(column.buffer.end(), bytes, bytes + rows * row_bytes(column.spec));
    largest = std::max(largest, column.buffer.size());
  }
  table.buffered += rows;
  if (largest > buffer_bytes) flush();  // all tables: their order in the file is a promise
}

void RunWriter::Impl::write(TableWriter& table) {
  if (table.buffered == 0) return;
  for (ColumnWriter& column : table.columns) {
    write_rows(column.set, hdf5::type_info(column.spec.type).in_memory,
               static_cast<hsize_t>(column.spec.width), table.written, table.buffered,
               column.buffer.data());
  }
  for (ColumnWriter& column : table.columns) column.buffer.clear();
  table.written += std::exchange(table.buffered, 0);
}

void RunWriter::Impl::flush() {
  guarded([&] {
    for (TableWriter& table : tables) write(table);
  });
}

// What can fail on a full disk happens in flushes, before anything is closed.
void RunWriter::Impl::close(const std::string& summary_json) {
  flush();
  guarded([&] {
    if (!summary_json.empty())
      write_rows(summary, H5T_NATIVE_UINT8, 1, 0, summary_json.size(), summary_json.data());
    must(H5Fflush(file, H5F_SCOPE_GLOBAL));
    summary.close();
    tables.clear();
    file.close();
  });
}

RunWriter::RunWriter(const std::string& path, const RunFileSpec& spec, bool publish)
    : impl_(std::make_unique<Impl>()) {
  hdf5::prepare();
  require_replaceable(path);
  impl_->path = path;
  impl_->own_tables = spec.tables.size();
  std::vector<TableSpec> tables = spec.tables;
  check_spec(tables);
  if (spec.checkpoints) std::ranges::move(checkpoint_tables(), std::back_inserter(tables));

  const std::string& temporary = impl_->temporary = path + ".part" + std::to_string(::getpid());
  // Asks the system first: its reasons read better than HDF5's.
  const int descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) throw InputError(path + ": cannot write: " + hdf5::errno_text());
  ::close(descriptor);
  try {
    impl_->guarded([&] {
      impl_->create(temporary, spec, tables);
      impl_->open(tables);
    });
    if (publish) this->publish();
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void RunWriter::publish() {
  if (impl_->temporary.empty()) return;
  if (std::rename(impl_->temporary.c_str(), impl_->path.c_str()) != 0)
    throw InputError(impl_->path + ": cannot write: " + hdf5::errno_text());
  impl_->temporary.clear();
}

RunWriter::~RunWriter() {
  if (!impl_) return;
  if (!impl_->temporary.empty()) ::unlink(impl_->temporary.c_str());
  try {
    impl_->close("");
  } catch (const std::exception&) {  // what was flushed before stays readable
  }
}

void RunWriter::append(int table, std::size_t rows, const std::vector<const void*>& data) {
  if (!impl_) throw InputError("a run that is finished was appended to");
  if (table < 0 || static_cast<std::size_t>(table) >= impl_->own_tables)
    throw InputError(impl_->path + ": no table " + std::to_string(table) + "; there are " +
                     std::to_string(impl_->own_tables));
  impl_->append(impl_->tables[static_cast<std::size_t>(table)], rows, data);
}

void RunWriter::checkpoint(std::int64_t step, const std::vector<std::uint8_t>& state) {
  if (!impl_) throw InputError("a run that is finished was appended to");
  if (impl_->tables.size() == impl_->own_tables)
    throw InputError(impl_->path + ": this run has no checkpoints");
  impl_->append(impl_->tables[impl_->own_tables], state.size(), {state.data()});
  impl_->checkpoint_end += static_cast<std::int64_t>(state.size());
  impl_->append(impl_->tables[impl_->own_tables + 1], 1, {&step, &impl_->checkpoint_end});
  impl_->flush();
}

void RunWriter::flush() {
  if (impl_) impl_->flush();
}

void RunWriter::finish(const std::string& summary_json) {
  if (!impl_) throw InputError("a run was finished twice");
  publish();
  impl_->close(summary_json);
  impl_.reset();
}

}  // namespace saltus
