#include "accelerate/checkpoint/save_files.h"

#include <map>

#include "accelerate/checkpoint/file_names.h"
#include "accelerate/checkpoint/loop_state.h"
#include "accelerate/checkpoint/random_states.h"
#include "accelerate/checkpoint/stored_weights.h"

namespace accelerate::checkpoint {
namespace {

using tensors::TorchValue;

/// The copies of one file's tensors. Tied tensors share one copy, so that they are deduplicated as without copies.
class FileCopies {
 public:
  explicit FileCopies(TensorCopies& memory) : memory_(memory) {}

  at::Tensor copy_of(const at::Tensor& tensor) {
    auto [copy, is_new] = copies_.try_emplace(memory_key_of(tensor));
    if (is_new) copy->second = memory_.copy_of(tensor);
    return copy->second;
  }

 private:
  TensorCopies& memory_;
  std::map<TensorMemoryKey, at::Tensor> copies_;
};

/// Collects files. Copies their tensors if `copies` is set.
class Files {
 public:
  explicit Files(TensorCopies* copies) : copies_(copies) {}

  void add(const std::string& name, TorchValue value) {
    if (copies_) {
      FileCopies copies(*copies_);
      value = value.map<at::Tensor>([&](const at::Tensor& tensor) { return copies.copy_of(tensor); });
    }
    auto folder = std::filesystem::path(name).stem().string();
    files_.push_back({.name = name, .write = [value = std::move(value), folder](const Append& append) {
                        tensors::write_torch_file(value, folder, append);
                      }});
  }

  void add(const std::string& name, train::StateDict weights) {
    if (copies_) {
      FileCopies copies(*copies_);
      const auto originals = weights;  // kept alive: reused addresses would look like tied tensors
      for (auto& item : weights) item.value() = copies.copy_of(item.value());
    }
    files_.push_back(
        {.name = name, .write = [weights, name](const Append& append) { write_weights(weights, name, append); }});
  }

  std::vector<CheckpointFile> take() {
    if (copies_) copies_->finish();
    return std::move(files_);
  }

 private:
  TensorCopies* copies_;
  std::vector<CheckpointFile> files_;
};

/// Returns the state of a part. Throws Error naming its kind and index.
template <class Part>
TorchValue state_of(const char* kind, size_t index, const Part& part) {
  try {
    return part.state_dict();
  } catch (const std::exception& error) {
    fail("save_state: ", kind, " ", index, ": ", error.what());
  }
}

/// The keys of Python's GradScaler.state_dict(), in scaler.pt: as there, none if the scaler is disabled.
TorchValue scaler_state_dict(const precision::GradScaler& scaler) {
  if (!scaler.is_enabled()) return TorchValue::dict();
  const auto state = scaler.state();
  return TorchValue::dict({{"scale", state.scale},
                           {"growth_factor", state.growth_factor},
                           {"backoff_factor", state.backoff_factor},
                           {"growth_interval", state.growth_interval},
                           {"_growth_tracker", state.growth_tracker}});
}

}  // namespace

std::vector<TorchValue> gathered_states(const std::vector<train::Optimizer>& optimizers, bool keep) {
  std::vector<TorchValue> states(optimizers.size());
  for (size_t i = 0; i < optimizers.size(); ++i) {
    if (!optimizers[i].is_sharded()) continue;
    auto gathered = state_of("optimizer", i, optimizers[i]);
    if (keep) states[i] = std::move(gathered);
  }
  return states;
}

std::vector<CheckpointFile> save_files(const TrainingState& state, const std::vector<train::StateDict>& weights,
                                       std::vector<TorchValue> gathered, const PythonGenerators& python,
                                       const SaveFilesOptions& options) {
  Files files(options.copies);
  if (options.shared) {
    for (size_t i = 0; i < state.optimizers.size(); ++i) {
      const bool is_gathered = !gathered[i].is_none();
      files.add(optimizer_file(i),
                is_gathered ? std::move(gathered[i]) : state_of("optimizer", i, state.optimizers[i]));
    }
    for (size_t i = 0; i < weights.size(); ++i) {
      files.add(options.safe_serialization ? model_file(i) : torch_model_file(i), weights[i]);
    }
    for (size_t i = 0; i < state.schedulers.size(); ++i) {
      files.add(scheduler_file(i), state_of("scheduler", i, state.schedulers[i]));
    }
    if (state.scaler) files.add(kScalerFile, scaler_state_dict(*state.scaler));
    for (size_t i = 0; i < state.objects.size(); ++i) {
      files.add(custom_object_file(i), state_of("registered object", i, state.objects[i]));
    }
  }
  files.add(random_states_file(options.rank), random_states(state.gradient_state->step, python));
  files.add(loop_state_file(options.rank), loop_state(state, options.world_size));
  return files.take();
}

}  // namespace accelerate::checkpoint
