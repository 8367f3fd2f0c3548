#pragma once

// The models, optimizers, schedulers and data loaders that an Accelerator has prepared.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include "accelerate/data/prepared_loader.h"
#include "accelerate/train/optimizer.h"
#include "accelerate/train/prepared_model.h"
#include "accelerate/train/scheduler.h"

namespace accelerate {

/// The registry of prepared objects, in the order of preparation. An object is registered once; adding it again returns
/// what is registered. "In use" includes objects that clear() released while the program still holds a handle: backward
/// averages the gradients of such a model, and such an optimizer may keep shards of gradients.
class PreparedObjects {
 public:
  /// `zero_stage` as in AcceleratorOptions; unset: shard the step of an optimizer if that is safe and pays.
  explicit PreparedObjects(std::optional<int64_t> zero_stage) : zero_stage_(zero_stage) {}
  PreparedObjects(const PreparedObjects&) = delete;
  PreparedObjects& operator=(const PreparedObjects&) = delete;

  /// The record of `module`; null if it is not registered.
  std::shared_ptr<train::PreparedModel> find_model(const torch::nn::Module& module) const;

  /// Registers `model`, and shards the registered optimizers that step its parameters. Returns the record of its
  /// module: `model`, unless the module is registered already. Collective.
  std::shared_ptr<train::PreparedModel> add_model(const std::shared_ptr<train::PreparedModel>& model);

  /// The handle of `optimizer`; null if it is not registered.
  const Optimizer* find_optimizer(const torch::optim::Optimizer& optimizer) const;

  /// Registers `optimizer`, and shards its step for the models in use that it steps. Returns the registered handle of
  /// its torch optimizer. Throws Error if `zero_stage` asks for a sharded step that the optimizer does not have.
  Optimizer add_optimizer(const Optimizer& optimizer);

  Scheduler add_scheduler(const Scheduler& scheduler);

  /// The prepared loader that reads from `loader`; null if none does.
  std::shared_ptr<data::PreparedCore> find_loader(const data::LoaderCore& loader) const;
  void add_loader(const std::shared_ptr<data::PreparedCore>& loader);

  const std::vector<std::shared_ptr<train::PreparedModel>>& models() const { return models_; }
  const std::vector<Optimizer>& optimizers() const { return *optimizers_; }
  const std::vector<Scheduler>& schedulers() const { return schedulers_; }
  const std::vector<std::shared_ptr<data::PreparedCore>>& loaders() const { return loaders_; }

  std::vector<std::shared_ptr<train::PreparedModel>> models_in_use() const;
  std::vector<Optimizer> optimizers_in_use() const;

  /// The optimizers as a list that grows: a scheduler may be prepared before the optimizer that it follows. It keeps
  /// its optimizers after clear().
  std::shared_ptr<const std::vector<Optimizer>> shared_optimizers() const { return optimizers_; }

  /// Releases all objects.
  void clear();

 private:
  void shard_step(const Optimizer& optimizer) const;

  std::optional<int64_t> zero_stage_;
  std::vector<std::shared_ptr<train::PreparedModel>> models_;
  std::vector<std::weak_ptr<train::PreparedModel>> models_in_use_;
  std::shared_ptr<std::vector<Optimizer>> optimizers_ = std::make_shared<std::vector<Optimizer>>();
  std::vector<train::WeakOptimizer> optimizers_in_use_;
  std::vector<Scheduler> schedulers_;
  std::vector<std::shared_ptr<data::PreparedCore>> loaders_;
};

}  // namespace accelerate
