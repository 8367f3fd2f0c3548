#include "accelerate/base/crash_file.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace accelerate {

namespace {

constexpr int kMostFrames = 64;
constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// All that the handlers use is made before: after a crash the heap may be broken.
std::array<char, 4096> error_file;
std::array<char, 1 << 16> report;
std::array<char, 1 << 16> handler_stack;
std::atomic_flag written = ATOMIC_FLAG_INIT;

/// Appends text to `report` without allocating.
class Writer {
 public:
  void raw(std::string_view text) {
    for (char c : text) put(c);
  }

  /// As the inside of a JSON string.
  void text(std::string_view text) {
    for (char c : text) {
      auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') put('\\');
      if (byte >= 0x20) {
        put(c);
      } else {
        raw(c == '\n' ? "\\n" : " ");
      }
    }
  }

  void number(uint64_t value, unsigned base) {
    std::array<char, 24> digits;
    auto* at = digits.end();
    do {
      *--at = "0123456789abcdef"[value % base];
      value /= base;
    } while (value > 0);
    raw({at, static_cast<size_t>(digits.end() - at)});
  }

  std::string_view written() const { return {report.data(), size_}; }

 private:
  void put(char c) {
    if (size_ < report.size()) report[size_++] = c;
  }

  size_t size_ = 0;
};

/// One line "/path/of/module(+0x1234) symbol", from which addr2line finds file and line.
void write_frame(Writer& writer, void* address) {
  Dl_info info{};
  link_map* module = nullptr;
  bool known = dladdr1(address, &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) != 0 && module != nullptr;
  // A return address is that of the next instruction; the call stands before it.
  auto place = reinterpret_cast<uintptr_t>(address) - 1 - (known ? module->l_addr : 0);
  writer.text(known && info.dli_fname != nullptr ? info.dli_fname : "?");
  writer.raw("(+0x");
  writer.number(place, 16);
  writer.raw(") ");
  if (known && info.dli_sname != nullptr) writer.text(info.dli_sname);
  writer.raw("\\n");
}

void save(std::string_view text) {
  int fd = open(error_file.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  while (!text.empty()) {
    auto size = write(fd, text.data(), text.size());
    if (size <= 0) break;
    text.remove_prefix(static_cast<size_t>(size));
  }
  close(fd);
}

const char* name_of(int number) {
  const char* name = sigdescr_np(number);
  return name != nullptr ? name : "a signal";
}

void handle_crash(int number) {
  write_crash_file(name_of(number));
  raise(number);  // the action is the standard one again, so that the exit status tells the truth
}

}  // namespace

void write_crash_file(std::string_view message) {
  if (error_file[0] == '\0' || written.test_and_set()) return;
  Writer writer;
  writer.raw(R"({"message": {"message": ")");
  writer.text(message);
  writer.raw(R"(", "extraInfo": {"py_callstack": ")");
  std::array<void*, kMostFrames> frames;
  int count = backtrace(frames.data(), kMostFrames);
  for (int i = 1; i < count; ++i) write_frame(writer, frames[i]);  // the first is this function
  writer.raw(R"(", "timestamp": ")");
  writer.number(static_cast<uint64_t>(time(nullptr)), 10);
  writer.raw(R"("}}})");
  save(writer.written());
}

void report_crashes() {
  const char* path = getenv("TORCHELASTIC_ERROR_FILE");
  if (path == nullptr || strlen(path) >= error_file.size()) return;
  strcpy(error_file.data(), path);
  void* first;
  backtrace(&first, 1);  // loads what it needs now, while memory is sound

  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr);  // a stack that overflowed is no place for a handler
  for (int number : kCrashes) {
    struct sigaction action{};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = handle_crash;
    action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
}

}  // namespace accelerate
