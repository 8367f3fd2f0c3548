#include "accelerate/parallel/gradient_shares.h"

#include <algorithm>

#include "accelerate/base/error.h"

namespace accelerate::parallel {

using shared_memory::Range;

namespace {

std::byte* bytes_of(const at::Tensor& tensor) { return static_cast<std::byte*>(tensor.mutable_data_ptr()); }

/// The byte ranges of the elements that a rank keeps, sorted.
std::vector<Range> kept_bytes(const GradientBucket& bucket, const KeptElements& kept) {
  std::vector<Range> ranges;
  for (size_t i = 0; i < bucket.parameters.size(); ++i) {
    const auto& view = bucket.views[i];
    const size_t offset = bytes_of(view) - bytes_of(bucket.memory);
    const auto [begin, length] = kept(bucket.parameters[i]);
    const size_t element_bytes = view.itemsize();
    if (length > 0) ranges.push_back({offset + begin * element_bytes, length * element_bytes});
  }
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return ranges;
}

bool overlaps_any(const std::vector<Range>& ranges, const Range& one) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& each) { return each.begin < one.end() && one.begin < each.end(); });
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
    add_until(range.begin);
    done = range.end();
  }
  add_until(bytes);
  return pages;
}

GradientShares::GradientShares(const comm::Group& group, std::vector<GradientBucket> buckets, const KeptElements& kept)
    : buckets_(std::move(buckets)) {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const auto& bucket = buckets_[i];
    releasable_.push_back(pages_between(kept_bytes(bucket, kept), bucket.memory.nbytes(), shared_memory::page_bytes()));
    for (size_t j = 0; j < bucket.parameters.size(); ++j) {
      const size_t begin = bytes_of(bucket.views[j]) - bytes_of(bucket.memory);
      const bool releasable = overlaps_any(releasable_[i], {begin, bucket.views[j].nbytes()});
      places_.emplace(bucket.parameters[j].unsafeGetTensorImpl(),
                      Place{.view = bucket.views[j], .releasable = releasable});
    }
    release(i);  // no gradients yet
    watches_.emplace_back(group, bucket.memory,
                          comm::ReductionWatch::Options{.on_reduced = [this, i](auto) { release(i); }});
  }
}

void GradientShares::receive(const NamedTensor& parameter, bool into_bucket) {
  const auto found = places_.find(parameter.tensor.unsafeGetTensorImpl());
  if (found == places_.end() || !found->second.released) return;
  auto& place = found->second;
  if (parameter.tensor.grad().is_same(place.view)) {
    fail("the gradient of '", parameter.name,
         "' was added to the gradient of an earlier backward, of which each rank keeps only its ",
         "shard (zero_stage = 2); call optimizer.zero_grad() first, with the default set_to_none, or run all "
         "but the last ",
         "backward of a step under accumulate() or no_sync()");
  }
  if (!into_bucket) return;
  shared_memory::commit_pages(bytes_of(place.view), place.view.nbytes());
  place.released = false;
}

size_t GradientShares::stop() {
  stopped_ = true;
  size_t num_dropped = 0;
  for (auto& bucket : buckets_) {
    for (auto& parameter : bucket.parameters) {
      const auto& place = places_.at(parameter.unsafeGetTensorImpl());
      if (!place.released || !parameter.grad().is_same(place.view)) continue;
      parameter.mutable_grad().reset();
      ++num_dropped;
    }
  }
  return num_dropped;
}

void GradientShares::release(size_t bucket) {
  if (stopped_) return;
  auto* memory = bytes_of(buckets_[bucket].memory);
  for (const auto& [begin, length] : releasable_[bucket]) shared_memory::release_pages(memory + begin, length);
  for (const auto& parameter : buckets_[bucket].parameters) {
    auto& place = places_.at(parameter.unsafeGetTensorImpl());
    place.released = place.releasable;
  }
}

}  // namespace accelerate::parallel
