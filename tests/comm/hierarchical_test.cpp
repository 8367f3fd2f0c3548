// The two levels, with shared memory in place of the network between machines: every rank of this machine plays one of
// several. tests/machines has the network.

#include "accelerate/comm/backends/hierarchical_backend.h"

#include <doctest/doctest.h>

#include <csignal>
#include <thread>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "accelerate/comm/connection.h"
#include "tests/comm/collective_checks.h"
#include "tests/comm/two_levels.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"

using namespace accelerate;
using namespace accelerate::comm;
using namespace accelerate::tests;

TEST_CASE("every collective over two levels agrees with double precision, wherever the ranks are") {
  for (const Machines& machines : {Machines{{0, 1}, {2, 3}}, Machines{{0, 3}, {1, 4}, {2, 5}}}) {
    int world = static_cast<int>(machines.size() * machines[0].size());
    tests::run_ranks(world, [&](Group& everyone) {
      auto backend = connect_as(everyone, machines);
      CHECK(backend->getBackendName() == "hierarchical");
      for (auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kByte, at::kInt, at::kLong}) {
        for (int64_t count : {0, 1, 7, 1001}) {
          check_reductions(backend, count, type);
          check_moves(backend, count, type);
        }
      }
      for (auto type : {at::kBool, at::kShort, at::kComplexFloat}) check_moves(backend, 77, type);
      backend->barrier()->wait();
    });
  }
}

TEST_CASE("collectives go on in the background and in order; lists, strides and memory of the group work too") {
  tests::run_ranks(4, [](Group& everyone) {
    auto backend = connect_as(everyone, {{0, 1}, {2, 3}});
    std::vector<Tensors> tensors;
    std::vector<c10::intrusive_ptr<c10d::Work>> works;
    for (int i = 0; i < 20; ++i) {
      at::Tensor tensor =
          i % 2 == 0 ? backend->allocateTensor(50'000 + i, torch::kFloat) : torch::empty({2, 25'000 + i}).t();
      tensors.push_back({tensor.fill_(i + everyone.rank())});
      works.push_back(backend->allreduce(tensors.back()));
    }
    works.back()->getFuture()->waitAndThrow();
    for (auto& work : works) CHECK(work->isCompleted());
    for (int i = 0; i < 20; ++i) CHECK((tensors[i][0] == 4 * i + 6).all().item<bool>());

    Tensors list{torch::ones({3}), torch::full({2, 2}, everyone.rank(), torch::kLong)};
    backend->allreduce_coalesced(list)->wait();
    CHECK(torch::equal(list[0], torch::full({3}, 4.0)));
    CHECK(torch::equal(list[1], torch::full({2, 2}, 6, torch::kLong)));
    Tensors complex{torch::full({3}, c10::complex<float>(1, 2))};
    backend->allreduce(complex)->wait();
    CHECK(torch::equal(complex[0], torch::full({3}, c10::complex<float>(4, 8))));
  });
}

TEST_CASE("values that cannot be combined between machines are an error, after which the group goes on") {
  tests::run_ranks(4, [](Group& everyone) {
    auto backend = connect_as(everyone, {{0, 1}, {2, 3}});
    Tensors small{torch::ones({3}, torch::kShort)};
    CHECK_THROWS_WITH_AS(backend->allreduce(small), doctest::Contains("convert them to int32"), Error);
    Tensors whole{torch::ones({3}, torch::kLong)};
    c10d::AllreduceOptions average;
    average.reduceOp = c10d::ReduceOp::AVG;
    CHECK_THROWS_WITH_AS(backend->allreduce(whole, average), doctest::Contains("have no reduction 'average'"), Error);
    backend->allreduce(whole)->wait();
    CHECK(torch::equal(whole[0], torch::full({3}, 4, torch::kLong)));
  });
}

TEST_CASE("a rank that is killed ends the collective of all others at once, and the group") {
  TemporaryDirectory directory;
  auto body = [&](Group& everyone) {
    auto backend = connect_as(everyone, {{0, 1}, {2, 3}});
    backend->barrier()->wait();
    if (everyone.rank() == 1) raise(SIGKILL);
    Tensors tensors{torch::ones({100'000})};
    auto begin = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(backend->allreduce(tensors)->wait(), shared_memory::PeerError);
    CHECK_THROWS_AS(backend->barrier()->wait(), shared_memory::PeerError);
    bool prompt = std::chrono::steady_clock::now() - begin < std::chrono::seconds(5);
    directory.write(std::to_string(everyone.rank()), prompt ? "prompt" : "late");
    std::this_thread::sleep_for(std::chrono::seconds(1));  // the test is over when the first rank's end is noticed
  };
  CHECK_THROWS_WITH_AS(tests::run_ranks(4, body), doctest::Contains("rank 1 of 4 failed"), Error);
  for (auto rank : {"0", "2", "3"}) CHECK(directory.read(rank) == "prompt");
}
