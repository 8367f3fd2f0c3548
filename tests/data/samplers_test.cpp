// Shuffled orders, compared with Python's.

#include "accelerate/data/samplers.h"

#include <doctest/doctest.h>

#include "tests/data/loader_checks.h"

namespace {

using namespace accelerate;
using namespace accelerate::tests;
using Orders = std::vector<std::vector<int64_t>>;

const nlohmann::json& reference() {
  static const auto cases = parity_reference("shuffle");
  return cases;
}

int64_t next_draw() { return torch::randint(int64_t{1} << 31, {}, torch::kLong).item<int64_t>(); }

Orders orders(data::Sampler& sampler, int count) {
  Orders epochs;
  for (int i = 0; i < count; ++i) {
    auto& epoch = epochs.emplace_back();
    auto indices = sampler.begin();
    while (auto index = indices()) epoch.push_back(*index);
  }
  return epochs;
}

}  // namespace

TEST_CASE("a shuffled loader gives Python's orders over three epochs, and draws as many numbers") {
  for (const auto& c : reference().at("plain")) {
    for (int num_workers : {0, 2}) {
      CAPTURE(c.dump());
      const uint64_t seed = c.at("seed");
      torch::manual_seed(seed);
      at::Generator generator;
      if (c.at("generator").get<bool>()) generator = at::detail::createCPUGenerator(seed + 1);
      DataLoader loader(numbers(c.at("n")),
                        {.batch_size = 2, .shuffle = true, .num_workers = num_workers, .generator = generator});
      CHECK(walks(loader, 3) == c.at("epochs").get<std::vector<Batches>>());
      CHECK(next_draw() == c.at("next_draw").get<int64_t>());
    }
  }
}

TEST_CASE("an epoch that follows one left early has Python's order") {
  for (const auto& c : reference().at("left_early")) {
    CAPTURE(c.dump());
    DataLoader loader(
        numbers(c.at("n")),
        {.batch_size = 2, .shuffle = true, .generator = at::detail::createCPUGenerator(c.at("seed").get<uint64_t>())});
    int index = 0;
    for ([[maybe_unused]] auto& batch : loader) {
      if (index++ == 1) break;
    }
    CHECK(walks(loader, 1) == c.at("epochs").get<std::vector<Batches>>());
  }
}

TEST_CASE("a random sampler draws with replacement, fewer or more samples as Python's does") {
  for (const char* kind : {"replacement", "fewer_or_more"}) {
    for (const auto& c : reference().at(kind)) {
      CAPTURE(c.dump());
      torch::manual_seed(c.at("seed").get<uint64_t>());
      RandomSampler sampler(c.at("n"), {.replacement = kind == std::string("replacement"),
                                        .num_samples = c.at("num_samples").get<int64_t>()});
      CHECK(orders(sampler, 3) == c.at("epochs").get<Orders>());
    }
  }
}

TEST_CASE("a seedable sampler gives Python's orders, and set_epoch gives any of them again") {
  for (const auto& c : reference().at("seedable")) {
    CAPTURE(c.dump());
    SeedableRandomSampler sampler(c.at("n"), c.at("seed"));
    const auto expected = c.at("epochs").get<Orders>();
    CHECK(orders(sampler, 3) == expected);
    sampler.set_epoch(1);
    CHECK(orders(sampler, 1).front() == expected[1]);
  }
}

TEST_CASE("a prepared shuffle gives every rank Python's order, and draws as many numbers") {
  for (const auto& c : reference().at("prepared")) {
    CAPTURE(c.dump());
    const int world_size = c.at("num_processes");
    for (int rank = 0; rank < world_size; ++rank) {
      torch::manual_seed(c.at("seed").get<uint64_t>());
      auto loader = prepare_data_loader(DataLoader(numbers(c.at("n")), {.batch_size = 2, .shuffle = true}),
                                        {.configuration = {.use_seedable_sampler = c.at("seedable")},
                                         .num_processes = world_size,
                                         .process_index = rank});
      CHECK(walks(loader, 3) == c.at("ranks").at(rank).get<std::vector<Batches>>());
      CHECK(next_draw() == c.at("next_draw").at(rank).get<int64_t>());
    }
  }
}

TEST_CASE("a random sampler of an empty data set gives nothing, and refuses to draw from it") {
  RandomSampler sampler(0);
  CHECK(orders(sampler, 2) == Orders{{}, {}});
  CHECK_THROWS_WITH_AS(RandomSampler(0, {.num_samples = 3}), doctest::Contains("3 samples from a data set of 0"),
                       Error);
}

TEST_CASE("the seed of a sample depends on base seed, epoch and index, and on nothing else") {
  CHECK(sample_seed(1, 2, 3) == sample_seed(1, 2, 3));
  CHECK(sample_seed(1, 2, 3) != sample_seed(1, 3, 2));
  CHECK(sample_seed(1, 2, 3) != sample_seed(2, 2, 3));
  CHECK(sample_seed(0, 0, 0) != sample_seed(0, 0, 1));
}
