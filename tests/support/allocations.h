// Counts every allocation of a test program, Eigen's too, which calls malloc. For one source file a
// program. A sanitizer has a malloc of its own, so there the count stays out.
#pragma once
#include <atomic>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SALTUS_COUNTS 0
#else
#define SALTUS_COUNTS 1
#endif

namespace saltus::test {
inline std::atomic<std::size_t> allocations{0};
}

#if SALTUS_COUNTS
extern "C" void* __libc_malloc(std::size_t);  // NOLINT
extern "C" void* malloc(std::size_t n) {      // NOLINT
  ++saltus::test::allocations;
  return __libc_malloc(n);
}
#endif
