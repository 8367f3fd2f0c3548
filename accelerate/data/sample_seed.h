#pragma once

// Per-sample seeds, for data sets that draw random numbers.

#include <cstdint>

namespace accelerate::data {

/// Returns the seed for a sample's own generator. It depends only on its arguments, so augmentations are the same for
/// any number of workers and ranks, and after resuming. Do not draw from libtorch's global generator inside `get`:
/// worker threads share it with the training loop, so both would become irreproducible.
inline uint64_t sample_seed(uint64_t base_seed, int64_t epoch, int64_t index) {
  // The finaliser of SplitMix64, applied once per argument: neighbouring inputs give unrelated outputs.
  auto mix = [](uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  };
  return mix(mix(mix(base_seed) ^ static_cast<uint64_t>(epoch)) ^ static_cast<uint64_t>(index));
}

}  // namespace accelerate::data

namespace accelerate {
using data::sample_seed;
}
