#include "accelerate/ranks/launchers.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include "accelerate/base/cpu.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/base/scope.h"
#include "accelerate/comm/operations.h"
#include "accelerate/comm/partial_state.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/failure_of.h"
#include "tests/support/redirected_stdout.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"

using namespace accelerate;
using accelerate::tests::failure_of;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

int sum_of_ranks() {
  PartialState state;
  auto sum = torch::tensor({state.process_index()});
  state.group().all_reduce(sum);
  return sum.item<int>();
}

void compute_with_threads() {
  at::set_num_threads(2);
  auto matrix = torch::ones({400, 400}, torch::requires_grad());
  torch::matmul(matrix, matrix).sum().backward();
}

[[noreturn]] void loop_for_ever() {
  while (true) pause();
}

int64_t resident_kilobytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE) / 1024;
}

int full_or_short(int full, int quick) { return environment_variable("ACCELERATE_TEST_FULL") ? full : quick; }

int free_port() { return LoopbackPort().number(); }

}  // namespace

TEST_CASE("notebook_launcher gives every rank the arguments and brings back what they return") {
  PartialState::reset();
  using Result = std::map<std::string, torch::Tensor>;
  auto results = notebook_launcher(
      [](int factor, const std::string& name) {
        PartialState state;
        auto ranks = state.group().all_gather(torch::tensor({state.process_index()}));
        return Result{{name, ranks * factor}};
      },
      {.num_processes = 3}, 10, "ranks");
  REQUIRE(results.size() == 3);
  for (const auto& result : results) CHECK(torch::equal(result.at("ranks"), torch::tensor({0, 10, 20})));
  static_assert(std::is_same_v<decltype(results), std::vector<Result>>);
  static_assert(std::is_void_v<decltype(notebook_launcher([] {}))>);
}

TEST_CASE("a hundred launches after several threads have computed, without a failure and without growth") {
  PartialState::reset();
  compute_with_threads();
  auto launch = [] {
    return notebook_launcher(
        [] {
          compute_with_threads();
          return sum_of_ranks();
        },
        {.num_processes = 2, .timeout = 60s});
  };
  launch();
  auto before = resident_kilobytes();
  for (int i = 0; i < full_or_short(100, 10); ++i) CHECK(launch() == std::vector<int>{1, 1});
  CHECK(resident_kilobytes() - before < 2048);
}

TEST_CASE("a launch of one process is a process of its own too") {
  PartialState::reset();
  pid_t here = getpid();
  auto pids =
      notebook_launcher([] { return PartialState().num_processes() == 1 ? getpid() : 0; }, {.num_processes = 1});
  REQUIRE(pids.size() == 1);
  CHECK(pids[0] > 0);
  CHECK(pids[0] != here);
}

TEST_CASE("the rank that throws, crashes or is killed ends the launch and is named") {
  PartialState::reset();
  struct Case {
    std::function<void()> end;
    const char* told;
  };
  for (const auto& [end, told] : std::vector<Case>{
           {[] { fail("no such file: weights.bin"); }, "rank 1 of 2 failed: no such file: weights.bin"},
           {[] { raise(SIGSEGV); }, "rank 1 of 2 failed: was ended by SIGSEGV (Segmentation fault)"},
           {[] { raise(SIGKILL); }, "rank 1 of 2 failed: was ended by SIGKILL (Killed)"},
           {[] { _exit(3); }, "rank 1 of 2 failed: ended with exit code 3 before its function returned"},
       }) {
    auto body = [&] {
      PartialState state;
      if (state.process_index() == 1) end();
      state.wait_for_everyone();
    };
    auto begin = Clock::now();
    try {
      notebook_launcher(body, {.num_processes = 2});
      FAIL("nothing was thrown");
    } catch (const RankError& error) {
      CHECK(error.what() == std::string(told));
      CHECK(error.rank() == 1);
    }
    CHECK(Clock::now() - begin < 10s);
  }
}

