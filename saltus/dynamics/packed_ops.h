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

// Sine and cosine of four angles of at most most_angle, to an ulp or two: the angle less n quarter
// turns, in three parts of which the first two times n are exact, and fdlibm's polynomials
// (k_sin.c, k_cos.c) for what is left. The same bits on every machine, which those of libm are not.
inline constexpr double most_angle = 1e5;

SALTUS_INLINE void sincos(const Pack& x, Pack& sin, Pack& cos) {
  using Bits = unsigned long long __attribute__((vector_size(32)));
  constexpr double to_integer = 0x1.8p52;
  const Pack shifted = x * 6.36619772367581382433e-01 + to_integer;
  const Pack n = shifted - to_integer;
  const Pack y = ((x - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) -
                 n * 2.02226624879595063154e-21;
  const Pack z = y * y;
  const Pack s =
      y + (z * y) *
              (-1.66666666666666324348e-01 +
               z * (8.33333333332248946124e-03 +
                    z * (-1.98412698298579493134e-04 +
                         z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 +
                                                                z * 1.58969099521155010221e-10)))));
  const Pack r =
      z * (4.16666666666666019037e-02 +
           z * (-1.38888888888741095749e-03 +
                z * (2.48015872894767294178e-05 +
                     z * (-2.75573143513906633035e-07 +
                          z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  const Pack half = 0.5 * z, w = 1.0 - half;
  const Pack c = w + (((1.0 - w) - half) + z * r);
  const Bits quarter = (Bits)shifted;  // n, in the last bits
  const Bits odd = 0 - (quarter & 1);
  sin = (Pack)(((odd & (Bits)c) | (~odd & (Bits)s)) ^ ((quarter & 2) << 62));
  cos = (Pack)(((odd & (Bits)s) | (~odd & (Bits)c)) ^ (((quarter + 1) & 2) << 62));
}

}  // namespace saltus
