#include "accelerate/base/file_lock.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace accelerate {

TEST_CASE("those who lock a file take turns, and leave none behind") {
  tests::TemporaryDirectory directory;
  const auto path = directory.path() / "new" / "lock";
  std::atomic<int> inside = 0;
  std::atomic<bool> alone = true;
  std::vector<std::thread> threads;
  std::optional<FileLock> first(path);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      FileLock lock(path);
      if (++inside > 1) alone = false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      --inside;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(inside == 0);
  first.reset();
  for (auto& thread : threads) thread.join();
  CHECK(alone);
  CHECK(std::filesystem::is_empty(path.parent_path()));
}

TEST_CASE("one who has waited for a lock keeps out who comes later") {
  tests::TemporaryDirectory directory;
  const auto path = directory.path() / "lock";
  std::optional<FileLock> first(path);
  std::binary_semaphore second_inside(0), second_may_go(0);
  std::thread second([&] {
    FileLock lock(path);
    second_inside.release();
    second_may_go.acquire();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  first.reset();
  second_inside.acquire();
  std::atomic<bool> third_inside = false;
  std::thread third([&] {
    FileLock lock(path);
    third_inside = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK_FALSE(third_inside);
  second_may_go.release();
  second.join();
  third.join();
  CHECK(third_inside);
}

TEST_CASE("locks on a path at which no file can be created do not exclude each other") {
  std::atomic<int> num_inside = 0;
  FileLock first("/proc/no/lock");
  std::thread other([&] {
    FileLock second("/proc/no/lock");
    ++num_inside;
  });
  other.join();  // while `first` is held
  CHECK(num_inside == 1);
  CHECK_FALSE(std::filesystem::exists("/proc/no/lock"));
}

}  // namespace accelerate