TEST_CASE("a launch that takes too long ends, and so does one that is interrupted") {
  PartialState::reset();
  auto begin = Clock::now();
  CHECK(failure_of([] { notebook_launcher(loop_for_ever, {.num_processes = 2, .timeout = 300ms}); }) ==
        "after 0.3 s these of 2 ranks were still running: 0, 1");
  for (int number : {SIGINT, SIGTERM}) {
    auto interrupt_parent = [number] {
      if (PartialState().process_index() == 0) kill(getppid(), number);
      loop_for_ever();
    };
    auto text = failure_of([&] { notebook_launcher(interrupt_parent, {.num_processes = 2}); });
    CHECK(text == "interrupted by " + std::string(number == SIGINT ? "SIGINT" : "SIGTERM") +
                      "; these of 2 ranks were stopped: 0, 1");
  }
  CHECK(Clock::now() - begin < 10s);
}

TEST_CASE("ranks that go on after an interrupt are killed when their grace is over, or at the second one") {
  PartialState::reset();
  for (bool twice : {false, true}) {
    auto stubborn = [twice] {
      for (int number : {SIGINT, SIGTERM}) signal(number, SIG_IGN);
      kill(getppid(), SIGINT);
      if (twice) usleep(300'000);
      if (twice) kill(getppid(), SIGINT);
      loop_for_ever();
    };
    auto begin = Clock::now();
    auto text = failure_of([&] {
      notebook_launcher(stubborn, {.num_processes = 1, .grace = twice ? 60s : std::chrono::milliseconds(200)});
    });
    CHECK(text == "interrupted by SIGINT; these of 1 ranks were stopped: 0");
    CHECK(Clock::now() - begin < 10s);
  }
}

TEST_CASE("two launches at once both end by an interrupt, and the program gets its handlers back") {
  PartialState::reset();
  sighandler_t handler = [](int) {};
  auto before = signal(SIGINT, handler);
  ScopeExit put_back([&] { signal(SIGINT, before); });
  tests::TemporaryDirectory notes;
  auto launch = [&](const char* name) {
    return failure_of([&] {
      notebook_launcher(
          [&] {
            notes.write(name, "");
            loop_for_ever();
          },
          {.num_processes = 1});
    });
  };
  std::string first_end, second_end;
  std::thread first([&] { first_end = launch("first"); });
  std::thread second([&] { second_end = launch("second"); });
  while (!std::filesystem::exists(notes.path() / "first") || !std::filesystem::exists(notes.path() / "second")) {
    std::this_thread::sleep_for(1ms);
  }
  kill(getpid(), SIGINT);
  first.join();
  second.join();
  CHECK(first_end == "interrupted by SIGINT; these of 1 ranks were stopped: 0");
  CHECK(second_end == first_end);
  bool restored = signal(SIGINT, handler) == handler;
  CHECK(restored);
}

TEST_CASE("an interrupt before a restart ends the launch") {
  PartialState::reset();
  auto begin = Clock::now();
  std::string text;
  std::thread interrupt;
  tests::captured_stderr([&] {
    text = failure_of([&] {
      interrupt = std::thread([] {
        std::this_thread::sleep_for(700ms);
        kill(getpid(), SIGINT);
      });
      notebook_launcher([] { fail("ill"); }, {.num_processes = 1, .max_restarts = 1, .monitor_interval = 60s});
    });
  });
  interrupt.join();
  CHECK(text == "interrupted by SIGINT before the ranks were restarted");
  CHECK(Clock::now() - begin < 30s);
}

TEST_CASE("a process that has an Accelerator cannot launch, until it has given it up") {
  PartialState state;
  auto text = failure_of([] { notebook_launcher([] {}, {.num_processes = 2}); });
  CHECK_MESSAGE(text.find("this process has an Accelerator or PartialState") != std::string::npos, text);
  PartialState::reset();
  CHECK(notebook_launcher(sum_of_ranks, {.num_processes = 2}) == std::vector<int>{1, 1});
}

TEST_CASE("without a number there is one process per core, and that is said") {
  PartialState::reset();
  PatchEnvironment patch{{"ACCELERATE_USE_CPU", "1"}};
  int cores = usable_cores();
  size_t count = 0;
  auto said =
      tests::captured_stderr([&] { count = notebook_launcher([] { return PartialState().num_processes(); }).size(); });
  CHECK(count == cores);
  CHECK_MESSAGE(said.starts_with("notebook_launcher: " + std::to_string(cores) + " process"), said);
  CHECK_MESSAGE(said.ends_with(" on the CPU, one per core\n"), said);
}

TEST_CASE("a device that libtorch does not know is not used, and that is said") {
  PartialState::reset();
  PatchEnvironment patch{{"TPU_NAME", "local"}, {"ACCELERATE_USE_CPU", std::nullopt}, {"CUDA_VISIBLE_DEVICES", ""}};
  auto said = tests::captured_stderr([] { notebook_launcher([] {}, {.num_processes = 1}); });
  CHECK(
      said ==
      "notebook_launcher: 1 process on the CPU; the TPU of this machine is not used: libtorch has no kernels for it\n");
  PatchEnvironment on_cpu{{"ACCELERATE_USE_CPU", "1"}};
  CHECK(tests::captured_stderr([] { notebook_launcher([] {}, {.num_processes = 1}); }) == "");
}

TEST_CASE("ranks meet at the port that was chosen; one that is held is an error") {
  PartialState::reset();
  int port = free_port();
  auto ports = notebook_launcher([] { return sum_of_ranks() == 1 ? environment_variable("MASTER_PORT").value() : ""; },
                                 {.num_processes = 2, .use_port = port});
  CHECK(ports == std::vector<std::string>{std::to_string(port), std::to_string(port)});
  LoopbackPort held;
  held.listen();
  CHECK(failure_of([&] { notebook_launcher([] {}, {.num_processes = 2, .use_port = held.number()}); }) ==
        "port " + std::to_string(held.number()) +
            " of 127.0.0.1 cannot be used: Address already in use; stop the program that uses it, or choose another "
            "port with MASTER_PORT, --main_process_port or use_port; 0 selects a free one");
}

TEST_CASE("precision and variables reach the ranks, and not this process") {
  PartialState::reset();
  PatchEnvironment patch{{"ACCELERATE_MIXED_PRECISION", std::nullopt}};
  auto read = [] {
    return environment_variable("ACCELERATE_MIXED_PRECISION").value_or("-") + " " +
           environment_variable("EXTRA").value_or("-");
  };
  auto results = notebook_launcher(
      read, {.num_processes = 2, .mixed_precision = MixedPrecision::Bf16, .environment = {{"EXTRA", "more"}}});
  CHECK(results == std::vector<std::string>{"bf16 more", "bf16 more"});
  CHECK(read() == "- -");
}

TEST_CASE("lines of ranks are whole and have the rank before them") {
  PartialState::reset();
  tests::TemporaryDirectory directory;
  auto path = directory.write("output", "");
  {
    int file = open(path.c_str(), O_WRONLY | O_APPEND);
    tests::RedirectedStdout redirected(file);
    close(file);
    auto talk = [] {
      int rank = PartialState().process_index();
      printf("hello from %d\n", rank);
      for (int i = 0; i < 200; ++i) std::cout << "a line " << i << " of " << rank << "\n";
    };
    notebook_launcher(talk, {.num_processes = 2});
  }
  std::istringstream lines(directory.read("output"));
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CHECK_MESSAGE(line.starts_with("[rank"), line);
    CHECK_MESSAGE(line.substr(6, 3) == "]: ", line);
    CHECK_MESSAGE(line.back() == line[5], line);
  }
  CHECK(count == 402);
}

