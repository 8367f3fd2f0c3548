#include "accelerate/data/samplers.h"

#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randperm.h>

#include "accelerate/base/error.h"

namespace accelerate::data {

namespace {

std::optional<at::Generator> optional_generator(const at::Generator& generator) {
  if (!generator.defined()) return std::nullopt;
  return generator;
}

/// Random indices, drawn in the portions in which Python's sampler draws them: so many whole ones, and then always a
/// last one, even if nothing of it is used. Each is drawn when the one before is used up.
class RandomIndices {
 public:
  RandomIndices(int64_t dataset_size, int64_t num_samples, bool replacement, at::Generator generator)
      : dataset_size_(dataset_size),
        portion_(replacement ? 32 : dataset_size),
        whole_portions_left_(num_samples / portion_),
        rest_(num_samples % portion_),
        replacement_(replacement),
        generator_(std::move(generator)) {}

  std::optional<int64_t> operator()() {
    while (position_ == size_) {
      if (whole_portions_left_ < 0) return std::nullopt;
      draw(whole_portions_left_-- > 0 ? portion_ : rest_);
    }
    return indices_.const_data_ptr<int64_t>()[position_++];
  }

 private:
  void draw(int64_t size) {
    indices_ = replacement_ ? at::randint(dataset_size_, {size}, generator_, at::kLong)
                            : at::randperm(dataset_size_, generator_, at::kLong);
    size_ = size;
    position_ = 0;
  }

  int64_t dataset_size_;
  int64_t portion_;
  int64_t whole_portions_left_;
  int64_t rest_;
  bool replacement_;
  at::Generator generator_;
  at::Tensor indices_;
  int64_t size_ = 0;
  int64_t position_ = 0;
};

}  // namespace

int64_t draw_seed(const at::Generator& generator) {
  return at::empty({}, at::kLong).random_(optional_generator(generator)).item<int64_t>();
}

IndexStream SequentialSampler::begin() {
  return [next = int64_t{0}, end = num_samples_]() mutable -> std::optional<int64_t> {
    if (next == end) return std::nullopt;
    return next++;
  };
}

RandomSampler::RandomSampler(int64_t dataset_size, RandomSamplerOptions options)
    : dataset_size_(dataset_size),
      replacement_(options.replacement),
      num_samples_(options.num_samples.value_or(dataset_size)),
      generator_(std::move(options.generator)) {
  if (num_samples_ < 0 || (dataset_size == 0 && num_samples_ > 0)) {
    fail("RandomSampler: cannot draw ", num_samples_, " samples from a data set of ", dataset_size);
  }
}

IndexStream RandomSampler::begin() {
  auto generator = generator_;
  if (!generator.defined()) {
    generator = repeated_.defined() ? at::detail::createCPUGenerator() : at::detail::createCPUGenerator(draw_seed());
  }
  if (repeated_.defined()) generator.set_state(std::exchange(repeated_, {}));
  epoch_state_ = generator.get_state();
  if (dataset_size_ == 0) return [] { return std::nullopt; };
  return RandomIndices(dataset_size_, num_samples_, replacement_, std::move(generator));
}

void RandomSampler::repeat_epoch(const at::Tensor& state) {
  repeated_ = state;
  epoch_state_ = state;  // a checkpoint may be saved before the epoch goes on
  // At once as well, so that a generator shared with other ranks is already right when it is synchronised.
  if (generator_.defined()) generator_.set_state(state);
}

SeedableRandomSampler::SeedableRandomSampler(int64_t dataset_size, uint64_t seed, RandomSamplerOptions options)
    : order_(dataset_size, std::move(options)), seed_(seed), epoch_(std::make_shared<int64_t>(0)) {}

IndexStream SeedableRandomSampler::begin() {
  order_.set_generator(at::detail::createCPUGenerator(seed_ + static_cast<uint64_t>(*epoch_)));
  return [indices = order_.begin(), epoch = epoch_, at_end = false]() mutable {
    auto index = indices();
    if (!index && !std::exchange(at_end, true)) ++*epoch;
    return index;
  };
}

}  // namespace accelerate::data
