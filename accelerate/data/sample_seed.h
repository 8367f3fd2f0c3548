#pragma once

// A seed for each sample, for data sets that draw random numbers.

#include <cstdint>

namespace accelerate::data {

/// A seed for a generator of the sample's own. It depends on nothing but its arguments, so augmentations are the same
/// for any number of workers and ranks, and after resuming. Worker threads share libtorch's global generator with the
/// training loop: drawing from that one inside `get` would make both irreproducible.
inline uint64_t sample_seed(uint64_t base_seed, int64_t epoch, int64_t index) {
  // The finaliser of SplitMix64, once for each argument: neighbouring inputs give unrelated outputs.
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
