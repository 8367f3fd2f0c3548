#include "accelerate/process/crash_file.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "accelerate/base/log.h"
#include "accelerate/base/utf8.h"

namespace accelerate::process {

namespace {

constexpr int kMostFrames = 64;
constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// Everything that the handlers use is allocated in advance: after a crash the heap may be corrupt.
std::array<char, 4096> error_file;
std::array<char, 1 << 16> report;
std::array<char, 1 << 16> handler_stack;
std::array<char, 1 << 13> mappings;  // a buffer for /proc/self/maps
std::atomic_flag written = ATOMIC_FLAG_INIT;
uintptr_t interrupted = 0;  // the instruction interrupted by a signal; 0 if there is no signal

// Limits within the report: a long message leaves room for frames, and frames leave room for the closing text.
constexpr size_t kMessageEnd = report.size() / 2;
constexpr size_t kFramesEnd = report.size() - 256;

/// Appends text to `report` without allocating.
class Writer {
 public:
  /// Sets the limit of the report's size. Text that does not fit is dropped, with everything after it.
  void fill_until(size_t end) {
    end_ = end;
    full_ = false;
  }

  /// Appends all or nothing: half a character would corrupt the rest.
  void raw(std::string_view text) {
    full_ = full_ || size_ + text.size() > end_;
    if (full_) return;
    memcpy(report.data() + size_, text.data(), text.size());
    size_ += text.size();
  }

  /// Appends text escaped for a JSON string.
  void text(std::string_view text) {
    while (!text.empty()) {
      auto bytes = utf8_character_bytes(text);
      char first = text.front();
      if (bytes == 0) {
        raw("\\ufffd");
      } else if (first == '"' || first == '\\') {
        raw(first == '"' ? "\\\"" : "\\\\");
      } else if (static_cast<unsigned char>(first) < 0x20) {
        raw(first == '\n' ? "\\n" : " ");
      } else {
        raw(text.substr(0, bytes));
      }
      text.remove_prefix(bytes > 0 ? bytes : 1);
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
  size_t size_ = 0;
  size_t end_ = report.size();
  bool full_ = false;
};

/// The file in a line of /proc/self/maps, "begin-end permissions offset device inode /path", if it contains the
/// address.
std::string_view file_of_mapping(std::string_view line, uintptr_t address) {
  uintptr_t begin = 0, end = 0;
  const char* last = line.data() + line.size();
  auto dash = std::from_chars(line.data(), last, begin, 16).ptr;
  if (dash == last || std::from_chars(dash + 1, last, end, 16).ec != std::errc()) return {};
  auto path = line.find('/');
  return address < begin || address >= end || path == std::string_view::npos ? std::string_view() : line.substr(path);
}

/// The absolute path of the file mapped at the address, as a view into `mappings`. Empty if there is no such file.
std::string_view mapped_file(uintptr_t address) {
  int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  std::string_view found;
  size_t kept = 0;
  for (ssize_t size; found.empty() && (size = read(fd, mappings.data() + kept, mappings.size() - kept)) > 0;) {
    std::string_view text(mappings.data(), kept + static_cast<size_t>(size));
    for (size_t end; found.empty() && (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
      found = file_of_mapping(text.substr(0, end), address);
    }
    kept = text.size();
    if (found.empty()) memmove(mappings.data(), text.data(), kept);
  }
  if (fd >= 0) close(fd);
  return found;
}

/// The path of the module. The linker knows the program by argv[0], which may be any text. It knows other modules by
/// the paths they were loaded with, which are wrong after a chdir. So only absolute paths are trusted.
std::string_view path_of(const link_map* module, const char* name, void* address) {
  if (module != nullptr && module->l_name[0] == '/') return module->l_name;
  auto path = mapped_file(reinterpret_cast<uintptr_t>(address));
  if (!path.empty()) return path;
  return name != nullptr ? name : "?";
}

/// Writes one line "/path/of/module(+0x1234) symbol", which addr2line can resolve to file and line.
void write_frame(Writer& writer, void* address) {
  Dl_info info{};
  link_map* module = nullptr;
  bool known = dladdr1(address, &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) != 0 && module != nullptr;
  // A return address points behind the call, so subtract one. Not for the instruction interrupted by a signal: it may
  // be the first of its function.
  auto place = reinterpret_cast<uintptr_t>(address);
  place -= (place == interrupted ? 0 : 1) + (known ? module->l_addr : 0);
  writer.text(path_of(known ? module : nullptr, info.dli_fname, address));
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

uintptr_t instruction_of([[maybe_unused]] const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.pc;
#else
  return 0;
#endif
}

void handle_crash(int number, siginfo_t* /*info*/, void* context) {
  interrupted = instruction_of(*static_cast<const ucontext_t*>(context));
  write_crash_file(name_of(number));
  raise(number);  // the default action is restored, so the exit status is correct
}

[[noreturn]] void end_with_message() {
  if (auto error = std::current_exception()) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& exception) {
      write_crash_file(message_of(exception));
      get_logger("accelerate").critical(message_of(exception), {.main_process_only = false});
    } catch (...) {
      write_crash_file("an exception of an unknown type");
      get_logger("accelerate").critical("an exception of an unknown type was not caught", {.main_process_only = false});
    }
    std::cout.flush();
    std::fflush(nullptr);
    // Skips static destructors: they would wait for threads that wait for other ranks.
    _exit(1);
  }
  std::abort();
}

}  // namespace

void write_crash_file(std::string_view message) {
  if (error_file[0] == '\0' || written.test_and_set()) return;
  Writer writer;
  writer.raw(R"({"message": {"message": ")");
  writer.fill_until(kMessageEnd);
  writer.text(message);
  writer.fill_until(kFramesEnd);
  writer.raw(R"(", "extraInfo": {"py_callstack": ")");
  std::array<void*, kMostFrames> frames;
  int count = backtrace(frames.data(), kMostFrames);
  for (int i = 1; i < count; ++i) write_frame(writer, frames[i]);  // skips this function
  writer.fill_until(report.size());
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
  backtrace(&first, 1);  // loads libgcc now, before memory may be corrupt

  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr);  // for a stack overflow, in this thread only: see sigaltstack(2)
  for (int number : kCrashes) {
    struct sigaction action{};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_sigaction = handle_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
}

std::string message_of(const std::exception& error) {
  std::string message = error.what();
  return message.substr(0, message.find("\nException raised from"));
}

void report_uncaught_exceptions() {
  if (std::get_terminate() == __gnu_cxx::__verbose_terminate_handler) std::set_terminate(end_with_message);
}

}  // namespace accelerate::process
