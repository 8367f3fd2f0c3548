#pragma once

// Collects the files that one rank writes for a checkpoint.

#include <vector>

#include "accelerate/checkpoint/python_generators.h"
#include "accelerate/checkpoint/staged_save.h"
#include "accelerate/checkpoint/tensor_copies.h"
#include "accelerate/checkpoint/training_state.h"

namespace accelerate::checkpoint {

struct SaveFilesOptions {
  int rank = 0;
  int world_size = 1;
  bool shared = true;              // include the files that are the same for all ranks, written by the leader
  bool safe_serialization = true;  // models as safetensors; false: in the format of torch.save
  TensorCopies* copies = nullptr;  // if set, copies tensors now, so that training can continue during the write
};

/// All-gathers the states of sharded optimizers and returns them by optimizer; None for the others, and for all if
/// `keep` is false. Collective. Throws Error naming the optimizer that cannot be saved.
std::vector<tensors::TorchValue> gathered_states(const std::vector<train::Optimizer>& optimizers, bool keep);

/// Returns the files of this rank. `weights` are the weights of the models, `gathered` is the result of
/// gathered_states(). Throws Error naming the part that cannot be saved. Not collective: it may fail on one rank alone.
std::vector<CheckpointFile> save_files(const TrainingState& state, const std::vector<train::StateDict>& weights,
                                       std::vector<tensors::TorchValue> gathered, const PythonGenerators& python,
                                       const SaveFilesOptions& options);

}  // namespace accelerate::checkpoint
