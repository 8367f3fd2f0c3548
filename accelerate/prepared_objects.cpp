#include "accelerate/prepared_objects.h"

#include <algorithm>

#include "accelerate/base/error.h"
#include "accelerate/comm/shared_zeros.h"
#include "accelerate/parallel/replicas.h"
#include "accelerate/sharding/optimizer_sharding.h"
#include "accelerate/train/optimizer_access.h"

namespace accelerate {

std::shared_ptr<train::PreparedModel> PreparedObjects::find_model(const torch::nn::Module& module) const {
  for (const auto& known : models_) {
    if (known->module().get() == &module) return known;
  }
  return nullptr;
}

std::shared_ptr<train::PreparedModel> PreparedObjects::add_model(const std::shared_ptr<train::PreparedModel>& model) {
  if (auto known = find_model(*model->module())) return known;
  models_.push_back(model);
  // Two Replicas of one module would average its gradients twice.
  std::erase_if(models_in_use_, [&](const auto& other) {
    auto held = other.lock();
    return !held || held->module() == model->module();
  });
  models_in_use_.push_back(model);
  // The first call is collective. All ranks come here, but an optimizer may be prepared on one rank only.
  if (zero_stage_ != 0 && model->distributed()) comm::memory_access(model->distributed()->group());
  for (const auto& optimizer : *optimizers_) shard_step(optimizer);
  return model;
}

std::vector<std::shared_ptr<train::PreparedModel>> PreparedObjects::models_in_use() const {
  std::vector<std::shared_ptr<train::PreparedModel>> models;
  for (const auto& weak : models_in_use_) {
    if (auto model = weak.lock()) models.push_back(std::move(model));
  }
  return models;
}

const Optimizer* PreparedObjects::find_optimizer(const torch::optim::Optimizer& optimizer) const {
  for (const auto& known : *optimizers_) {
    if (&*known == &optimizer) return &known;
  }
  return nullptr;
}

Optimizer PreparedObjects::add_optimizer(const Optimizer& optimizer) {
  if (const auto* known = find_optimizer(*optimizer)) {
    shard_step(*known);
    return *known;
  }
  // An optimizer that clear() released may be registered again, with a new handle.
  std::erase_if(optimizers_in_use_, [&](const auto& other) {
    const auto held = other.lock();
    return !held || &**held == &*optimizer;
  });
  optimizers_in_use_.emplace_back(optimizer);
  optimizers_->push_back(optimizer);
  shard_step(optimizer);
  return optimizer;
}

std::vector<Optimizer> PreparedObjects::optimizers_in_use() const {
  std::vector<Optimizer> optimizers;
  for (const auto& weak : optimizers_in_use_) {
    if (auto optimizer = weak.lock()) optimizers.push_back(std::move(*optimizer));
  }
  return optimizers;
}

/// Shards the step of `optimizer` for the models that it steps. Called after each model and each optimizer, because
/// either may be prepared first.
void PreparedObjects::shard_step(const Optimizer& optimizer) const {
  if (zero_stage_ == 0) return;
  for (const auto& model : models_in_use()) {
    const auto replicas = std::dynamic_pointer_cast<parallel::Replicas>(model->distributed());
    if (!replicas || !sharding::steps_any_of(*optimizer, *replicas)) continue;
    if (!zero_stage_ && !sharding::sharding_pays(*optimizer, *replicas)) continue;
    if (train::OptimizerAccess::shard(optimizer, replicas) || !zero_stage_) continue;
    fail("zero_stage is ", *zero_stage_, ", but the step of this optimizer cannot be sharded; AdamW, Adam and SGD ",
         "can, with fused_optimizers = true");
  }
  if (zero_stage_ == 2) train::OptimizerAccess::shard_gradients(optimizer);
}

Scheduler PreparedObjects::add_scheduler(const Scheduler& scheduler) {
  const auto known = std::find(schedulers_.begin(), schedulers_.end(), scheduler);
  if (known != schedulers_.end()) return *known;
  return schedulers_.emplace_back(scheduler);
}

std::shared_ptr<data::PreparedCore> PreparedObjects::find_loader(const data::LoaderCore& loader) const {
  const auto known =
      std::find_if(loaders_.begin(), loaders_.end(), [&](const auto& core) { return &core->loader() == &loader; });
  return known == loaders_.end() ? nullptr : *known;
}

void PreparedObjects::add_loader(const std::shared_ptr<data::PreparedCore>& loader) {
  if (std::find(loaders_.begin(), loaders_.end(), loader) == loaders_.end()) loaders_.push_back(loader);
}

void PreparedObjects::clear() {
  models_.clear();
  optimizers_ = std::make_shared<std::vector<Optimizer>>();
  schedulers_.clear();
  loaders_.clear();
}

}  // namespace accelerate
