// kill -9 at random moments of a save: what is left can be loaded, is of one step, and is no older than what was
// promised.

#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/durable/step_files.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using tests::Program;
namespace fs = std::filesystem;

namespace {

struct Counts {
  int kills = 0;
  int unloadable = 0;
  int torn = 0;
  int lost = 0;  // a step that was reported as saved is not there
};

std::vector<std::string> job(const std::string& mode, const fs::path& directory, int num_processes, int num_saves) {
  return {SAVING_PROGRAM, mode, directory, std::to_string(num_processes), std::to_string(num_saves), "100"};
}

/// The ids that the job writes first.
std::vector<pid_t> pids_of(Program& job) {
  REQUIRE(job.writes("\n"));
  auto output = job.output();
  std::istringstream words(output.substr(0, output.find('\n')));
  std::vector<pid_t> pids;
  for (pid_t pid = 0; words >> pid;) pids.push_back(pid);
  return pids;
}

/// The last step in a job's "saved N" lines, or 0.
int64_t last_saved(const std::string& output) {
  auto at = output.rfind("saved ");
  return at == std::string::npos ? 0 : std::stoll(output.substr(at + 6));
}

/// Starts a job that saves without end, kills one of its processes or all of them after a while, and returns the last
/// step that it has reported as saved.
int64_t kill_once(const std::vector<std::string>& command, std::mt19937& random, std::chrono::microseconds longest) {
  Program program(command);
  auto pids = pids_of(program);
  auto group = -program.pid();
  auto victim = random() % 2 == 0 ? group : pids[random() % pids.size()];
  std::this_thread::sleep_for(longest * (random() % 1000) / 1000);
  kill(victim, SIGKILL);
  program.wait();  // a job that has lost a rank ends by itself
  kill(group, SIGKILL);
  return last_saved(program.output());
}

void judge(const std::string& mode, const fs::path& directory, int64_t promised, Counts& counts) {
  ++counts.kills;
  try {
    auto step = tests::newest_step(mode, directory).value_or(0);
    if (step < promised) ++counts.lost;
  } catch (const std::exception& error) {
    MESSAGE(std::string(error.what()));
    ++(std::string(error.what()).find("is torn") != std::string::npos ? counts.torn : counts.unloadable);
  }
}

std::chrono::microseconds time_of_a_save(const std::string& mode, const fs::path& directory, int num_processes) {
  auto begin = std::chrono::steady_clock::now();
  REQUIRE(Program(job(mode, directory, num_processes, 5)).wait() == 0);
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin) / 5;
}

}  // namespace

TEST_CASE("kill -9 at random points of a save leaves the last checkpoint or the new one") {
  const int num_kills = std::getenv("ACCELERATE_TEST_FULL") != nullptr ? 200 : 10;
  std::mt19937 random(8);
  for (std::string mode : {"numbered", "overwrite", "limit"}) {
    for (int num_processes : {1, 4}) {
      tests::TemporaryDirectory home;
      auto directory = home.path() / "state";
      auto longest = 3 * time_of_a_save(mode, directory, num_processes);
      Counts counts;
      while (counts.kills < num_kills) {
        auto promised = kill_once(job(mode, directory, num_processes, 1'000'000), random, longest);
        judge(mode, directory, promised, counts);
      }
      MESSAGE(mode, ", ", num_processes, " processes: ", counts.kills, " kills, ", counts.unloadable, " unloadable, ",
              counts.torn, " torn, ", counts.lost, " lost");
      CHECK(counts.unloadable + counts.torn + counts.lost == 0);

      CHECK(Program(job(mode, directory, num_processes, 1)).wait() == 0);
      auto entries = std::distance(fs::directory_iterator(home.path()), {});
      CHECK_MESSAGE(entries == 1, "a job that was killed has left something that the next one did not remove");
      if (mode == "limit") CHECK(durable::list_checkpoints(directory).size() == 1);
    }
  }
}
