#include "accelerate/base/mersenne_twister.h"

#include <algorithm>

#include "accelerate/base/vectorized.h"

namespace accelerate {

namespace {

constexpr size_t kWords = MersenneTwister::kStateWords;
constexpr size_t kDistance = 397;
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

}  // namespace accelerate
