// How the step keeps a mechanism (contact/mechanics.h). The motion does not depend on it.
#pragma once
#include <string_view>

namespace saltus {

enum class Storage : unsigned char { automatic, forest, paths };

[[nodiscard]] constexpr std::string_view name_of(Storage s) {
  return s == Storage::forest ? "forest" : s == Storage::paths ? "paths" : "auto";
}

}  // namespace saltus
