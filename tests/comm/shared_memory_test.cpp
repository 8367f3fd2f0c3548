#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "accelerate/base/environment.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/operations.h"
#include "accelerate/comm/partial_state.h"
#include "tests/comm/collective_checks.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"

using namespace accelerate;
using namespace accelerate::comm;
using namespace accelerate::tests;

namespace {

Backend backend_of(const Group& group) { return group.connection()->process_group()->getBackend(at::kCPU); }

/// The job's ranks, connected by the backend of that name.
Group connect(const std::string& name) {
  PartialState::reset();
  PartialState state({.backend = name});
  CHECK(state.backend() == name);
  return state.group();
}

/// Sums and averages of numbers that are different on every rank, computed where they are, in the memory of the group,
/// and once more.
void check_rounding(const Backend& backend, int64_t count, at::ScalarType type) {
  const int size = backend->getSize();
  auto numbers = [&](int rank) {
    auto generator = at::detail::createCPUGenerator(static_cast<uint64_t>(count * 100 + rank));
    return torch::randn({count}, generator).to(type);
  };
  auto exact = torch::zeros({count}, at::kDouble), magnitude = torch::zeros({count}, at::kDouble);
  for (int rank = 0; rank < size; ++rank) {
    exact += numbers(rank).to(at::kDouble);
    magnitude += numbers(rank).to(at::kDouble).abs();
  }
  auto in_heap = backend->allocateTensor(count, type);
  for (auto operation : {c10d::ReduceOp::SUM, c10d::ReduceOp::AVG}) {
    const double divisor = operation == c10d::ReduceOp::AVG ? size : 1;
    Tensors results;
    for (const auto& place : {torch::empty({count}, type), in_heap, torch::empty({count}, type)}) {
      Tensors tensors{place.copy_(numbers(backend->getRank()))};
      backend->allreduce(tensors, {.reduceOp = operation})->wait();
      results.push_back(place.clone());
    }
    CHECK(torch::equal(results[1], results[0]));
    CHECK(torch::equal(results[2], results[0]));
    Tensors of_first{results[0].clone()};
    backend->broadcast(of_first)->wait();
    CHECK(torch::equal(of_first[0], results[0]));
    // One rounding for each number added and one for the division, in float32 or wider, and one of the result.
    const double adding = type == at::kDouble ? 0x1p-53 : 0x1p-24;
    const double storing = type == at::kHalf ? 0x1p-11 : type == at::kBFloat16 ? 0x1p-8 : 0;
    auto bound = size * adding * magnitude / divisor + storing * exact.abs() / divisor + 0x1p-25;
    CHECK(((results[0].to(at::kDouble) - exact / divisor).abs() <= bound).all().item<bool>());
  }
}

}  // namespace

