#include "notebook/worker/standard_input.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <streambuf>

#include "notebook/runtime/flush_output.h"

namespace accelerate::notebook {

namespace {

/// One line at a time, for both ways to read.
class Input : public std::streambuf {
 public:
  explicit Input(AskForLine ask) : ask_(std::move(ask)) {}

  /// What stdin reads.
  size_t read(char* target, size_t size) {
    if (gptr() == egptr() && underflow() == traits_type::eof()) return 0;
    auto count = std::min(size, static_cast<size_t>(egptr() - gptr()));
    std::copy_n(gptr(), count, target);
    gbump(static_cast<int>(count));
    return count;
  }

 protected:
  int_type underflow() override {
    flush_output();
    auto line = ask_();
    if (!line) return traits_type::eof();
    line_ = *line + "\n";
    setg(line_.data(), line_.data(), line_.data() + line_.size());
    return traits_type::to_int_type(line_.front());
  }

 private:
  AskForLine ask_;
  std::string line_;
};

ssize_t read_input(void* input, char* target, size_t size) {
  return static_cast<ssize_t>(static_cast<Input*>(input)->read(target, size));
}

}  // namespace

void ask_for_standard_input(AskForLine ask) {
  static Input input(std::move(ask));
  std::cin.rdbuf(&input);
  cookie_io_functions_t functions{};
  functions.read = read_input;
  if (auto* stream = fopencookie(&input, "r", functions)) stdin = stream;
}

}  // namespace accelerate::notebook
