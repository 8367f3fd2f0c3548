#pragma once

// Marks a function for function multiversioning: it is compiled for each vector instruction set, and the loader selects
// one at start-up. Disabled under sanitizers, which are not initialized that early.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ACCELERATE_VECTORIZED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ACCELERATE_VECTORIZED
#endif
