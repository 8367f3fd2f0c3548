#pragma once

// A batch of named tensors, as tokenizers return and models take them.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// Tensors by name, in insertion order. Lookups are linear, since names are few.
class Batch {
 public:
  using Item = std::pair<std::string, at::Tensor>;

  Batch() = default;
  Batch(std::initializer_list<Item> items) : items_(items) {}

  /// Returns the tensor called `name`. Inserts an undefined one if it does not exist, like std::map.
  at::Tensor& operator[](std::string_view name);

  /// Returns the tensor called `name`. Throws Error with a list of the names if it does not exist.
  const at::Tensor& at(std::string_view name) const;

  /// Returns the tensor called `name`, or an undefined one.
  at::Tensor get(std::string_view name) const;

  bool contains(std::string_view name) const;
  void erase(std::string_view name);
  std::vector<std::string> names() const;

  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }

  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<Item> items_;
};

}  // namespace accelerate::tensors

namespace accelerate {
using tensors::Batch;
}
