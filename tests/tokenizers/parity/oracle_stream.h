#pragma once

// What oracle.py writes, read from a pipe while it works.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "accelerate/base/error.h"
#include "transformers/tokenizers/encoding.h"

namespace transformers::tests {

/// The output of a command.
class OracleStream {
 public:
  explicit OracleStream(const std::string& command) : command_(command), pipe_(popen(command.c_str(), "r")) {
    if (pipe_ == nullptr) accelerate::fail("cannot start: ", command);
    setvbuf(pipe_, nullptr, _IOFBF, 1 << 20);
  }
  OracleStream(const OracleStream&) = delete;
  OracleStream& operator=(const OracleStream&) = delete;
  ~OracleStream() {
    if (pipe_ != nullptr) pclose(pipe_);
  }

  /// Waits for the end. Returns how the command ended, 0 when well.
  int close() {
    int status = pclose(pipe_);
    pipe_ = nullptr;
    return status;
  }

  char letter() {
    char letter = 0;
    read(&letter, 1);
    return letter;
  }

  uint32_t number() { return values<uint32_t>(1)[0]; }

  std::string text() {
    std::string text(number(), '\0');
    read(text.data(), text.size());
    return text;
  }

  template <class T>
  std::vector<T> values(size_t count) {
    std::vector<T> values(count);
    read(values.data(), count * sizeof(T));
    return values;
  }

  Encoding encoding() {
    size_t count = number();
    Encoding encoding;
    encoding.ids = values<uint32_t>(count);
    encoding.type_ids = values<uint32_t>(count);
    auto places = values<uint32_t>(2 * count);
    for (size_t i = 0; i < count; ++i) encoding.offsets.emplace_back(places[2 * i], places[2 * i + 1]);
    encoding.word_ids = values<int32_t>(count);
    encoding.sequence_ids = values<int32_t>(count);
    encoding.special_tokens_mask = values<uint32_t>(count);
    encoding.attention_mask = values<uint32_t>(count);
    for (uint32_t windows = number(); encoding.overflowing.size() < windows;) {
      encoding.overflowing.push_back(this->encoding());
    }
    return encoding;
  }

 private:
  void read(void* target, size_t bytes) {
    if (fread(target, 1, bytes, pipe_) != bytes) accelerate::fail("ended too early: ", command_);
  }

  std::string command_;
  FILE* pipe_;
};

}  // namespace transformers::tests
