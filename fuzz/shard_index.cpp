// Any bytes as the index of a model in shards. A name that is accepted is one in the directory.

#include <cstdlib>

#include "accelerate/base/error.h"
#include "accelerate/formats/model_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto& [name, tensors] : accelerate::formats::decode_shard_index(text, ".safetensors", "fuzz")) {
      if (std::filesystem::path(name).filename() != name || name.starts_with('.')) std::abort();
    }
  } catch (const accelerate::Error&) {
  }
  return 0;
}
