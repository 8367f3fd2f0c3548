#include "notebook/protocol/frames.h"

#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>

#include <doctest/doctest.h>

#include "accelerate/base/error.h"

using namespace accelerate::notebook;

TEST_CASE("Frames that several processes write at the same time arrive whole") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  constexpr int kWriters = 4, kFrames = 20;
  constexpr size_t kBytes = 200'000;  // more than a pipe holds, so that writing takes several steps
  for (int writer = 0; writer < kWriters; ++writer) {
    if (fork() != 0) continue;
    for (int i = 0; i < kFrames; ++i) write_frame(ends[1], std::string(kBytes, static_cast<char>('a' + writer)));
    _exit(0);
  }
  close(ends[1]);
  FrameReader reader(ends[0]);
  std::map<char, int> counts;
  while (auto frame = reader.wait()) {
    REQUIRE(frame->size() == kBytes);
    REQUIRE(frame->find_first_not_of(frame->front()) == std::string::npos);
    ++counts[frame->front()];
  }
  CHECK(counts == std::map<char, int>{{'a', kFrames}, {'b', kFrames}, {'c', kFrames}, {'d', kFrames}});
  close(ends[0]);
  for (int writer = 0; writer < kWriters; ++writer) wait(nullptr);
}

TEST_CASE("What is no frame is an error, and the end of the pipe is the end") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  FrameReader reader(ends[0]);
  write_frame(ends[1], "");
  CHECK(reader.wait() == "");
  REQUIRE(write(ends[1], "hello\n", 6) == 6);
  CHECK_THROWS_WITH_AS(reader.wait(), doctest::Contains("'hello' is not a length"), accelerate::Error);
  close(ends[1]);
  CHECK_FALSE(FrameReader(ends[0]).wait().has_value());
  close(ends[0]);
}
