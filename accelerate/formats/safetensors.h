#pragma once

// The header of a safetensors file: which tensors it holds and where their bytes are. The file is 8 bytes of length
// (little endian), that many bytes of JSON, then the tensors' bytes without gaps.

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
  uint64_t begin = 0;  // of its bytes, from the end of the header
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of their bytes
  std::map<std::string, std::string> metadata;
};

/// Bits of one element; throws Error for an unknown type.
int safetensors_bits(std::string_view dtype);

/// Orders the entries as the reference writer does (larger elements first, then by name) and gives them their places.
void layout_safetensors(std::vector<SafetensorsEntry>& entries);

/// The length and the JSON, padded to a multiple of 8 bytes; byte for byte what the reference writer makes of it.
std::string encode_safetensors_header(const SafetensorsHeader& header);

/// Reads the first bytes of a file of `file_bytes` bytes: `prefix` holds at least the length and the JSON. Throws Error
/// naming `source` unless every tensor lies inside the file, has as many bytes as its shape says, and none overlaps or
/// leaves a gap.
SafetensorsHeader decode_safetensors_header(std::string_view prefix, uint64_t file_bytes, const std::string& source);

/// Length of the header's JSON from the first 8 bytes; throws Error when it does not fit into the file.
uint64_t safetensors_header_bytes(std::string_view first_bytes, uint64_t file_bytes, const std::string& source);

}  // namespace accelerate::formats
