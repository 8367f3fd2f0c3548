#include "accelerate/formats/pickle/pickle.h"

#include <bit>
#include <limits>

#include "accelerate/base/error.h"
#include "accelerate/formats/pickle/opcodes.h"

namespace accelerate::formats {

namespace {

constexpr char kProtocol = 2;  // as written by torch.save; weights_only reads no other

class Writer {
 public:
  std::string whole_pickle_of(const PickleValue& value) {
    write(Opcode::Proto);
    bytes_ += kProtocol;
    write(value);
    write(Opcode::Stop);
    return std::move(bytes_);
  }

 private:
  void write(const PickleValue& value);
  void write(Opcode opcode) { bytes_ += static_cast<char>(opcode); }

  template <class T>
  void write_little_endian(T number) {
    static_assert(std::endian::native == std::endian::little);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }

  void write_global(std::string_view module, std::string_view name) {
    write(Opcode::Global);
    bytes_.append(module).append("\n").append(name).append("\n");
  }

  void write_integer(int64_t value) {
    if (std::in_range<uint8_t>(value)) {
      write(Opcode::BinInt1);
      write_little_endian(static_cast<uint8_t>(value));
    } else if (std::in_range<uint16_t>(value)) {
      write(Opcode::BinInt2);
      write_little_endian(static_cast<uint16_t>(value));
    } else if (std::in_range<int32_t>(value)) {
      write(Opcode::BinInt);
      write_little_endian(static_cast<int32_t>(value));
    } else {
      write(Opcode::Long1);
      write_little_endian(static_cast<uint8_t>(sizeof(value)));
      write_little_endian(value);
    }
  }

  void write_big_integer(const std::string& digits) {
    if (digits.size() > std::numeric_limits<uint8_t>::max()) {
      fail("an integer of ", digits.size(), " bytes cannot be written for weights_only; the limit is 255");
    }
    write(Opcode::Long1);
    write_little_endian(static_cast<uint8_t>(digits.size()));
    bytes_ += digits;
  }

  void write_float(double value) {
    write(Opcode::BinFloat);
    write_little_endian(__builtin_bswap64(std::bit_cast<uint64_t>(value)));  // the only big-endian number
  }

  void write_text(std::string_view text) {
    if (text.size() > std::numeric_limits<uint32_t>::max()) {
      fail("a string of ", text.size(), " bytes cannot be written as a pickle; the limit is 4 GiB");
    }
    write(Opcode::BinUnicode);
    write_little_endian(static_cast<uint32_t>(text.size()));
    bytes_ += text;
  }

  /// Protocol 2 has no opcode for bytes. Like Python, writes the call _codecs.encode(text, "latin1"), where the text
  /// has one character per byte.
  void write_bytes(std::string_view bytes) {
    std::string text;
    for (unsigned char byte : bytes) {
      if (byte < 0x80) {
        text += static_cast<char>(byte);
      } else {
        text += static_cast<char>(0xc0 | byte >> 6);
        text += static_cast<char>(0x80 | (byte & 0x3f));
      }
    }
    write_global("_codecs", "encode");
    write_text(text);
    write_text("latin1");
    write(Opcode::Tuple2);
    write(Opcode::Reduce);
  }

  void write_items(const PickleValue::Items& items) {
    write(Opcode::Mark);
    for (const auto& item : items) write(item);
  }

  void write_list(const PickleValue::Items& items) {
    write(Opcode::EmptyList);
    write_items(items);
    write(Opcode::Appends);
  }

  void write_tuple(const PickleValue::Items& items) {
    if (items.empty()) return write(Opcode::EmptyTuple);
    write_items(items);
    write(Opcode::Tuple);
  }

  void write_set(const PickleValue::Items& items) {
    write_global("__builtin__", "set");
    write_list(items);
    write(Opcode::Tuple1);
    write(Opcode::Reduce);
  }

  void write_empty_ordered_dict() {
    write_global("collections", "OrderedDict");
    write(Opcode::EmptyTuple);
    write(Opcode::Reduce);
  }

  void write_entries(const PickleValue::Entries& entries) {
    write(Opcode::Mark);
    for (const auto& [key, value] : entries) {
      write(key);
      write(value);
    }
    write(Opcode::SetItems);
  }

