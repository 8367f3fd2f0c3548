#include "accelerate/formats/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"

namespace accelerate::formats {

namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the reference reader

struct Type {
  std::string_view name;
  int bits;
};
// The reference writer sorts by the position in this list, from the back.
constexpr std::array kTypes = {Type{"BOOL", 8},    Type{"U8", 8},   Type{"I8", 8},   Type{"F8_E5M2", 8},
                               Type{"F8_E4M3", 8}, Type{"I16", 16}, Type{"U16", 16}, Type{"F16", 16},
                               Type{"BF16", 16},   Type{"I32", 32}, Type{"U32", 32}, Type{"F32", 32},
                               Type{"C64", 64},    Type{"F64", 64}, Type{"I64", 64}, Type{"U64", 64}};

size_t position_of(std::string_view dtype) {
  auto type =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& candidate) { return candidate.name == dtype; });
  if (type == kTypes.end()) fail("safetensors: the type '", dtype, "' is not known");
  return static_cast<size_t>(type - kTypes.begin());
}

/// Bytes that the shape asks for; throws when the product leaves 64 bits.
uint64_t bytes_of(const SafetensorsEntry& entry, const std::string& source) {
  uint64_t elements = 1;
  for (int64_t size : entry.shape) {
    if (size < 0 || __builtin_mul_overflow(elements, static_cast<uint64_t>(size), &elements)) {
      fail(source, ": the shape of '", entry.name, "' is not possible");
    }
  }
  uint64_t bits = 0;
  if (__builtin_mul_overflow(elements, static_cast<uint64_t>(safetensors_bits(entry.dtype)), &bits)) {
    fail(source, ": the shape of '", entry.name, "' is not possible");
  }
  return bits / 8;
}

void check_layout(const std::vector<SafetensorsEntry>& entries, uint64_t data_bytes, const std::string& source) {
  uint64_t position = 0;
  for (const auto& entry : entries) {
    if (entry.begin != position || entry.end < entry.begin) {
      fail(source, ": the bytes of '", entry.name, "' are at ", entry.begin, " to ", entry.end,
           "; they should begin at ", position);
    }
    if (entry.end - entry.begin != bytes_of(entry, source)) {
      fail(source, ": '", entry.name, "' has ", entry.end - entry.begin, " bytes, but its shape and type ask for ",
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
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) json["__metadata__"] = header.metadata;
  for (const auto& entry : header.entries) {
    json[entry.name] = {{"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text = json.dump();
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
         "; this is not a safetensors file, or it is cut off");
  }
  return length;
}

SafetensorsHeader decode_safetensors_header(std::string_view prefix, uint64_t file_bytes, const std::string& source) {
  auto length = safetensors_header_bytes(prefix, file_bytes, source);
  auto text = prefix.substr(sizeof(length), length);
  SafetensorsHeader header;
  try {
    auto json = nlohmann::ordered_json::parse(text);
    for (const auto& [name, value] : json.items()) {
      if (name == "__metadata__") {
        header.metadata = value.get<std::map<std::string, std::string>>();
        continue;
      }
      SafetensorsEntry entry{.name = name, .dtype = value.at("dtype"), .shape = value.at("shape")};
      entry.begin = value.at("data_offsets").at(0);
      entry.end = value.at("data_offsets").at(1);
      header.entries.push_back(std::move(entry));
    }
  } catch (const nlohmann::json::exception& error) {
    fail(source, ": its header is not what a safetensors file has: ", error.what());
  }
  std::sort(header.entries.begin(), header.entries.end(),
            [](const SafetensorsEntry& left, const SafetensorsEntry& right) {
              return std::tie(left.begin, left.end) < std::tie(right.begin, right.end);
            });
  check_layout(header.entries, file_bytes - sizeof(length) - length, source);
  return header;
}

}  // namespace accelerate::formats
