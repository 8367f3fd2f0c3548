#include "accelerate/formats/pickle/pickle.h"

#include <algorithm>
#include <array>

namespace accelerate::formats {

namespace {

constexpr std::array kTensorTypes = {
    PickleType{"float32", "FloatStorage", 4},
    PickleType{"float64", "DoubleStorage", 8},
    PickleType{"float16", "HalfStorage", 2},
    PickleType{"bfloat16", "BFloat16Storage", 2},
    PickleType{"int64", "LongStorage", 8},
    PickleType{"int32", "IntStorage", 4},
    PickleType{"int16", "ShortStorage", 2},
    PickleType{"int8", "CharStorage", 1},
    PickleType{"uint8", "ByteStorage", 1},
    PickleType{"bool", "BoolStorage", 1},
    PickleType{"complex64", "ComplexFloatStorage", 8},
    PickleType{"complex128", "ComplexDoubleStorage", 16},
    PickleType{"uint16", "", 2},
    PickleType{"uint32", "", 4},
    PickleType{"uint64", "", 8},
    PickleType{"float8_e4m3fn", "", 1},
    PickleType{"float8_e5m2", "", 1},
    PickleType{"float8_e4m3fnuz", "", 1},
    PickleType{"float8_e5m2fnuz", "", 1},
    PickleType{"float8_e8m0fnu", "", 1},
};

const PickleType* find_type(std::string_view name, std::string_view PickleType::* field) {
  auto type = std::find_if(kTensorTypes.begin(), kTensorTypes.end(),
                           [&](const PickleType& type) { return type.*field == name; });
  return type == kTensorTypes.end() ? nullptr : &*type;
}

}  // namespace

const PickleType* pickle_type_of(std::string_view dtype) { return find_type(dtype, &PickleType::dtype); }

const PickleType* pickle_type_of_storage(std::string_view storage) {
  return storage.empty() ? nullptr : find_type(storage, &PickleType::storage);
}

}  // namespace accelerate::formats
