#pragma once

// What every C++ side of a benchmark shares: arguments, clocks, and one line of JSON as the result, which measure.py
// reads.

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
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

/// Seconds since the kernel started this process.
inline double process_age() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  for (int i = 3; i < 22; ++i) fields >> field;
  double ticks = 0;
  fields >> ticks;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec + now.tv_nsec * 1e-9 - ticks / sysconf(_SC_CLK_TCK);
}

inline int64_t resident_bytes() {
  int64_t total_pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

/// The most that was ever resident.
inline int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

/// Ends a side. `losses` prove that both sides computed the same; `more` is what only some sides measure.
inline void report(int64_t work, double wall_seconds, double cpu_seconds, const std::vector<double>& losses,
                   const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json line = {{"work", work},     {"wall_seconds", wall_seconds},       {"cpu_seconds", cpu_seconds},
                         {"losses", losses}, {"resident_bytes", resident_bytes()}, {"peak_bytes", peak_bytes()}};
  line.update(more);
  std::cout << line << std::endl;
}

}  // namespace bench
