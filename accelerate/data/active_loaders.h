#pragma once

// The stack of prepared loaders that are being iterated over. It tells the Accelerator whether the current batch is the
// last one, and how many of the gathered samples are not padding.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace accelerate::data {

/// The progress of one pass over a loader.
struct LoaderProgress {
  bool end_of_dataloader = false;  // the batch in use is the last one
  int64_t remainder = -1;  // samples in the last batches of all ranks, without repeated ones; 0: all, -1: unknown
};

/// The passes in progress, innermost last. Queries are about the innermost one.
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
