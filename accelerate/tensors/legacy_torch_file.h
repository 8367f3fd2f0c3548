#pragma once

// Reads the format of torch.save before torch 1.6, as in many pytorch_model.bin files: several pickles, then the
// storages.

#include "accelerate/base/file.h"
#include "accelerate/tensors/torch_contents.h"

namespace accelerate::tensors {

/// Reads all but the storages. Throws Error naming the file if it is not in this format, truncated or damaged.
TorchContents read_legacy_contents(const File& file);

}  // namespace accelerate::tensors
