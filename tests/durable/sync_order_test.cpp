// What strace sees of a save: nothing gets its name before all of it is on the disk.

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;

namespace {

/// The calls of a second save to the same directory.
std::vector<std::string> calls_of_a_save(const tests::TemporaryDirectory& home) {
  auto directory = (home.path() / "state").string();
  std::vector<std::string> save = {SAVING_PROGRAM, "overwrite", directory, "1", "1", "4"};
  REQUIRE(tests::Program(save).wait() == 0);
  std::vector<std::string> words = {
      "strace", "-y", "-e", "trace=write,fsync,rename,renameat2,unlinkat", "-o", home.path() / "trace"};
  words.insert(words.end(), save.begin(), save.end());
  tests::Program traced(words);
  REQUIRE_MESSAGE(traced.wait() == 0, traced.errors());
  std::istringstream trace(home.read("trace"));
  std::vector<std::string> calls;
  for (std::string line; std::getline(trace, line);) calls.push_back(line);
  return calls;
}

/// Where the last call is that begins so and has this in it. The test fails when there is none.
size_t last(const std::vector<std::string>& calls, const std::string& name, const std::string& part) {
  for (size_t i = calls.size(); i-- > 0;) {
    if (calls[i].starts_with(name + "(") && calls[i].find(part) != std::string::npos) return i;
  }
  FAIL("no ", name, " of ", part);
  return 0;
}

}  // namespace

TEST_CASE("files, manifest, stage, rename, parent reach the disk in this order, and the old one goes last") {
  tests::TemporaryDirectory home;
  auto calls = calls_of_a_save(home);
  auto manifest = last(calls, "fsync", "/manifest.json>");
  for (std::string file : {"/model.safetensors>", "/optimizer.bin>"}) {
    CHECK(last(calls, "write", file) < last(calls, "fsync", file));
    CHECK(last(calls, "fsync", file) < manifest);
  }
  auto stage = last(calls, "fsync", ".new>");
  auto exchange = last(calls, "renameat2", "RENAME_EXCHANGE");
  auto parent = last(calls, "fsync", home.path().string() + ">");
  CHECK(last(calls, "write", "/manifest.json>") < manifest);
  CHECK(manifest < stage);
  CHECK(stage < exchange);
  CHECK(exchange < parent);
  CHECK(parent < last(calls, "unlinkat", "model.safetensors"));
}
