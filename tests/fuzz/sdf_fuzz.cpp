// Texts as SDF files.
#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  saltus::read_and_build(saltus::text_of(data, size), "fuzz.sdf", "<sdf");
  return 0;
}
