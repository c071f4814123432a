#include "saltus/runs/hdf5_handle.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace saltus::hdf5 {

namespace {

herr_t keep_first(unsigned, const H5E_error2_t* error, void* text) {
  auto& reason = *static_cast<std::string*>(text);
  if (reason.empty() && error->desc) reason = error->desc;
  return 0;
}

Handle text_type(std::size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1));
  must(H5Tset_size(type, std::max<std::size_t>(bytes, 1)));  // HDF5 has no empty strings
  must(H5Tset_strpad(type, H5T_STR_NULLPAD));
  must(H5Tset_cset(type, H5T_CSET_UTF8));
  return type;
}

void write_scalar(hid_t object, const char* name, hid_t file_type, hid_t type, const void* value) {
  const Handle space(H5Screate(H5S_SCALAR));
  const Handle attribute(H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT));
  must(H5Awrite(attribute, type, value));
}

// The attribute, if it is one value of the class; H5Aread trusts the size of our buffer.
Handle open_scalar(hid_t object, const char* name, H5T_class_t type_class) {
  Handle attribute(H5Aopen(object, name, H5P_DEFAULT));
  const Handle space(H5Aget_space(attribute)), type(H5Aget_type(attribute));
  if (H5Sget_simple_extent_npoints(space) != 1 || H5Tget_class(type) != type_class ||
      H5Tis_variable_str(type) > 0)
    throw Failure(std::string("attribute '") + name + "' is of another type");
  return attribute;
}

}  // namespace

void fail() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  // The file driver wraps the system's message in a line about descriptors and addresses.
  constexpr std::string_view mark = "error message = '";
  if (const auto at = reason.find(mark); at != std::string::npos) {
    const auto begin = at + mark.size();
    reason = reason.substr(begin, reason.find('\'', begin) - begin);
  }
  throw Failure(reason.empty() ? "HDF5 failed without a reason" : reason);
}

void prepare() {
  static const herr_t once = H5dont_atexit();  // our handles close what is open
  static_cast<void>(once);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Handle file_access() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS));
  // SWMR needs the 1.10 format; newer ones would only keep readers out.
  must(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110));
  // Readers come and go while we write, and some file systems have no locks. The environment
  // variable HDF5_USE_FILE_LOCKING still overrules this.
  must(H5Pset_file_locking(access, false, true));
  return access;
}

std::string errno_text() { return std::generic_category().message(errno); }

TypeInfo type_info(ColumnType type) {
  switch (type) {
    case ColumnType::f64: return {type, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 8};
    case ColumnType::i32: return {type, H5T_STD_I32LE, H5T_NATIVE_INT32, 4};
    case ColumnType::i64: return {type, H5T_STD_I64LE, H5T_NATIVE_INT64, 8};
    case ColumnType::u8: break;
  }
  return {type, H5T_STD_U8LE, H5T_NATIVE_UINT8, 1};
}

ColumnType column_type(hid_t dataset) {
  const Handle stored(H5Dget_type(dataset));
  for (const ColumnType type :
       {ColumnType::f64, ColumnType::i32, ColumnType::i64, ColumnType::u8}) {
    const htri_t equal = H5Tequal(stored, type_info(type).in_file);
    if (equal > 0) return type;
  }
  throw Failure("a dataset is of a type that runs do not have");
}

void write_attribute(hid_t object, const char* name, const std::string& text) {
  const Handle type = text_type(text.size());
  write_scalar(object, name, type, type, text.c_str());
}

void write_attribute(hid_t object, const char* name, std::int32_t value) {
  write_scalar(object, name, H5T_STD_I32LE, H5T_NATIVE_INT32, &value);
}

std::string read_text_attribute(hid_t object, const char* name) {
  const Handle attribute = open_scalar(object, name, H5T_STRING);
  const Handle stored(H5Aget_type(attribute));
  std::string text(H5Tget_size(stored), '\0');
  must(H5Aread(attribute, stored, text.data()));
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

std::int32_t read_int_attribute(hid_t object, const char* name) {
  const Handle attribute = open_scalar(object, name, H5T_INTEGER);
  std::int32_t value = 0;
  must(H5Aread(attribute, H5T_NATIVE_INT32, &value));
  return value;
}

std::vector<std::string> link_names(hid_t group) {
  H5G_info_t info;
  must(H5Gget_info(group, &info));
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const auto get = [&](char* text, std::size_t bytes) {
      const ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i,
                                                text, bytes, H5P_DEFAULT);
      if (length < 0) fail();
      return static_cast<std::size_t>(length);
    };
    std::string name(get(nullptr, 0), '\0');
    get(name.data(), name.size() + 1);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace saltus::hdf5
