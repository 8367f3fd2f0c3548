#include "accelerate/data/loader_core.h"

#include <utility>

#include <ATen/Parallel.h>
#include <torch/cuda.h>

#include "accelerate/base/error.h"

namespace accelerate::data {

namespace {

std::shared_ptr<Sampler> default_sampler(const LoaderSettings& settings, int64_t num_samples) {
  if (settings.sampler) return settings.sampler;
  if (!settings.shuffle) return std::make_shared<SequentialSampler>(num_samples);
  return std::make_shared<RandomSampler>(num_samples, RandomSamplerOptions{.generator = settings.generator});
}

void check(const LoaderSettings& settings, bool is_iterable) {
  if (settings.batch_size < 1) fail("DataLoader: batch_size is ", settings.batch_size, "; it must be at least 1");
  if (settings.num_workers < 0) fail("DataLoader: num_workers is ", settings.num_workers, "; it must not be negative");
  if (settings.prefetch_factor < 1) {
    fail("DataLoader: prefetch_factor is ", settings.prefetch_factor, "; it must be at least 1");
  }
  if (settings.timeout.count() <= 0)
    fail("DataLoader: timeout is ", settings.timeout.count(), " ms; it must be positive");
  if (is_iterable && (settings.shuffle || settings.sampler || settings.batch_sampler)) {
    fail(
        "DataLoader: an iterable data set has its own order; omit shuffle, sampler and "
        "batch_sampler");
  }
  if (settings.sampler && settings.shuffle)
    fail("DataLoader: give either shuffle or a sampler; the sampler defines the order");
  if (settings.batch_sampler &&
      (settings.sampler || settings.shuffle || settings.drop_last || settings.batch_size != 1)) {
    fail("DataLoader: a batch_sampler defines batch_size, shuffle, sampler and drop_last; omit these");
  }
}

}  // namespace

bool can_pin_memory() { return torch::cuda::is_available(); }

at::Tensor pinned(const at::Tensor& tensor) { return tensor.pin_memory(); }

LoaderCore::LoaderCore(std::shared_ptr<DataSource> source, LoaderSettings settings)
    : source_(std::move(source)), settings_(std::move(settings)) {
  check(settings_, is_iterable());
  if (is_iterable() || settings_.batch_sampler) return;
  auto num_samples = source_->num_samples();
  if (!num_samples) fail("DataLoader: this data set is read by index, but its size() is unknown");
  settings_.batch_sampler = std::make_shared<BatchSampler>(default_sampler(settings_, *num_samples),
                                                           settings_.batch_size, settings_.drop_last);
}

std::optional<int64_t> LoaderCore::batch_size() const {
  return is_iterable() ? settings_.batch_size : batch_sampler()->batch_size();
}

bool LoaderCore::drop_last() const { return is_iterable() ? settings_.drop_last : batch_sampler()->drop_last(); }

int64_t LoaderCore::size() const {
  if (!is_iterable()) return batch_sampler()->size();
  auto num_samples = source_->num_samples();
  if (!num_samples) fail("the number of batches is unknown, because the iterable data set has no size()");
  return iterable_shard_length(*num_samples, whole_stream());
}

void LoaderCore::set_epoch(int64_t epoch) const {
  if (batch_sampler()) batch_sampler()->set_epoch(epoch);
  source_->set_epoch(epoch);
}

IterableShardOptions LoaderCore::whole_stream() const {
  return {.batch_size = settings_.batch_size, .drop_last = settings_.drop_last, .complete_last = false};
}

PrefetchOptions LoaderCore::prefetch_options() const {
  return {.num_workers = settings_.num_workers,
          .depth = settings_.prefetch_factor * settings_.num_workers,
          .timeout = settings_.timeout,
          .on_worker_start = [] {
            // Read it first: a new thread adopts the process's count on first use, which would overwrite ours later.
            at::get_num_threads();
            at::set_num_threads(1);
          }};
}

KeepThreadCount::KeepThreadCount() : count_(at::get_num_threads()) {}

KeepThreadCount::~KeepThreadCount() { at::set_num_threads(count_); }

}  // namespace accelerate::data
