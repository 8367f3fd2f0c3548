// kill -9 at random moments of save_state, of one rank or of all: what is left can be loaded, all of it is of one step,
// and nothing is lost that was reported as saved.

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/durable/checkpoints.h"
#include "accelerate/durable/verify.h"
#include "accelerate/ranks/fork_ranks.h"
#include "tests/checkpoint/counting_job.h"
#include "tests/support/temporary_directory.h"

namespace accelerate::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;

/// What the first rank of a job tells whoever started it, also when it is killed.
class Notes {
 public:
  explicit Notes(const fs::path& path) : path_(path) { std::ofstream{path_}; }

  void add(const std::string& word, int64_t step) const {
    std::ofstream(path_, std::ios::app) << word << ' ' << step << std::endl;
  }

  /// The number that was last said after `word`.
  std::optional<int64_t> last(const std::string& word) const {
    std::ifstream file(path_);
    std::optional<int64_t> found;
    std::string said;
    for (int64_t step = 0; file >> said >> step;) {
      if (said == word) found = step;
    }
    return found;
  }

 private:
  fs::path path_;
};

struct Counts {
  int kills = 0;
  int unloadable = 0;
  int torn = 0;
  int lost = 0;
};

/// One mode on so many ranks: jobs that go on from each other, killed again and again.
class KilledJobs {
 public:
  KilledJobs(const SaveMode& mode, int num_processes) : mode_(mode), num_processes_(num_processes) {
    save_time_ =
        microseconds(std::stoll(ranks::fork_ranks(num_processes, [&](int) { return time_of_saves(5); }).front()));
  }

  /// Starts a job, sees what it loads, and kills it while it saves; the first ones before they have saved anything.
  void kill_one(std::mt19937& random) {
    int victim = random() % 2 == 0 ? -1 : static_cast<int>(random() % num_processes_);  // -1: all of them
    auto after = (promised_ == 0 ? 1 : 3) * save_time_ * (random() % 1000) / 1000;
    Notes notes(home_.path() / "notes");
    std::string end;
    try {
      ranks::fork_ranks(num_processes_, [&](int rank) { return live(rank, victim, after, notes); });
    } catch (const Error& error) {
      end = error.what();
    }
    judge(notes, end);
    ++counts_.kills;
    promised_ = notes.last("saved").value_or(promised_);
  }

  /// What the last job that was killed has left.
  void load() {
    Notes notes(home_.path() / "notes");
    std::string end;
    try {
      ranks::fork_ranks(num_processes_, [&](int rank) {
        CountingJob job(mode_, home_.path());
        job.load();
        if (rank == 0) notes.add("loaded", job.step());
        return std::string();
      });
    } catch (const Error& error) {
      end = error.what();
    }
    judge(notes, end);
  }

  /// What the jobs that were killed have left beside what one more job has saved to its end.
  std::vector<std::string> leftovers() {
    ranks::fork_ranks(num_processes_, [&](int) {
      CountingJob job(mode_, home_.path());
      job.load();
      job.advance();
      job.save();
      job.wait();
      return std::string();
    });
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(home_.path())) {
      const auto name = entry.path().filename().string();
      if (name != "notes" && name != (mode_.numbered ? "checkpoints" : "state")) names.push_back(name);
    }
    const auto checkpoints = durable::list_checkpoints(home_.path() / "checkpoints");
    if (mode_.total_limit && std::ssize(checkpoints) != *mode_.total_limit) names.push_back("old checkpoints");
    for (const auto& checkpoint : checkpoints) {
      if (!durable::is_complete(checkpoint.path)) names.push_back(checkpoint.path.filename());
    }
    return names;
  }

  const Counts& counts() const { return counts_; }

 private:
  std::string time_of_saves(int num_saves) {
    CountingJob job(mode_, elsewhere_.path());
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < num_saves; ++i) {
      job.advance();
      job.save();
    }
    auto took = std::chrono::steady_clock::now() - begin;
    return std::to_string(std::chrono::duration_cast<microseconds>(took).count() / num_saves);
  }

  [[noreturn]] std::string live(int rank, int victim, microseconds after, const Notes& notes) {
    CountingJob job(mode_, home_.path());
    job.load();
    auto step = job.step();
    if (rank == 0) notes.add("loaded", step);
    std::thread killer([&] {
      std::this_thread::sleep_for(after);
      if (victim < 0 || victim == rank) kill(getpid(), SIGKILL);
    });
    killer.detach();
    while (true) {
      job.advance();
      step = job.save();
      if (rank == 0) notes.add("saved", step);
    }
  }

  void judge(const Notes& notes, const std::string& end) {
    auto loaded = notes.last("loaded");
    if (loaded && *loaded < promised_) ++counts_.lost;
    if (loaded) return;
    MESSAGE(end);
    ++(end.find("torn") != std::string::npos ? counts_.torn : counts_.unloadable);
  }

  SaveMode mode_;
  int num_processes_;
  TemporaryDirectory home_, elsewhere_;
  microseconds save_time_;
  int64_t promised_ = 0;
  Counts counts_;
};

}  // namespace

TEST_CASE("kill -9 at random points of save_state leaves the last checkpoint or the new one") {
  const int num_kills = std::getenv("ACCELERATE_TEST_FULL") != nullptr ? 200 : 5;
  std::mt19937 random(8);
  for (const auto& mode : {SaveMode{.name = "automatic naming"}, SaveMode{.name = "overwriting", .numbered = false},
                           SaveMode{.name = "total_limit = 1", .total_limit = 1},
                           SaveMode{.name = "in the background", .total_limit = 1, .async = true}}) {
    for (int num_processes : {1, 4}) {
      // Each can be run alone: -sc="total_limit = 1 with 4 processes".
      const auto name = mode.name + " with " + std::to_string(num_processes) + " processes";
      SUBCASE(name.c_str()) {
        KilledJobs jobs(mode, num_processes);
        while (jobs.counts().kills < num_kills) jobs.kill_one(random);
        jobs.load();
        const auto& counts = jobs.counts();
        MESSAGE(name, ": ", counts.kills, " kills, ", counts.unloadable, " unloadable, ", counts.torn, " torn, ",
                counts.lost, " lost");
        CHECK(counts.unloadable + counts.torn + counts.lost == 0);
        CHECK(jobs.leftovers() == std::vector<std::string>{});
      }
    }
  }
}

}  // namespace accelerate::tests
