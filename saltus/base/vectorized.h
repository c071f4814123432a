// Functions that are compiled twice.
#pragma once

// A function under this is compiled for AVX2 too, and which one is called is known when the program
// starts. Not under sanitizers, which are not awake then.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SALTUS_VECTORIZED
#elif defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define SALTUS_VECTORIZED __attribute__((target_clones("avx2", "default")))
#else
#define SALTUS_VECTORIZED
#endif
