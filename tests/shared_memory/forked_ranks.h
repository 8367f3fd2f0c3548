#pragma once

// Ranks that are processes of their own, to be killed. They meet through files.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/process/exit_status.h"
#include "accelerate/shared_memory/exchange_segments.h"
#include "tests/support/hang_limit.h"
#include "tests/support/temporary_directory.h"

namespace accelerate::tests {

/// A store of files in `directory`. `get` waits up to `limit`.
inline shared_memory::KeyValueStore file_store(const std::filesystem::path& directory,
                                               std::chrono::milliseconds limit = hang_limit()) {
  auto path = [directory](std::string key) {
    std::replace(key.begin(), key.end(), '/', '_');
    return directory / key;
  };
  auto has = [path](const std::string& key) { return std::filesystem::exists(path(key)); };
  auto set = [path](const std::string& key, const std::string& text) {
    std::filesystem::create_directories(path(key).parent_path());
    auto draft = path(key + "_draft");
    std::ofstream(draft) << text;
    std::filesystem::rename(draft, path(key));
  };
  auto get = [path, has, limit](const std::string& key) {
    auto deadline = std::chrono::steady_clock::now() + limit;
    while (!has(key)) {
      if (std::chrono::steady_clock::now() > deadline) fail("nobody set ", key);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::ostringstream text;
    text << std::ifstream(path(key)).rdbuf();
    return text.str();
  };
  return {.set = set, .has = has, .get = get};
}

/// The inode numbers of the shared memory that a process maps.
inline std::set<std::string> shared_memory_of(const std::string& process) {
  std::ifstream maps("/proc/" + process + "/maps");
  std::set<std::string> inodes;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/memfd:accelerate") == std::string::npos) continue;
    std::string range, access, offset, device, inode;
    std::istringstream(line) >> range >> access >> offset >> device >> inode;
    inodes.insert(inode);
  }
  return inodes;
}

class ForkedRanks {
 public:
  using Body = std::function<void(int rank, const shared_memory::KeyValueStore& store)>;

  /// `limit` is how long ranks wait for each other's notes.
  ForkedRanks(int size, const Body& body, std::chrono::milliseconds limit = hang_limit())
      : store_(file_store(directory_.path(), limit)), pids_(size) {
    std::fflush(nullptr);  // what is in the buffers is to be written once
    for (int rank = 0; rank < size; ++rank) {
      pids_[rank] = fork();
      if (pids_[rank] == 0) live(rank, body);
    }
  }
  ForkedRanks(const ForkedRanks&) = delete;
  ~ForkedRanks() {
    for (auto pid : pids_) {
      if (pid <= 0) continue;
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }

  /// In a rank that is connected: lets the test know which memory it maps.
  static void record_memory(int rank, const shared_memory::KeyValueStore& store) {
    std::ostringstream inodes;
    for (const auto& inode : shared_memory_of("self")) inodes << inode << " ";
    store.set("memory/" + std::to_string(rank), inodes.str());
  }

  /// Waits for all ranks to have noted their memory.
  void wait_until_connected() {
    for (size_t rank = 0; rank < pids_.size(); ++rank) {
      std::istringstream inodes(store_.get("memory/" + std::to_string(rank)));
      for (std::string inode; inodes >> inode;) memory_.insert(inode);
    }
  }

  /// Where test and ranks leave each other notes.
  const shared_memory::KeyValueStore& store() const { return store_; }

  /// To a rank that has no outcome yet: -1 would be every process.
  void send_signal(int rank, int number) {
    if (pids_[rank] > 0) kill(pids_[rank], number);
  }

  /// Waits for the rank to end: "returned", the message of its exception, or how it ended else.
  std::string outcome(int rank) {
    int status = 0;
    if (waitpid(pids_[rank], &status, 0) != pids_[rank]) return "is not there";
    pids_[rank] = -1;
    auto key = "result/" + std::to_string(rank);
    return store_.has(key) ? store_.get(key) : process::describe_exit(status);
  }

  /// When the body of a rank that has an outcome was over.
  std::chrono::steady_clock::time_point end_of(int rank) const {
    return std::chrono::steady_clock::time_point(
        std::chrono::steady_clock::duration(std::stoll(store_.get("end/" + std::to_string(rank)))));
  }

  /// Whether some process still maps what the ranks had mapped.
  bool memory_is_left() const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      for (const auto& inode : shared_memory_of(entry.path().filename().string())) {
        if (memory_.count(inode) > 0) return true;
      }
    }
    return false;
  }

 private:
  [[noreturn]] void live(int rank, const Body& body) {
    std::string result = "returned";
    try {
      body(rank, store_);
    } catch (const std::exception& error) {
      result = error.what();
    }
    auto end = std::chrono::steady_clock::now().time_since_epoch().count();  // a clock that all processes share
    store_.set("end/" + std::to_string(rank), std::to_string(end));
    store_.set("result/" + std::to_string(rank), result);
    _exit(0);
  }

  TemporaryDirectory directory_;
  shared_memory::KeyValueStore store_;
  std::vector<pid_t> pids_;
  std::set<std::string> memory_;
};

}  // namespace accelerate::tests
