// Arithmetic of packed.h, all of it inlined. Sources that include this are compiled with -Wno-psabi
// (CMakeLists.txt): no Pack is ever passed to a function.
#pragma once
#include "saltus/base/vectorized.h"
#include "saltus/dynamics/packed.h"

#define SALTUS_INLINE [[gnu::always_inline]] inline

namespace saltus {

// The same at any address of doubles.
using LoosePack = double __attribute__((vector_size(32), aligned(8), may_alias));

SALTUS_INLINE Pack pack(const Vec3& a) { return Pack{a[0], a[1], a[2], 0}; }
SALTUS_INLINE Vec3 unpack(const Pack& a) { return {a[0], a[1], a[2]}; }

SALTUS_INLINE Pack turn_left(const Pack& a) {  // y, z, x
  return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}
SALTUS_INLINE Pack cross(const Pack& a, const Pack& b) {
  return turn_left(a * turn_left(b) - turn_left(a) * b);
}
SALTUS_INLINE double dot(const Pack& a, const Pack& b) {
  const Pack p = a * b;
  return (p[0] + p[1]) + p[2];
}

SALTUS_INLINE Pack3x3 pack(const Mat3& A) {
  return {{Pack{A(0, 0), A(1, 0), A(2, 0), 0}, Pack{A(0, 1), A(1, 1), A(2, 1), 0},
           Pack{A(0, 2), A(1, 2), A(2, 2), 0}}};
}
SALTUS_INLINE Mat3 unpack(const Pack3x3& A) {
  Mat3 B;
  for (int i = 0; i < 3; ++i) B.col(i) = unpack(A.c[i]);
  return B;
}
SALTUS_INLINE Pack operator*(const Pack3x3& A, const Pack& x) {
  return A.c[0] * x[0] + A.c[1] * x[1] + A.c[2] * x[2];
}
SALTUS_INLINE Pack3x3 operator*(const Pack3x3& A, const Pack3x3& B) {
  return {{A * B.c[0], A * B.c[1], A * B.c[2]}};
}
SALTUS_INLINE Pack transposed_times(const Pack3x3& A, const Pack& x) {
  return Pack{dot(A.c[0], x), dot(A.c[1], x), dot(A.c[2], x), 0};
}
// R A R'.
SALTUS_INLINE Pack3x3 turned(const Pack3x3& R, const Pack3x3& A) {
  const Pack3x3 B = R * A;
  Pack3x3 C;
  for (int j = 0; j < 3; ++j) C.c[j] = B.c[0] * R.c[0][j] + B.c[1] * R.c[1][j] + B.c[2] * R.c[2][j];
  return C;
}

}  // namespace saltus