  void write_integers(const std::vector<int64_t>& values) {
    write(Opcode::Mark);
    for (int64_t value : values) write_integer(value);
    write(Opcode::Tuple);
  }

  /// Creates an empty array and then sets its type, shape and bytes, like numpy.
  void write_array(const NumpyArray& array) {
    write_global("numpy._core.multiarray", "_reconstruct");
    write_global("numpy", "ndarray");
    write_integers({0});
    write_bytes("b");
    write(Opcode::Tuple3);
    write(Opcode::Reduce);
    write(Opcode::Mark);
    write_integer(1);  // the version of this state
    write_integers(array.shape);
    write_array_type(array.type);
    write(array.fortran_order ? Opcode::NewTrue : Opcode::NewFalse);
    write_bytes(array.data);
    write(Opcode::Tuple);
    write(Opcode::Build);
  }

  void write_array_type(std::string_view type) {
    write_global("numpy", "dtype");
    write_text(type.substr(1));
    write(Opcode::NewFalse);
    write(Opcode::NewTrue);
    write(Opcode::Tuple3);
    write(Opcode::Reduce);
    write(Opcode::Mark);
    write_integer(3);  // the version of this state
    write_text(type.substr(0, 1));
    for (int field = 0; field < 3; ++field) write(Opcode::None);  // fields of a record type: none
    write_integer(-1);
    write_integer(-1);
    write_integer(0);
    write(Opcode::Tuple);
    write(Opcode::Build);
  }

  void write_tensor(const TensorReference& tensor) {
    const PickleType* type = pickle_type_of(tensor.dtype);
    if (!type) fail("a tensor of type ", tensor.dtype, " cannot be written as a pickle");
    bool is_typed = !type->storage.empty();
    write_global("torch._utils", is_typed ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
    write(Opcode::Mark);
    write_storage(tensor, *type);
    write_integer(tensor.offset);
    write_integers(tensor.sizes);
    write_integers(tensor.strides);
    write(tensor.requires_grad ? Opcode::NewTrue : Opcode::NewFalse);
    write_empty_ordered_dict();  // hooks
    if (!is_typed) write_global("torch", type->dtype);
    write(Opcode::Tuple);
    write(Opcode::Reduce);
  }

  void write_storage(const TensorReference& tensor, const PickleType& type) {
    write(Opcode::Mark);
    write_text("storage");
    if (type.storage.empty()) {
      write_global("torch.storage", "UntypedStorage");
    } else {
      write_global("torch", type.storage);
    }
    write_text(tensor.storage);
    write_text("cpu");
    write_integer(
        static_cast<int64_t>(type.storage.empty() ? tensor.storage_bytes : tensor.storage_bytes / type.bytes));
    write(Opcode::Tuple);
    write(Opcode::BinPersId);
  }

  std::string bytes_;
};

void Writer::write(const PickleValue& value) {
  switch (value.kind()) {
    case ValueKind::None:
      return write(Opcode::None);
    case ValueKind::Bool:
      return write(value.boolean() ? Opcode::NewTrue : Opcode::NewFalse);
    case ValueKind::Integer:
      return write_integer(value.integer());
    case ValueKind::BigInteger:
      return write_big_integer(value.big_integer().bytes);
    case ValueKind::Float:
      return write_float(value.number());
    case ValueKind::Text:
      return write_text(value.text());
    case ValueKind::Bytes:
      return write_bytes(value.bytes());
    case ValueKind::List:
      return write_list(value.items());
    case ValueKind::Tuple:
      return write_tuple(value.items());
    case ValueKind::Set:
      return write_set(value.items());
    case ValueKind::Dict:
      write(Opcode::EmptyDict);
      return write_entries(value.entries());
    case ValueKind::OrderedDict:
      write_empty_ordered_dict();
      return write_entries(value.entries());
    case ValueKind::NumpyArray:
      return write_array(value.array());
    case ValueKind::Tensor:
      return write_tensor(value.tensor());
  }
}

}  // namespace

std::string write_pickle(const PickleValue& value) { return Writer().whole_pickle_of(value); }

}  // namespace accelerate::formats
