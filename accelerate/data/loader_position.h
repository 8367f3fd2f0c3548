#pragma once

// The position of a prepared loader, the progress of a pass over it, and the stack of passes that are running.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::data {

/// The position of a loader, as a checkpoint saves it. A loader of the same configuration that loads it continues with
/// exactly the remaining batches of the epoch.
struct LoaderPosition {
  int64_t epoch = 0;                            // the current one; between epochs the next one
  int64_t batches_seen = 0;                     // by this rank in that epoch; 0 between epochs
  std::optional<uint64_t> seed = std::nullopt;  // of a seedable sampler
  at::Tensor generator_state = {};              // of the sampler, to draw the epoch's order again; may be undefined
  at::Tensor read_ahead_state = {};  // of libtorch's global generator, before the batch after those seen was read
  bool resumed = false;              // not saved: the next pass continues an epoch that has made its initial draws
};

/// The progress of one pass over a loader.
struct LoaderProgress {
  bool end_of_dataloader = false;  // the batch in use is the last one
  int64_t remainder = -1;        // samples in the last batches of all ranks, without repeated ones; 0: all, -1: unknown
  int64_t last_round_size = -1;  // the same count, from the reader; valid when it has reached the end
};

/// The passes in progress, innermost last. Queries are about the innermost one. It tells the Accelerator whether the
/// current batch is the last one, and how many of the gathered samples are not padding.
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

namespace accelerate {
using data::LoaderPosition;
}
