#include "accelerate/metrics/confusion_matrix.h"

#include <ATen/ATen.h>

#include "accelerate/base/error.h"

namespace accelerate::metrics {

namespace {

at::Tensor classes_of(const at::Tensor& tensor, std::string_view metric, const char* what) {
  if (tensor.is_floating_point() || tensor.is_complex()) {
    fail(metric, ": ", what, " are of type ", tensor.scalar_type(),
         "; they must be integers, the number of the class: logits.argmax(-1)");
  }
  return tensor.detach().to(at::kCPU, at::kLong).flatten().contiguous();
}

}  // namespace

void ConfusionMatrix::add(const at::Tensor& predictions, const at::Tensor& references, std::string_view metric) {
  const auto predicted = classes_of(predictions, metric, "predictions");
  const auto expected = classes_of(references, metric, "references");
  const auto* prediction = predicted.const_data_ptr<int64_t>();
  const auto* reference = expected.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < predicted.numel(); ++i) ++cells_[{reference[i], prediction[i]}];
}

ConfusionMatrix ConfusionMatrix::gathered(const comm::Group& group) const {
  if (group.size() == 1) return *this;
  auto rows = at::empty({static_cast<int64_t>(cells_.size()), 3}, at::kLong);
  auto* next = rows.mutable_data_ptr<int64_t>();
  for (const auto& [classes, count] : cells_) {
    *next++ = classes.first;
    *next++ = classes.second;
    *next++ = count;
  }
  const auto all = group.all_gather(rows);
  ConfusionMatrix sum;
  const auto* row = all.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < all.size(0); ++i, row += 3) sum.cells_[{row[0], row[1]}] += row[2];
  return sum;
}

int64_t ConfusionMatrix::num_samples() const {
  int64_t sum = 0;
  for (const auto& [classes, count] : cells_) sum += count;
  return sum;
}

int64_t ConfusionMatrix::num_correct() const {
  int64_t sum = 0;
  for (const auto& [classes, count] : cells_) sum += classes.first == classes.second ? count : 0;
  return sum;
}

std::map<int64_t, ConfusionMatrix::Counts> ConfusionMatrix::by_class() const {
  std::map<int64_t, Counts> all;
  for (const auto& [classes, count] : cells_) {
    const auto number = static_cast<double>(count);
    all[classes.first].references += number;
    all[classes.second].predictions += number;
    if (classes.first == classes.second) all[classes.first].true_positives += number;
  }
  return all;
}

}  // namespace accelerate::metrics
