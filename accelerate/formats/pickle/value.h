#pragma once

// The values in Python's checkpoints: None, numbers, texts, bytes, lists, tuples, sets, dicts, numpy arrays and
// tensors. The template parameter is the tensor type: a reference into a file in this room, a real tensor in `tensors`.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "accelerate/base/error.h"

namespace accelerate::formats {

/// A Python `bytes` object.
struct Bytes {
  std::string data = {};

  bool operator==(const Bytes&) const = default;
};

/// A Python integer of more than 64 bits: two's complement, little-endian.
struct BigInteger {
  std::string bytes = {};

  bool operator==(const BigInteger&) const = default;
};

/// A numpy array of plain numbers.
struct NumpyArray {
  std::string type = {};  // numpy's notation: "<u4", "<f8", "|u1"
  std::vector<int64_t> shape = {};
  bool fortran_order = false;
  std::string data = {};

  bool operator==(const NumpyArray&) const = default;
};

enum class ValueKind {
  None,
  Bool,
  Integer,
  BigInteger,
  Float,
  Text,
  Bytes,
  List,
  Tuple,
  Set,
  Dict,
  OrderedDict,
  NumpyArray,
  Tensor
};

/// Python's name of the type: "list", "str", "OrderedDict".
std::string_view python_name_of(ValueKind kind);

/// A Python value with its content. Copies are deep, except for what copies of a `Tensor` share.
template <class Tensor>
class Value {
 public:
  using Items = std::vector<Value>;
  using Entries = std::vector<std::pair<Value, Value>>;  // in insertion order

  /// None.
  Value() = default;
  /// A bool or an integer.
  template <std::integral T>
  Value(T value) : content_(content_of(value)) {}
  Value(double value) : content_(value) {}
  Value(std::string text) : content_(std::move(text)) {}
  Value(std::string_view text) : content_(std::string(text)) {}
  Value(const char* text) : content_(std::string(text)) {}
  Value(Bytes bytes) : content_(std::move(bytes)) {}
  Value(BigInteger integer) : content_(std::move(integer)) {}
  Value(NumpyArray array) : content_(std::move(array)) {}
  Value(Tensor tensor) : content_(std::move(tensor)) {}

  static Value list(Items items = {}) { return Content(Sequence{ValueKind::List, std::move(items)}); }
  static Value tuple(Items items = {}) { return Content(Sequence{ValueKind::Tuple, std::move(items)}); }
  static Value set(Items items = {}) { return Content(Sequence{ValueKind::Set, std::move(items)}); }
  static Value dict(Entries entries = {}) { return Content(Mapping{ValueKind::Dict, std::move(entries)}); }
  static Value ordered_dict(Entries entries = {}) {
    return Content(Mapping{ValueKind::OrderedDict, std::move(entries)});
  }

  ValueKind kind() const;
  bool is_none() const { return kind() == ValueKind::None; }

  /// The content. Each throws Error naming the actual kind if the value is of another kind.
  bool boolean() const { return get<bool>("bool"); }
  int64_t integer() const { return get<int64_t>("int"); }
  const BigInteger& big_integer() const { return get<BigInteger>("int beyond 64 bits"); }
  const std::string& text() const { return get<std::string>("str"); }
  const std::string& bytes() const { return get<Bytes>("bytes").data; }
  const NumpyArray& array() const { return get<NumpyArray>("numpy array"); }
  const Tensor& tensor() const { return get<Tensor>("tensor"); }
  /// A float, or an int converted to one.
  double number() const { return kind() == ValueKind::Integer ? double(integer()) : get<double>("float"); }
  /// The items of a list, tuple or set.
  const Items& items() const { return get<Sequence>("list or tuple").items; }
  Items& items() { return const_cast<Items&>(std::as_const(*this).items()); }
  /// The entries of a dict or OrderedDict.
  const Entries& entries() const { return get<Mapping>("dict").entries; }
  Entries& entries() { return const_cast<Entries&>(std::as_const(*this).entries()); }

