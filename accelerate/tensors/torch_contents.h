#pragma once

// What a torch file says about its tensors, and where their bytes are in it.

#include <cstdint>
#include <map>
#include <string>

#include "accelerate/base/file.h"
#include "accelerate/formats/pickle.h"

namespace accelerate::tensors {

/// The bytes of a storage, from the start of the file.
struct StoragePlace {
  uint64_t begin = 0;
  uint64_t bytes = 0;
};

struct TorchContents {
  formats::PickleValue value = {};
  std::map<std::string, StoragePlace> storages = {};  // by their keys; each lies inside the file
};

/// Reads all but the storages. Every tensor of the result lies in one of its storages, and all agree about its size.
/// With `verify` everything is read once and compared with the checksums of the file; files from before torch 1.6 have
/// none. Throws Error naming the file when it is cut off or damaged, or when torch.save did not write it.
TorchContents read_torch_contents(const File& file, bool verify);

}  // namespace accelerate::tensors