TEST_CASE("what a rank prints is there while it runs") {
  PartialState::reset();
  int lines[2], answers[2];
  REQUIRE(pipe(lines) == 0);
  REQUIRE(pipe(answers) == 0);
  // A rank ends when a line has been read: if lines were held back it would not end in time.
  std::jthread reader([&] {
    char text[256];
    if (read(lines[0], text, sizeof(text)) > 0 && write(answers[1], "xx", 2) < 0) return;
    while (read(lines[0], text, sizeof(text)) > 0) {
    }
  });
  auto talk = [&] {
    char byte = 0;
    printf("once\n");
    return read(answers[0], &byte, 1) == 1;
  };
  std::string text;
  {
    tests::RedirectedStdout redirected(lines[1]);
    close(lines[1]);  // the scope has the last one, and the reader ends with it
    text = failure_of([&] { notebook_launcher(talk, {.num_processes = 2, .timeout = 20s}); });
  }
  reader.join();
  for (int fd : {lines[0], answers[0], answers[1]}) close(fd);
  CHECK(text == "");
}

TEST_CASE("the number of threads can be among the variables") {
  PartialState::reset();
  auto threads = [] { return at::get_num_threads(); };
  CHECK(notebook_launcher(threads, {.num_processes = 1, .environment = {{"OMP_NUM_THREADS", "3"}}}) ==
        std::vector<int>{3});
}

