#pragma once

// The contents of a torch file without its storages: the pickled value, and where the storages are.

#include <cstdint>
#include <map>
#include <string>

#include "accelerate/base/file.h"
#include "accelerate/formats/pickle/pickle.h"

namespace accelerate::tensors {

/// The location of a storage in the file.
struct StorageLocation {
  uint64_t begin = 0;
  uint64_t bytes = 0;
};

struct TorchContents {
  formats::PickleValue value = {};
  std::map<std::string, StorageLocation> storages = {};  // by key; each lies inside the file
};

/// Reads all but the storages. Checks that the storage of every tensor exists and has the size that the tensor states.
/// With `verify` the whole file is read once and compared with its checksums; files from before torch 1.6 have none.
/// Throws Error naming the file if it is truncated, damaged, or not written by torch.save.
TorchContents read_torch_contents(const File& file, bool verify);

/// The same for the format before torch 1.6, as in many pytorch_model.bin files: several pickles, then the storages.
/// Throws Error naming the file if it is not in this format, truncated or damaged.
TorchContents read_legacy_contents(const File& file);

}  // namespace accelerate::tensors
