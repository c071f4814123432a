// Texts as scenes.
#include "check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saltus;
  try {
    const Scene scene = read_scene(Document::from_text(text_of(data, size), "fuzz.yaml"));
    static_cast<void>(build_system(scene));
    static_cast<void>(complete_text(scene));
  } catch (const InputError&) {}
  return 0;
}
