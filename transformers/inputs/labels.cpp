#include "transformers/inputs/labels.h"

#include <vector>

#include <ATen/ops/tensor.h>

#include "accelerate/base/error.h"

namespace transformers::inputs {

at::Tensor labels_of(std::span<const text::LabelledText> rows) {
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
