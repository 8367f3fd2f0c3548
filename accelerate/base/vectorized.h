#pragma once

// A function marked with this is compiled once for each set of vector instructions, and the machine chooses when the
// program starts. Not under sanitizers, which are not ready that early.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ACCELERATE_VECTORIZED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ACCELERATE_VECTORIZED
#endif
