#include "accelerate/shared_memory/shared_zeros.h"

#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include <doctest/doctest.h>

#include "accelerate/shared_memory/local_group.h"
#include "tests/shared_memory/forked_ranks.h"
#include "tests/shared_memory/thread_ranks.h"
#include "tests/support/forbid_call.h"
#include "tests/support/limit_resource.h"

using namespace accelerate;
using namespace accelerate::shared_memory;

namespace {

constexpr size_t kBytes = 100'000;

/// Even parts of kBytes, which do not begin at pages.
Range range_of(int rank, int size) {
  const size_t each = kBytes / size;
  return {each * rank, each};
}

std::span<char> part_of(const Segment& segment, const Range& range) {
  return {reinterpret_cast<char*>(segment.data()) + range.begin, range.length};
}

bool is_filled_with(const Segment& segment, const Range& range, char value) {
  const auto part = part_of(segment, range);
  return std::all_of(part.begin(), part.end(), [&](char each) { return each == value; });
}

void fill_with(const Segment& segment, const Range& range, char value) {
  const auto part = part_of(segment, range);
  std::fill(part.begin(), part.end(), value);
}

}  // namespace

TEST_CASE("every rank sees what the others write to common memory, until it takes the memory for its own") {
  for (int size : {1, 2, 3}) {
    tests::LocalMemory memory(size);
    tests::run_channels(memory, [&](Channel& channel) {
      const auto own = range_of(channel.rank(), size);
      auto segment = shared_zeros(channel, kBytes, {own});
      REQUIRE(segment);
      CHECK(is_filled_with(*segment, own, 0));
      channel.arrive_and_wait({});
      fill_with(*segment, own, static_cast<char>(channel.rank() + 1));
      channel.arrive_and_wait({});
      for (int rank = 0; rank < size; ++rank) {
        CHECK(is_filled_with(*segment, range_of(rank, size), static_cast<char>(rank + 1)));
      }
      channel.arrive_and_wait({});

      segment->make_private();
      fill_with(*segment, own, 77);
      channel.arrive_and_wait({});
      for (int rank = 0; rank < size; ++rank) {
        const char expected = rank == channel.rank() ? 77 : static_cast<char>(rank + 1);
        CHECK(is_filled_with(*segment, range_of(rank, size), expected));
      }
    });
  }
}

TEST_CASE("common memory lasts until the last rank has let go of it, also when others have ended before") {
  tests::ForkedRanks ranks(3, [](int rank, const KeyValueStore& store) {
    constexpr auto kLimit = std::chrono::seconds(20);
    std::shared_ptr<Segment> segment;
    {
      LocalGroup group(exchange_segments(store, {{0, 1, 2}}, rank, LocalGroup::exchange_options(3, kLimit)), kLimit);
      segment = shared_zeros(group.channel(), kBytes, {range_of(rank, 3)});
      fill_with(*segment, range_of(rank, 3), static_cast<char>(rank + 1));
      group.channel().arrive_and_wait({});
    }
    if (rank == 1) raise(SIGKILL);
    if (rank == 0) return;
    store.get("others have ended");
    for (int each = 0; each < 3; ++each) {
      if (!is_filled_with(*segment, range_of(each, 3), static_cast<char>(each + 1))) fail("part ", each, " is lost");
    }
  });
  CHECK(ranks.outcome(0) == "returned");
  CHECK(ranks.outcome(1).find("SIGKILL") != std::string::npos);
  ranks.store().set("others have ended", "");
  CHECK(ranks.outcome(2) == "returned");
}

TEST_CASE("common memory that one rank cannot have is an error on all of them, which names the rank") {
  tests::LocalMemory memory(3);
  tests::run_channels(memory, [&](Channel& channel) {
    // As if there were none left: what is behind the end cannot be had.
    const Range own = channel.rank() == 1 ? Range{kBytes, 10 * page_bytes()} : range_of(channel.rank(), 3);
    const char* reason = channel.rank() == 1 ? "more bytes of shared memory" : "rank 1 has no memory for its part";
    CHECK_THROWS_WITH_AS(shared_zeros(channel, kBytes, {own}), doctest::Contains(reason), Error);
    CHECK(shared_zeros(channel, kBytes, {range_of(channel.rank(), 3)}));  // the group goes on
  });
}

TEST_CASE("common memory that the kernel refuses one rank is an error on all of them, whether it makes or maps it") {
  constexpr size_t kLarge = size_t{1} << 30;
  for (int poor : {0, 2}) {
    tests::ForkedRanks ranks(3, [&](int rank, const KeyValueStore& store) {
      constexpr auto kLimit = std::chrono::seconds(20);
      LocalGroup group(exchange_segments(store, {{0, 1, 2}}, rank, LocalGroup::exchange_options(3, kLimit)), kLimit);
      if (rank == poor) tests::limit_resource(RLIMIT_AS, tests::used_addresses() + kLarge / 2);
      try {
        shared_zeros(group.channel(), kLarge, {});
      } catch (const Error& error) {
        store.set("error/" + std::to_string(rank), error.what());
      }
      if (!shared_zeros(group.channel(), kBytes, {range_of(rank, 3)})) fail("the group does not go on");
    });
    for (int rank = 0; rank < 3; ++rank) {
      CHECK(ranks.outcome(rank) == "returned");
      const auto error = ranks.store().get("error/" + std::to_string(rank));
      const auto reason = rank == poor ? "cannot be mapped: Cannot allocate memory"
                                       : "rank " + std::to_string(poor) + " has no memory for its part";
      CHECK_MESSAGE(error.find(reason) != std::string::npos, error);
    }
  }
}

TEST_CASE("no rank has common memory where one may not open it") {
  tests::LocalMemory memory(3);
  tests::run_channels(memory, [&](Channel& channel) {
    if (channel.rank() == 2) tests::forbid_call(SYS_openat);
    CHECK_FALSE(shared_zeros(channel, kBytes, {range_of(channel.rank(), 3)}));
  });
}
