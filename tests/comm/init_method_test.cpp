// The init_method of torch.distributed.

#include <doctest/doctest.h>

#include <filesystem>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/comm/store.h"
#include "tests/support/program.h"
#include "tests/support/rank_test.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::comm;

namespace {

ProcessEnvironment launched(int rank, int world_size, int local_world_size) {
  ProcessEnvironment process;
  process.rank = process.local_rank = rank;
  process.world_size = world_size;
  process.local_world_size = local_world_size;
  process.distributed = true;
  process.store_fd = 7;
  process.agent_store = true;
  return process;
}

}  // namespace

TEST_CASE("init_method says where the store is; the launcher's is used unless it says otherwise") {
  for (const char* same : {"", "env://", "tcp://127.0.0.1:29500"}) {
    auto process = with_init_method(launched(1, 2, 2), same);
    CHECK(process.store_place() == "127.0.0.1:29500");
    CHECK(process.store_fd == 7);
    CHECK(process.agent_store);
  }
  for (const auto& [method, place] : {std::pair{"tcp://node7:1234", "node7:1234"},
                                      {"tcp://node7:1234?rank=1&world_size=2", "node7:1234"},
                                      {"tcp://[fe80::1]:80", "fe80::1:80"},
                                      {"file:///tmp/rendezvous", "/tmp/rendezvous"},
                                      {"file:///tmp/rendezvous?world_size=2", "/tmp/rendezvous"}}) {
    auto process = with_init_method(launched(1, 2, 2), method);
    CHECK(process.store_place() == place);
    CHECK_FALSE(process.store_fd.has_value());
    CHECK_FALSE(process.agent_store);
    CHECK(process.rank == 1);
  }
}

TEST_CASE("without a launcher init_method tells the rank and the size of the job") {
  auto process = with_init_method({}, "tcp://127.0.0.1:4000?rank=2&world_size=3");
  CHECK(process.rank == 2);
  CHECK(process.world_size == 3);
  CHECK(process.local_rank == 2);
  CHECK(process.one_machine());
  CHECK(process.distributed);
}

TEST_CASE("without a launcher an init_method that tells no rank is an error, not a job of one process") {
  for (const char* method : {"tcp://node7:4000", "file:///tmp/rendezvous"}) {
    CHECK_THROWS_WITH_AS(with_init_method({}, method), doctest::Contains("add ?rank=0&world_size=2"), Error);
    CHECK_THROWS_WITH_AS(with_init_method({}, method), doctest::Contains("RANK and WORLD_SIZE"), Error);
    CHECK(with_init_method(launched(0, 1, 1), method).world_size == 1);
  }
  PatchEnvironment alone{{"RANK", std::nullopt}, {"WORLD_SIZE", std::nullopt}};
  PartialState::reset();
  PartialState first;
  CHECK_THROWS_WITH_AS(PartialState({.init_method = "tcp://node7:4000"}), doctest::Contains("no rank from a launcher"),
                       Error);
  PartialState::reset();
}

TEST_CASE("a backend that there is not is an error on one process too, which blames the variable where it set it") {
  PartialState::reset();
  for (bool joined : {false, true}) {
    if (joined) PartialState();
    CHECK_THROWS_WITH_AS(PartialState({.backend = "mpi"}), "the backend is 'mpi'; it can be auto, shm, gloo or nccl",
                         Error);
  }
  PartialState::reset();
  PatchEnvironment variable{{"ACCELERATE_COMM", "udp"}};
  CHECK_THROWS_WITH_AS(PartialState(), "the backend is 'udp' (ACCELERATE_COMM); it can be auto, shm, gloo or nccl",
                       Error);
  CHECK(PartialState({.backend = "gloo"}).num_processes() == 1);
  PartialState::reset();
}

