#include "accelerate/formats/pickle/value.h"

namespace accelerate::formats {

std::string_view python_name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::None:
      return "None";
    case ValueKind::Bool:
      return "bool";
    case ValueKind::Integer:
    case ValueKind::BigInteger:
      return "int";
    case ValueKind::Float:
      return "float";
    case ValueKind::Text:
      return "str";
    case ValueKind::Bytes:
      return "bytes";
    case ValueKind::List:
      return "list";
    case ValueKind::Tuple:
      return "tuple";
    case ValueKind::Set:
      return "set";
    case ValueKind::Dict:
      return "dict";
    case ValueKind::OrderedDict:
      return "OrderedDict";
    case ValueKind::NumpyArray:
      return "numpy array";
    case ValueKind::Tensor:
      return "tensor";
  }
  fail("this is not a kind of value: ", static_cast<int>(kind));
}

}  // namespace accelerate::formats
