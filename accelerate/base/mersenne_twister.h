#pragma once

// The Mersenne Twister (MT19937) in bulk: the same numbers as torch's CPU generator, which draws them one at a time.

#include <array>
#include <cstddef>
#include <cstdint>

namespace accelerate {

class MersenneTwister {
 public:
  static constexpr size_t kStateWords = 624;

  struct State {
    std::array<uint32_t, kStateWords> words;
    size_t used = kStateWords;  // words consumed; once all are, the state is advanced
  };

  explicit MersenneTwister(const State& state) : state_(state) {}

  const State& state() const { return state_; }

  /// The next `count` numbers.
  void draw(uint32_t* numbers, size_t count);

 private:
  State state_;
};

}  // namespace accelerate
