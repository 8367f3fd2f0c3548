#include "accelerate/shared_memory/collectives.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "tests/shared_memory/thread_ranks.h"

using namespace accelerate;
using namespace accelerate::shared_memory;

namespace {

constexpr int64_t kStageElements = kStageBytes / sizeof(int64_t);

/// What `rank` has at `index` for `peer`; different everywhere.
int64_t value(int rank, int peer, int64_t index) { return index * 1000 + rank * 30 + peer; }

std::vector<int64_t> values(int rank, int peer, int64_t count) {
  std::vector<int64_t> result(count);
  for (int64_t i = 0; i < count; ++i) result[i] = value(rank, peer, i);
  return result;
}

/// The sum over all ranks of what they have for `peer`.
std::vector<int64_t> sums(int size, int peer, int64_t count) {
  std::vector<int64_t> result(count);
  for (int rank = 0; rank < size; ++rank) {
    for (int64_t i = 0; i < count; ++i) result[i] += value(rank, peer, i);
  }
  return result;
}

Array array(std::vector<int64_t>& numbers) {
  return {reinterpret_cast<std::byte*>(numbers.data()), numbers.size(), DataType::Int64};
}

/// For each peer, what this rank has for it, and the pointers to that.
struct PerPeer {
  PerPeer(int size, int rank, int64_t count) {
    for (int peer = 0; peer < size; ++peer) numbers.push_back(values(rank, peer, count));
  }
  PerPeer(int size, int64_t count) : numbers(size, std::vector<int64_t>(count, -1)) {}

  Arrays pointers() {
    Arrays result;
    for (auto& part : numbers) result.push_back(reinterpret_cast<std::byte*>(part.data()));
    return result;
  }

  std::vector<std::vector<int64_t>> numbers;
};

void check_all(Channel& channel, int64_t count) {
  int rank = channel.rank();
  int size = channel.size();
  int root = static_cast<int>(count) % size;
  barrier(channel);

  auto mine = values(rank, 0, count);
  broadcast(channel, array(mine), root);
  CHECK((mine == values(root, 0, count)));

  mine = values(rank, 0, count);
  all_reduce(channel, array(mine), Reduction::Sum);
  CHECK((mine == sums(size, 0, count)));

  mine = values(rank, 0, count);
  reduce(channel, array(mine), Reduction::Sum, root);
  CHECK((mine == (rank == root ? sums(size, 0, count) : values(rank, 0, count))));

  PerPeer inputs(size, rank, count);
  std::vector<int64_t> output(count, -1);
  reduce_scatter(channel, inputs.pointers(), array(output), Reduction::Sum);
  CHECK((output == sums(size, rank, count)));

  scatter(channel, rank == root ? inputs.pointers() : Arrays{}, array(output), root);
  CHECK((output == values(root, rank, count)));

  PerPeer outputs(size, count);
  mine = values(rank, 7, count);
  all_gather(channel, array(mine), outputs.pointers());
  for (int from = 0; from < size; ++from) CHECK((outputs.numbers[from] == values(from, 7, count)));

  PerPeer gathered(size, count);
  gather(channel, array(mine), rank == root ? gathered.pointers() : Arrays{}, root);
  if (rank == root) CHECK((gathered.numbers == outputs.numbers));
}

}  // namespace

TEST_CASE("every collective gives every rank its values, for any number of ranks and elements") {
  for (int size : {1, 2, 3, 5, 8}) {
    tests::LocalMemory memory(size);
    tests::run_channels(memory, [&](Channel& channel) {
      for (int64_t count : {int64_t{0}, int64_t{1}, int64_t{3}, int64_t{1000}}) check_all(channel, count);
      if (size > 3) return;
      for (int64_t count : {kStageElements, kStageElements + 1, 2 * kStageElements - 1}) check_all(channel, count);
    });
  }
}

