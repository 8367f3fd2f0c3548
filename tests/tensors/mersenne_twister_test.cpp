#include "accelerate/tensors/mersenne_twister.h"

#include <doctest/doctest.h>

#include <random>
#include <sstream>
#include <vector>

using namespace accelerate::tensors;

namespace {

/// What the standard library's generator writes as its state.
MersenneTwister::State state_of(const std::mt19937& generator) {
  std::stringstream text;
  text << generator;
  MersenneTwister::State state;
  for (auto& word : state.words) text >> word;
  text >> state.used;
  return state;
}

}  // namespace

TEST_CASE("numbers are those of std::mt19937, however many are drawn at a time") {
  std::mt19937 reference(7);
  reference.discard(3);
  MersenneTwister twister(state_of(reference));
  for (size_t count : {1, 0, 2, 619, 1, 624, 623, 625, 5000}) {
    std::vector<uint32_t> numbers(count), expected(count);
    twister.draw(numbers.data(), count);
    for (auto& number : expected) number = static_cast<uint32_t>(reference());
    CHECK(numbers == expected);
    CHECK(twister.state().words == state_of(reference).words);
    CHECK(twister.state().used == state_of(reference).used);
  }
}
