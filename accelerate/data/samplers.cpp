#include "accelerate/data/samplers.h"

#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/multinomial.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/tensor.h>

#include "accelerate/base/error.h"
#include "accelerate/data/generators.h"

namespace accelerate::data {

namespace {

/// Random indices, drawn in the same chunks as by Python's sampler: whole chunks first, then always a last one, even if
/// none of it is used. Each chunk is drawn when the previous one is used up.
class RandomIndices {
 public:
  RandomIndices(int64_t dataset_size, int64_t num_samples, bool replacement, at::Generator generator)
      : dataset_size_(dataset_size),
        chunk_(replacement ? 32 : dataset_size),
        whole_chunks_left_(num_samples / chunk_),
        rest_(num_samples % chunk_),
        replacement_(replacement),
        generator_(std::move(generator)) {}

  std::optional<int64_t> operator()() {
    while (position_ == size_) {
      if (whole_chunks_left_ < 0) return std::nullopt;
      draw(whole_chunks_left_-- > 0 ? chunk_ : rest_);
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
  int64_t chunk_;
  int64_t whole_chunks_left_;
  int64_t rest_;
  bool replacement_;
  at::Generator generator_;
  at::Tensor indices_;
  int64_t size_ = 0;
  int64_t position_ = 0;
};

/// The elements of a one-dimensional int64 tensor.
IndexStream indices_in(at::Tensor tensor) {
  return [tensor = std::move(tensor), next = int64_t{0}]() mutable -> std::optional<int64_t> {
    if (next == tensor.numel()) return std::nullopt;
    return tensor.const_data_ptr<int64_t>()[next++];
  };
}

}  // namespace

IndexStream SequentialSampler::begin() {
  return [next = int64_t{0}, end = num_samples_]() mutable -> std::optional<int64_t> {
    if (next == end) return std::nullopt;
    return next++;
  };
}

void GeneratorSampler::repeat_epoch(const at::Tensor& state) {
  repeated_ = state;
  epoch_state_ = state;  // a checkpoint may be saved before the epoch resumes
  // Set it now as well: the generator is synchronized between ranks before the epoch begins.
  if (generator_.defined()) generator_.set_state(state);
}

at::Generator GeneratorSampler::begin_epoch() {
  auto generator = generator_;
  // A repeated epoch must not draw from the global generator: its saved state is already past these draws.
  if (!generator.defined()) generator = repeated_.defined() ? at::detail::createCPUGenerator() : own_generator();
  if (repeated_.defined()) generator.set_state(std::exchange(repeated_, {}));
  epoch_state_ = generator.get_state();
  return generator;
}

at::Generator GeneratorSampler::own_generator() { return at::detail::getDefaultCPUGenerator(); }

RandomSampler::RandomSampler(int64_t dataset_size, RandomSamplerOptions options)
    : GeneratorSampler(std::move(options.generator)),
      dataset_size_(dataset_size),
      replacement_(options.replacement),
      num_samples_(options.num_samples.value_or(dataset_size)) {
  if (num_samples_ < 0 || (dataset_size == 0 && num_samples_ > 0)) {
    fail("RandomSampler: cannot draw ", num_samples_, " samples from a data set of ", dataset_size);
  }
}

IndexStream RandomSampler::begin() {
  auto generator = begin_epoch();
  if (dataset_size_ == 0) return [] { return std::nullopt; };
  return RandomIndices(dataset_size_, num_samples_, replacement_, std::move(generator));
}

at::Generator RandomSampler::own_generator() { return at::detail::createCPUGenerator(draw_seed()); }

SubsetRandomSampler::SubsetRandomSampler(Indices indices, at::Generator generator)
    : GeneratorSampler(std::move(generator)), indices_(std::make_shared<const Indices>(std::move(indices))) {}

IndexStream SubsetRandomSampler::begin() {
  auto order = at::randperm(size(), begin_epoch(), at::kLong);
  return [indices = indices_, positions = indices_in(std::move(order))]() -> std::optional<int64_t> {
    auto position = positions();
    if (!position) return std::nullopt;
    return (*indices)[*position];
  };
}

WeightedRandomSampler::WeightedRandomSampler(const std::vector<double>& weights, int64_t num_samples,
                                             WeightedRandomSamplerOptions options)
    : WeightedRandomSampler(at::tensor(weights, at::kDouble), num_samples, std::move(options)) {}

WeightedRandomSampler::WeightedRandomSampler(const at::Tensor& weights, int64_t num_samples,
                                             WeightedRandomSamplerOptions options)
    : GeneratorSampler(std::move(options.generator)), num_samples_(num_samples), replacement_(options.replacement) {
  if (!weights.defined() || weights.dim() != 1) {
    fail("WeightedRandomSampler: the weights must be a list of numbers, one for each sample; they have shape ",
         weights.defined() ? weights.sizes() : at::IntArrayRef());
  }
  weights_ = weights.detach().to(at::kCPU, at::kDouble);
  const int64_t count = weights_.numel();
  if (num_samples < 1) fail("WeightedRandomSampler: num_samples is ", num_samples, "; it must be at least 1");
  if (!replacement_ && num_samples > count) {
    fail("WeightedRandomSampler: cannot draw ", num_samples, " of ", count,
         " samples without replacement; set replacement to true, or num_samples to at most ", count);
  }
  if (count > (int64_t{1} << 24)) {  // multinomial's limit
    fail("WeightedRandomSampler: there are ", count, " weights; libtorch draws from at most ", int64_t{1} << 24);
  }
  const bool are_weights = at::isfinite(weights_).all().item<bool>() && weights_.ge(0).all().item<bool>();
  if (!are_weights || weights_.sum().item<double>() <= 0) {
    fail("WeightedRandomSampler: weights must be finite and not negative, and one of them greater than 0");
  }
}

IndexStream WeightedRandomSampler::begin() {
  return indices_in(at::multinomial(weights_, num_samples_, replacement_, begin_epoch()));
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
