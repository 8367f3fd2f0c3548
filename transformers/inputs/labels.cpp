#include "transformers/inputs/labels.h"

#include <algorithm>
#include <vector>

#include <ATen/ops/tensor.h>

#include "accelerate/base/error.h"

namespace transformers::inputs {

namespace {

at::Tensor several_labels_of(std::span<const text::LabelledText> rows) {
  const size_t num_labels = rows.front().labels.size();
  std::vector<float> labels;
  for (const auto& row : rows) {
    if (row.labels.size() != num_labels) {
      accelerate::fail("some rows have ", num_labels, " labels and others ", row.labels.size(),
                       "; read all of them with the option multi_label, or none");
    }
    labels.insert(labels.end(), row.labels.begin(), row.labels.end());
  }
  return at::tensor(labels, at::kFloat).view({static_cast<int64_t>(rows.size()), static_cast<int64_t>(num_labels)});
}

}  // namespace

at::Tensor labels_of(std::span<const text::LabelledText> rows) {
  auto has_several = [](const auto& row) { return !row.labels.empty(); };
  if (std::any_of(rows.begin(), rows.end(), has_several)) return several_labels_of(rows);
  std::vector<int64_t> classes;
  std::vector<double> numbers;
  for (const auto& row : rows) {
    if (row.number) {
      numbers.push_back(*row.number);
    } else {
      classes.push_back(row.label);
    }
  }
  if (!numbers.empty() && !classes.empty()) {
    accelerate::fail(numbers.size(), " rows have a number and ", classes.size(),
                     " a class; read all of them with the option regression, or none");
  }
  return numbers.empty() ? at::tensor(classes, at::kLong) : at::tensor(numbers, at::kFloat);
}

}  // namespace transformers::inputs
