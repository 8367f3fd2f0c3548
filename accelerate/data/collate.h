#pragma once

// The default collate function: tensors are stacked, numbers become a tensor, and compound types are collated member by
// member.

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/base/error.h"
#include "accelerate/tensors/nest.h"

namespace accelerate::data {

/// Collates samples of one type. Not defined for types without a natural batch.
template <class Sample>
struct Collation;

/// A sample type that default_collate supports.
template <class Sample>
concept Collatable = requires { typename Collation<Sample>::Result; };

/// The batch type that default_collate returns for samples of this type.
template <class Sample>
using default_batch_t = typename Collation<Sample>::Result;

/// Collates all samples into one batch. Needs at least one sample.
template <Collatable Sample>
default_batch_t<Sample> default_collate(std::vector<Sample> samples) {
  return Collation<Sample>::collate(std::move(samples));
}

/// at::stack, kept out of this header.
at::Tensor stack(const std::vector<at::Tensor>& tensors);
at::Tensor tensor_of(const std::vector<int64_t>& numbers);
at::Tensor tensor_of(const std::vector<double>& numbers);
at::Tensor tensor_of(const std::vector<float>& numbers);
at::Tensor tensor_of(const std::vector<bool>& numbers);

/// Collates one part of all samples. `part(sample)` returns a reference to it; the part is moved from.
template <class Sample, class Part>
auto collate_part(std::vector<Sample>& samples, Part&& part) {
  using Value = std::remove_cvref_t<decltype(part(samples.front()))>;
  static_assert(Collatable<Value>, "a part of the sample has no default collation: give the loader a collate function");
  std::vector<Value> values;
  values.reserve(samples.size());
  for (auto& sample : samples) values.push_back(std::move(part(sample)));
  return default_collate(std::move(values));
}

template <>
struct Collation<at::Tensor> {
  using Result = at::Tensor;
  static Result collate(std::vector<at::Tensor> samples) { return stack(samples); }
};

/// As in Python, integers become int64. `double` and `float` keep their precision.
template <class Number>
  requires std::is_arithmetic_v<Number>
struct Collation<Number> {
  using Result = at::Tensor;
  using Element = std::conditional_t<std::is_integral_v<Number> && !std::is_same_v<Number, bool>, int64_t, Number>;
  static Result collate(const std::vector<Number>& samples) {
    return tensor_of(std::vector<Element>(samples.begin(), samples.end()));
  }
};

template <>
struct Collation<std::string> {
  using Result = std::vector<std::string>;
  static Result collate(std::vector<std::string> samples) { return samples; }
};

template <Collatable... Parts>
struct Collation<std::tuple<Parts...>> {
  using Result = std::tuple<default_batch_t<Parts>...>;
  static Result collate(std::vector<std::tuple<Parts...>> samples) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return Result(collate_part(samples, [](auto& sample) -> auto& { return std::get<I>(sample); })...);
    }(std::index_sequence_for<Parts...>());
  }
};

template <Collatable First, Collatable Second>
struct Collation<std::pair<First, Second>> {
  using Result = std::pair<default_batch_t<First>, default_batch_t<Second>>;
  static Result collate(std::vector<std::pair<First, Second>> samples) {
    return Result(collate_part(samples, [](auto& sample) -> auto& { return sample.first; }),
                  collate_part(samples, [](auto& sample) -> auto& { return sample.second; }));
  }
};

template <Collatable Part, size_t size>
struct Collation<std::array<Part, size>> {
  using Result = std::array<default_batch_t<Part>, size>;
  static Result collate(std::vector<std::array<Part, size>> samples) {
    Result result;
    for (size_t i = 0; i < size; ++i)
      result[i] = collate_part(samples, [i](auto& sample) -> auto& { return sample[i]; });
    return result;
  }
};

