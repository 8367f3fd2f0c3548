#include "accelerate/sharding/gradient_shards.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <unordered_map>

#include "accelerate/base/error.h"
#include "accelerate/comm/reduction_watch.h"
#include "accelerate/parallel/gradient_reducer.h"
#include "accelerate/parallel/replicas.h"

namespace accelerate::sharding {

using parallel::GradientBucket;
using parallel::NamedTensor;
using shared_memory::Range;

namespace {

std::byte* data_of(const at::Tensor& tensor) { return static_cast<std::byte*>(tensor.mutable_data_ptr()); }

/// The byte ranges of the slices that a rank keeps, sorted.
std::vector<Range> kept_bytes(const GradientBucket& bucket, const KeptSlice& kept) {
  std::vector<Range> ranges;
  for (size_t i = 0; i < bucket.parameters.size(); ++i) {
    const auto& view = bucket.views[i];
    const size_t offset = data_of(view) - data_of(bucket.memory);
    const auto slice = kept(bucket.parameters[i]);
    assert(slice.begin >= 0 && slice.length >= 0 && slice.end() <= view.numel());
    const size_t element_bytes = view.itemsize();
    if (slice.length > 0) ranges.push_back({offset + slice.begin * element_bytes, slice.length * element_bytes});
  }
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return ranges;
}

bool overlaps_any(const std::vector<Range>& ranges, const Range& one) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& each) { return each.begin < one.end() && one.begin < each.end(); });
}

/// Releases pages of a bucket as soon as its reduction is done, while backward continues: no rank reads them any more.
/// Keeps the pages with elements of this rank's shards. The next gradient commits memory again.
class GradientShards : public parallel::GradientObserver {
 public:
  /// Takes effect at once. The buckets are in shared memory.
  GradientShards(const comm::Group& group, std::vector<GradientBucket> buckets, const KeptSlice& kept);

  /// Throws Error if a gradient was added to one whose pages were released. With `into_bucket`, commits memory for the
  /// copy into the bucket; throws Error if that fails.
  void on_gradient(const NamedTensor& parameter, bool into_bucket) override;

  void add_user();
  void remove_user();

  /// Keeps later gradients whole, permanently. Drops gradients that are partly released; returns their number.
  size_t keep_whole();

 private:
  struct GradientView {
    at::Tensor view;
    bool releasable = false;  // some of its pages are
    bool released = false;
  };
  void release(size_t bucket);
  size_t stop();

  std::vector<GradientBucket> buckets_;
  std::vector<std::vector<Range>> releasable_;  // by bucket
  std::unordered_map<const at::TensorImpl*, GradientView> gradients_;
  int num_users_ = 0;
  bool stopped_ = false;
  bool whole_for_good_ = false;
  std::vector<comm::ReductionWatch> watches_;
};

GradientShards::GradientShards(const comm::Group& group, std::vector<GradientBucket> buckets, const KeptSlice& kept)
    : buckets_(std::move(buckets)) {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const auto& bucket = buckets_[i];
    releasable_.push_back(pages_between(kept_bytes(bucket, kept), bucket.memory.nbytes(), shared_memory::page_bytes()));
    for (size_t j = 0; j < bucket.parameters.size(); ++j) {
      const size_t begin = data_of(bucket.views[j]) - data_of(bucket.memory);
      const bool releasable = overlaps_any(releasable_[i], {begin, bucket.views[j].nbytes()});
      gradients_.emplace(bucket.parameters[j].unsafeGetTensorImpl(),
                         GradientView{.view = bucket.views[j], .releasable = releasable});
    }
    release(i);  // no gradients yet
    watches_.emplace_back(group, bucket.memory,
                          comm::ReductionWatch::Options{.on_reduced = [this, i](auto) { release(i); }});
  }
}

void GradientShards::on_gradient(const NamedTensor& parameter, bool into_bucket) {
  const auto found = gradients_.find(parameter.tensor.unsafeGetTensorImpl());
  if (found == gradients_.end() || !found->second.released) return;
  auto& gradient = found->second;
  if (parameter.tensor.grad().is_same(gradient.view)) {
    fail("the gradient of '", parameter.name,
         "' was added to the gradient of an earlier backward, of which each rank keeps only its ",
         "shard (zero_stage = 2); call optimizer.zero_grad() first, with the default set_to_none, or run all "
         "but the last ",
         "backward of a step under accumulate() or no_sync()");
  }
  if (!into_bucket) return;
  shared_memory::commit_pages(data_of(gradient.view), gradient.view.nbytes());
  gradient.released = false;
}

void GradientShards::add_user() {
  if (++num_users_ == 1 && !whole_for_good_) stopped_ = false;
}

void GradientShards::remove_user() {
  assert(num_users_ > 0);
  if (--num_users_ == 0) stop();
}

size_t GradientShards::keep_whole() {
  whole_for_good_ = true;
  return stop();
}

size_t GradientShards::stop() {
  stopped_ = true;
  size_t num_dropped = 0;
  for (auto& bucket : buckets_) {
    for (auto& parameter : bucket.parameters) {
      const auto& gradient = gradients_.at(parameter.unsafeGetTensorImpl());
      if (!gradient.released || !parameter.grad().is_same(gradient.view)) continue;
      parameter.mutable_grad().reset();
      ++num_dropped;
    }
  }
  return num_dropped;
}

void GradientShards::release(size_t bucket) {
  if (stopped_) return;
  auto* memory = data_of(buckets_[bucket].memory);
  for (const auto& [begin, length] : releasable_[bucket]) shared_memory::release_pages(memory + begin, length);
  for (const auto& parameter : buckets_[bucket].parameters) {
    auto& gradient = gradients_.at(parameter.unsafeGetTensorImpl());
    gradient.released = gradient.releasable;
  }
}

/// Null if ranks have not begun to keep shards.
GradientShards* shards_of(const parallel::Replicas& replicas) {
  return dynamic_cast<GradientShards*>(replicas.gradient_observer());
}

}  // namespace

std::vector<Range> pages_between(const std::vector<Range>& kept, size_t bytes, size_t page_bytes) {
  std::vector<Range> pages;
  size_t done = 0;
  auto add_until = [&](size_t limit) {
    const size_t begin = (done + page_bytes - 1) / page_bytes * page_bytes;
    const size_t end = limit / page_bytes * page_bytes;
    if (begin < end) pages.push_back({begin, end - begin});
  };
  for (const auto& range : kept) {
    assert(range.begin >= done);
    add_until(range.begin);
    done = range.end();
  }
  add_until(bytes);
  return pages;
}

void keep_gradient_shards(parallel::Replicas& replicas, const KeptSlice& kept) {
  if (!shards_of(replicas)) {
    replicas.observe_gradients([&](std::vector<GradientBucket> buckets) {
      return std::make_unique<GradientShards>(replicas.group(), std::move(buckets), kept);
    });
  }
  if (auto* shards = shards_of(replicas)) shards->add_user();
}

void release_gradient_shards(parallel::Replicas& replicas) {
  if (auto* shards = shards_of(replicas)) shards->remove_user();
}

size_t keep_whole_gradients(parallel::Replicas& replicas) {
  auto* shards = shards_of(replicas);
  return shards ? shards->keep_whole() : 0;
}

}  // namespace accelerate::sharding