TEST_CASE("what comes in between gets every element once, and its changes reach all ranks") {
  for (int size : {1, 2, 3}) {
    tests::LocalMemory memory(size);
    tests::run_channels(memory, [&](Channel& channel) {
      for (int64_t count : {0, 1, 7, 8, 1000, 100'001}) {
        int rank = channel.rank();
        auto& heap = *memory.heap(rank);
        size_t offset = heap.allocate(count * sizeof(int64_t));
        auto numbers = values(rank, 0, count);
        Array place = array(numbers);
        if (count > 0) std::memcpy(heap.at(offset), numbers.data(), count * sizeof(int64_t));
        place.data = heap.at(offset);
        all_reduce(channel, place, Reduction::Sum, offset, [](const Array& share) {
          auto* begin = reinterpret_cast<int64_t*>(share.data);
          for (size_t i = 0; i < share.count; ++i) begin[i] *= -2;
        });
        auto expected = sums(size, 0, count);
        for (auto& number : expected) number *= -2;
        if (count > 0) std::memcpy(numbers.data(), heap.at(offset), count * sizeof(int64_t));
        CHECK(numbers == expected);
        barrier(channel);
        heap.free(offset);
      }
    });
  }
}

TEST_CASE("arrays in the heaps are reduced where they lie, and others when only some lie there") {
  for (int size : {2, 3, 8}) {
    tests::LocalMemory memory(size);
    tests::run_channels(memory, [&](Channel& channel) {
      int rank = channel.rank();
      for (int64_t count : {int64_t{1}, int64_t{4096}, int64_t{4097}, kStageElements + 5}) {
        for (bool everywhere : {true, false}) {
          auto& heap = *memory.heap(rank);
          // Different offsets on each rank.
          size_t unused = heap.allocate(1 + 10'000 * rank);
          size_t offset = heap.allocate(count * sizeof(int64_t));
          auto numbers = values(rank, 0, count);
          std::memcpy(heap.at(offset), numbers.data(), count * sizeof(int64_t));
          bool in_heap = everywhere || rank == 0;
          Array place = array(numbers);
          if (in_heap) place.data = heap.at(offset);
          all_reduce(channel, place, Reduction::Sum, in_heap ? std::optional(offset) : std::nullopt);
          auto expected = sums(size, 0, count);
          CHECK(std::memcmp(place.data, expected.data(), count * sizeof(int64_t)) == 0);
          barrier(channel);
          heap.free(offset);
          heap.free(unused);
        }
      }
      CHECK(memory.heap(rank)->used_bytes() == 0);
    });
  }
}

TEST_CASE("a sum of squares is the same number on all ranks, or there is none where one has not asked") {
  for (int size : {1, 2, 3}) {
    tests::LocalMemory memory(size);
    tests::run_channels(memory, [&](Channel& channel) {
      int rank = channel.rank();
      auto& heap = *memory.heap(rank);
      for (size_t count : {size_t{0}, size_t{1}, size_t{20'001}, kStageBytes / sizeof(float) + 3}) {
        for (bool in_heap : {true, false}) {
          std::vector<float> own(count);
          size_t offset = heap.allocate(count * sizeof(float));
          auto* values = in_heap ? reinterpret_cast<float*>(heap.at(offset)) : own.data();
          for (size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i * (rank + 1)));
          Array place{reinterpret_cast<std::byte*>(values), count, DataType::Float32};
          auto where = in_heap ? std::optional(offset) : std::nullopt;
          auto squares = all_reduce(channel, place, Reduction::Sum, where, /*with_squares=*/true);
          REQUIRE(squares);
          double expected = 0;
          for (size_t i = 0; i < count; ++i) expected += static_cast<double>(values[i]) * values[i];
          CHECK(*squares == doctest::Approx(expected).epsilon(1e-12));
          int64_t bits = std::bit_cast<int64_t>(*squares);
          std::vector<int64_t> lowest{bits}, highest{bits};
          all_reduce(channel, array(lowest), Reduction::Min);
          all_reduce(channel, array(highest), Reduction::Max);
          CHECK(lowest == highest);
          bool in_place = in_heap && count > 20'000;
          squares = all_reduce(channel, place, Reduction::Sum, where, /*with_squares=*/rank != 0);
          CHECK(squares.has_value() == (!in_place && rank != 0));
          barrier(channel);
          heap.free(offset);
        }
      }
    });
  }
}

TEST_CASE("arrays of more than 2 GiB are moved and reduced, in the heaps and outside") {
  // Takes 9 GB of memory, and more than 20 GB with a sanitizer's shadow memory; the sizes around the stages are in the
  // tests above.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr bool kFits = false;
#else
  constexpr bool kFits = true;
#endif
  const bool full = kFits && std::getenv("ACCELERATE_TEST_FULL");
  const size_t count = full ? (size_t{1} << 31) + 100'003 : 1'000'003;
  const auto number = [](int rank, size_t index) { return static_cast<uint8_t>(index % 127 + rank); };
  tests::LocalMemory memory(2, count + (size_t{64} << 20));
  tests::run_channels(memory, [&](Channel& channel) {
    int rank = channel.rank();
    auto& heap = *memory.heap(rank);
    size_t offset = heap.allocate(count);
    auto* shared = reinterpret_cast<uint8_t*>(heap.at(offset));
    std::vector<uint8_t> own(count);
    const auto fill = [&](uint8_t* values) {
      for (size_t i = 0; i < count; ++i) values[i] = number(rank, i);
    };
    const auto num_wrong = [&](const uint8_t* values, auto expected) {
      size_t wrong = 0;
      for (size_t i = 0; i < count; ++i) wrong += values[i] != expected(i);
      return wrong;
    };
    const auto sum = [&](size_t i) { return static_cast<uint8_t>(number(0, i) + number(1, i)); };
    const auto as_array = [&](uint8_t* values) {
      return Array{reinterpret_cast<std::byte*>(values), count, DataType::UInt8};
    };
    fill(shared);
    all_reduce(channel, as_array(shared), Reduction::Sum, offset);
    CHECK(num_wrong(shared, sum) == 0);
    fill(own.data());
    all_reduce(channel, as_array(own.data()), Reduction::Sum);
    CHECK(num_wrong(own.data(), sum) == 0);
    fill(own.data());
    broadcast(channel, as_array(own.data()), 1);
    CHECK(num_wrong(own.data(), [&](size_t i) { return number(1, i); }) == 0);
    // Halves of an array, which make the whole of another.
    fill(own.data());
    Array half = as_array(own.data());
    half.count = count / 2;
    auto* whole = reinterpret_cast<std::byte*>(shared);
    all_gather(channel, half, {whole, whole + half.count});
    CHECK(num_wrong(shared, [&](size_t i) {
            return i < 2 * half.count ? number(i < half.count ? 0 : 1, i % half.count) : sum(i);
          }) == 0);
    barrier(channel);
    heap.free(offset);
  });
}

TEST_CASE("alltoall takes any split, and a split that does not fit is an error on every rank") {
  for (int size : {1, 2, 4}) {
    tests::LocalMemory memory(size);
    tests::run_channels(memory, [&](Channel& channel) {
      int rank = channel.rank();
      // Rank `from` sends `from * 50'000 + to` numbers to rank `to`: none from 0 to 0, and more than a stage holds.
      auto count = [](int from, int to) { return int64_t{from} * 50'000 + to; };
      std::vector<std::vector<int64_t>> given, taken;
      std::vector<Array> inputs, outputs;
      for (int peer = 0; peer < size; ++peer) {
        given.push_back(values(rank, peer, count(rank, peer)));
        taken.emplace_back(count(peer, rank), -1);
      }
      for (int peer = 0; peer < size; ++peer) {
        inputs.push_back(array(given[peer]));
        outputs.push_back(array(taken[peer]));
      }
      all_to_all(channel, inputs, outputs);
      for (int peer = 0; peer < size; ++peer) CHECK((taken[peer] == values(peer, rank, count(peer, rank))));

      if (size == 1) return;
      if (rank == 0) outputs[1].count -= 1;
      CHECK_THROWS_WITH_AS(all_to_all(channel, inputs, outputs),
                           doctest::Contains("rank 1 sends 400000 bytes to rank 0"), Error);
      barrier(channel);
    });
  }
}

TEST_CASE("a reduction that a type does not have, and a rank that is not there, are refused") {
  tests::LocalMemory memory(1);
  tests::run_channels(memory, [](Channel& channel) {
    std::vector<int64_t> numbers(3);
    CHECK_THROWS_WITH_AS(all_reduce(channel, array(numbers), Reduction::Average),
                         doctest::Contains("int64 have no reduction 'average'"), Error);
    CHECK_THROWS_WITH_AS(broadcast(channel, array(numbers), 1), doctest::Contains("no rank 1 in a group of 1"), Error);
  });
}
