#pragma once

// What every C++ side of a benchmark shares: arguments, clocks, and one line of JSON as the result, which measure.py
// reads.

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bench {

/// Options as `--name value` and flags as `--name`.
class Arguments {
 public:
  Arguments(int count, char** words) : words_(words + 1, words + count) {}

  bool has(const std::string& name) const {
    for (const auto& word : words_) {
      if (word == name) return true;
    }
    return false;
  }

  std::string text(const std::string& name, const std::string& fallback) const {
    for (size_t i = 0; i + 1 < words_.size(); ++i) {
      if (words_[i] == name) return words_[i + 1];
    }
    return fallback;
  }

  int64_t number(const std::string& name, int64_t fallback) const {
    return std::stoll(text(name, std::to_string(fallback)));
  }

 private:
  std::vector<std::string> words_;
};

class Stopwatch {
 public:
  double wall_seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  double cpu_seconds() const { return process_seconds() - cpu_began_; }

 private:
  using Clock = std::chrono::steady_clock;

  static double process_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
  }

  Clock::time_point began_ = Clock::now();
  double cpu_began_ = process_seconds();
};

/// Adds up how long each part of a step takes.
class Laps {
 public:
  void begin() { last_ = Clock::now(); }

  /// What was done since begin() or the last lap.
  void lap(const std::string& name) {
    const auto now = Clock::now();
    seconds_[name] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

  /// Seconds of each lap in a step, as figures of a side.
  nlohmann::json per_step(int64_t steps) const {
    auto figures = nlohmann::json::object();
    for (const auto& [name, seconds] : seconds_) figures[name + "_seconds"] = seconds / static_cast<double>(steps);
    return figures;
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point last_ = Clock::now();
  std::map<std::string, double> seconds_;
};

/// Seconds since the kernel started this process, or since measure.py started whoever has launched it.
inline double seconds_since_start() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const double now_seconds = now.tv_sec + now.tv_nsec * 1e-9;
  if (const char* started = std::getenv("BENCH_STARTED")) return now_seconds - std::stod(started);
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  for (int i = 3; i < 22; ++i) fields >> field;
  double ticks = 0;
  fields >> ticks;
  return now_seconds - ticks / sysconf(_SC_CLK_TCK);
}

/// The figures of a side that is measured from its start, in place of those of its stopwatch; measure.py knows the CPU
/// time of all processes.
inline nlohmann::json since_start() { return {{"wall_seconds", seconds_since_start()}, {"cpu_seconds", nullptr}}; }

inline int64_t resident_bytes() {
  int64_t total_pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

/// Resident memory in which a page that several processes share counts in parts.
inline int64_t proportional_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string word;
  int64_t kibibytes = 0;
  while (file >> word) {
    if (word == "Pss:") file >> kibibytes;
  }
  return kibibytes * 1024;
}

inline rusage resources() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

/// The most that was ever resident.
inline int64_t peak_bytes() { return resources().ru_maxrss * 1024; }

/// How often the kernel had to give this process a page.
inline int64_t page_faults() { return resources().ru_minflt; }

inline int64_t rank() {
  const char* rank = std::getenv("RANK");
  return rank == nullptr ? 0 : std::stoll(rank);
}

/// Ends a side. `losses` prove that both sides computed the same; `more` is what only some sides measure.
inline void report(int64_t work, double wall_seconds, double cpu_seconds, const std::vector<double>& losses,
                   const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json line = {{"rank", rank()},
                         {"work", work},
                         {"wall_seconds", wall_seconds},
                         {"cpu_seconds", cpu_seconds},
                         {"losses", losses},
                         {"resident_bytes", resident_bytes()},
                         {"proportional_bytes", proportional_bytes()},
                         {"peak_bytes", peak_bytes()},
                         {"page_faults", page_faults()}};
  line.update(more);
  std::cout << line << std::endl;
}

}  // namespace bench
