#pragma once

// Files that torch.save wrote before version 1.6, among them many a pytorch_model.bin: several pickles in a row, then
// the storages.

#include "accelerate/base/file.h"
#include "accelerate/tensors/torch_contents.h"

namespace accelerate::tensors {

/// Throws Error naming the file when it is not of this kind, is cut off or damaged.
TorchContents read_legacy_contents(const File& file);

}  // namespace accelerate::tensors
