#pragma once

// Serialization for collectives on objects, between ranks of one job. Supports numbers, strings, tensors, and tuples,
// pairs, arrays, vectors, maps, Batches, optionals and structs with tensor_fields made of them. Not a file format.

#include <array>
#include <cstring>
#include <string>

#include "accelerate/base/error.h"
#include "accelerate/tensors/nest.h"

namespace accelerate::tensors {

/// Serializes values.
class ArchiveWriter {
 public:
  template <class T>
  void write(const T& value);

  std::string take() { return std::move(bytes_); }

 private:
  void write_bytes(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  void write_tensor(const at::Tensor& tensor);

  std::string bytes_;
};

/// Deserializes values in the order of writing. Throws Error if the bytes end early: the ranks disagree on the type.
class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  void read(T& value);

 private:
  void read_bytes(void* data, size_t size);
  uint64_t read_size() {
    uint64_t size = 0;
    read_bytes(&size, sizeof(size));
    return size;
  }
  at::Tensor read_tensor();

  std::string_view bytes_;
};

/// A type that an archive can carry.
template <class T>
concept Archivable = !std::is_pointer_v<T>;

/// Serializes a value.
template <class T>
std::string pack(const T& value) {
  ArchiveWriter writer;
  writer.write(value);
  return writer.take();
}

/// Deserializes the result of pack().
template <class T>
T unpack(std::string_view bytes) {
  T value{};
  ArchiveReader(bytes).read(value);
  return value;
}

template <class T>
void ArchiveWriter::write(const T& value) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    write_tensor(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    write_bytes(&value, sizeof(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    write(static_cast<uint64_t>(value.size()));
    write_bytes(value.data(), value.size());
  } else if constexpr (HasFields<T>) {
    std::apply([&](auto&... fields) { (write(fields), ...); }, fields_of(value));
  } else if constexpr (detail::Tuple<T>) {
    std::apply([&](auto&... parts) { (write(parts), ...); }, value);
  } else if constexpr (detail::is_optional<T>) {
    write(value.has_value());
    if (value) write(*value);
  } else {
    static_assert(detail::Range<T>,
                  "an object of this type cannot be sent to other ranks: give its struct a tensor_fields function");
    write(static_cast<uint64_t>(std::ranges::distance(value)));
    for (const auto& part : value) write(static_cast<std::ranges::range_value_t<T>>(part));
  }
}

template <class T>
void ArchiveReader::read(T& value) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    value = read_tensor();
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    read_bytes(&value, sizeof(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    value.resize(read_size());
    read_bytes(value.data(), value.size());
  } else if constexpr (HasFields<T>) {
    std::apply([&](auto&... fields) { (read(fields), ...); }, fields_of(value));
  } else if constexpr (detail::Tuple<T>) {
    std::apply([&](auto&... parts) { (read(parts), ...); }, value);
  } else if constexpr (detail::is_optional<T>) {
    bool present = false;
    read(present);
    value.reset();
    if (present) read(value.emplace());
  } else if constexpr (std::is_same_v<T, Batch>) {
    value = Batch();
    for (uint64_t i = 0, count = read_size(); i < count; ++i) {
      Batch::Item item;
      read(item);
      value[item.first] = item.second;
    }
  } else if constexpr (requires { typename T::mapped_type; }) {
    value.clear();
    for (uint64_t i = 0, count = read_size(); i < count; ++i) {
      std::pair<typename T::key_type, typename T::mapped_type> item;
      read(item);
      value.insert(std::move(item));
    }
  } else {
    value.clear();
    for (uint64_t i = 0, count = read_size(); i < count; ++i) {
      typename T::value_type part{};
      read(part);
      value.insert(value.end(), std::move(part));
    }
  }
}

}  // namespace accelerate::tensors
