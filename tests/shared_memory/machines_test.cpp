#include "accelerate/shared_memory/machines.h"

#include <doctest/doctest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>

#include "tests/shared_memory/forked_ranks.h"
#include "tests/shared_memory/thread_ranks.h"
#include "tests/support/captured_stderr.h"
#include "tests/support/forbid_call.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::shared_memory;

namespace {

/// What the ranks of a job find when rank `index` is on machine `names[index]`; "" stands for the real one.
Machines find_with(const std::vector<std::string>& names, int unwilling = -1) {
  tests::TemporaryDirectory directory;
  std::vector<Machines> found(names.size());
  int size = static_cast<int>(names.size());
  tests::run_threads(size, [&](int rank) {
    auto store = tests::file_store(directory.path());
    auto set = store.set;
    store.set = [&, set](const std::string& key, const std::string& text) {
      bool is_own = key == "machine/" + std::to_string(rank);
      set(key, is_own && !names[rank].empty() ? names[rank] : text);
    };
    found[rank] = find_machines(store, rank, size, rank != unwilling);
  });
  for (const auto& machines : found) CHECK(machines == found[0]);
  return found[0];
}

/// A store that needs no files.
class Notes {
 public:
  KeyValueStore store() {
    auto set = [this](const std::string& key, const std::string& text) {
      std::lock_guard lock(mutex_);
      notes_[key] = text;
      changed_.notify_all();
    };
    auto has = [this](const std::string& key) {
      std::lock_guard lock(mutex_);
      return notes_.count(key) > 0;
    };
    auto get = [this](const std::string& key) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return notes_.count(key) > 0; });
      return notes_[key];
    };
    return {.set = set, .has = has, .get = get};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> notes_;
};

}  // namespace

TEST_CASE("ranks are put together by machine, whatever their order") {
  CHECK(group_by_machine({}).empty());
  CHECK(group_by_machine({"a"}) == Machines{{0}});
  CHECK(group_by_machine({"a", "a", "b", "b"}) == Machines{{0, 1}, {2, 3}});
  CHECK(group_by_machine({"b", "a", "b", "a", "c"}) == Machines{{0, 2}, {1, 3}, {4}});
}

TEST_CASE("every rank has a place on one machine") {
  Machines machines{{0, 2}, {1, 3}};
  CHECK(place_of(machines, 0) == Place{0, 0});
  CHECK(place_of(machines, 3) == Place{1, 1});
  CHECK(all_alike(machines));
  CHECK_FALSE(all_alike({{0, 1}, {2}}));
  CHECK_THROWS_WITH_AS(place_of(machines, 4), doctest::Contains("no rank 4"), Error);
}

TEST_CASE("all ranks find the same machines") {
  CHECK(find_with({"", "", ""}) == Machines{{0, 1, 2}});
  CHECK(find_with({"", "far", "", "far"}) == Machines{{0, 2}, {1, 3}});
}

TEST_CASE("one rank that does not want to share its memory keeps all from it") {
  CHECK(find_with({"", "", ""}, /*unwilling=*/1) == Machines{{0}, {1}, {2}});
}

TEST_CASE("one rank that cannot tell its machine keeps all from sharing memory, and one line says so") {
  for (int nameless : {0, 1}) {
    const auto text = tests::captured_stderr([&] {
      Notes notes;
      tests::run_threads(3, [&](int rank) {
        if (rank == nameless) tests::forbid_call(SYS_openat);  // as if there were no /proc
        CHECK(find_machines(notes.store(), rank, 3, /*willing=*/true) == Machines{{0}, {1}, {2}});
      });
    });
    const auto reason = "the ranks talk over TCP, because rank " + std::to_string(nameless) +
                        " cannot read /proc/sys/kernel/random/boot_id, which tells machines apart\n";
    CHECK_MESSAGE(text.find(reason) != std::string::npos, text);
    CHECK_MESSAGE(std::count(text.begin(), text.end(), '\n') == 1, text);
  }
}
