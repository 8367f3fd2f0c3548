#include "accelerate/tensors/mersenne_twister.h"

#include <algorithm>
#include <bit>
#include <cmath>

// Function multiversioning: the marked function is compiled for each vector instruction set, and the loader selects one
// at start-up. Disabled under sanitizers, which are not initialized that early.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ACCELERATE_VECTORIZED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ACCELERATE_VECTORIZED
#endif

namespace accelerate::tensors {

namespace {

constexpr size_t kWords = MersenneTwister::kStateWords;
constexpr size_t kDistance = 397;
constexpr size_t kChunk = 2048;                            // elements whose random numbers fit in the L1 cache
constexpr uint64_t kRandomBits = (uint64_t{1} << 53) - 1;  // 53 bits per number, the precision of a double
constexpr uint32_t kUpperBit = 0x80000000, kLowerBits = 0x7fffffff;

inline uint32_t twisted(uint32_t word, uint32_t next) {
  return (((word & kUpperBit) | (next & kLowerBits)) >> 1) ^ (-(next & 1) & 0x9908b0df);
}

/// The recurrence of MT19937: each word is combined with its neighbour and the word `kDistance` further, modulo the
/// state's length.
ACCELERATE_VECTORIZED void renew(uint32_t* words) {
  for (size_t i = 0; i < kWords - kDistance; ++i) words[i] = words[i + kDistance] ^ twisted(words[i], words[i + 1]);
  for (size_t i = kWords - kDistance; i < kWords - 1; ++i) {
    words[i] = words[i + kDistance - kWords] ^ twisted(words[i], words[i + 1]);
  }
  words[kWords - 1] = words[kDistance - 1] ^ twisted(words[kWords - 1], words[0]);
}

ACCELERATE_VECTORIZED void temper(const uint32_t* words, uint32_t* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t number = words[i];
    number ^= number >> 11;
    number ^= number << 7 & 0x9d2c5680;
    number ^= number << 15 & 0xefc60000;
    numbers[i] = number ^ number >> 18;
  }
}

/// Two words make one number, upper bits first. Numbers below `limit` give 1.
template <class T>
ACCELERATE_VECTORIZED void choose(const uint64_t* pairs, size_t count, uint64_t limit, T* chosen) {
  for (size_t i = 0; i < count; ++i) chosen[i] = (std::rotl(pairs[i], 32) & kRandomBits) < limit ? T{1} : T{};
}

}  // namespace

void MersenneTwister::draw(uint32_t* numbers, size_t count) {
  while (count > 0) {
    if (state_.used == kWords) {
      renew(state_.words.data());
      state_.used = 0;
    }
    const size_t some = std::min(count, kWords - state_.used);
    temper(state_.words.data() + state_.used, numbers, some);
    state_.used += some;
    numbers += some;
    count -= some;
  }
}

template <class T>
void MersenneTwister::draw_mask(T* mask, size_t count, double probability) {
  static_assert(std::endian::native == std::endian::little);
  const auto limit = static_cast<uint64_t>(std::ceil(std::ldexp(probability, 53)));
  alignas(64) uint64_t pairs[kChunk];
  for (size_t begin = 0; begin < count; begin += kChunk) {
    const size_t length = std::min(kChunk, count - begin);
    draw(reinterpret_cast<uint32_t*>(pairs), 2 * length);
    choose(pairs, length, limit, mask + begin);
  }
}

template void MersenneTwister::draw_mask(float* mask, size_t count, double probability);
template void MersenneTwister::draw_mask(double* mask, size_t count, double probability);

}  // namespace accelerate::tensors
