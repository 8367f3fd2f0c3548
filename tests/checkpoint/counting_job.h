#pragma once

// A job in which each part of the state says which step it is of, so that a checkpoint with parts of two steps shows.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "accelerate/accelerator.h"
#include "tests/support/torch.h"

namespace accelerate::tests {

/// Where checkpoints go.
struct SaveMode {
  std::string name = {};
  bool numbered = true;  // project_dir/checkpoints/checkpoint_N, else always the same directory
  std::optional<int64_t> total_limit = std::nullopt;
  bool async = false;
};

struct Counter {
  int64_t count = 0;

  TorchValue state_dict() const { return TorchValue::dict({{"count", count}}); }
  void load_state_dict(const TorchValue& state) { count = state.at("count").integer(); }
};

class CountingJob {
 public:
  CountingJob(const SaveMode& mode, const std::filesystem::path& home)
      : mode_(mode),
        directory_(mode.numbered ? std::filesystem::path() : home / "state"),
        accelerator_(
            {.cpu = true,
             .project_config = {
                 .project_dir = home, .automatic_checkpoint_naming = mode.numbered, .total_limit = mode.total_limit}}) {
    accelerator_.register_for_checkpointing(counter_);
    mark_random_numbers();
  }

  void load() {
    if (!accelerator_.has_checkpoint(directory_)) return;
    accelerator_.load_state(directory_);
    walk_.reset();
  }

  /// The step of all parts. Throws Error when they differ.
  int64_t step() const {
    for (const auto& weights : net_->parameters()) {
      auto state = adamw_.state().find(weights.unsafeGetTensorImpl());
      int64_t optimizer_step =
          state == adamw_.state().end() ? 0 : static_cast<const torch::optim::AdamWParamState&>(*state->second).step();
      bool of_one_step = optimizer_step == counter_.count && (weights == counter_.count).all().item<bool>();
      if (!of_one_step) fail("torn: the model, the optimizer and the counter are of different steps");
    }
    if (loader_.state_dict().batches_seen != counter_.count) fail("torn: the place in the loader is of another step");
    if (at::detail::getDefaultCPUGenerator().current_seed() != seed_of_step()) {
      fail("torn: the random numbers are of another step, or another rank");
    }
    return counter_.count;
  }

  void advance() {
    ++counter_.count;
    mark_random_numbers();
    if (walk_) {
      ++*walk_;
    } else {
      walk_.emplace(loader_.begin());
    }
    for (auto& weights : net_->parameters()) weights.mutable_grad() = torch::zeros_like(weights);
    optimizer_.step();
    fill_weights();
  }

  /// Returns the latest step that is now sure to be saved.
  int64_t save() {
    accelerator_.save_state(directory_, {.async = mode_.async});
    return mode_.async ? counter_.count - 1 : counter_.count;
  }

  /// Waits for a save in the background, and throws what it has failed with.
  void wait() { accelerator_.has_checkpoint(directory_); }

 private:
  /// More batches than any test takes.
  struct Numbers {
    at::Tensor get(int64_t index) const { return torch::tensor(index); }
    int64_t size() const { return 1 << 24; }
  };

  uint64_t seed_of_step() const { return static_cast<uint64_t>(counter_.count * 100 + accelerator_.process_index()); }
  void mark_random_numbers() const { torch::manual_seed(seed_of_step()); }

  void fill_weights() {
    torch::NoGradGuard no_grad;
    for (auto& weights : net_->parameters()) weights.fill_(counter_.count);
  }

  torch::nn::Linear zeroed(torch::nn::Linear net) {
    torch::NoGradGuard no_grad;
    for (auto& weights : net->parameters()) weights.zero_();
    return net;
  }

  SaveMode mode_;
  std::filesystem::path directory_;  // empty where checkpoints are numbered
  Counter counter_;
  Accelerator accelerator_;
  torch::nn::Linear net_ = zeroed(torch::nn::Linear(256, 256));
  torch::optim::AdamW adamw_{net_->parameters(), torch::optim::AdamWOptions(1e-3)};
  decltype(accelerator_.prepare(net_)) model_ = accelerator_.prepare(net_);
  Optimizer optimizer_ = accelerator_.prepare(adamw_);
  DataLoader<at::Tensor> batches_{Numbers(), {.batch_size = 1}};
  data::PreparedDataLoader<at::Tensor> loader_ = accelerator_.prepare(batches_);
  std::optional<data::BatchIterator<at::Tensor>> walk_;
};

}  // namespace accelerate::tests