TEST_CASE("every collective agrees with double precision, for every type and any number of ranks and elements") {
  for (int world : {2, 3, 5}) {
    tests::run_ranks(world, [world](Group& group) {
      auto backend = backend_of(group);
      CHECK(backend->getBackendName() == "shm");
      for (auto type :
           {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong}) {
        for (int64_t count : {0, 1, 7, 1001}) {
          check_reductions(backend, count, type);
          check_moves(backend, count, type);
        }
      }
      for (auto type : {at::kBool, at::kComplexFloat}) check_moves(backend, 77, type);
      for (auto type : {at::kFloat, at::kBFloat16, at::kLong}) check_lists(backend, 7, type);
      check_bits(backend, 1001);
      check_strides(backend);
      if (world == 2) check_reductions(backend, 600'001, at::kFloat);  // more than one piece
      if (world == 2) check_moves(backend, 300'001, at::kFloat);
    });
  }
}

TEST_CASE(
    "random numbers are reduced to within their rounding, to the same bits on all ranks, in every run and place") {
  for (int world : {2, 4, 7, 8}) {
    tests::run_ranks(world, [](Group& group) {
      auto backend = backend_of(group);
      std::mt19937 random(group.size());  // the same sizes on all ranks
      for (auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
        for (int64_t most : {100, 5'000, 40'000}) check_rounding(backend, random() % most + 1, type);
      }
    });
  }
}

TEST_CASE("float16 and bfloat16 are added up in float32 and rounded once") {
  tests::run_ranks(5, [](Group& group) {
    auto backend = backend_of(group);
    // Half of the last digit of 1: added to it one by one in its own type, every one of them would be lost.
    for (auto [type, half_digit] : {std::pair(at::kHalf, 0x1p-11), std::pair(at::kBFloat16, 0x1p-8)}) {
      auto mine = [&](int64_t count) { return torch::full({count}, group.rank() == 0 ? 1.0 : half_digit, type); };
      auto sum = torch::full({1001}, 1 + 4 * half_digit, type);
      Tensors everywhere{mine(1001)}, at_one{mine(1001)};
      backend->allreduce(everywhere)->wait();
      CHECK(torch::equal(everywhere[0], sum));
      backend->reduce(at_one)->wait();
      if (group.rank() == 0) CHECK(torch::equal(at_one[0], sum));
      auto part = torch::empty({1001}, type), whole = mine(5 * 1001);
      backend->_reduce_scatter_base(part, whole)->wait();
      CHECK(torch::equal(part, sum));
    }
  });
}

TEST_CASE(
    "unsigned integers of all sizes are reduced, and views that are negated or conjugated are what they look like") {
  tests::run_ranks(2, [](Group& group) {
    auto backend = backend_of(group);
    for (auto type : {at::kUInt16, at::kUInt32, at::kUInt64}) {
      Tensors tensors{(torch::arange(100) + 40'000 + group.rank()).to(type)};
      backend->allreduce(tensors, {.reduceOp = c10d::ReduceOp::MAX})->wait();
      CHECK(torch::equal(tensors[0], (torch::arange(100) + 40'001).to(type)));
    }
    auto complex = torch::full({3}, c10::complex<float>(1, 2));
    Tensors negated{at::imag(complex.clone().conj())};
    REQUIRE(negated[0].is_neg());
    backend->allreduce(negated)->wait();
    CHECK(torch::equal(negated[0], torch::full({3}, -4.0f)));
    Tensors conjugated{group.rank() == 0 ? complex.conj() : torch::zeros_like(complex)};
    backend->broadcast(conjugated)->wait();
    CHECK(torch::equal(conjugated[0], complex.conj()));
  });
}

TEST_CASE("two ranks get the bits that gloo gives them, whatever the type") {
  tests::run_ranks(2, [](Group& everyone) {
    torch::manual_seed(everyone.rank());
    Tensors inputs;
    for (auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
      inputs.push_back((torch::randn({5001}) * 100).to(type));
      inputs.push_back((torch::randn({63}) * 1e-7).to(type));
    }
    auto reduce_with = [&](const std::string& name) {
      auto group = connect(name);
      Tensors results;
      for (const auto& input : inputs) {
        for (auto reduction : {"sum", "mean", "max"}) results.push_back(reduce(input, group, reduction));
      }
      group.barrier();
      return results;
    };
    auto ours = reduce_with("shm");
    auto theirs = reduce_with("gloo");
    for (size_t i = 0; i < ours.size(); ++i) CHECK(torch::equal(ours[i], theirs[i]));
  });
}

TEST_CASE("tensors that are not contiguous, complex ones and lists of tensors are reduced too") {
  tests::run_ranks(2, [](Group& group) {
    auto backend = backend_of(group);
    auto transposed = torch::arange(12, torch::kFloat).reshape({3, 4}).t();
    Tensors tensors{transposed.clone().t().contiguous().t()};
    backend->allreduce(tensors)->wait();
    CHECK(torch::equal(tensors[0], transposed * 2));
    Tensors every_second{torch::ones({10}).slice(0, 0, 10, 2)};
    backend->broadcast(every_second)->wait();
    Tensors complex{torch::full({3}, c10::complex<float>(1, 2))};
    backend->allreduce(complex)->wait();
    CHECK(torch::equal(complex[0], torch::full({3}, c10::complex<float>(2, 4))));
    Tensors list{torch::ones({3}), torch::full({2, 2}, group.rank(), torch::kLong)};
    backend->allreduce_coalesced(list)->wait();
    CHECK(torch::equal(list[0], torch::full({3}, 2.0)));
    CHECK(torch::equal(list[1], torch::ones({2, 2}, torch::kLong)));
    auto apart = torch::zeros({4, 2}).t();
    auto row = torch::full({1, 4}, static_cast<float>(group.rank() + 1));
    backend->_allgather_base(apart, row)->wait();
    CHECK(apart.sum().item<float>() == 12);
  });
}

TEST_CASE("tensors of more than 2 GiB go through every kind of collective") {
  // Takes 16 GB of memory.
  const int64_t half = std::getenv("ACCELERATE_TEST_FULL") ? (int64_t{1} << 30) + 50'001 : 600'001;
  auto check = [half](Group& group) {
    auto backend = backend_of(group);
    auto iota = [&](int64_t first, int64_t count) {
      return torch::arange(count, torch::kByte).add_(static_cast<uint8_t>(first));
    };
    auto halves = [&](int first, int second) { return torch::cat({iota(first, half), iota(second, half)}); };
    // In parts, because a comparison takes as much memory as what it compares.
    auto equal = [&](const at::Tensor& tensor, int first, int second) {
      bool same = true;
      for (int64_t begin = 0; begin < half; begin += 1 << 24) {
        int64_t length = std::min<int64_t>(1 << 24, half - begin);
        same = same && torch::equal(tensor.narrow(0, begin, length), iota(static_cast<int>(begin) + first, length));
        same = same &&
               torch::equal(tensor.narrow(0, half + begin, length), iota(static_cast<int>(begin) + second, length));
      }
      return same;
    };
    const int rank = group.rank();
    Tensors whole{torch::full({2 * half}, rank + 1, torch::kByte)};
    backend->allreduce(whole)->wait();
    CHECK((whole[0] == 3).all().item<bool>());
    if (rank == 1) whole[0].copy_(halves(5, 6));
    backend->broadcast(whole, {.rootRank = 1})->wait();
    CHECK(equal(whole[0], 5, 6));
    auto part = torch::empty({half}, torch::kByte);
    backend->_reduce_scatter_base(part, whole[0], {.reduceOp = c10d::ReduceOp::MAX})->wait();
    CHECK(torch::equal(part.narrow(0, 0, 1000), iota(5 + rank, 1000)));
    CHECK(torch::equal(part.narrow(0, half - 1000, 1000), iota(static_cast<int>(half - 1000) + 5 + rank, 1000)));
    backend->_allgather_base(whole[0], part)->wait();
    CHECK(equal(whole[0], 5, 6));
    part.reset();
    whole[0].copy_(halves(10 * rank, 10 * rank + 1));
    auto swapped = torch::empty_like(whole[0]);
    std::vector<int64_t> even;
    backend->alltoall_base(swapped, whole[0], even, even)->wait();
    CHECK(equal(swapped, rank, 10 + rank));
    swapped.reset();
    if (rank == 0) backend->send(whole, 1, /*tag=*/0)->wait();
    if (rank == 1) backend->recv(whole, 0, /*tag=*/0)->wait();
    CHECK(equal(whole[0], 0, 1));
    group.barrier();
  };
  tests::run_ranks(2, check, {.timeout = std::chrono::minutes(10)});
}

TEST_CASE("messages between two ranks come in order, and both may send before they receive") {
  tests::run_ranks(3, [](Group& group) {
    auto backend = backend_of(group);
    int next = (group.rank() + 1) % 3;
    int previous = (group.rank() + 2) % 3;
    Tensors large{torch::full({400'000}, static_cast<float>(group.rank()))};
    Tensors small{torch::full({1}, -1.0f)};
    backend->send(large, next, 0)->wait();
    backend->send(small, next, 1)->wait();
    Tensors first{torch::empty({400'000})};
    Tensors second{torch::empty({1})};
    auto second_work = backend->recv(second, previous, 1);
    auto first_work = backend->recv(first, previous, 0);
    second_work->wait();
    first_work->wait();
    CHECK(second[0].item<float>() == -1);
    CHECK(torch::equal(first[0], torch::full({400'000}, static_cast<float>(previous))));

    if (group.rank() > 0) return (void)backend->send(small, 0, 5)->wait();
    int sum = 0;
    for (int i = 0; i < 2; ++i) {
      auto work = backend->recvAnysource(second, 5);
      work->wait();
      sum += work->sourceRank();
    }
    CHECK(sum == 3);
  });
}

TEST_CASE("a message is waited for no longer than its wait says, and may come later") {
  tests::run_ranks(2, [](Group& group) {
    auto backend = backend_of(group);
    Tensors tensor{torch::full({1}, static_cast<float>(group.rank()))};
    if (group.rank() == 0) {
      auto work = backend->recv(tensor, 1, 0);
      auto begin = std::chrono::steady_clock::now();
      CHECK_THROWS_WITH_AS(work->wait(std::chrono::milliseconds(50)),
                           doctest::Contains("did not take part (receive from rank 1"), Error);
      CHECK(std::chrono::steady_clock::now() - begin < group.timeout() / 10);
      group.barrier();
      CHECK(work->wait(std::chrono::seconds(60)));
      CHECK(tensor[0].item<float>() == 1);
    } else {
      group.barrier();
      backend->send(tensor, 0, 0)->wait();
    }
    group.barrier();
  });
}

TEST_CASE("collectives that do not fit together are an error on every rank, and the group goes on") {
  tests::run_ranks(2, [](Group& group) {
    auto tensor = torch::ones({group.rank() + 1});
    CHECK_THROWS_WITH_AS(reduce(tensor, group, "sum"), doctest::Contains("Process 1: allreduce of 2 x float32 (sum)"),
                         Error);
    CHECK(reduce(torch::ones({1}), group, "sum").item<float>() == 2);
  });
}

TEST_CASE("the backend is shared memory unless something else is asked for, by one rank or all") {
  tests::run_ranks(2, [](Group& everyone) {
    CHECK(PartialState().backend() == "shm");
    connect("gloo");
    {
      PatchEnvironment variable{{"ACCELERATE_COMM", "gloo"}};
      PartialState::reset();
      CHECK(PartialState().backend() == "gloo");
    }
    PartialState::reset();
    PartialState mixed({.backend = everyone.rank() == 1 ? "gloo" : "auto"});
    CHECK(mixed.backend() == "gloo");
    CHECK(gather(torch::ones({1}), mixed.group()).size(0) == 2);
    PartialState::reset();
    CHECK_THROWS_WITH_AS(PartialState({.backend = "mpi"}), doctest::Contains("'mpi'"), Error);
    CHECK_THROWS_WITH_AS(PartialState({.backend = "nccl"}), doctest::Contains("on the CPU"), Error);
    everyone.barrier();
  });
}

TEST_CASE("a group that a rank came too late to refuses further work, and is made anew in the same processes") {
  tests::run_ranks(2, [](Group& everyone) {
    PartialState::reset();
    {
      PartialState state({.timeout = std::chrono::seconds(1)});
      if (everyone.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      CHECK_THROWS_AS(state.wait_for_everyone(), Error);
      CHECK_THROWS_AS(reduce(torch::ones({1}), state.group()), Error);
    }
    auto group = connect("shm");
    CHECK(reduce(torch::ones({100'000}), group, "sum").sum().item<float>() == 200'000);
  });
}

TEST_CASE("a rank that is killed is named by the others at once") {
  tests::TemporaryDirectory directory;
  auto body = [&](Group& group) {
    if (group.rank() == 1) {
      group.barrier();
      raise(SIGKILL);
    }
    group.barrier();
    auto begin = std::chrono::steady_clock::now();
    try {
      group.barrier("the end of the epoch");
    } catch (const Error& error) {
      std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      directory.write(std::to_string(group.rank()), error.what());
      directory.write(std::to_string(group.rank()) + ".time", std::to_string(seconds.count()));
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));  // the test is over when the first rank's end is noticed
  };
  CHECK_THROWS_WITH_AS(tests::run_ranks(3, body), doctest::Contains("rank 1 of 3 failed"), Error);
  for (auto rank : {"0", "2"}) {
    auto message = directory.read(rank);
    CHECK_MESSAGE(message.find("the end of the epoch #2 failed after 0") != std::string::npos, message);
    CHECK_MESSAGE(message.find("the process of rank 1 has ended") != std::string::npos, message);
  }
}
