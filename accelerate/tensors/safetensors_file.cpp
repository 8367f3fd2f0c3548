#include "accelerate/tensors/safetensors_file.h"

#include <algorithm>

#include <ATen/ops/empty.h>
#include <ATen/Parallel.h>

#include "accelerate/base/error.h"
#include "accelerate/formats/safetensors_shards.h"
#include "accelerate/tensors/safetensors_types.h"

namespace accelerate::tensors {

namespace {

/// Another byte than 0 and 1 is no bool in C++, and compilers rely on that.
void check_booleans(const char* bytes, uint64_t size, const std::string& tensor, const std::string& source) {
  if (std::any_of(bytes, bytes + size, [](char byte) { return byte != 0 && byte != 1; })) {
    fail(source, ": '", tensor, "' is a tensor of bools, but holds a byte that is neither 0 nor 1");
  }
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(std::make_shared<const File>(File::open(path))) {
  auto shard = formats::read_safetensors_header(*file_);
  for (auto& entry : shard.header.entries) {
    entries_.push_back({.name = std::move(entry.name),
                        .type = scalar_type_of(entry.dtype, path.string()),
                        .shape = std::move(entry.shape),
                        .begin = shard.data_begin + entry.begin,
                        .bytes = entry.end - entry.begin});
  }
}

void SafetensorsFile::copy_into(const Entry& entry, at::Tensor& destination) const {
  bool is_straight = destination.is_cpu() && destination.is_contiguous() && destination.scalar_type() == entry.type &&
                     destination.nbytes() == entry.bytes;
  auto values = is_straight ? destination : at::empty(entry.shape, at::TensorOptions().dtype(entry.type));
  auto* bytes = static_cast<char*>(values.mutable_data_ptr());
  constexpr int64_t kPartBytes = int64_t{1} << 20;  // large enough to be worth a thread
  at::parallel_for(0, static_cast<int64_t>(entry.bytes), kPartBytes, [&](int64_t first, int64_t last) {
    file_->read_at(entry.begin + first, bytes + first, last - first);
  });
  if (entry.type == at::kBool) check_booleans(bytes, entry.bytes, entry.name, path().string());
  if (!is_straight) destination.copy_(values);
}

}  // namespace accelerate::tensors
