#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <initializer_list>
#include <limits>
#include <new>
#include <string_view>
#include <thread>

#include "saltus/base/error.h"
#include "saltus/runs/hdf5_handle.h"
#include "saltus/runs/run_file.h"

namespace saltus {

using hdf5::Failure, hdf5::Handle, hdf5::must;

namespace {

struct ColumnReader {
  Column spec;
  Handle set;
  bool stored = false;  // all rows are known to lie within the file
};

struct TableReader {
  std::string name;
  std::vector<ColumnReader> columns;
};

// A number of rows, and of values in each.
std::array<hsize_t, 2> extent(hid_t set) {
  const Handle space(H5Dget_space(set));
  std::array<hsize_t, 2> size{0, 1};
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank != 1 && rank != 2) throw Failure("a dataset is neither a list nor a table");
  must(H5Sget_simple_extent_dims(space, size.data(), nullptr));
  return size;
}

ColumnReader open_column(hid_t group, const std::string& name) {
  ColumnReader column;
  column.set = Handle(H5Dopen2(group, name.c_str(), H5P_DEFAULT));
  const hsize_t width = extent(column.set)[1];
  if (width > static_cast<hsize_t>(std::numeric_limits<int>::max()))
    throw Failure("a dataset is too wide");
  column.spec = {.name = name,
                 .type = hdf5::column_type(column.set),
                 .width = static_cast<int>(width),
                 .unit = hdf5::read_text_attribute(column.set, "unit"),
                 .about = hdf5::read_text_attribute(column.set, "about")};
  return column;
}

// Whether the file is marked as being written: by a running writer, or by one that was killed.
// The marks are byte 11 of the superblock (HDF5 file format 3.0, II.A); no call tells them.
bool marked_as_open(const std::string& path) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  std::array<char, 12> start{};
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t got = descriptor < 0 ? -1 : ::read(descriptor, start.data(), start.size());
  const std::string reason = hdf5::errno_text();
  if (descriptor >= 0) ::close(descriptor);
  if (got < 0) throw InputError(path + ": cannot read: " + reason);
  if (got < static_cast<ssize_t>(start.size()) ||
      std::string_view(start.data(), signature.size()) != signature)
    throw InputError(path + ": expected a Saltus run, this is not an HDF5 file");
  return start[11] != 0;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "nothing" : text;
}

}  // namespace

struct RunReader::Impl {
  std::string path;
  bool live = false;  // opened for SWMR: HDF5 does not compare the file's length with its contents
  Handle file;
  std::string saltus_version;
  int checkpoint_version = 1;
  std::vector<TableReader> tables;
  TableReader checkpoint_data, checkpoints;

  void open();
  void load();
  void require_stored(hid_t set) const;
  void read(ColumnReader& from, hid_t type, std::size_t first, std::size_t count, void* out) const;
  [[nodiscard]] std::string read_text(const char* name) const;
  [[nodiscard]] std::size_t rows(const TableReader& table) const;
  void require_checkpoint_columns() const;
  [[nodiscard]] std::int64_t checkpoint_value(const char* column, std::size_t index);
  [[nodiscard]] std::size_t checkpoint_count();
  [[nodiscard]] TableReader& table(const std::string& name);
  // Checks that the column exists and has these rows.
  [[nodiscard]] ColumnReader& column(const std::string& table_name, const std::string& name,
                                     std::size_t first, std::size_t count);

  template <class Work>
  auto guarded(const Work& work) const {
    hdf5::prepare();
    try {
      return work();
    } catch (const Failure& failure) {
      throw InputError(path + ": cannot read, the file is damaged: " + failure.what());
    } catch (const std::bad_alloc&) {
      throw InputError(path + ": cannot read: out of memory, or the file is damaged");
    } catch (const std::length_error&) {
      throw InputError(path + ": cannot read, the file is damaged: a size is absurd");
    }
  }
};