TEST_CASE("an init_method that cannot be is an error that names it and the ones that can") {
  struct Case {
    const char* method;
    const char* reason;
  };
  for (const auto& [method, reason] :
       {Case{"udp://node7:1", "not a supported scheme"}, Case{"node7:1", "not a supported scheme"},
        Case{"tcp://node7", "a host and a port"}, Case{"tcp://:80", "a host and a port"},
        Case{"tcp://node7:http", "the port is not a number"}, Case{"tcp://node7:70000", "from 1 to 65535"},
        Case{"tcp://node7:1?rank=one", "rank is not a number"}, Case{"tcp://node7:1?size=2", "'size' is unknown"},
        Case{"tcp://node7:1?rank=0", "the launcher says rank 1 of 2"}, Case{"file://relative", "begin with /"}}) {
    CHECK_THROWS_WITH_AS(with_init_method(launched(1, 2, 2), method), doctest::Contains(reason), Error);
    CHECK_THROWS_WITH_AS(with_init_method(launched(1, 2, 2), method), doctest::Contains(method), Error);
  }
  CHECK_THROWS_WITH_AS(with_init_method({}, "tcp://node7:1?rank=1"), doctest::Contains("rank and world_size"), Error);
  CHECK_THROWS_WITH_AS(with_init_method({}, "tcp://node7:1?rank=2&world_size=2"),
                       doctest::Contains("rank < world_size"), Error);
  CHECK_THROWS_WITH_AS(with_init_method(launched(1, 4, 2), "file:///tmp/x"), doctest::Contains("of one machine"),
                       Error);
}

TEST_CASE("ranks find each other at the address, or in the file, that init_method names") {
  tests::TemporaryDirectory directory;
  const auto file = directory.path() / "rendezvous";
  int port = 0;
  {
    LoopbackPort free_port(0);
    port = free_port.number();
  }
  for (const auto& method : {"file://" + file.string(), "tcp://127.0.0.1:" + std::to_string(port)}) {
    tests::run_ranks(2, [&](Group& group) {
      PartialState launched({.init_method = "env://"});  // as without one
      PartialState::reset();
      setenv("MASTER_PORT", "1", 1);  // leads nowhere
      unsetenv("ACCELERATE_STORE_FD");
      PartialState state({.init_method = method});
      CHECK(state.num_processes() == 2);
      auto sum = torch::ones({3}) * (group.rank() + 1);
      state.group().all_reduce(sum);
      CHECK(sum[0].item<float>() == 3);
      CHECK_THROWS_WITH_AS(PartialState({.init_method = "tcp://node7:1"}), doctest::Contains("already joined"), Error);
      PartialState again({.init_method = method});
      state.wait_for_everyone();
      PartialState::reset();
    });
  }
}

TEST_CASE("a file in a directory that is not there is an error at once") {
  ProcessEnvironment process;
  process.store_file = "/nonexistent/rendezvous";
  CHECK_THROWS_WITH_AS(open_store(process, std::chrono::minutes(30)),
                       doctest::Contains("/nonexistent is not a directory; create it first"), Error);
}

TEST_CASE("process that joins by a file" * doctest::skip()) {
  PartialState state({.cpu = true, .init_method = *environment_variable("INIT_METHOD")});
  CHECK(state.num_processes() == 2);
  state.wait_for_everyone();
}

TEST_CASE("process whose store goes" * doctest::skip()) {
  ProcessEnvironment process;
  process.store_file = *environment_variable("STORE_FILE");
  open_store(process, std::chrono::minutes(30));
  CHECK(std::filesystem::exists(process.store_file));
  std::filesystem::remove_all(std::filesystem::path(process.store_file).parent_path());
}

TEST_CASE("the last process to end removes the file of the store, and waits for none that is gone") {
  tests::TemporaryDirectory directory;
  const auto file = directory.path() / "below" / "rendezvous";
  std::filesystem::create_directory(file.parent_path());
  auto start = [](const std::string& test_case, const EnvironmentVariable& variable) {
    return std::make_unique<tests::Program>(
        std::vector<std::string>{std::filesystem::read_symlink("/proc/self/exe").string(), "--no-skip",
                                 "--test-case=" + test_case},
        std::vector<EnvironmentVariable>{variable});
  };
  auto ends_well = [](tests::Program& program) {
    const int exit_code = program.wait();
    const auto said = program.output() + program.errors();
    CHECK_MESSAGE(exit_code == 0, said);
  };
  for (int run = 0; run < 2; ++run) {  // the second may use the same name
    std::vector<std::unique_ptr<tests::Program>> ranks;
    for (const char* rank : {"0", "1"}) {
      ranks.push_back(start("process that joins by a file",
                            {"INIT_METHOD", "file://" + file.string() + "?world_size=2&rank=" + rank}));
    }
    for (auto& rank : ranks) ends_well(*rank);
    CHECK_FALSE(std::filesystem::exists(file));
  }
  ends_well(*start("process whose store goes", {"STORE_FILE", file.string()}));
}
