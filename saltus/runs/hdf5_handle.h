// HDF5's C interface with owned handles and exceptions; for the sources of this module only.
#pragma once
#include <hdf5.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "saltus/runs/run_file.h"

namespace saltus::hdf5 {

// A call failed; the text is HDF5's innermost reason. Who knows the file makes it an InputError.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void fail();  // with the reason of the call that has just failed

inline void must(herr_t status) {
  if (status < 0) fail();
}

// Owns an identifier of any kind: file, group, dataset, dataspace, type, attribute, property list.
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {  // what a call returned
    if (id < 0) fail();
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  operator hid_t() const { return id_; }
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }
  void close() {  // the destructor, but a failure is heard
    const hid_t id = release();
    if (id >= 0) must(H5Idec_ref(id));
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

// To be called on entry, before all else: HDF5 prints every failure to stderr unless told, in every
// thread anew, and crashes at exit over a file it could not write (a full disk) unless told as
// well.
void prepare();

// How run files are opened, for reading and for writing.
Handle file_access();

std::string errno_text();

struct TypeInfo {
  ColumnType type;
  hid_t in_file, in_memory;
  std::size_t bytes;
};
TypeInfo type_info(ColumnType type);
ColumnType column_type(hid_t dataset);  // Failure: none of ours

// Texts have a fixed length: variable-length data lives in a heap that SWMR cannot write.
void write_attribute(hid_t object, const char* name, const std::string& text);
void write_attribute(hid_t object, const char* name, std::int32_t value);
std::string read_text_attribute(hid_t object, const char* name);
std::int32_t read_int_attribute(hid_t object, const char* name);

std::vector<std::string> link_names(hid_t group);  // in the order of creation

}  // namespace saltus::hdf5
