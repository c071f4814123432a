// Three-vectors as four doubles (x, y, z, 0): one instruction adds or multiplies them on a machine
// with AVX2. Others take about twice the time, and sums in the same order: the bits are the same.
// What is done with them is in packed_ops.h.
#pragma once
#include <new>
#include <vector>

#include "saltus/base/types.h"

namespace saltus {

inline constexpr std::size_t pack_alignment = 32;  // what code for AVX2 takes for granted
using Pack = double __attribute__((vector_size(32)));
struct alignas(pack_alignment) Pack3x3 {
  Pack c[3] = {};
};

// Without AVX2 a Pack asks for less alignment than the code for it relies on.
template <class T>
struct PackAllocator {
  using value_type = T;
  PackAllocator() = default;
  template <class U>
  explicit PackAllocator(const PackAllocator<U>&) {}
  [[nodiscard]] T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{pack_alignment}));
  }
  void deallocate(T* p, std::size_t) { ::operator delete (p, std::align_val_t{pack_alignment}); }
  bool operator==(const PackAllocator&) const { return true; }
};
using Packs = std::vector<Pack, PackAllocator<Pack>>;

}  // namespace saltus
