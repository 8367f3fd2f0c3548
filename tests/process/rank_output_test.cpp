#include "accelerate/process/rank_output.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "accelerate/base/error.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::process;
namespace fs = std::filesystem;

namespace {

/// A file that stands for the console.
struct Console {
  Console() { fd = open((directory.path() / "console").c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600); }
  ~Console() { close(fd); }
  std::string read(const std::string& name = "console") const { return directory.read(name); }
  tests::TemporaryDirectory directory;
  int fd;
};

/// Starts a process that writes with `body(fd)`.
template <class Body>
pid_t start_writer(int fd, Body body) {
  pid_t pid = fork();
  if (pid == 0) {
    body(fd);
    _exit(0);
  }
  return pid;
}

void put(int fd, const std::string& text) { CHECK(write(fd, text.data(), text.size()) == text.size()); }

}  // namespace

TEST_CASE("lines of ranks that write at the same time are whole, complete and in order") {
  constexpr int kRanks = 4, kLines = 20000;
  Console console;
  RankOutput output;
  std::vector<pid_t> writers;
  std::vector<int> fds;
  for (int rank = 0; rank < kRanks; ++rank) fds.push_back(output.open({.local_rank = rank, .console = console.fd}));
  for (int rank = 0; rank < kRanks; ++rank) {
    writers.push_back(start_writer(fds[rank], [&](int fd) {
      std::string text;
      for (int i = 0; i < kLines; ++i) text += std::to_string(rank) + " " + std::to_string(i) + " the end\n";
      for (size_t at = 0; at < text.size(); at += 777) {  // pieces that end anywhere
        auto piece = text.substr(at, 777);
        for (size_t done = 0; done < piece.size();) done += write(fd, piece.data() + done, piece.size() - done);
      }
    }));
  }
  output.start();
  for (pid_t writer : writers) waitpid(writer, nullptr, 0);
  output.finish();
  std::istringstream lines(console.read());
  std::map<int, int> next;
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    int rank = -1, number = -1, length = 0;
    REQUIRE_MESSAGE(sscanf(line.c_str(), "%d %d the end%n", &rank, &number, &length) == 2, line);
    REQUIRE(length == static_cast<int>(line.size()));
    REQUIRE(number == next[rank]++);
  }
  CHECK(count == kRanks * kLines);
}

TEST_CASE("a prefix stands before each line on the console and not in the file") {
  Console console;
  RankOutput output;
  auto file = (console.directory.path() / "stdout.log").string();
  int fd = output.open({.console = console.fd, .file = file, .prefix = "[default0]:"});
  put(fd, "one\ntwo\nno end");
  output.start();
  output.finish();
  CHECK(console.read() == "[default0]:one\n[default0]:two\n[default0]:no end\n");
  CHECK(console.read("stdout.log") == "one\ntwo\nno end");
  CHECK((fs::status(file).permissions() & fs::perms(0777)) == fs::perms(0600));
}

TEST_CASE("a stream that is redirected is not on the console, but its last lines are known") {
  Console console;
  RankOutput output;
  auto file = [&](const char* name) { return (console.directory.path() / name).string(); };
  int errors = output.open({.local_rank = 1, .is_errors = true, .file = file("errors")});
  int other = output.open({.local_rank = 1, .file = file("output")});
  put(errors, "one\ntwo\nthree\n");
  put(other, "four\n");
  output.start();
  output.finish();
  CHECK(console.read() == "");
  CHECK(output.last_lines(1, 2) == std::vector<std::string>{"two", "three"});
  CHECK(output.last_lines(0, 2).empty());
}

TEST_CASE("a stream whose file cannot be written leaves no descriptor open") {
  auto num_open = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); };
  RankOutput output;
  const auto before = num_open();
  CHECK_THROWS_WITH_AS(output.open({.file = "/proc/no/stdout.log"}), doctest::Contains("/proc/no/stdout.log"), Error);
  CHECK(num_open() == before);
}

TEST_CASE("a rank on a terminal sees a terminal, and its progress bar makes room for others") {
  int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  grantpt(terminal);
  unlockpt(terminal);
  int console = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(console >= 0);
  std::string seen;
  {
    RankOutput output;
    int bar = output.open({.local_rank = 0, .console = console, .prefix = "[0]:"});
    int other = output.open({.local_rank = 1, .console = console, .prefix = "[1]:"});
    CHECK(isatty(bar) == 1);
    int bar_copy = dup(bar), other_copy = dup(other);
    output.start();
    auto read_until = [&](const std::string& text) {
      for (char buffer[256]; seen.find(text) == std::string::npos;) {
        auto size = read(terminal, buffer, sizeof(buffer));
        REQUIRE(size > 0);
        seen.append(buffer, size);
      }
    };
    put(bar_copy, "\r50%");
    read_until("50%");
    put(other_copy, "hello\n");
    read_until("hello");
    put(bar_copy, "\r100%\n");
    read_until("100%");
    close(bar_copy);
    close(other_copy);
  }
  close(console);
  close(terminal);
  CHECK_MESSAGE(seen.find("\r50%\r\033[K[1]:hello\r\n\r100%") == 0, seen);
}
