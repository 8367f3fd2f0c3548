#include "accelerate/base/uncaught.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "accelerate/base/crash_file.h"
#include "accelerate/base/log.h"

namespace accelerate {

namespace {

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

std::string message_of(const std::exception& error) {
  std::string message = error.what();
  return message.substr(0, message.find("\nException raised from"));
}

void report_uncaught_exceptions() {
  if (std::get_terminate() == __gnu_cxx::__verbose_terminate_handler) std::set_terminate(end_with_message);
}

}  // namespace accelerate
