// A program that ends in the way it is told to, as a rank of a job.

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "accelerate/process/crash_file.h"

namespace {

[[gnu::noinline]] void write_to_nowhere() {
  volatile int* nowhere = nullptr;
  *nowhere = 1;  // the line that the summary names
}

/// Crashes in its first instruction.
[[gnu::noinline, gnu::optimize("O2")]] void write_to(volatile int* nowhere) { *nowhere = 1; }

[[gnu::always_inline]] inline void inlined(volatile int* nowhere) { *nowhere = 1; }
[[gnu::noinline, gnu::optimize("O2")]] void inlines(volatile int* nowhere) {
  usleep(1);
  inlined(nowhere);
}

[[gnu::noinline]] int overflow(int depth) {
  volatile char much[4096];
  much[0] = static_cast<char>(depth);
  return overflow(depth + 1) + much[0];
}

[[gnu::noinline]] void find_value() { throw std::runtime_error("no such \"value\""); }

/// A message longer than a report, of quotes, and with a byte that is no UTF-8.
[[gnu::noinline]] void say_much() { throw std::runtime_error("much \xFF" + std::string(100'000, '"')); }

}  // namespace

int main(int argc, char** argv) {
  accelerate::process::report_uncaught_exceptions();
  accelerate::process::report_crashes();
  std::string way = argc > 1 ? argv[1] : "";
  if (argc > 2 && chdir(argv[2]) != 0) return 2;
  if (way == "segv") write_to_nowhere();
  if (way == "first") write_to(nullptr);
  if (way == "inline") inlines(nullptr);
  if (way == "abort") std::abort();
  if (way == "throw") find_value();
  if (way == "much") say_much();
  if (way == "overflow") return overflow(0);
}
