#include "accelerate/data/shard.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "accelerate/base/error.h"

namespace accelerate::data {

namespace {

/// Cycles through a list of indices.
class Cycle {
 public:
  explicit Cycle(Indices indices) : indices_(std::move(indices)) {}

  void fill(Indices& batch, int64_t size) {
    while (static_cast<int64_t>(batch.size()) < size) batch.push_back(indices_[position_++ % indices_.size()]);
  }

 private:
  Indices indices_;
  size_t position_ = 0;
};

Indices joined(const std::vector<Indices>& batches) {
  Indices all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

}  // namespace

void check_split(std::optional<int64_t> batch_size, int world_size) {
  if (!batch_size) {
    fail("split_batches needs batches of one size: let batch_size() of your batch sampler return it");
  }
  if (*batch_size % world_size != 0) {
    fail("split_batches: a batch of ", *batch_size, " samples cannot be divided equally among ", world_size,
         " ranks; make the batch size a multiple of the number of ranks");
  }
}

BatchShard::BatchShard(BatchStream batches, const ShardOptions& options)
    : batches_(std::move(batches)), options_(options) {
  assert(0 <= options.rank && options.rank < options.world_size);
  if (options.split_batches) check_split(options.batch_size, options.world_size);
}

std::optional<Indices> BatchShard::next() { return options_.split_batches ? next_part() : next_whole(); }

std::optional<Indices> BatchShard::next_whole() {
  while (!finished_) {
    auto batch = batches_();
    if (!batch) {
      finished_ = true;
      if (!options_.drop_last && !first_.empty()) finish_round();
      break;
    }
    const int64_t place = num_batches_++ % options_.world_size;
    round_size_ = (place == 0 ? 0 : round_size_) + static_cast<int64_t>(batch->size());
    if (!options_.drop_last && num_batches_ <= options_.world_size) first_.push_back(*batch);
    if (place == options_.rank) pending_ = *batch;
    last_ = std::move(*batch);
    // Return a batch only if all ranks get one in this round, so that no rank waits for another at the end.
    if (place == options_.world_size - 1 && is_full(last_)) return take_pending();
  }
  if (remaining_.empty()) return std::nullopt;
  auto batch = std::move(remaining_.back());
  remaining_.pop_back();
  return batch;
}

void BatchShard::finish_round() {
  assert(finished_ && remaining_.empty() && num_batches_ > 0);
  if (pending_ && (!options_.even_batches || is_full(*pending_))) remaining_.push_back(*take_pending());
  if (!options_.even_batches) return;

  int64_t place = num_batches_ % options_.world_size;
  Cycle samples(joined(first_));
  size_t next_first = 0;
  Indices batch;
  if (!is_full(last_)) {
    batch = last_;
    place = (num_batches_ - 1) % options_.world_size;
  }
  while (place != 0 || !batch.empty()) {
    if (options_.batch_size) {
      samples.fill(batch, *options_.batch_size);
    } else {
      batch = first_[next_first++ % first_.size()];
    }
    if (place == options_.rank) remaining_.push_back(batch);
    batch.clear();
    place = (place + 1) % options_.world_size;
  }
  assert(remaining_.size() <= 2);  // at most the batch of an incomplete round and one of a round that only pads
  std::reverse(remaining_.begin(), remaining_.end());
}

std::optional<Indices> BatchShard::next_part() {
  while (!finished_) {
    auto batch = batches_();
    if (!batch) {
      finished_ = true;
      return last_part();
    }
    if (first_.empty()) first_.push_back(*batch);
    round_size_ = static_cast<int64_t>(batch->size());
    last_ = std::move(*batch);
    if (is_full(last_)) return part_of(last_);
  }
  return std::nullopt;
}

std::optional<Indices> BatchShard::last_part() const {
  if (options_.drop_last || last_.empty() || is_full(last_)) return std::nullopt;
  auto batch = last_;
  if (options_.even_batches) Cycle(first_.front()).fill(batch, *options_.batch_size);
  auto part = part_of(batch);
  if (part.empty()) return std::nullopt;
  return part;
}

std::optional<Indices> BatchShard::take_pending() { return std::exchange(pending_, std::nullopt); }

bool BatchShard::is_full(const Indices& batch) const {
  return !options_.batch_size || static_cast<int64_t>(batch.size()) == *options_.batch_size;
}

Indices BatchShard::part_of(const Indices& batch) const {
  assert(options_.batch_size && *options_.batch_size % options_.world_size == 0);
  const int64_t part = *options_.batch_size / options_.world_size;
  const auto size = static_cast<int64_t>(batch.size());
  const int64_t begin = std::min(size, part * options_.rank);
  return Indices(batch.begin() + begin, batch.begin() + std::min(size, begin + part));
}

int64_t shard_length(int64_t num_batches, const ShardOptions& options) {
  assert(num_batches >= 0 && 0 <= options.rank && options.rank < options.world_size);
  if (options.split_batches) return num_batches;
  const int64_t whole_rounds = num_batches / options.world_size;
  const int64_t left = num_batches % options.world_size;
  if (left == 0 || options.drop_last) return whole_rounds;
  return whole_rounds + (options.even_batches || options.rank < left ? 1 : 0);
}

}  // namespace accelerate::data
