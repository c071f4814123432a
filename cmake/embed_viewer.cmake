# cmake -DINPUT=viewer/dist/index.html -DOUTPUT=viewer_page.cpp -P embed_viewer.cmake
# Writes the page as a byte array; without INPUT an empty one.
set(bytes "")
set(size 0)
if(INPUT)
  file(SIZE ${INPUT} size)
  file(READ ${INPUT} bytes HEX)
  string(REGEX REPLACE "(................................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
endif()
file(WRITE ${OUTPUT} "// Generated from ${INPUT} by cmake/embed_viewer.cmake.
#include \"apps/saltus/view_assets.h\"

namespace saltus::cli {
static const unsigned char page[] = {${bytes}0};
std::string_view embedded_viewer_page() {
  return {reinterpret_cast<const char*>(page), ${size}};
}
}  // namespace saltus::cli
")
