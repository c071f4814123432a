// Bytes as problem files: Siconos' text, our JSON, FCLIB's HDF5. They are read or refused.
#include "file.h"
#include "saltus/problems/problem_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saltus;
  const std::string path = as_file(data, size, ".problem");
  try {
    (void)read_problem(path);
  } catch (const InputError&) {}
  std::filesystem::remove(path);
  return 0;
}
