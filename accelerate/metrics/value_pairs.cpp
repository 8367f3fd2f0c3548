#include "accelerate/metrics/value_pairs.h"

#include <ATen/ATen.h>

#include "accelerate/base/error.h"

namespace accelerate::metrics {

namespace {

void append_values(std::vector<double>& values, const at::Tensor& tensor, std::string_view metric, const char* what) {
  if (tensor.is_complex()) fail(metric, ": ", what, " are complex numbers; it takes real ones");
  const auto plain = tensor.detach().to(at::kCPU, at::kDouble).flatten().contiguous();
  const auto* data = plain.const_data_ptr<double>();
  values.insert(values.end(), data, data + plain.numel());
}

}  // namespace

void ValuePairs::add(const at::Tensor& more_predictions, const at::Tensor& more_references, std::string_view metric) {
  append_values(predictions, more_predictions, metric, "predictions");
  append_values(references, more_references, metric, "references");
}

ValuePairs ValuePairs::gathered(const comm::Group& group) const {
  if (group.size() == 1) return *this;
  const auto num_values = static_cast<int64_t>(predictions.size());
  auto rows = at::empty({num_values, 2}, at::kDouble);
  auto* cell = rows.mutable_data_ptr<double>();
  for (int64_t i = 0; i < num_values; ++i) {
    *cell++ = predictions[i];
    *cell++ = references[i];
  }
  const auto all = group.all_gather(rows);
  ValuePairs together;
  const auto* row = all.const_data_ptr<double>();
  for (int64_t i = 0; i < all.size(0); ++i, row += 2) {
    together.predictions.push_back(row[0]);
    together.references.push_back(row[1]);
  }
  return together;
}

}  // namespace accelerate::metrics
