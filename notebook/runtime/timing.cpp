#include "notebook/runtime/timing.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numeric>

namespace accelerate::notebook {

namespace {

constexpr double kRunSeconds = 0.2;
constexpr int kMostLoops = 10'000'000;

double seconds_of(void (*cell)(), int loops) {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < loops; ++i) cell();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int enough_loops(void (*cell)()) {
  for (int loops = 1; loops < kMostLoops; loops *= 10) {
    if (seconds_of(cell, loops) * 10 > kRunSeconds) return loops;
  }
  return kMostLoops;
}

}  // namespace

void time_calls(void (*cell)(), int loops, int repeats) {
  if (loops == 0) loops = enough_loops(cell);
  std::vector<double> seconds;
  for (int run = 0; run < repeats; ++run) seconds.push_back(seconds_of(cell, loops) / loops);
  std::cout << timing_text(seconds, loops) << std::endl;
}

std::string timing_text(const std::vector<double>& seconds, int loops) {
  auto count = static_cast<double>(seconds.size());
  double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / count;
  double squares = 0;
  for (double one : seconds) squares += (one - mean) * (one - mean);
  auto plural = [](size_t number, const char* word) {
    return std::to_string(number) + " " + word + (number == 1 ? "" : "s");
  };
  return duration_text(mean) + " +- " + duration_text(std::sqrt(squares / count)) + " per call (" +
         plural(seconds.size(), "run") + " of " + plural(static_cast<size_t>(loops), "call") + ")";
}

std::string duration_text(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  for (const auto& unit : {Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}, Unit{1e-9, "ns"}}) {
    if (seconds < unit.seconds && unit.seconds > 1e-9) continue;
    char text[32];
    std::snprintf(text, sizeof(text), "%.3g %s", seconds / unit.seconds, unit.name);
    return text;
  }
  return "0 s";
}

}  // namespace accelerate::notebook