TEST_CASE("ranks of one machine meet on it, whatever its address") {
  PartialState::reset();
  NotebookLauncherOptions options{.num_processes = 2, .master_addr = "192.0.2.1", .timeout = 30s};
  CHECK(notebook_launcher(sum_of_ranks, options) == std::vector<int>{1, 1});
}

TEST_CASE("after a failure all ranks start again, as often as they may") {
  PartialState::reset();
  tests::TemporaryDirectory notes;
  auto fails_until = [&](int good) {
    return [&notes, good] {
      PartialState state;
      int attempt = static_cast<int>(*environment_integer({"TORCHELASTIC_RESTART_COUNT"}));
      notes.write("attempt" + std::to_string(attempt), "");
      if (state.process_index() == 1 && attempt < good) fail("attempt ", attempt);
      state.wait_for_everyone();
      return attempt;
    };
  };
  NotebookLauncherOptions options{.num_processes = 2, .max_restarts = 2, .monitor_interval = 1ms};
  std::string said =
      tests::captured_stderr([&] { CHECK(notebook_launcher(fails_until(2), options) == std::vector<int>{2, 2}); });
  CHECK_MESSAGE(said.find("rank 1 of 2 failed: attempt 0; restart 1 of at most 2") != std::string::npos, said);
  tests::captured_stderr([&] {
    CHECK(failure_of([&] { notebook_launcher(fails_until(9), options); }) == "rank 1 of 2 failed: attempt 2");
  });
  CHECK_FALSE(std::filesystem::exists(notes.path() / "attempt3"));
}

TEST_CASE("two machines make one job") {
  PartialState::reset();
  int port = free_port();
  auto results =
      ranks::fork_ranks(2,
                        [port](int node) {
                          auto ranks = notebook_launcher(
                              [] {
                                PartialState state;
                                return std::tuple(state.process_index(), state.local_process_index(), sum_of_ranks());
                              },
                              {.num_processes = 2, .use_port = port, .node_rank = node, .num_nodes = 2});
                          std::ostringstream text;
                          for (auto [rank, local_rank, sum] : ranks)
                            text << rank << " " << local_rank << " " << sum << " ";
                          return text.str();
                        },
                        {.timeout = 60s});
  CHECK(results == std::vector<std::string>{"0 0 6 1 1 6 ", "2 0 6 3 1 6 "});
}

TEST_CASE("options that cannot be meant are refused") {
  PartialState::reset();
  auto refusal = [](const NotebookLauncherOptions& options) {
    return failure_of([&] { notebook_launcher([] {}, options); });
  };
  CHECK(refusal({.num_processes = 0}) == "num_processes is 0; it must be at least 1");
  CHECK(refusal({.num_processes = 2, .node_rank = 1}).find("node_rank is 1") != std::string::npos);
  CHECK(refusal({.num_processes = 2, .num_nodes = 0}).find("num_nodes is 0") != std::string::npos);
  CHECK(refusal({.num_processes = 2, .num_nodes = 2}).find("use_port") != std::string::npos);
  CHECK(refusal({.num_processes = 2, .use_port = 0, .num_nodes = 2}).find("use_port") != std::string::npos);
  for (int port : {-1, 65536}) {
    CHECK(refusal({.num_processes = 2, .use_port = port}) ==
          "notebook_launcher: use_port is " + std::to_string(port) +
              "; it can be 1 to 65535, or 0 on one node for a free port");
  }
  CHECK(refusal({.num_processes = 2, .max_restarts = -1}).find("max_restarts is -1") != std::string::npos);
}
