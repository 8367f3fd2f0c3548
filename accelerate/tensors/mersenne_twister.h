#pragma once

// The Mersenne Twister (MT19937) in bulk, and random masks made of its numbers. The standard library and torch's CPU
// generator draw the same numbers one at a time, which does not vectorize.

#include <array>
#include <cstddef>
#include <cstdint>

namespace accelerate::tensors {

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

  /// Sets each element to 1 with `probability`, which is between 0 and 1, else to 0. An element takes two numbers: 53
  /// bits, upper word first, as torch makes a double of them. For float and double.
  template <class T>
  void draw_mask(T* mask, size_t count, double probability);

 private:
  State state_;
};

}  // namespace accelerate::tensors
