#pragma once

// Random numbers of the Mersenne Twister (MT19937), many at a time: torch's CPU generator draws the same ones, singly.

#include <array>
#include <cstddef>
#include <cstdint>

namespace accelerate {

class MersenneTwister {
 public:
  static constexpr size_t kStateWords = 624;

  struct State {
    std::array<uint32_t, kStateWords> words;
    size_t used = kStateWords;  // of the words; when all are, there are new ones
  };

  explicit MersenneTwister(const State& state) : state_(state) {}

  const State& state() const { return state_; }

  /// The next `count` numbers.
  void draw(uint32_t* numbers, size_t count);

 private:
  State state_;
};

}  // namespace accelerate
