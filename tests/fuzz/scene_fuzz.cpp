// Texts as scenes. What is written out of a scene that can be built has to be read again.
#include "check.h"
#include "saltus/scene/document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saltus;
  std::string written;
  try {
    const Scene scene = read_scene(Document::from_text(text_of(data, size), "fuzz.yaml"));
    static_cast<void>(build_system(scene));
    written = complete_text(scene);
  } catch (const InputError&) { return 0; }
  static_cast<void>(build_system(read_scene(Document::from_text(written, "written.yaml"))));
  return 0;
}
