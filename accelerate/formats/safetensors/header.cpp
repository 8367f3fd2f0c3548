#include "accelerate/formats/safetensors/header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>

#include "accelerate/base/error.h"
#include "accelerate/formats/json_structure.h"

namespace accelerate::formats {

namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the reference reader

struct Type {
  std::string_view name;
  int bits;
};
// The reference writer sorts by descending index in this list.
constexpr std::array kTypes = {Type{"BOOL", 8},    Type{"U8", 8},      Type{"I8", 8},          Type{"F8_E5M2", 8},
                               Type{"F8_E4M3", 8}, Type{"F8_E8M0", 8}, Type{"F8_E4M3FNUZ", 8}, Type{"F8_E5M2FNUZ", 8},
                               Type{"I16", 16},    Type{"U16", 16},    Type{"F16", 16},        Type{"BF16", 16},
                               Type{"I32", 32},    Type{"U32", 32},    Type{"F32", 32},        Type{"C64", 64},
                               Type{"F64", 64},    Type{"I64", 64},    Type{"U64", 64}};

auto find_type(std::string_view dtype) {
  return std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& candidate) { return candidate.name == dtype; });
}

bool is_known(std::string_view dtype) { return find_type(dtype) != kTypes.end(); }

size_t position_of(std::string_view dtype) {
  auto type = find_type(dtype);
  if (type == kTypes.end()) fail("safetensors: the type '", dtype, "' is unknown");
  return static_cast<size_t>(type - kTypes.begin());
}

/// The number of bytes for the shape. Throws if the product overflows 64 bits, even if another dimension is zero.
uint64_t bytes_of(const SafetensorsEntry& entry, const std::string& source) {
  auto bits = static_cast<int64_t>(safetensors_bits(entry.dtype));
  bool is_empty = false, is_possible = true;
  for (int64_t size : entry.shape) {
    is_empty |= size == 0;
    is_possible &= size >= 0 && !__builtin_mul_overflow(bits, std::max<int64_t>(size, 1), &bits);
  }
  if (!is_possible) fail(source, ": the shape of '", entry.name, "' is invalid");
  return is_empty ? 0 : static_cast<uint64_t>(bits) / 8;
}

/// A non-negative integer. A conversion by the JSON library would accept 8.0 and -1 too.
uint64_t unsigned_of(const nlohmann::json& value, std::string_view field, const std::string& tensor,
                     const std::string& source) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  fail(source, ": ", field, " of '", tensor, "' contains ", value.dump(), ", which is not a size");
}

const nlohmann::json& field_of(const nlohmann::json& value, const char* field, const std::string& tensor,
                               const std::string& source) {
  auto found = value.is_object() ? value.find(field) : value.end();
  if (found == value.end()) fail(source, ": the tensor '", tensor, "' has no ", field, " in the header");
  return *found;
}

SafetensorsEntry decode_entry(const std::string& name, const nlohmann::json& value, const std::string& source) {
  SafetensorsEntry entry;
  entry.name = name;
  const auto& dtype = field_of(value, "dtype", name, source);
  entry.dtype = dtype.is_string() ? dtype.get<std::string>() : dtype.dump();
  if (!is_known(entry.dtype)) fail(source, ": the type of '", name, "' is ", entry.dtype, ", which is unknown");
  const auto& shape = field_of(value, "shape", name, source);
  if (!shape.is_array()) fail(source, ": the shape of '", name, "' is not a list");
  for (const auto& size : shape) {
    auto number = unsigned_of(size, "shape", name, source);
    if (!std::in_range<int64_t>(number)) fail(source, ": the shape of '", name, "' is invalid");
    entry.shape.push_back(static_cast<int64_t>(number));
  }
  const auto& offsets = field_of(value, "data_offsets", name, source);
  if (!offsets.is_array() || offsets.size() != 2) fail(source, ": data_offsets of '", name, "' are not two numbers");
  entry.begin = unsigned_of(offsets[0], "data_offsets", name, source);
  entry.end = unsigned_of(offsets[1], "data_offsets", name, source);
  return entry;
}

void check_layout(const std::vector<SafetensorsEntry>& entries, uint64_t data_bytes, const std::string& source) {
  uint64_t position = 0;
  for (const auto& entry : entries) {
    if (entry.begin != position || entry.end < entry.begin) {
      fail(source, ": the bytes of '", entry.name, "' are at ", entry.begin, " to ", entry.end,
           "; they should begin at ", position);
    }
    if (entry.end - entry.begin != bytes_of(entry, source)) {
      fail(source, ": '", entry.name, "' has ", entry.end - entry.begin, " bytes, but its shape and type require ",
           bytes_of(entry, source));
    }
    position = entry.end;
  }
  if (position != data_bytes) {
    fail(source, ": the tensors take ", position, " bytes, but the file has ", data_bytes,
         " after its header; was it copied completely?");
  }
}

}  // namespace

int safetensors_bits(std::string_view dtype) { return kTypes[position_of(dtype)].bits; }

void layout_safetensors(std::vector<SafetensorsEntry>& entries) {
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& left, const SafetensorsEntry& right) {
    auto left_position = position_of(left.dtype), right_position = position_of(right.dtype);
    return left_position != right_position ? left_position > right_position : left.name < right.name;
  });
  uint64_t position = 0;
  for (auto& entry : entries) {
    entry.begin = position;
    entry.end = position += bytes_of(entry, "safetensors");
  }
}

std::string encode_safetensors_header(const SafetensorsHeader& header) {
  std::string text = "{";
  auto add = [&](const std::string& name, const nlohmann::ordered_json& value) {
    text += (text.size() > 1 ? "," : "") + nlohmann::json(name).dump() + ":" + value.dump();
  };
  if (!header.metadata.empty()) add("__metadata__", header.metadata);
  for (const auto& entry : header.entries) {
    add(entry.name, {{"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}});
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t length = text.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + text;
}

uint64_t safetensors_header_bytes(std::string_view first_bytes, uint64_t file_bytes, const std::string& source) {
  uint64_t length = 0;
  if (first_bytes.size() < sizeof(length)) fail(source, ": ", file_bytes, " bytes are too few for a safetensors file");
  std::memcpy(&length, first_bytes.data(), sizeof(length));
  if (length > kMaxHeaderBytes || length > file_bytes - sizeof(length)) {
    fail(source, ": its header claims ", length, " bytes of a file of ", file_bytes,
         "; this is not a safetensors file, or it is truncated");
  }
  return length;
}

SafetensorsHeader decode_safetensors_header(std::string_view prefix, uint64_t file_bytes, const std::string& source) {
  auto length = safetensors_header_bytes(prefix, file_bytes, source);
  auto text = prefix.substr(sizeof(length), length);
  SafetensorsHeader header;
  try {
    check_json_structure(text, source);
    auto json = nlohmann::json::parse(text);
    if (!json.is_object()) fail(source, ": its header is not a JSON object");
    for (const auto& [name, value] : json.items()) {
      if (name != "__metadata__") {
        header.entries.push_back(decode_entry(name, value, source));
      } else if (!value.is_null()) {
        header.metadata = value.get<std::map<std::string, std::string>>();
      }
    }
  } catch (const nlohmann::json::exception& error) {
    fail(source, ": its header is not the header of a safetensors file: ", error.what());
  }
  std::sort(header.entries.begin(), header.entries.end(),
            [](const SafetensorsEntry& left, const SafetensorsEntry& right) {
              return std::tie(left.begin, left.end) < std::tie(right.begin, right.end);
            });
  check_layout(header.entries, file_bytes - sizeof(length) - length, source);
  return header;
}

}  // namespace accelerate::formats
