#include "accelerate/base/file.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>

#include <string>

#include "accelerate/base/error.h"
#include "accelerate/base/read_file.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using tests::TemporaryDirectory;

TEST_CASE("what is appended can be read at any position") {
  TemporaryDirectory home;
  auto path = home.path() / "file";
  File::create(path).append("0123456789");
  auto file = File::open(path);
  std::string bytes(4, '\0');
  file.read_at(3, bytes.data(), bytes.size());
  CHECK(bytes == "3456");
  CHECK(file.bytes() == 10);
  CHECK_THROWS_WITH_AS(file.read_at(8, bytes.data(), 4), doctest::Contains("file: ends at byte 10"), Error);
}

TEST_CASE("a part of a file comes in pieces, in their order and whole") {
  TemporaryDirectory home;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i);
  auto file = File::open(home.write("file", text));
  for (size_t size : {size_t{0}, size_t{1}, size_t{200'000}, text.size() - 5}) {
    std::string read;
    file.read_pieces(5, size, [&](std::string_view piece) { read += piece; });
    CHECK(read == text.substr(5, size));
  }
  CHECK_THROWS_WITH_AS(file.read_pieces(0, text.size() + 1, [](std::string_view) {}),
                       doctest::Contains("file: ends at"), Error);
}

TEST_CASE("an error names the path, what was tried, the reason and the remedy") {
  CHECK_THROWS_WITH_AS(File::open("/nowhere/file"), "/nowhere/file: cannot be opened: No such file or directory",
                       Error);
  auto message_for = [](int error) {
    try {
      fail_for_file("/tmp/no/such/file", "written", error);
    } catch (const Error& failure) {
      return std::string(failure.what());
    }
  };
  CHECK(message_for(ENOSPC).starts_with("/tmp/no/such/file: cannot be written: No space left on device ("));
  CHECK(message_for(ENOSPC).ends_with(" MB are free there); make room, or choose a directory on another disk"));
  CHECK(message_for(EFBIG).find("ulimit -f") != std::string::npos);
  CHECK(message_for(EROFS).find("choose a directory on a file system that can be written to") != std::string::npos);
}

TEST_CASE("the mode of a new file follows the umask") {
  TemporaryDirectory home;
  auto before = umask(0077);
  File::create(home.path() / "file");
  umask(before);
  CHECK(static_cast<int>(std::filesystem::status(home.path() / "file").permissions()) == 0600);
}

TEST_CASE("the limit on file sizes is reported by the write, unless the program has a handler of its own") {
  struct sigaction original{}, action{};
  sigaction(SIGXFSZ, nullptr, &original);
  signal(SIGXFSZ, SIG_DFL);
  report_file_size_limit();
  sigaction(SIGXFSZ, nullptr, &action);
  CHECK((action.sa_handler == SIG_IGN));
  auto own = [](int) {};
  signal(SIGXFSZ, own);
  report_file_size_limit();
  sigaction(SIGXFSZ, nullptr, &action);
  CHECK((action.sa_handler == static_cast<sighandler_t>(own)));
  sigaction(SIGXFSZ, &original, nullptr);
}

TEST_CASE("a file is read as a whole, of whatever size, and one that is not there is told apart") {
  TemporaryDirectory home;
  for (size_t size : {0, 1, 4095, 4096, 4097, 100'000}) {
    const std::string text(size, 'x');
    auto path = home.write("file", text);
    CHECK(read_file(path) == text);
    CHECK(read_file_if_there(path) == text);
  }
  CHECK(read_file("/proc/self/status").find("Pid:") != std::string::npos);
  CHECK_FALSE(read_file_if_there(home.path() / "none"));
  CHECK_FALSE(read_file_if_there(home.path()));
  CHECK_THROWS_WITH_AS(read_file(home.path() / "none"), doctest::Contains("none: cannot be opened: No such"), Error);
  CHECK_THROWS_WITH_AS(read_file(home.path()), doctest::Contains("cannot be read: Is a directory"), Error);
}
