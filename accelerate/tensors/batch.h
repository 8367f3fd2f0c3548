#pragma once

// A batch with names: what a tokenizer gives and a model takes.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// Tensors by name, in the order they were added. A handful of names, so look-ups are linear.
class Batch {
 public:
  using Item = std::pair<std::string, at::Tensor>;

  Batch() = default;
  Batch(std::initializer_list<Item> items) : items_(items) {}

  /// The tensor called `name`, added undefined if it is not there, as in a map.
  at::Tensor& operator[](std::string_view name);

  /// The tensor called `name`; throws Error listing the names there are.
  const at::Tensor& at(std::string_view name) const;

  /// The tensor called `name`, or an undefined one.
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
