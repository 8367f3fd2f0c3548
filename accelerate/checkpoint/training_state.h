#pragma once

// Everything that a checkpoint saves.

#include <concepts>
#include <functional>
#include <memory>
#include <vector>

#include "accelerate/data/prepared_core.h"
#include "accelerate/precision/grad_scaler.h"
#include "accelerate/train/gradient_state.h"
#include "accelerate/train/optimizer.h"
#include "accelerate/train/scheduler.h"
#include "accelerate/train/state_dict.h"

namespace accelerate::checkpoint {

/// An object with a state_dict(), in a form that Python can read.
template <class T>
concept HasStateDict = requires(T& object, const tensors::TorchValue& state) {
  { object.state_dict() } -> std::convertible_to<tensors::TorchValue>;
  object.load_state_dict(state);
};

/// A registered object of the user.
struct CustomObject {
  std::function<tensors::TorchValue()> state_dict = {};
  std::function<void(const tensors::TorchValue&)> load_state_dict = {};
};

/// Borrows the object: it must outlive the result.
template <HasStateDict T>
CustomObject custom_object(T& object) {
  return {.state_dict = [&object]() -> tensors::TorchValue { return object.state_dict(); },
          .load_state_dict = [&object](const tensors::TorchValue& state) { object.load_state_dict(state); }};
}

/// Shares ownership of the object.
template <HasStateDict T>
CustomObject custom_object(const std::shared_ptr<T>& object) {
  return {.state_dict = [object]() -> tensors::TorchValue { return object->state_dict(); },
          .load_state_dict = [object](const tensors::TorchValue& state) { object->load_state_dict(state); }};
}

using Models = std::vector<std::shared_ptr<torch::nn::Module>>;

/// All members are handles: copying a TrainingState does not copy the training state.
struct TrainingState {
  Models models = {};
  std::vector<train::Optimizer> optimizers = {};
  std::vector<train::Scheduler> schedulers = {};
  std::vector<std::shared_ptr<data::PreparedCore>> loaders = {};
  std::shared_ptr<precision::GradScaler> scaler = {};  // null unless fp16
  std::shared_ptr<train::GradientState> gradient_state = {};
  std::vector<CustomObject> objects = {};
};

}  // namespace accelerate::checkpoint

namespace accelerate {
using tensors::TorchValue;
}
