// A disk that fills up or fails: the job says so, and what was saved before can be loaded.

#include <doctest/doctest.h>
#include <errno.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/durable/step_files.h"
#include "tests/support/program.h"
#include "tests/support/small_disk.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using tests::on_small_disk;
using tests::Program;
namespace fs = std::filesystem;

namespace {

bool is_full_test() { return std::getenv("ACCELERATE_TEST_FULL") != nullptr; }

std::vector<std::string> job(const std::string& mode, const fs::path& directory, int num_saves = 1) {
  return {SAVING_PROGRAM, mode, directory, "1", std::to_string(num_saves), "20"};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// How many calls that a fault can hit one save takes.
int num_calls(const std::string& mode, const fs::path& directory, const EnvironmentVariable& exchange) {
  Program program(job(mode, directory), {{"LD_PRELOAD", FAILING_CALLS}, {"FAULT_COUNT", "1"}, exchange});
  REQUIRE(program.wait() == 0);
  auto text = program.errors();
  REQUIRE(contains(text, "calls "));
  return std::stoi(text.substr(text.rfind("calls ") + 6));
}

/// One save whose `call`-th call to the disk fails with `error`, or ends the program when that is 0.
void check_fault(const std::string& mode, const fs::path& directory, int call, int error,
                 const EnvironmentVariable& exchange) {
  INFO(mode, ", call ", call, ", error ", error, exchange.value ? ", without exchange" : "");
  auto before = tests::newest_step(mode, directory);
  REQUIRE(before);
  Program program(job(mode, directory), {{"LD_PRELOAD", FAILING_CALLS},
                                         {"FAULT_AT", std::to_string(call)},
                                         {"FAULT_ERROR", std::to_string(error)},
                                         exchange});
  auto code = program.wait();
  auto text = program.errors();
  auto after = tests::newest_step(mode, directory);
  REQUIRE(after);
  CHECK((after == before || after == *before + 1));
  if (error == 0) {
    CHECK(code == 137);
  } else if (code == 0) {
    CHECK(after == *before + 1);  // it was only about what is no longer needed
  } else {
    CHECK(code == 1);
    CHECK_MESSAGE(contains(text, directory.parent_path().string()), text);
    CHECK_MESSAGE(contains(text, error == ENOSPC ? "make room" : "dmesg"), text);
  }
  auto promised = program.output().find("saved") != std::string::npos;
  CHECK_FALSE((promised && after == before));
}

void check_every_fault(const std::string& mode, int error, const EnvironmentVariable& exchange) {
  tests::TemporaryDirectory home;
  auto directory = home.path() / "state";
  REQUIRE(Program(job(mode, directory, 2)).wait() == 0);
  int calls = num_calls(mode, directory, exchange);
  for (int call = 1; call <= calls; ++call) check_fault(mode, directory, call, error, exchange);
  CHECK(Program(job(mode, directory)).wait() == 0);
  CHECK(std::distance(fs::directory_iterator(home.path()), {}) == 1);
  MESSAGE(mode, ", ", std::string(error == 0 ? "killed" : std::strerror(error)), " at each of ", calls, " calls");
}

const EnvironmentVariable kExchange{.name = "FAULT_NO_EXCHANGE", .value = std::nullopt};
const EnvironmentVariable kNoExchange{.name = "FAULT_NO_EXCHANGE", .value = "1"};

}  // namespace

TEST_CASE(
    "whichever call of a save fails because the disk is full, a whole checkpoint is left and the error says what to "
    "do") {
  for (std::string mode : {"numbered", "overwrite", "limit"}) check_every_fault(mode, ENOSPC, kExchange);
  check_every_fault("overwrite", ENOSPC, kNoExchange);
}

TEST_CASE("whichever call of a save is the last one before the program is killed, a whole checkpoint is left") {
  for (std::string mode : {"numbered", "overwrite", "limit"}) check_every_fault(mode, 0, kExchange);
  check_every_fault("overwrite", 0, kNoExchange);
}

TEST_CASE("a disk that fails is reported as one") {
  for (std::string mode : {"overwrite", "limit"}) check_every_fault(mode, EIO, kExchange);
}

TEST_CASE("a limit on the size of files is an error that names the limit, and not the end of the process") {
  tests::TemporaryDirectory home;
  auto directory = (home.path() / "state").string();
  REQUIRE(Program(job("overwrite", directory)).wait() == 0);
  Program limited({"sh", "-c", "ulimit -f 10; exec " SAVING_PROGRAM " overwrite " + directory + " 1 1 20"});
  CHECK(limited.wait() == 1);
  auto text = limited.errors();
  CHECK_MESSAGE(contains(text, "model.safetensors: cannot be written: File too large"), text);
  CHECK_MESSAGE(contains(text, "ulimit -f"), text);
  CHECK(tests::newest_step("overwrite", directory) == 1);
}

TEST_CASE("on a disk that is too small for a second checkpoint the first one stays, whatever the size") {
  const int one = 3 * 20 + 30, step = is_full_test() ? 2 : 12;  // kilobytes of a checkpoint with its directories
  std::string save = SAVING_PROGRAM " overwrite /mnt/state 1 1 20",
              newest = SAVING_PROGRAM " overwrite /mnt/state 1 0 0";
  int disks = 0, full = 0;
  for (int kilobytes = one; kilobytes < 2 * one + 2 * step; kilobytes += step, ++disks) {
    Program program(on_small_disk(kilobytes, save + " && { " + save + " || echo full; } && " + newest));
    CHECK_MESSAGE(program.wait() == 0, "this test needs a private tmpfs: " << program.errors());
    auto output = program.output();
    bool is_full = contains(output, "full");
    full += is_full;
    CHECK_MESSAGE(contains(output, is_full ? "newest 1\n" : "newest 2\n"), output << program.errors());
    if (is_full) CHECK_MESSAGE(contains(program.errors(), "MB are free there); make room"), program.errors());
  }
  CHECK(full > 0);
  CHECK(full < disks);
  MESSAGE("disks: ", disks, ", of which ", full, " were full; the first checkpoint was left on each");
}

TEST_CASE("a disk that is read-only is named, with the remedy") {
  Program program(on_small_disk(100, "mount -o remount,ro /mnt && " SAVING_PROGRAM " overwrite /mnt/state 1 1 20"));
  CHECK(program.wait() == 1);
  auto text = program.errors();
  CHECK_MESSAGE(contains(text, "/mnt/.state.saving: cannot be created: Read-only file system; choose"), text);
}