// A file without marks is opened plainly, which also finds it truncated; one with marks is only
// opened for SWMR. A run that just ends may change under our eyes: look again, but not for long.
void RunReader::Impl::open() {
  const Handle access = hdf5::file_access();
  for (int tries = 5;; --tries) {
    live = marked_as_open(path);
    // Beside a writer HDF5 may meet a block half written, and waits 1, 2, 4, ... ns for the rest: a
    // quarter of a second in all. Its own limit is 2^100 ns, also when the writer is dead.
    must(H5Pset_metadata_read_attempts(access, live ? 28 : 1));
    const unsigned flags = live ? H5F_ACC_RDONLY | H5F_ACC_SWMR_READ : H5F_ACC_RDONLY;
    const hid_t id = H5Fopen(path.c_str(), flags, access);
    if (id >= 0 || tries == 1) {
      file = Handle(id);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void RunReader::Impl::load() {
  const Handle root(H5Gopen2(file, "/", H5P_DEFAULT));
  if (H5Aexists(root, "format") <= 0 || hdf5::read_text_attribute(root, "format") != "saltus-run")
    throw InputError(path + ": expected a Saltus run, this is another kind of HDF5 file");
  const int format = hdf5::read_int_attribute(root, "format_version");
  const int understood = RunFileSpec().format_version;
  if (format != understood)
    throw InputError(path + ": run format " + std::to_string(format) + " is " +
                     (format > understood ? "newer" : "older") + " than this saltus understands (" +
                     std::to_string(understood) + ")");
  saltus_version = hdf5::read_text_attribute(root, "saltus_version");
  if (H5Aexists(root, "checkpoint_version") > 0)
    checkpoint_version = hdf5::read_int_attribute(root, "checkpoint_version");
  for (const std::string& name : hdf5::link_names(root)) {
    const Handle object(H5Oopen(root, name.c_str(), H5P_DEFAULT));
    if (H5Iget_type(object) != H5I_GROUP) continue;
    TableReader& added = name == "checkpoints"       ? checkpoints
                         : name == "checkpoint_data" ? checkpoint_data
                                                     : tables.emplace_back();
    added.name = name;
    for (const std::string& column_name : hdf5::link_names(object))
      added.columns.push_back(open_column(object, column_name));
  }
  require_checkpoint_columns();
}

void RunReader::Impl::require_checkpoint_columns() const {
  const auto has = [](const TableReader& table, std::initializer_list<const char*> names,
                      ColumnType type) {
    return std::ranges::equal(table.columns, names, [&](const ColumnReader& c, const char* name) {
      return c.spec.name == name && c.spec.type == type && c.spec.width == 1;
    });
  };
  if (checkpoints.name.empty() && checkpoint_data.name.empty()) return;
  if (!has(checkpoints, {"step", "end"}, ColumnType::i64) ||
      !has(checkpoint_data, {"bytes"}, ColumnType::u8))
    throw Failure("checkpoints have other columns than step, end and bytes");
}

// HDF5 reads zeros behind the end of a file opened for SWMR. Space is given out from the start of
// the file on and never given back, so the last chunk speaks for those before it.
void RunReader::Impl::require_stored(hid_t set) const {
  const hsize_t rows = extent(set)[0];
  if (!live || rows == 0) return;
  const Handle how(H5Dget_create_plist(set));
  haddr_t address = HADDR_UNDEF;
  hsize_t bytes = 0;
  if (H5Pget_layout(how) == H5D_CHUNKED) {
    std::array<hsize_t, 2> chunk{1, 1}, offset{0, 0};
    if (H5Pget_chunk(how, 2, chunk.data()) < 1) hdf5::fail();
    offset[0] = (rows - 1) / chunk[0] * chunk[0];
    must(H5Dget_chunk_info_by_coord(set, offset.data(), nullptr, &address, &bytes));
  } else {
    address = H5Dget_offset(set);
    bytes = H5Dget_storage_size(set);
  }
  int* descriptor = nullptr;
  struct stat status {};
  must(H5Fget_vfd_handle(file, H5P_DEFAULT, reinterpret_cast<void**>(&descriptor)));
  if (::fstat(*descriptor, &status) != 0) throw Failure(hdf5::errno_text());
  if (address == HADDR_UNDEF || address + bytes > static_cast<hsize_t>(status.st_size))
    throw Failure("truncated file");
}

void RunReader::Impl::read(ColumnReader& from, hid_t type, std::size_t first, std::size_t count,
                           void* out) const {
  if (count == 0) return;
  if (!from.stored) require_stored(from.set);
  from.stored = true;
  const std::array<hsize_t, 2> start{first, 0}, block{count, extent(from.set)[1]};
  const Handle space(H5Dget_space(from.set));
  must(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, block.data(), nullptr));
  const Handle memory(H5Screate_simple(H5Sget_simple_extent_ndims(space), block.data(), nullptr));
  must(H5Dread(from.set, type, memory, space, H5P_DEFAULT, out));
}

std::string RunReader::Impl::read_text(const char* name) const {
  const Handle set(H5Dopen2(file, name, H5P_DEFAULT));
  must(H5Drefresh(set));  // the summary has grown when the run has ended
  const auto size = extent(set);
  if (hdf5::column_type(set) != ColumnType::u8 || size[1] != 1)
    throw Failure("a text is not stored as bytes");
  require_stored(set);
  std::string text(size[0], '\0');
  if (!text.empty())
    must(H5Dread(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()));
  return text;
}

std::size_t RunReader::Impl::rows(const TableReader& table) const {
  if (table.columns.empty()) return 0;
  hsize_t shortest = std::numeric_limits<hsize_t>::max();
  for (const ColumnReader& each : table.columns) shortest = std::min(shortest, extent(each.set)[0]);
  return shortest;
}

std::int64_t RunReader::Impl::checkpoint_value(const char* column, std::size_t index) {
  std::int64_t value = 0;
  read(*std::ranges::find(checkpoints.columns, column, [](auto& c) { return c.spec.name; }),
       H5T_NATIVE_INT64, index, 1, &value);
  return value;
}

// A checkpoint's bytes are written before it, but may be seen after.
std::size_t RunReader::Impl::checkpoint_count() {
  std::size_t count = rows(checkpoints);
  const auto bytes = static_cast<std::int64_t>(rows(checkpoint_data));
  while (count > 0 && checkpoint_value("end", count - 1) > bytes) --count;
  return count;
}

TableReader& RunReader::Impl::table(const std::string& name) {
  const auto found = std::ranges::find(tables, name, &TableReader::name);
  if (found != tables.end()) return *found;
  std::vector<std::string> names;
  for (const TableReader& each : tables) names.push_back(each.name);
  throw InputError(path + ": no table '" + name + "'; it has: " + joined(names));
}

ColumnReader& RunReader::Impl::column(const std::string& table_name, const std::string& name,
                                      std::size_t first, std::size_t count) {
  TableReader& in = table(table_name);
  std::vector<std::string> names;
  for (ColumnReader& each : in.columns) {
    names.push_back(each.spec.name);
    if (each.spec.name != name) continue;
    const std::size_t have = rows(in);
    if (first > have || count > have - first)
      throw InputError(path + ": table '" + table_name + "' has " + std::to_string(have) +
                       " rows, asked for " + std::to_string(count) + " from row " +
                       std::to_string(first));
    return each;
  }
  throw InputError(path + ": no column '" + name + "' in table '" + table_name +
                   "'; it has: " + joined(names));
}

RunReader::RunReader(const std::string& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->guarded([&] {
    impl_->open();
    impl_->load();
  });
}

RunReader::~RunReader() = default;

std::string RunReader::scene() const {
  return impl_->guarded([&] { return impl_->read_text("scene"); });
}

std::string RunReader::header() const {
  return impl_->guarded([&] { return impl_->read_text("header"); });
}

std::string RunReader::summary() const {
  return impl_->guarded([&] { return impl_->read_text("summary"); });
}

std::string RunReader::version() const { return impl_->saltus_version; }
int RunReader::checkpoint_version() const { return impl_->checkpoint_version; }

std::vector<TableSpec> RunReader::tables() const {
  std::vector<TableSpec> specs;
  for (const TableReader& table : impl_->tables) {
    TableSpec& spec = specs.emplace_back(TableSpec{.name = table.name, .columns = {}});
    for (const ColumnReader& column : table.columns) spec.columns.push_back(column.spec);
  }
  return specs;
}

std::size_t RunReader::rows(const std::string& table) const {
  return impl_->guarded([&] { return impl_->rows(impl_->table(table)); });
}

std::vector<double> RunReader::read(const std::string& table, const std::string& column,
                                    std::size_t first, std::size_t count) const {
  return impl_->guarded([&] {
    ColumnReader& from = impl_->column(table, column, first, count);
    std::vector<double> values(count * static_cast<std::size_t>(from.spec.width));
    impl_->read(from, H5T_NATIVE_DOUBLE, first, count, values.data());
    return values;
  });
}

std::vector<std::uint8_t> RunReader::read_raw(const std::string& table, const std::string& column,
                                              std::size_t first, std::size_t count) const {
  return impl_->guarded([&] {
    ColumnReader& from = impl_->column(table, column, first, count);
    const auto& type = hdf5::type_info(from.spec.type);
    std::vector<std::uint8_t> bytes(count * static_cast<std::size_t>(from.spec.width) * type.bytes);
    impl_->read(from, type.in_memory, first, count, bytes.data());
    return bytes;
  });
}

std::size_t RunReader::checkpoint_count() const {
  return impl_->guarded([&] { return impl_->checkpoint_count(); });
}

RunReader::Checkpoint RunReader::checkpoint(std::size_t index) const {
  return impl_->guarded([&] {
    if (const std::size_t have = impl_->checkpoint_count(); index >= have)
      throw InputError(impl_->path + ": no checkpoint " + std::to_string(index) + "; there are " +
                       std::to_string(have));
    const std::int64_t begin = index > 0 ? impl_->checkpoint_value("end", index - 1) : 0;
    const std::int64_t end = impl_->checkpoint_value("end", index);
    if (begin < 0 || end < begin ||
        static_cast<std::size_t>(end) > impl_->rows(impl_->checkpoint_data))
      throw Failure("a checkpoint ends before it begins");
    Checkpoint found;
    found.step = impl_->checkpoint_value("step", index);
    found.state.resize(static_cast<std::size_t>(end - begin));
    impl_->read(impl_->checkpoint_data.columns[0], H5T_NATIVE_UINT8,
                static_cast<std::size_t>(begin), found.state.size(), found.state.data());
    return found;
  });
}

bool RunReader::being_written() const { return impl_->live && marked_as_open(impl_->path); }

void RunReader::refresh() {
  const auto renew = [](TableReader& table) {
    for (ColumnReader& column : table.columns) {
      column.stored = false;
      must(H5Drefresh(column.set));
    }
  };
  impl_->guarded([&] {  // the other way round than they are written
    renew(impl_->checkpoints);
    renew(impl_->checkpoint_data);
    std::ranges::for_each(impl_->tables.rbegin(), impl_->tables.rend(), renew);
  });
}

}  // namespace saltus
