#pragma once

// The record of a prepared model: how ranks train it together, and its compute precision.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <torch/nn/module.h>

#include "accelerate/parallel/distributed_model.h"
#include "accelerate/precision/autocast.h"

namespace accelerate::train {

class PreparedModel {
 public:
  struct Options {
    at::Device device = at::kCPU;
    precision::MixedPrecision mixed_precision = precision::MixedPrecision::No;
    precision::AutocastKwargs autocast;
  };

  /// `distributed` is null for a model that is only evaluated.
  PreparedModel(std::shared_ptr<torch::nn::Module> module, std::shared_ptr<parallel::DistributedModel> distributed,
                Options options)
      : module_(std::move(module)), distributed_(std::move(distributed)), options_(options) {}

  const std::shared_ptr<torch::nn::Module>& module() const { return module_; }
  const std::shared_ptr<parallel::DistributedModel>& distributed() const { return distributed_; }
  const Options& options() const { return options_; }

  /// Synchronizes buffers with the other ranks, and records whether the backward of this forward averages gradients.
  void before_forward();

  /// Lets `hook` average gradients. Throws Error for a model that is only evaluated.
  void register_comm_hook(parallel::CommHookFunction hook);

  /// Whether the next backward averages gradients over ranks.
  bool synchronizes() const {
    return distributed_ && (num_triggers_ > 0 || (num_pauses_ == 0 && forward_synchronizes_));
  }

  /// Counts a step of gradient accumulation. Returns the number of steps in the window so far. If `ends`, the next step
  /// begins a new window.
  int64_t count_step(bool ends);

  /// Multiplies the gradients accumulated so far.
  void scale_gradients(double factor);

 private:
  friend class SyncScope;

  void set_unarmed_averaging();

  std::shared_ptr<torch::nn::Module> module_;
  std::shared_ptr<parallel::DistributedModel> distributed_;
  Options options_;
  int num_pauses_ = 0;
  int num_triggers_ = 0;
  int64_t window_length_ = 0;  // steps of the open window
  bool forward_synchronizes_ = true;
  bool ran_forward_ = false;  // without a forward through the handle, plain backwards stay local
};

/// While it lives, gradients of the models stay local (Pause), or the next backward averages them regardless of the
/// forward (Trigger). Scopes nest; one without models does nothing.
class [[nodiscard]] SyncScope {
 public:
  enum class Kind { Pause, Trigger };

  SyncScope() = default;
  SyncScope(Kind kind, std::vector<std::shared_ptr<PreparedModel>> models);
  SyncScope(SyncScope&& other) noexcept : kind_(other.kind_), models_(std::exchange(other.models_, {})) {}
  SyncScope& operator=(SyncScope&&) = delete;
  ~SyncScope();

 private:
  void count(int change);

  Kind kind_ = Kind::Pause;
  std::vector<std::shared_ptr<PreparedModel>> models_;
};

}  // namespace accelerate::train
