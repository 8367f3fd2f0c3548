#pragma once

// The header of a safetensors file: its tensors and the positions of their bytes. The file consists of the length of
// the header (8 bytes, little-endian), the header as JSON, and the bytes of the tensors without gaps.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate::formats {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // "F32", "BF16", "I64", ...
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // of its bytes, relative to the end of the header
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // sorted by position
  std::map<std::string, std::string> metadata;
};

/// The number of bits per element. Throws Error for an unknown type.
int safetensors_bits(std::string_view dtype);

/// Sorts the entries like the reference writer (larger elements first, then by name) and assigns their positions.
void layout_safetensors(std::vector<SafetensorsEntry>& entries);

/// The length and the JSON, padded to a multiple of 8 bytes. Byte for byte the output of the reference writer.
std::string encode_safetensors_header(const SafetensorsHeader& header);

/// Parses the header of a file of `file_bytes` bytes. `prefix` holds at least the length and the JSON. Throws Error
/// naming `source` unless every tensor is inside the file and has the size of its shape, without overlaps or gaps.
SafetensorsHeader decode_safetensors_header(std::string_view prefix, uint64_t file_bytes, const std::string& source);

/// The length of the header's JSON, from the first 8 bytes. Throws Error if it exceeds the file.
uint64_t safetensors_header_bytes(std::string_view first_bytes, uint64_t file_bytes, const std::string& source);

}  // namespace accelerate::formats
