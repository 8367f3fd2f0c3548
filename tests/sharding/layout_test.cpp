#include "accelerate/sharding/layout.h"

#include <doctest/doctest.h>

using namespace accelerate;
using namespace accelerate::sharding;

TEST_CASE("shards partition a tensor and begin at multiples of 64") {
  for (int64_t num_elements : {0, 1, 63, 64, 65, 128, 1000, 4096, 90'001}) {
    for (int size : {1, 2, 3, 4, 7}) {
      CAPTURE(num_elements);
      CAPTURE(size);
      int64_t end = 0;
      for (int rank = 0; rank < size; ++rank) {
        const auto shard = shard_of(num_elements, rank, size);
        CHECK(shard.begin == end);
        CHECK((shard.length == 0 || shard.begin % 64 == 0));
        CHECK(shard.length <= shard_of(num_elements, 0, size).length);
        end = shard.end();
      }
      CHECK(end == num_elements);
      CHECK(shard_of(num_elements, 0, size).length <= num_elements / size + 127);
      CHECK(layout_of(num_elements, 4, size) == ShardLayout{num_elements, shard_of(num_elements, 0, size).length, 4});
    }
  }
}

TEST_CASE("the rounds of a plan cover all shards, in slices that fit") {
  const auto plan = plan_rounds({{400, 100, 4}, {0, 0, 4}, {64, 64, 8}, {1999, 1000, 2}}, 1024);
  std::vector<int64_t> done(plan.tensors.size(), 0);
  for (const auto& round : plan.rounds) {
    CHECK_FALSE(round.empty());
    int64_t bytes = 0;
    for (const auto& slice : round) {
      CHECK(slice.begin == done[slice.tensor]);
      CHECK(slice.begin % 64 == 0);
      CHECK(slice.length > 0);
      done[slice.tensor] += slice.length;
      bytes += slice.length * plan.tensors[slice.tensor].element_bytes;
    }
    CHECK(bytes <= 1024);
  }
  for (size_t i = 0; i < done.size(); ++i) CHECK(done[i] == plan.tensors[i].shard_length);
}

TEST_CASE("small shards go in one round, and a round holds at least 64 elements") {
  using Rounds = std::vector<std::vector<Slice>>;
  CHECK((plan_rounds({{10, 10, 4}, {20, 20, 4}}, 1024).rounds == Rounds{{{0, 0, 10}, {1, 0, 20}}}));
  CHECK((plan_rounds({{70, 70, 8}}, 8).rounds == Rounds{{{0, 0, 64}}, {{0, 64, 6}}}));
  CHECK(plan_rounds({}, 1024).rounds.empty());
  CHECK((plan_one_round({{70, 64, 8}, {5, 5, 4}}).rounds == Rounds{{{0, 0, 64}, {1, 0, 5}}}));
}

TEST_CASE("the slices of all ranks cover each element once") {
  for (int64_t num_elements : {0, 1, 64, 200, 4097}) {
    for (int size : {1, 2, 3, 7}) {
      CAPTURE(num_elements);
      CAPTURE(size);
      const auto plan = plan_rounds({layout_of(num_elements, 4, size), layout_of(100, 8, size)}, 512);
      std::vector<std::vector<int>> times = {std::vector<int>(num_elements), std::vector<int>(100)};
      for (size_t round = 0; round < plan.rounds.size(); ++round) {
        for (int rank = 0; rank < size; ++rank) {
          for (const auto& slice : slices_of_rank(plan, round, rank)) {
            CHECK(slice.length > 0);
            for (int64_t i = slice.begin; i < slice.end(); ++i) ++times[slice.tensor].at(i);
          }
        }
      }
      CHECK(times == std::vector<std::vector<int>>{std::vector<int>(num_elements, 1), std::vector<int>(100, 1)});
    }
  }
}
