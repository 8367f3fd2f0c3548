#include "accelerate/data/batch_sampler.h"

#include "accelerate/base/error.h"

namespace accelerate::data {

BatchSampler::BatchSampler(std::shared_ptr<Sampler> sampler, int64_t batch_size, bool drop_last)
    : sampler_(std::move(sampler)), batch_size_(batch_size), drop_last_(drop_last) {
  if (batch_size < 1) fail("the batch size is ", batch_size, "; it must be at least 1");
}

BatchStream BatchSampler::begin() {
  return [indices = sampler_->begin(), size = batch_size_, drop = drop_last_]() mutable -> std::optional<Indices> {
    Indices batch;
    batch.reserve(size);
    while (static_cast<int64_t>(batch.size()) < size) {
      auto index = indices();
      if (!index) break;
      batch.push_back(*index);
    }
    const bool incomplete = static_cast<int64_t>(batch.size()) < size;
    if (batch.empty() || (incomplete && drop)) return std::nullopt;
    return batch;
  };
}

int64_t BatchSampler::size() const {
  const int64_t num_samples = sampler_->size();
  return drop_last_ ? num_samples / batch_size_ : (num_samples + batch_size_ - 1) / batch_size_;
}

}  // namespace accelerate::data
