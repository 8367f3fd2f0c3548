#include "accelerate/tensors/safetensors_file.h"

#include <cstring>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/Parallel.h>
#include <sys/mman.h>

#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/formats/safetensors.h"
#include "accelerate/tensors/safetensors_types.h"

namespace accelerate::tensors {

class SafetensorsFile::Mapping {
 public:
  explicit Mapping(const std::filesystem::path& path) : file_(File::open(path)) {
    if (!std::filesystem::is_regular_file(path)) fail(path.string(), ": is not a file");
    bytes_ = file_.bytes();
    if (bytes_ == 0) return;
    // Private and writable: a view is an ordinary tensor, and what is written to it stays in this process.
    void* start = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file_.descriptor(), 0);
    if (start == MAP_FAILED) fail_for_file(path, "mapped into memory");
    start_ = static_cast<char*>(start);
  }
  ~Mapping() {
    if (start_) munmap(start_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const File& file() const { return file_; }
  char* start() const { return start_; }
  uint64_t bytes() const { return bytes_; }

 private:
  File file_;
  char* start_ = nullptr;
  uint64_t bytes_ = 0;
};

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : path_(path), mapping_(std::make_shared<Mapping>(path)) {
  std::string_view content(mapping_->start(), mapping_->bytes());
  auto header_bytes = formats::safetensors_header_bytes(content, content.size(), path.string());
  const uint64_t data = sizeof(uint64_t) + header_bytes;
  for (auto& entry : formats::decode_safetensors_header(content, content.size(), path.string()).entries) {
    entries_.push_back({.name = std::move(entry.name),
                        .type = scalar_type_of(entry.dtype, path.string()),
                        .shape = std::move(entry.shape),
                        .begin = data + entry.begin,
                        .bytes = entry.end - entry.begin});
  }
}

at::Tensor SafetensorsFile::view(const Entry& entry) const {
  auto options = at::TensorOptions().dtype(entry.type);
  if (entry.bytes == 0) return at::empty(entry.shape, options);
  char* start = mapping_->start() + entry.begin;
  if (reinterpret_cast<uintptr_t>(start) % c10::elementSize(entry.type) != 0) {  // a writer that did not pad the header
    auto copy = at::empty(entry.shape, options);
    std::memcpy(copy.mutable_data_ptr(), start, entry.bytes);
    return copy;
  }
  return at::from_blob(start, entry.shape, [mapping = mapping_](void*) {}, options);
}

void SafetensorsFile::copy_into(const Entry& entry, at::Tensor& destination) const {
  if (!destination.is_cpu() || !destination.is_contiguous() || destination.scalar_type() != entry.type) {
    auto values = at::empty(entry.shape, at::TensorOptions().dtype(entry.type));
    copy_into(entry, values);
    destination.copy_(values);
    return;
  }
  constexpr int64_t part = int64_t{1} << 20;  // large enough to be worth a thread
  auto* start = static_cast<char*>(destination.mutable_data_ptr());
  at::parallel_for(0, static_cast<int64_t>(entry.bytes), part, [&](int64_t first, int64_t last) {
    // Not through the mapping: its pages would become this process's, and a file cut short meanwhile would be a signal.
    mapping_->file().read_at(entry.begin + first, start + first, last - first);
  });
}

}  // namespace accelerate::tensors
