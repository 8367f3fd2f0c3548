#include <doctest/doctest.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "accelerate/base/environment.h"
#include "accelerate/base/log.h"
#include "accelerate/comm/operations.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/comm/random.h"
#include "accelerate/process/lost_peer.h"
#include "tests/support/failure_of.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

using namespace accelerate;
using namespace accelerate::comm;

namespace {

double seconds_of(const std::function<void()>& body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("with one process every collective is the identity, and a scalar is one row") {
  Group group;
  auto tensor = torch::arange(3);
  CHECK(gather(tensor, group).is_same(tensor));
  CHECK(gather(torch::tensor(1.0), group).sizes() == torch::IntArrayRef{1});
  CHECK(torch::equal(reduce(tensor, group, "sum"), tensor));
  CHECK(gather_object(std::vector<std::string>{"a"}, group) == std::vector<std::string>{"a"});
  CHECK(group.broadcast_bytes("x") == "x");
  group.barrier();
}

TEST_CASE("gather joins the ranks' rows in order, uneven ones and transposed ones too") {
  for (int world : {2, 3, 4}) {
    tests::run_ranks(world, [world](Group& group) {
      auto rank = group.rank();
      CHECK(torch::equal(gather(torch::arange(2) + 2 * rank, group), torch::arange(2 * world)));
      CHECK(gather(torch::full({rank + 1, 3}, rank), group).size(0) == world * (world + 1) / 2);
      CHECK(gather(torch::zeros({rank, 2}), group).size(0) == world * (world - 1) / 2);
      CHECK(gather(torch::tensor(static_cast<float>(rank)), group).size(0) == world);
      auto transposed = torch::arange(12).reshape({4, 3}).t();
      CHECK(torch::equal(gather(transposed, group).slice(0, 3 * rank, 3 * rank + 3), transposed));
      auto nest = gather(std::pair(torch::ones({1}), Batch{{"y", torch::full({1, 2}, rank)}}), group);
      CHECK(nest.second.at("y").size(0) == world);
      std::map<std::string, std::vector<std::string>> texts{{"names", {std::to_string(rank)}}};
      auto named = gather(std::tuple(torch::ones({1}), texts, std::vector<bool>(rank, true), rank), group);
      CHECK(std::get<1>(named).at("names").size() == world);
      CHECK(std::get<1>(named).at("names").at(world - 1) == std::to_string(world - 1));
      CHECK(std::get<2>(named).size() == world * (world - 1) / 2);
      CHECK(std::get<3>(named) == rank);
      CHECK(gather(torch::ones({2}, torch::kBool), group).sum().item<int64_t>() == 2 * world);
      CHECK((gather(torch::ones({2}, torch::kBFloat16), group).scalar_type() == torch::kBFloat16));
    });
  }
}

TEST_CASE("reduce sums, averages, takes the maximum or does nothing, and never changes its argument") {
  tests::run_ranks(2, [](Group& group) {
    auto tensor = torch::tensor({1.0, 2.0}) + 2.0 * group.rank();
    CHECK(torch::equal(reduce(tensor, group, "sum"), torch::tensor({4.0, 6.0})));
    CHECK(torch::equal(reduce(tensor, group), torch::tensor({2.0, 3.0})));
    CHECK(torch::equal(reduce(tensor, group, "max"), torch::tensor({3.0, 4.0})));
    CHECK(reduce(tensor, group, "none").is_same(tensor));
    CHECK(torch::equal(reduce(tensor, group, "sum", 0.5), torch::tensor({2.0, 3.0})));
    CHECK(tensor[0].item<double>() == 1.0 + 2.0 * group.rank());
    CHECK_THROWS_WITH_AS(reduce(torch::ones({1}, torch::kLong), group, "mean"), doctest::Contains("has no mean"),
                         Error);
    CHECK_THROWS_WITH_AS(reduce(tensor, group, "median"), doctest::Contains("'median'"), Error);
  });
}

TEST_CASE("broadcast and objects take one rank's values everywhere") {
  tests::run_ranks(3, [](Group& group) {
    auto tensor = torch::full({2}, group.rank());
    CHECK(torch::equal(broadcast(tensor, group, 2), torch::full({2}, 2)));
    std::vector<std::string> list{"from " + std::to_string(group.rank())};
    broadcast_object_list(list, group, 1);
    CHECK(list == std::vector<std::string>{"from 1"});
    std::vector<std::string> mine(group.rank(), std::to_string(group.rank()));
    CHECK(gather_object(mine, group) == std::vector<std::string>{"1", "2", "2"});
    CHECK_THROWS_WITH_AS(broadcast(tensor, group, 3), doctest::Contains("no rank 3"), Error);
  });
}

TEST_CASE("pad_across_processes fills up to the longest, before or after the data") {
  tests::run_ranks(2, [](Group& group) {
    auto tensor = torch::ones({group.rank() + 1, 2});
    CHECK(pad_across_processes(tensor, group).size(0) == 2);
    auto first = pad_across_processes(tensor, group, {.pad_index = -1, .pad_first = true});
    CHECK(first[0][0].item<float>() == (group.rank() == 0 ? -1 : 1));
    auto last = pad_across_processes(tensor.t().contiguous(), group, {.dim = -1, .pad_index = 7});
    CHECK(last[0][1].item<float>() == (group.rank() == 0 ? 7 : 1));
    CHECK(pad_across_processes(tensor, group, {.dim = 5}).is_same(tensor));
  });
}

TEST_CASE("a gather of shapes or types that do not fit is an error on every rank, debug mode or not") {
  tests::run_ranks(2, [](Group& group) {
    auto seconds = seconds_of([&] {
      CHECK_THROWS_WITH_AS(gather(torch::ones({1, group.rank() + 1}), group),
                           doctest::Contains("Process 1: gather Float [1, 2]"), Error);
    });
    CHECK(seconds < 1.0);
    auto type = group.rank() == 0 ? torch::kLong : torch::kFloat;
    CHECK_THROWS_WITH_AS(gather(torch::ones({1}, type), group), doctest::Contains("Process 0: gather Long [1]"), Error);
    CHECK(gather(torch::ones({1}), group).size(0) == 2);  // the group goes on
  });
}

TEST_CASE("debug mode turns a mismatch of shape, type, operation or order into an error on every rank") {
  PatchEnvironment debug{{"ACCELERATE_DEBUG_MODE", "1"}};
  tests::run_ranks(2, [](Group& group) {
    CHECK(group.debug());
    auto mismatch = [&](const std::function<void()>& body) {
      CHECK(seconds_of([&] { CHECK_THROWS_WITH_AS(body(), doctest::Contains("Process 1: "), Error); }) < 1.0);
    };
    mismatch([&] { reduce(torch::ones({group.rank() + 1}), group); });
    mismatch([&] { broadcast(torch::ones({group.rank() + 1}), group); });
    mismatch([&] { reduce(torch::ones({1}, group.rank() ? torch::kLong : torch::kFloat), group, "sum"); });
    mismatch([&] { group.rank() ? group.barrier() : (void)gather(torch::ones({1}), group); });
    mismatch([&] {
      if (group.rank())
        gather_object(std::vector<int>{1}, group);
      else
        reduce(torch::ones({1}), group);
    });
    CHECK(torch::equal(reduce(torch::ones({1}), group, "sum"), torch::full({1}, 2.0)));
  });
}

TEST_CASE("a rank that does not come is named when the time is up") {
  tests::run_ranks(2, [](Group& everyone) {
    PartialState::reset();
    PartialState state({.timeout = std::chrono::seconds(2)});
    if (everyone.rank() == 0) {
      CHECK_THROWS_WITH_AS(state.group().barrier("the end of the epoch"),
                           doctest::Contains(" s; these ranks did not take part: 1 (pid "), Error);
    }
    everyone.barrier();
  });
}

TEST_CASE("a seed does not join the job, so that options may follow; options that come too late are refused") {
  tests::run_ranks(2, [](Group& everyone) {
    PartialState::reset();
    set_seed(42, {.device_specific = true});
    CHECK_FALSE(PartialState::initialized());
    const auto drawn = torch::rand({1});
    PartialState state({.timeout = std::chrono::seconds(20), .backend = "gloo"});
    const auto all = gather(drawn, state.group());
    CHECK(all[0].item<float>() != all[1].item<float>());
    CHECK(state.backend() == "gloo");

    PartialState plain, same({.timeout = std::chrono::seconds(20), .backend = "gloo"}), any({.backend = "auto"});
    CHECK_THROWS_WITH_AS(PartialState({.timeout = std::chrono::seconds(9)}),
                         doctest::Contains("the timeout is 9000 ms, but this process already joined its job with one "
                                           "of 20000 ms; give it to the first"),
                         Error);
    CHECK_THROWS_WITH_AS(PartialState({.backend = "shm"}), doctest::Contains("already joined its job with gloo"),
                         Error);
    everyone.barrier();
  });
}

TEST_CASE("after the end of a job its processes speak as the ranks they were") {
  tests::run_ranks(2, [](Group& group) {
    PartialState::reset();
    CHECK(log_context().rank == group.rank());
    CHECK(log_context().world_size == 2);
    CHECK_FALSE(log_context().barrier);
  });
}

TEST_CASE("the device may be named by a variable, which has to be one of libtorch's") {
  PatchEnvironment alone{{"RANK"}, {"WORLD_SIZE"}};
  PartialState::reset();
  for (auto [name, reason] : {std::pair("warp", "'warp'; it must be a libtorch device"), {"cpu:x", "'cpu:x'"}}) {
    PatchEnvironment device{{"ACCELERATE_TORCH_DEVICE", name}};
    CHECK_THROWS_WITH_AS(PartialState(), doctest::Contains(reason), Error);
  }
  {
    PatchEnvironment device{{"ACCELERATE_TORCH_DEVICE", "meta"}};
    CHECK(PartialState().device() == at::Device("meta"));
    PartialState::reset();
  }
  PatchEnvironment device{{"ACCELERATE_TORCH_DEVICE", ""}};
  CHECK(PartialState().device().is_cpu());
  PartialState::reset();
}

TEST_CASE("seeds are equal or follow the rank, and generator states are copied from rank 0") {
  tests::run_ranks(2, [](Group& group) {
    set_seed(42);
    auto same = gather(torch::rand({1}), group);
    CHECK(same[0].item<float>() == same[1].item<float>());
    set_seed(42, {.device_specific = true});
    auto own = gather(torch::rand({1}), group);
    CHECK(own[0].item<float>() != own[1].item<float>());
    auto generator = at::make_generator<at::CPUGeneratorImpl>(group.rank() + 1);
    synchronize_rng_states({"torch", "generator"}, group, generator);
    auto state = generator.get_state();
    CHECK(torch::equal(broadcast(state.clone(), group), state));
    CHECK_THROWS_WITH_AS(synchronize_rng_states({"dice"}, group), doctest::Contains("'dice'"), Error);
  });
}

TEST_CASE("work is split in parts that differ by one, padded with the last item when asked") {
  for (int world : {1, 2, 3, 4}) {
    for (int64_t items : {0, 1, 3, 4, 5, 17}) {
      std::vector<int64_t> all(items), joined;
      for (int64_t i = 0; i < items; ++i) all[i] = i;
      for (int rank = 0; rank < world; ++rank) {
        auto part = split_between(all, rank, world, false);
        joined.insert(joined.end(), part.begin(), part.end());
        auto padded = split_between(all, rank, world, true);
        CHECK(padded.size() == static_cast<size_t>((items + world - 1) / world));
        CHECK(torch::equal(split_between(torch::arange(items), rank, world, true),
                           torch::tensor(padded, torch::kLong).reshape({-1})));
      }
      CHECK(joined == all);
    }
  }
  std::map<std::string, std::vector<int>> uneven{{"a", {1, 2}}, {"b", {1}}};
  CHECK_THROWS_WITH_AS(split_between(uneven, 0, 2, false), doctest::Contains("'b' has 1"), Error);
}

TEST_CASE("the state knows its place, lets the main process go first, and runs functions where they belong") {
  tests::run_ranks(2, [](Group& group) {
    PartialState state;
    CHECK(state.num_processes() == 2);
    CHECK(state.process_index() == group.rank());
    CHECK(state.local_process_index() == group.rank());
    CHECK((state.distributed_type() == DistributedType::MultiCpu));
    CHECK(state.is_last_process() == (group.rank() == 1));
    CHECK(state.describe().find("DistributedType.MULTI_CPU  Backend: shm\nNum processes: 2\n") != std::string::npos);

    auto path = std::string(ACCELERATE_BINARY_DIR) + "/first.txt";
    if (state.is_main_process()) std::remove(path.c_str());
    state.wait_for_everyone();
    {
      auto first = state.main_process_first();
      CHECK((access(path.c_str(), F_OK) == 0) == !state.is_main_process());
      if (state.is_main_process()) std::fclose(std::fopen(path.c_str(), "w"));
    }
    try {
      auto first = state.main_process_first();
      if (state.is_main_process()) throw std::runtime_error("on the main process only");
    } catch (const std::runtime_error&) {
    }
    state.wait_for_everyone();  // the others were let in

    int calls = 0;
    state.on_main_process([&] { ++calls; })();
    state.on_last_process([&] { ++calls; })();
    CHECK(calls == 1);
    auto result = state.on_process([](int x) { return x + 1; }, 1)(4);
    CHECK(result.has_value() == (group.rank() == 1));
  });
}

TEST_CASE("a state can be left and joined again") {
  tests::run_ranks(2, [](Group&) {
    PartialState::reset();
    CHECK_FALSE(PartialState::initialized());
    PartialState again;
    CHECK(gather(torch::ones({1}), again.group()).size(0) == 2);
  });
}

TEST_CASE("a tensor that cannot be sent is this rank's own failure, and no lost peer") {
  for (const char* backend : {"shm", "gloo"}) {
    PatchEnvironment variable{{"ACCELERATE_COMM", backend}};
    tests::run_ranks(2, [](Group& group) {
      if (group.rank() == 1) return;
      auto without_values = torch::empty({3}, torch::kMeta);
      const auto failure = tests::failure_of([&] { group.all_reduce(without_values); });
      CHECK_FALSE(failure.empty());
      CHECK_MESSAGE(failure.find("did not take part") == failure.npos, failure);
      CHECK_FALSE(process::has_lost_peer());
    });
  }
}
