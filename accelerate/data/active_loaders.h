#pragma once

// Which prepared loaders are being walked over at the moment, innermost last. The Accelerator asks it where it is:
// whether this is the last batch, and how many of the gathered samples are real.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace accelerate::data {

/// How far one walk over a loader has come.
struct LoaderProgress {
  bool end_of_dataloader = false;  // the batch in use is the last one
  int64_t remainder = -1;          // real samples in the ranks' last batches together; 0: all of them, -1: not known
};

/// The stack of walks. The questions are about the innermost one.
class ActiveLoaders {
 public:
  bool in_dataloader() const { return !stack_.empty(); }
  bool end_of_dataloader() const { return in_dataloader() && stack_.back()->end_of_dataloader; }
  int64_t remainder() const { return in_dataloader() ? stack_.back()->remainder : -1; }

  void add(std::shared_ptr<const LoaderProgress> progress) { stack_.push_back(std::move(progress)); }
  void remove(const std::shared_ptr<const LoaderProgress>& progress) { std::erase(stack_, progress); }

 private:
  std::vector<std::shared_ptr<const LoaderProgress>> stack_;
};

}  // namespace accelerate::data
