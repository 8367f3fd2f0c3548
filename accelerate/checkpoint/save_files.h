#pragma once

// The files that one rank writes for a checkpoint.

#include <vector>

#include "accelerate/checkpoint/python_generators.h"
#include "accelerate/checkpoint/staged_save.h"
#include "accelerate/checkpoint/tensor_copies.h"
#include "accelerate/checkpoint/training_state.h"

namespace accelerate::checkpoint {

struct SaveFilesOptions {
  int rank = 0;
  int world_size = 1;
  bool shared = true;              // with the files that all ranks would write alike, and one does for them
  bool safe_serialization = true;  // models as safetensors, else as torch.save does
  TensorCopies* copies = nullptr;  // takes copies now, so that training may go on before the files are written
};

/// The whole states of the optimizers that ranks divide among them, in their order; None for the others, and for all
/// where they are not to be kept. Collective. Throws Error naming the optimizer that cannot be saved.
std::vector<tensors::TorchValue> gathered_states(const std::vector<train::Optimizer>& optimizers, bool keep);

/// Asks every other part of the program for its state. `weights` are those of the models, `gathered` is what the
/// function above gave. Throws Error naming the part that cannot be saved. Not collective: one rank may fail alone.
std::vector<CheckpointFile> save_files(const TrainingState& state, const std::vector<train::StateDict>& weights,
                                       std::vector<tensors::TorchValue> gathered, const PythonGenerators& python,
                                       const SaveFilesOptions& options);

}  // namespace accelerate::checkpoint
