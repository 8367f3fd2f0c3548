#pragma once

// What a program gives to save_state() and load_state(): options, hooks, and objects of its own.

#include <concepts>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "accelerate/tensors/torch_file.h"
#include "accelerate/train/state_dict.h"

namespace accelerate::checkpoint {

struct SaveStateOptions {
  bool safe_serialization = true;  // models as safetensors; false: in the format of torch.save
  bool async = false;              // copy and return; a thread writes and commits. Keeps the memory for the next save
};

using Models = std::vector<std::shared_ptr<torch::nn::Module>>;
using SaveStateHook =
    std::function<void(Models& models, std::vector<train::StateDict>& weights, const std::filesystem::path& directory)>;
using LoadStateHook = std::function<void(Models& models, const std::filesystem::path& directory)>;

/// Unregisters a function. Destroying the handle does not.
class RemovableHandle {
 public:
  explicit RemovableHandle(std::function<void()> remove) : remove_(std::move(remove)) {}
  void remove() { remove_(); }

 private:
  std::function<void()> remove_;
};

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

}  // namespace accelerate::checkpoint

namespace accelerate {
using checkpoint::SaveStateOptions;
using tensors::TorchValue;
}  // namespace accelerate
