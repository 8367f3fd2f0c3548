#include "accelerate/base/parallel_for.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "accelerate/base/cpu.h"
#include "accelerate/base/thread_without_signals.h"

namespace accelerate {

namespace {

constexpr uint64_t kBytesPerThread = uint64_t{16} << 20;  // moving them takes a hundred times a thread start
constexpr int kMostThreads = 8;                           // these saturate the memory bandwidth
constexpr uint64_t kPartBytes = uint64_t{4} << 20;        // two huge pages, so that threads rarely share one

struct Part {
  size_t item;
  uint64_t begin, end;
};

std::vector<Part> parts_of(const std::vector<uint64_t>& item_bytes) {
  std::vector<Part> parts;
  for (size_t item = 0; item < item_bytes.size(); ++item) {
    for (uint64_t begin = 0; begin < item_bytes[item]; begin += kPartBytes) {
      parts.push_back({item, begin, std::min(begin + kPartBytes, item_bytes[item])});
    }
  }
  return parts;
}

/// Starts up to `count` threads, fewer if the system refuses more.
std::vector<std::thread> start_threads(int count, const std::function<void()>& body) {
  std::vector<std::thread> threads;
  try {
    for (int i = 0; i < count; ++i) threads.push_back(thread_without_signals(body));
  } catch (const std::system_error&) {
  }
  return threads;
}

}  // namespace

void run_on_threads(int threads, const std::function<void()>& body) {
  std::mutex mutex;
  std::exception_ptr failure;
  auto run = [&] {
    try {
      body();
    } catch (...) {
      std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  auto helpers = start_threads(threads - 1, run);
  run();
  for (auto& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

int threads_to_move(uint64_t bytes) {
  const auto worth = static_cast<int>(std::min<uint64_t>(bytes / kBytesPerThread, kMostThreads));
  return worth <= 1 ? 1 : std::min(worth, available_cores());
}

void parallel_for_bytes(const std::vector<uint64_t>& item_bytes,
                        const std::function<void(size_t item, uint64_t begin, uint64_t end)>& work) {
  const auto parts = parts_of(item_bytes);
  const auto bytes = std::accumulate(item_bytes.begin(), item_bytes.end(), uint64_t{0});
  parallel_for(parts.size(), threads_to_move(bytes), [&](size_t index) {
    const auto& [item, begin, end] = parts[index];
    work(item, begin, end);
  });
}

}  // namespace accelerate
