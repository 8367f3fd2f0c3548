#include "accelerate/tracking/formats/protobuf.h"

#include <bit>

#include "accelerate/base/utf8.h"

namespace accelerate::tracking {

namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

uint64_t key_of(int field, WireType type) { return static_cast<uint64_t>(field) << 3 | type; }

}  // namespace

ProtobufMessage& ProtobufMessage::integer(int field, int64_t value) {
  varint(key_of(field, kVarint));
  varint(static_cast<uint64_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::real64(int field, double value) {
  varint(key_of(field, kFixed64));
  fixed(std::bit_cast<uint64_t>(value), 8);
  return *this;
}

ProtobufMessage& ProtobufMessage::real32(int field, float value) {
  varint(key_of(field, kFixed32));
  fixed(std::bit_cast<uint32_t>(value), 4);
  return *this;
}

ProtobufMessage& ProtobufMessage::text(int field, std::string_view text) {
  return data(field, replace_broken_utf8(text));
}

ProtobufMessage& ProtobufMessage::data(int field, std::string_view bytes) {
  varint(key_of(field, kLengthDelimited));
  varint(bytes.size());
  bytes_.append(bytes);
  return *this;
}

ProtobufMessage& ProtobufMessage::reals(int field, const std::vector<double>& values) {
  varint(key_of(field, kLengthDelimited));
  varint(values.size() * 8);
  for (double value : values) fixed(std::bit_cast<uint64_t>(value), 8);
  return *this;
}

void ProtobufMessage::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

void ProtobufMessage::fixed(uint64_t bits, int num_bytes) {
  for (int i = 0; i < num_bytes; ++i) bytes_.push_back(static_cast<char>(bits >> (8 * i)));
}

}  // namespace accelerate::tracking