template <Collatable Part>
struct Collation<std::vector<Part>> {
  using Result = std::vector<default_batch_t<Part>>;
  static Result collate(std::vector<std::vector<Part>> samples) {
    const size_t length = samples.front().size();
    for (const auto& sample : samples) {
      if (sample.size() == length) continue;
      fail("default_collate: one sample has ", length, " elements and another ", sample.size(),
           "; pad them in a collate function");
    }
    Result result;
    for (size_t i = 0; i < length; ++i) {
      std::vector<Part> parts;
      for (auto& sample : samples) parts.push_back(sample[i]);
      result.push_back(default_collate(std::move(parts)));
    }
    return result;
  }
};

template <Collatable Data, Collatable Target>
struct Collation<torch::data::Example<Data, Target>> {
  using Result = torch::data::Example<default_batch_t<Data>, default_batch_t<Target>>;
  static Result collate(std::vector<torch::data::Example<Data, Target>> samples) {
    return Result(collate_part(samples, [](auto& sample) -> auto& { return sample.data; }),
                  collate_part(samples, [](auto& sample) -> auto& { return sample.target; }));
  }
};

template <Collatable Data>
struct Collation<torch::data::Example<Data, void>> {
  using Result = torch::data::Example<default_batch_t<Data>, void>;
  static Result collate(std::vector<torch::data::Example<Data, void>> samples) {
    return Result(collate_part(samples, [](auto& sample) -> auto& { return sample.data; }));
  }
};

template <>
struct Collation<tensors::Batch> {
  using Result = tensors::Batch;
  static Result collate(std::vector<tensors::Batch> samples);
};

/// Any map type. The batch has the keys of the first sample.
template <class Map>
  requires requires { typename Map::mapped_type; } && Collatable<typename Map::mapped_type>
struct Collation<Map> {
  using Value = default_batch_t<typename Map::mapped_type>;
  template <template <class...> class Kind, class Key, class Old, class... Rest>
  static Kind<Key, Value> with_value(const Kind<Key, Old, Rest...>&);
  using Result = decltype(with_value(std::declval<Map>()));

  static Result collate(std::vector<Map> samples) {
    Result result;
    for (const auto& [key, unused] : samples.front()) {
      std::vector<typename Map::mapped_type> values;
      for (auto& sample : samples) {
        auto found = sample.find(key);
        if (found == sample.end()) fail("default_collate: a sample lacks the key ", key, ", which the first one has");
        values.push_back(found->second);
      }
      result.emplace(key, default_collate(std::move(values)));
    }
    return result;
  }
};

namespace detail {

template <class Member>
constexpr bool keeps_type = false;
template <Collatable Member>
constexpr bool keeps_type<Member> = std::is_assignable_v<Member&, default_batch_t<Member>>;

template <class Struct>
consteval bool keeps_all_members() {
  if constexpr (tensors::HasTensorFields<Struct>) {
    return []<class... Members>(std::type_identity<std::tuple<Members&...>>) {
      return (keeps_type<Members> && ...);
    }(std::type_identity<decltype(tensors::fields_of(std::declval<Struct&>()))>());
  } else {
    return true;
  }
}

}  // namespace detail

/// Whether the members that tensor_fields names can hold their batches too. A number cannot: its batch is a tensor.
template <class Struct>
constexpr bool keeps_members = detail::keeps_all_members<Struct>();

/// A struct with tensor_fields: each member becomes a batch of the same type.
template <class Struct>
  requires tensors::HasTensorFields<Struct>
struct Collation<Struct> {
  using Result = Struct;
  static Result collate(std::vector<Struct> samples) {
    static_assert(keeps_members<Struct>,
                  "a member that tensor_fields names cannot hold its batch, which is of another type: make it a "
                  "torch::Tensor, or give the loader a collate function with a struct for the batch");
    Result result = samples.front();
    if constexpr (keeps_members<Struct>) {
      auto fields = tensors::fields_of(result);
      [&]<size_t... I>(std::index_sequence<I...>) {
        ((std::get<I>(fields) =
              collate_part(samples, [](auto& sample) -> auto& { return std::get<I>(tensors::fields_of(sample)); })),
         ...);
      }(std::make_index_sequence<std::tuple_size_v<decltype(fields)>>());
    }
    return result;
  }
};

}  // namespace accelerate::data

namespace accelerate {
using data::default_batch_t;
using data::default_collate;
}  // namespace accelerate
