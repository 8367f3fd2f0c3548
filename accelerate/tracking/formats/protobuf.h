#pragma once

// Writes the kinds of protocol buffer fields that event files and W&B runs need. There is no reader and no schema, so
// these few lines replace a dependency on libprotobuf, whose version would also have to match that of the program.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate::tracking {

/// Appends the lowest `num_bytes` bytes of `value`, little-endian.
inline void append_little_endian(std::string& bytes, uint64_t value, int num_bytes) {
  for (int i = 0; i < num_bytes; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

/// A message under construction, with its fields in the order of the calls. Zero values are written too; readers treat
/// them like missing fields.
class ProtobufMessage {
 public:
  /// An int32, int64, bool or enum field.
  ProtobufMessage& integer(int field, int64_t value);
  ProtobufMessage& real64(int field, double value);
  ProtobufMessage& real32(int field, float value);
  /// A string field. Invalid UTF-8 is replaced, because readers would refuse the message.
  ProtobufMessage& text(int field, std::string_view text);
  /// A bytes field.
  ProtobufMessage& data(int field, std::string_view bytes);
  ProtobufMessage& message(int field, const ProtobufMessage& part) { return data(field, part.bytes_); }
  /// A repeated double field in packed form.
  ProtobufMessage& reals(int field, const std::vector<double>& values);

  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value);
  void fixed(uint64_t bits, int num_bytes);

  std::string bytes_;
};

}  // namespace accelerate::tracking
