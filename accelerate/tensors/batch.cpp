#include "accelerate/tensors/batch.h"

#include <algorithm>
#include <ranges>

#include <ATen/ops/cat.h>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "accelerate/tensors/nest.h"

namespace accelerate::tensors {

namespace {

template <class Items>
auto find(Items& items, std::string_view name) {
  return std::find_if(items.begin(), items.end(), [&](const Batch::Item& item) { return item.first == name; });
}

}  // namespace

at::Tensor& Batch::operator[](std::string_view name) {
  auto item = find(items_, name);
  if (item != items_.end()) return item->second;
  items_.emplace_back(std::string(name), at::Tensor());
  return items_.back().second;
}

const at::Tensor& Batch::at(std::string_view name) const {
  auto item = find(items_, name);
  if (item != items_.end()) return item->second;
  fail("the batch has no '", name, "'; it has: ", items_.empty() ? "nothing" : listed(items_ | std::views::keys));
}

at::Tensor Batch::get(std::string_view name) const {
  auto item = find(items_, name);
  return item == items_.end() ? at::Tensor() : item->second;
}

bool Batch::contains(std::string_view name) const { return find(items_, name) != items_.end(); }

void Batch::erase(std::string_view name) {
  auto item = find(items_, name);
  if (item != items_.end()) items_.erase(item);
}

std::vector<std::string> Batch::names() const {
  std::vector<std::string> names;
  for (const auto& item : items_) names.push_back(item.first);
  return names;
}

// Here and not in nest.h, so that users of nests need not include the operator.
at::Tensor concatenate_tensors(const std::vector<at::Tensor>& parts, int64_t dim) { return at::cat(parts, dim); }

}  // namespace accelerate::tensors
