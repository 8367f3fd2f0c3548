#include "accelerate/shared_memory/segment.h"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cstring>

#include "accelerate/base/error.h"
#include "accelerate/shared_memory/heap.h"
#include "tests/shared_memory/forked_ranks.h"
#include "tests/shared_memory/memory_without_pages.h"
#include "tests/support/limit_resource.h"

using namespace accelerate;
using namespace accelerate::shared_memory;

namespace {

size_t memory_behind(const Segment& segment) {
  struct stat status{};
  fstat(segment.descriptor().get(), &status);
  return static_cast<size_t>(status.st_blocks) * 512;
}

}  // namespace

TEST_CASE("a second mapping sees what was written to the first") {
  Segment first(1 << 20);
  first.commit(0, 1 << 20);
  Segment second(first.descriptor());
  CHECK(second.capacity() == first.capacity());
  std::memcpy(first.data() + 1000, "hello", 6);
  CHECK(std::string(reinterpret_cast<const char*>(second.data()) + 1000) == "hello");
}

TEST_CASE("memory is taken when it is committed and given back when it is released") {
  Segment segment(size_t{1} << 36);  // addresses only
  CHECK(memory_behind(segment) == 0);
  segment.commit(0, 10 * page_bytes());
  CHECK(memory_behind(segment) == 10 * page_bytes());
  segment.release(0, 4 * page_bytes());
  CHECK(memory_behind(segment) == 6 * page_bytes());
}

TEST_CASE("memory that cannot be had is an error that says how much was needed, not a signal") {
  Segment segment(page_bytes());
  auto message = "need " + std::to_string(2 * page_bytes()) + " more bytes of shared memory";
  CHECK_THROWS_WITH_AS(segment.commit(0, 2 * page_bytes()), doctest::Contains(message.c_str()), Error);
}

TEST_CASE("pages that the kernel does not have are an error when they are asked for, not a signal when they are used") {
  const auto descriptor = tests::memory_without_pages();
  Segment segment(Descriptor(dup(descriptor.get())));
  CHECK_THROWS_WITH_AS(segment.commit(0, segment.capacity()), doctest::Contains("No space left on device"), Error);
  CHECK_THROWS_WITH_AS(commit_pages(segment.data(), segment.capacity()), doctest::Contains("Cannot allocate memory"),
                       Error);
}

TEST_CASE("a limit for the size of files that is lower than a segment is an error, not a signal") {
  tests::ForkedRanks process(1, [](int, const KeyValueStore&) {
    tests::limit_resource(RLIMIT_FSIZE, page_bytes());
    Segment fits(page_bytes());
    Segment does_not_fit(2 * page_bytes());
  });
  const auto bytes = std::to_string(2 * page_bytes());
  CHECK(process.outcome(0) == "shared memory of " + bytes + " bytes cannot be created: File too large");
}

TEST_CASE("what is not a segment is not mapped") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  Descriptor reading(ends[0]), writing(ends[1]);
  CHECK_THROWS_AS(Segment{reading}, Error);
}

TEST_CASE("blocks of a heap do not overlap, and what is freed is used again") {
  auto segment = std::make_shared<Segment>(100 * page_bytes());
  Heap heap(segment, 1);
  auto page = page_bytes();
  CHECK(heap.allocate(1) == page);
  CHECK(heap.allocate(3 * page) == 2 * page);
  CHECK(heap.allocate(page + 1) == 5 * page);
  CHECK(heap.used_bytes() == 6 * page);
  heap.free(2 * page);
  CHECK(memory_behind(*segment) == 3 * page);
  CHECK(heap.allocate(4 * page) == 7 * page);  // too large for the gap
  CHECK(heap.allocate(2 * page) == 2 * page);
  CHECK(heap.offset_of(segment->data() + 77, 10) == 77);
  int outside = 0;
  CHECK_FALSE(heap.offset_of(&outside, sizeof(outside)).has_value());
  CHECK_THROWS_WITH_AS(heap.allocate(100 * page), doctest::Contains("does not fit"), Error);
}
