// Bytes as mesh files: the length, which mutations change, chooses STL, OBJ or MSH.
#include "check.h"
#include "saltus/scene/mesh.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saltus;
  const std::string bytes = text_of(data, size);
  const char* names[] = {"fuzz.stl", "fuzz.obj", "fuzz.msh"};
  try {
    static_cast<void>(parse_mesh(bytes, names[size % 3]));
  } catch (const InputError&) {}
  return 0;
}
