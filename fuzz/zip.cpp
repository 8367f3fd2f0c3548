// Any bytes as a zip file. Nothing outside of it is read, and its entries are never larger than it is.

#include <cstdlib>
#include <cstring>

#include "accelerate/base/error.h"
#include "accelerate/formats/zip/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto read_at = [&](uint64_t position, char* destination, size_t bytes) {
    if (position > size || bytes > size - position) std::abort();
    if (bytes > 0) std::memcpy(destination, data + position, bytes);
  };
  try {
    accelerate::formats::ZipReader reader(read_at, size, "fuzz");
    uint64_t all_bytes = 0;
    for (const auto& [name, entry] : reader.entries()) all_bytes += entry.bytes;
    if (all_bytes > size) std::abort();
    for (const auto& [name, entry] : reader.entries()) reader.read(name);
  } catch (const accelerate::Error&) {
  }
  return 0;
}
