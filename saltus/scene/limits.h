// What a few bytes of a scene may ask for. A fuzzer gets less, or it would try nothing else.
#pragma once
#include <cstddef>

namespace saltus {

#ifdef SALTUS_FUZZ
inline constexpr int most_values = 10'000;
inline constexpr int most_links = 32;
inline constexpr std::size_t most_generated = std::size_t{1} << 12;
#else
inline constexpr int most_values = 1'000'000;  // of a document, every alias followed
inline constexpr int most_links = 10'000;      // of a snake
// Heights and friction factors that the generators of a scene make, in all: a height costs up to
// 200 bytes and a microsecond.
inline constexpr std::size_t most_generated = std::size_t{1} << 22;
#endif

}  // namespace saltus
