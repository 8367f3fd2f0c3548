#include "accelerate/checkpoint/python_generators.h"

#include <array>
#include <vector>

namespace accelerate::checkpoint {
namespace {

using tensors::TorchValue;

// Both are Mersenne Twisters (MT19937), seeded by the two functions of its authors.
constexpr size_t kWords = 624;
using Words = std::array<uint32_t, kWords>;

Words seeded_by_number(uint32_t seed) {
  Words words{seed};
  for (size_t i = 1; i < kWords; ++i) {
    const uint32_t last = words[i - 1];
    words[i] = 1812433253u * (last ^ (last >> 30)) + static_cast<uint32_t>(i);
  }
  return words;
}

Words seeded_by_key(const std::vector<uint32_t>& key) {
  Words words = seeded_by_number(19650218u);
  size_t i = 1;
  auto mix = [&](uint32_t factor, auto addend) {
    const uint32_t last = words[i - 1];
    words[i] = (words[i] ^ ((last ^ (last >> 30)) * factor)) + addend(i);
    if (++i == kWords) {
      words[0] = words[kWords - 1];
      i = 1;
    }
  };
  for (size_t round = 0; round < kWords; ++round) {
    const size_t j = round % key.size();
    mix(1664525u, [&](size_t) { return key[j] + static_cast<uint32_t>(j); });
  }
  for (size_t round = 1; round < kWords; ++round) {
    mix(1566083941u, [](size_t place) { return -static_cast<uint32_t>(place); });
  }
  words[0] = 0x80000000u;
  return words;
}

}  // namespace

PythonGenerators seeded_python_generators(uint64_t seed) {
  const auto low = static_cast<uint32_t>(seed), high = static_cast<uint32_t>(seed >> 32);
  const auto random = seeded_by_key(high == 0 ? std::vector{low} : std::vector{low, high});
  TorchValue::Items random_words(random.begin(), random.end());
  random_words.emplace_back(kWords);  // position: all words are used, so the next draw generates new ones

  const auto numpy = seeded_by_number(low);
  formats::NumpyArray numpy_words{.type = "<u4", .shape = {kWords}};
  numpy_words.data.assign(reinterpret_cast<const char*>(numpy.data()), sizeof(numpy));
  return {.random = TorchValue::tuple({3, TorchValue::tuple(std::move(random_words)), TorchValue()}),
          .numpy = TorchValue::tuple({"MT19937", std::move(numpy_words), kWords, 0, 0.0})};
}

}  // namespace accelerate::checkpoint