  /// The value of a key in a dict, or nullptr. Linear search.
  const Value* find(std::string_view key) const { return find_key<std::string>(key); }
  const Value* find(int64_t key) const { return find_key<int64_t>(key); }
  template <class Key>
  bool contains(const Key& key) const {
    return find(key) != nullptr;
  }
  /// The same, but throws Error naming the key if it is missing.
  template <class Key>
  const Value& at(const Key& key) const {
    if (const Value* value = find(key)) return *value;
    fail("the dict has no key '", key, "'");
  }

  /// Returns the same structure with each tensor replaced by `change(tensor)`. `Other` is the new tensor type.
  template <class Other, class Change>
  Value<Other> map(Change&& change) const;

  friend bool operator==(const Value& left, const Value& right) { return left.content_ == right.content_; }

 private:
  struct Sequence {
    ValueKind kind;
    Items items;
    bool operator==(const Sequence& other) const { return kind == other.kind && items == other.items; }
  };
  struct Mapping {
    ValueKind kind;
    Entries entries;
    bool operator==(const Mapping& other) const { return kind == other.kind && entries == other.entries; }
  };
  using Content = std::variant<std::monostate, bool, int64_t, BigInteger, double, std::string, Bytes, Sequence, Mapping,
                               NumpyArray, Tensor>;

  Value(Content content) : content_(std::move(content)) {}

  template <std::integral T>
  static Content content_of(T value) {
    if constexpr (std::same_as<T, bool>) {
      return value;
    } else {
      if (!std::in_range<int64_t>(value)) {  // a zero byte on top keeps the number positive
        return BigInteger{std::string(reinterpret_cast<const char*>(&value), sizeof(value)) + '\0'};
      }
      return static_cast<int64_t>(value);
    }
  }

  template <class Alternative>
  const Alternative& get(std::string_view wanted) const {
    if (auto* content = std::get_if<Alternative>(&content_)) return *content;
    fail("a ", wanted, " is expected where the ", python_name_of(kind()), " is");
  }

  template <class Alternative>
  const Value* find_key(const auto& key) const {
    for (const auto& [candidate, value] : entries()) {
      auto* content = std::get_if<Alternative>(&candidate.content_);
      if (content && *content == key) return &value;
    }
    return nullptr;
  }

  template <class>
  friend class Value;

  Content content_;
};

template <class Tensor>
ValueKind Value<Tensor>::kind() const {
  struct Kinds {
    ValueKind operator()(std::monostate) const { return ValueKind::None; }
    ValueKind operator()(bool) const { return ValueKind::Bool; }
    ValueKind operator()(int64_t) const { return ValueKind::Integer; }
    ValueKind operator()(const BigInteger&) const { return ValueKind::BigInteger; }
    ValueKind operator()(double) const { return ValueKind::Float; }
    ValueKind operator()(const std::string&) const { return ValueKind::Text; }
    ValueKind operator()(const Bytes&) const { return ValueKind::Bytes; }
    ValueKind operator()(const Sequence& sequence) const { return sequence.kind; }
    ValueKind operator()(const Mapping& mapping) const { return mapping.kind; }
    ValueKind operator()(const NumpyArray&) const { return ValueKind::NumpyArray; }
    ValueKind operator()(const Tensor&) const { return ValueKind::Tensor; }
  };
  return std::visit(Kinds{}, content_);
}

template <class Tensor>
template <class Other, class Change>
Value<Other> Value<Tensor>::map(Change&& change) const {
  auto visit = [&](const auto& content) -> Value<Other> {
    using Alternative = std::decay_t<decltype(content)>;
    if constexpr (std::same_as<Alternative, Tensor>) {
      return Value<Other>(change(content));
    } else if constexpr (std::same_as<Alternative, Sequence>) {
      typename Value<Other>::Items items;
      for (const auto& item : content.items) items.push_back(item.template map<Other>(change));
      return typename Value<Other>::Content(typename Value<Other>::Sequence{content.kind, std::move(items)});
    } else if constexpr (std::same_as<Alternative, Mapping>) {
      typename Value<Other>::Entries entries;
      for (const auto& [key, value] : content.entries) {
        entries.emplace_back(key.template map<Other>(change), value.template map<Other>(change));
      }
      return typename Value<Other>::Content(typename Value<Other>::Mapping{content.kind, std::move(entries)});
    } else {
      return typename Value<Other>::Content(content);
    }
  };
  return std::visit(visit, content_);
}

}  // namespace accelerate::formats
