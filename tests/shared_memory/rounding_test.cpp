// Random numbers of every type through the collectives that reduce: how far they are from double precision, and that
// the bits are the same everywhere.

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>

#include "accelerate/shared_memory/collectives.h"
#include "accelerate/shared_memory/reduce.h"
#include "tests/shared_memory/numbers.h"
#include "tests/shared_memory/thread_ranks.h"

using namespace accelerate;
using namespace accelerate::shared_memory;

namespace {

constexpr size_t kLeastInHeap = 32 * 1024;  // bytes from which on arrays in the heaps are not copied

/// The most by which one rounding to T changes a number, relative to it.
template <class T>
constexpr double kRounding = std::is_same_v<T, Float16>    ? 0x1p-11
                             : std::is_same_v<T, BFloat16> ? 0x1p-8
                             : std::is_same_v<T, float>    ? 0x1p-24
                             : std::is_same_v<T, double>   ? 0x1p-53
                                                           : 0;

/// The same of the type in which T is added up.
template <class T>
constexpr double kSumRounding = sizeof(T) == 2 && kRounding<T> > 0 ? 0x1p-24 : kRounding<T>;

template <class T>
std::vector<T> numbers_of(int rank, size_t count) {
  std::mt19937 random(static_cast<unsigned>(count) * 8 + rank);
  std::normal_distribution<float> normal;
  std::vector<T> numbers(count);
  for (auto& number : numbers) number = tests::from_double<T>(kRounding<T> > 0 ? normal(random) : random() % 50);
  return numbers;
}

/// Whether `result` is the reduction of what all ranks have at `index`, up to one rounding for each of them and one
/// where the result is stored. Integers have none, and wrap around.
template <class T>
bool is_close(T result, const std::vector<std::vector<T>>& numbers, size_t index, Reduction reduction) {
  double exact = tests::to_double(numbers[0][index]), magnitude = std::abs(exact);
  for (size_t rank = 1; rank < numbers.size(); ++rank) {
    const double next = tests::to_double(numbers[rank][index]);
    exact = tests::combine(reduction, exact, next);
    magnitude = reduction == Reduction::Product ? std::abs(exact) : magnitude + std::abs(next);
  }
  if constexpr (std::is_integral_v<T>) return result == static_cast<T>(static_cast<int64_t>(exact));
  const auto size = static_cast<double>(numbers.size());
  if (reduction == Reduction::Average) exact /= size, magnitude /= size;
  if (reduction == Reduction::Min || reduction == Reduction::Max) return tests::to_double(result) == exact;
  constexpr double kLeast = 0x1p-25;  // half of the smallest float16 there is
  const double bound = size * kSumRounding<T> * magnitude + kRounding<T> * std::abs(exact) + kLeast;
  return std::abs(tests::to_double(result) - exact) <= bound;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// One rank, and what it reduces.
template <class T>
struct RankOf {
  Channel& channel;
  Heap& heap;
  DataType type;

  std::vector<T> reduced(std::vector<T> numbers, Reduction reduction) {
    all_reduce(channel, array(numbers), reduction);
    return numbers;
  }

  std::vector<T> reduced_in_heap(std::vector<T> numbers, Reduction reduction) {
    auto place = array(numbers);
    const size_t offset = heap.allocate(place.bytes());
    place.data = heap.at(offset);
    std::memcpy(place.data, numbers.data(), place.bytes());
    all_reduce(channel, place, reduction, offset);
    std::memcpy(numbers.data(), place.data, place.bytes());
    barrier(channel);
    heap.free(offset);
    return numbers;
  }

  std::vector<T> of_first_rank(std::vector<T> numbers) {
    broadcast(channel, array(numbers), 0);
    return numbers;
  }

  Array array(std::vector<T>& numbers) const {
    return {reinterpret_cast<std::byte*>(numbers.data()), numbers.size(), type};
  }

  size_t num_wrong(const std::vector<T>& results, Reduction reduction) const {
    std::vector<std::vector<T>> numbers;
    for (int rank = 0; rank < channel.size(); ++rank) numbers.push_back(numbers_of<T>(rank, results.size()));
    size_t num_wrong = 0;
    for (size_t i = 0; i < results.size(); ++i) num_wrong += !is_close(results[i], numbers, i, reduction);
    return num_wrong;
  }

  void check(size_t count) {
    const auto own = numbers_of<T>(channel.rank(), count);
    for (auto reduction : {Reduction::Sum, Reduction::Average, Reduction::Product, Reduction::Min, Reduction::Max}) {
      if (!can_reduce(type, reduction)) continue;
      INFO(std::string(name_of(type)), " ", std::string(name_of(reduction)), " of ", channel.size(), " x ", count);
      const auto results = reduced(own, reduction);
      if (channel.rank() == 0) CHECK(num_wrong(results, reduction) == 0);
      CHECK(same_bits(results, of_first_rank(results)));
      CHECK(same_bits(results, reduced(own, reduction)));
      CHECK(same_bits(results, reduced_in_heap(own, reduction)));
    }
  }
};

template <class T>
void check_type(Channel& channel, Heap& heap, DataType type) {
  std::mt19937 random(static_cast<unsigned>(type) * 8 + channel.size());  // the same on all ranks
  RankOf<T> rank{channel, heap, type};
  rank.check(random() % 1000 + 1);
  rank.check(kLeastInHeap / sizeof(T) + random() % 1000 + 1);
}

}  // namespace

TEST_CASE(
    "random numbers are reduced to within their rounding, to the same bits on all ranks, in every run and place") {
  for (int size = 1; size <= 8; ++size) {
    tests::LocalMemory memory(size);
    tests::run_channels(memory, [&](Channel& channel) {
      auto& heap = *memory.heap(channel.rank());
      check_type<uint8_t>(channel, heap, DataType::UInt8);
      check_type<uint16_t>(channel, heap, DataType::UInt16);
      check_type<uint32_t>(channel, heap, DataType::UInt32);
      check_type<uint64_t>(channel, heap, DataType::UInt64);
      check_type<int8_t>(channel, heap, DataType::Int8);
      check_type<int16_t>(channel, heap, DataType::Int16);
      check_type<int32_t>(channel, heap, DataType::Int32);
      check_type<int64_t>(channel, heap, DataType::Int64);
      check_type<Float16>(channel, heap, DataType::Float16);
      check_type<BFloat16>(channel, heap, DataType::BFloat16);
      check_type<float>(channel, heap, DataType::Float32);
      check_type<double>(channel, heap, DataType::Float64);
    });
  }
}
