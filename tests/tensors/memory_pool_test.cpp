#include "accelerate/tensors/memory_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using accelerate::tensors::MemoryPool;

namespace {

constexpr size_t kMebi = size_t{1} << 20;

struct Held {
  unsigned char* memory;
  size_t bytes;
  unsigned char mark;

  bool intact() const { return memory[0] == mark && memory[bytes / 2] == mark && memory[bytes - 1] == mark; }
};

Held hold(MemoryPool& pool, size_t bytes, unsigned char mark) {
  auto* memory = static_cast<unsigned char*>(pool.allocate(bytes));
  REQUIRE(memory);
  memory[0] = memory[bytes / 2] = memory[bytes - 1] = mark;
  return {memory, bytes, mark};
}

/// Takes and gives back blocks of random sizes; no block may lie in another.
void churn(MemoryPool& pool, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Held> held;
  for (int turn = 0; turn < 2000; ++turn) {
    if (held.size() < 20 || random() % 2) {
      held.push_back(hold(pool, 1 + random() % (3 * kMebi), static_cast<unsigned char>(random())));
    } else {
      std::swap(held[random() % held.size()], held.back());
      REQUIRE(held.back().intact());
      REQUIRE(pool.free(held.back().memory));
      held.pop_back();
    }
    if (held.size() > 60) {
      for (auto& block : held) REQUIRE((block.intact() && pool.free(block.memory)));
      held.clear();
    }
  }
  for (auto& block : held) REQUIRE((block.intact() && pool.free(block.memory)));
}

}  // namespace

TEST_CASE("a block that was freed is given out again") {
  MemoryPool pool;
  void* first = pool.allocate(5 * kMebi);
  void* second = pool.allocate(kMebi);
  CHECK(first != second);
  CHECK(pool.in_use() == 6 * kMebi);
  CHECK(pool.free(first));
  CHECK(pool.allocate(5 * kMebi) == first);
  CHECK(pool.free(first));
  CHECK(pool.free(second));
  CHECK(pool.in_use() == 0);
}

TEST_CASE("free neighbours become one block, in whichever order they are freed") {
  for (auto order : {std::array{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}}) {
    MemoryPool pool({.segment = 6 * kMebi});
    std::array blocks{pool.allocate(2 * kMebi), pool.allocate(2 * kMebi), pool.allocate(2 * kMebi)};
    for (int i : order) CHECK(pool.free(blocks[i]));
    CHECK(pool.allocate(6 * kMebi) == blocks[0]);
    CHECK(pool.idle() == 0);
    CHECK(pool.free(blocks[0]));
  }
}

TEST_CASE("a segment that was idle for long goes back to the system, one in use stays") {
  MemoryPool pool({.segment = 2 * kMebi, .keep = std::chrono::milliseconds(20)});
  void* idle = pool.allocate(2 * kMebi);
  auto used = hold(pool, 2 * kMebi, 5);
  void* other = pool.allocate(2 * kMebi);
  CHECK(pool.free(idle));
  CHECK(pool.idle() == 2 * kMebi);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  CHECK(pool.free(other));
  CHECK(pool.idle() == 2 * kMebi);  // that of the block just freed
  CHECK(used.intact());
  CHECK(pool.free(used.memory));
  pool.release_idle();
  CHECK(pool.idle() == 0);
}

TEST_CASE("a block of another allocator, a block freed twice and a size that cannot be are refused") {
  MemoryPool pool;
  int other = 0;
  CHECK_FALSE(pool.free(&other));
  void* block = pool.allocate(kMebi);
  CHECK(pool.free(block));
  CHECK_FALSE(pool.free(block));
  CHECK(pool.allocate(SIZE_MAX) == nullptr);
  CHECK(pool.allocate(size_t{1} << 60) == nullptr);
  CHECK(pool.in_use() == 0);
}

TEST_CASE("blocks never overlap, also when several threads take them") {
  MemoryPool pool({.segment = 4 * kMebi, .keep = std::chrono::milliseconds(1)});
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 3; ++seed) threads.emplace_back([&, seed] { churn(pool, seed); });
  for (auto& thread : threads) thread.join();
  CHECK(pool.in_use() == 0);
}

TEST_CASE("a forked child can go on with the pool") {
  MemoryPool pool;
  auto block = hold(pool, kMebi, 7);
  pool.lock();
  pid_t child = fork();
  pool.unlock();
  if (child == 0) {
    bool good = block.intact() && pool.free(block.memory) && pool.allocate(kMebi);
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(block.intact());
  CHECK(pool.free(block.memory));
}
