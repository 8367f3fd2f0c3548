// Any bytes as a safetensors file. A header that is accepted lies inside the file, and says the same after it was
// written again.

#include <cstdlib>

#include "accelerate/base/error.h"
#include "accelerate/formats/safetensors/header.h"

using namespace accelerate::formats;

namespace {

bool are_equal(const SafetensorsHeader& left, const SafetensorsHeader& right) {
  if (left.metadata != right.metadata || left.entries.size() != right.entries.size()) return false;
  for (size_t i = 0; i < left.entries.size(); ++i) {
    const auto &one = left.entries[i], &other = right.entries[i];
    if (one.name != other.name || one.dtype != other.dtype || one.shape != other.shape || one.begin != other.begin ||
        one.end != other.end) {
      return false;
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view file(reinterpret_cast<const char*>(data), size);
  try {
    auto header = decode_safetensors_header(file, size, "fuzz");
    uint64_t data_bytes = 0;
    for (const auto& entry : header.entries) data_bytes += entry.end - entry.begin;
    if (data_bytes > size) std::abort();
    auto written = encode_safetensors_header(header);
    if (!are_equal(decode_safetensors_header(written, written.size() + data_bytes, "fuzz"), header)) std::abort();
  } catch (const accelerate::Error&) {
  }
  return 0;
}
