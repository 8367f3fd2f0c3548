#include "accelerate/data/shard.h"

#include <doctest/doctest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"

namespace {

using namespace accelerate::data;
using nlohmann::json;

const json& reference() {
  static const json cases = json::parse(std::ifstream(ACCELERATE_SOURCE_DIR "/tests/parity/sharding/reference.json"));
  return cases;
}

BatchStream stream_of(std::vector<Indices> batches) {
  return [batches = std::move(batches), next = size_t{0}]() mutable -> std::optional<Indices> {
    if (next == batches.size()) return std::nullopt;
    return batches[next++];
  };
}

std::vector<Indices> all_batches(int64_t num_samples, int64_t batch_size, bool drop_last) {
  std::vector<Indices> batches;
  for (int64_t i = 0; i < num_samples; ++i) {
    if (i % batch_size == 0) batches.emplace_back();
    batches.back().push_back(i);
  }
  if (drop_last && num_samples % batch_size != 0) batches.pop_back();
  return batches;
}

std::vector<Indices> shard_of(const std::vector<Indices>& batches, const ShardOptions& options) {
  BatchShard shard(stream_of(batches), options);
  std::vector<Indices> mine;
  while (auto batch = shard.next()) mine.push_back(*batch);
  CHECK(!shard.next());
  return mine;
}

Stream<int64_t> count_to(int64_t end) {
  return [next = int64_t{0}, end]() mutable -> std::optional<int64_t> {
    if (next == end) return std::nullopt;
    return next++;
  };
}

std::vector<int64_t> samples_of(int64_t num_samples, const IterableShardOptions& options) {
  IterableShard<int64_t> shard(count_to(num_samples), options);
  std::vector<int64_t> mine;
  while (auto part = shard.next()) {
    CHECK(static_cast<int64_t>(part->size()) == options.part_size());
    mine.insert(mine.end(), part->begin(), part->end());
  }
  return mine;
}

}  // namespace

TEST_CASE("each rank reads the batches that Python's Accelerate gives it, in all 1,792 cases") {
  const auto& cases = reference().at("batch_sampler_shard");
  REQUIRE(cases.size() == 1792);
  for (const auto& c : cases) {
    CAPTURE(c.dump());
    const int64_t batch_size = c.at("batch_size");
    const bool drop_last = c.at("drop_last");
    const auto batches = all_batches(c.at("n"), batch_size, drop_last);
    const int world_size = c.at("num_processes");
    for (int rank = 0; rank < world_size; ++rank) {
      const ShardOptions options{.rank = rank,
                                 .world_size = world_size,
                                 .batch_size = batch_size,
                                 .drop_last = drop_last,
                                 .split_batches = c.at("split_batches"),
                                 .even_batches = c.at("even_batches")};
      if (c.contains("error")) {
        CHECK_THROWS_AS(BatchShard(stream_of(batches), options), accelerate::Error);
        continue;
      }
      CHECK(shard_of(batches, options) == c.at("batches").at(rank).get<std::vector<Indices>>());
      CHECK(shard_length(static_cast<int64_t>(batches.size()), options) == c.at("len").at(rank).get<int64_t>());
    }
  }
}

TEST_CASE("batches of varying sizes are dealt out whole, and evened out with whole batches from the start") {
  for (const auto& c : reference().at("varying_batch_shard")) {
    CAPTURE(c.dump());
    const auto batches = c.at("all_batches").get<std::vector<Indices>>();
    const int world_size = c.at("num_processes");
    for (int rank = 0; rank < world_size; ++rank) {
      const ShardOptions options{
          .rank = rank, .world_size = world_size, .batch_size = {}, .even_batches = c.at("even_batches")};
      CHECK(shard_of(batches, options) == c.at("batches").at(rank).get<std::vector<Indices>>());
      CHECK(shard_length(static_cast<int64_t>(batches.size()), options) == c.at("len").at(rank).get<int64_t>());
    }
  }
}

TEST_CASE("each rank keeps the samples of an iterable data set that Python's Accelerate gives it, in all 504 cases") {
  const auto& cases = reference().at("iterable_dataset_shard");
  REQUIRE(cases.size() == 504);
  for (const auto& c : cases) {
    CAPTURE(c.dump());
    const int world_size = c.at("num_processes");
    for (int rank = 0; rank < world_size; ++rank) {
      const IterableShardOptions options{.rank = rank,
                                         .world_size = world_size,
                                         .batch_size = c.at("batch_size"),
                                         .drop_last = c.at("drop_last"),
                                         .split_batches = c.at("split_batches")};
      if (c.contains("error")) continue;  // refused when the loader is prepared
      const auto samples = samples_of(c.at("n"), options);
      CHECK(samples == c.at("samples").at(rank).get<std::vector<int64_t>>());
      const int64_t length = iterable_shard_length(c.at("n"), options) * options.part_size();
      CHECK(length == static_cast<int64_t>(samples.size()));
      // Upstream computes a wrong length for split batches; ours is that of the samples.
      if (!options.split_batches) CHECK(length == c.at("len").at(rank).get<int64_t>());
    }
  }
}

TEST_CASE("the last round's size counts every sample once, however many were repeated") {
  for (int64_t num_samples = 1; num_samples < 30; ++num_samples) {
    for (bool split : {false, true}) {
      BatchShard shard(stream_of(all_batches(num_samples, 4, false)),
                       {.rank = 1, .world_size = 2, .batch_size = 4, .split_batches = split});
      while (shard.next()) continue;
      const int64_t round = split ? 4 : 8;
      CHECK(shard.last_round_size() == (num_samples - 1) % round + 1);

      IterableShard<int64_t> stream(count_to(num_samples),
                                    {.rank = 1, .world_size = 2, .batch_size = 4, .split_batches = split});
      while (stream.next()) continue;
      CHECK(stream.last_round_size() == (num_samples - 1) % round + 1);
    }
  }
}

TEST_CASE("a shard reads no further than the round it gives") {
  int64_t num_read = 0;
  BatchShard shard([&]() -> std::optional<Indices> { return Indices{num_read++}; },
                   {.rank = 0, .world_size = 4, .batch_size = 1});
  shard.next();
  CHECK(num_read == 4);
  shard.next();
  CHECK(num_read == 8);
}

TEST_CASE("a batch that ranks cannot share equally is refused with both numbers") {
  CHECK_THROWS_WITH_AS(BatchShard(stream_of({}), {.world_size = 2, .batch_size = 3, .split_batches = true}),
                       doctest::Contains("batch of 3 samples cannot be divided equally among 2 ranks"),
                       accelerate::Error);
  CHECK_THROWS_WITH_AS(BatchShard(stream_of({}), {.world_size = 2, .batch_size = {}, .split_batches = true}),
                       doctest::Contains("batches of one size"), accelerate::Error);
}
