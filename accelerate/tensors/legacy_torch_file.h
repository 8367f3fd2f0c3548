#pragma once

// Files that torch.save wrote before version 1.6, among them many a pytorch_model.bin: several pickles in a row, then
// the storages.

#include "accelerate/base/file.h"
#include "accelerate/tensors/torch_file.h"

namespace accelerate::tensors {

/// Throws Error naming the file when it is not of this kind, is cut off or damaged.
TorchValue load_legacy_torch_file(const File& file);

}  // namespace accelerate::tensors
