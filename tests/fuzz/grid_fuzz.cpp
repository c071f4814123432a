// Bytes as height maps: PNG, PGM or CSV by what they hold.
#include "file.h"
#include "saltus/scene/grid.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saltus;
  const std::string path = as_file(data, size, ".grid");
  try {
    static_cast<void>(read_grid(path));
  } catch (const InputError&) {}
  std::filesystem::remove(path);
  return 0;
}
