#include "accelerate/data/prepared_core.h"

#include <algorithm>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>

#include "accelerate/base/error.h"
#include "accelerate/comm/operations.h"
#include "accelerate/comm/random.h"
#include "accelerate/data/generators.h"

namespace accelerate::data {

namespace {

bool wants_dispatch(const LoaderCore& loader, const PrepareOptions& options) {
  auto wanted = options.configuration.dispatch_batches;
  if (wanted.value_or(false) && !options.put_on_device) {
    fail("dispatch_batches needs put_on_device: batches from rank 0 arrive on the device");
  }
  // A caller that passes its own numbers shards by them: there may be no rank 0 to dispatch.
  const bool has_own_numbers = options.num_processes || options.process_index;
  return wanted.value_or(options.put_on_device && loader.is_iterable() && !has_own_numbers);
}

}  // namespace

PreparedCore::PreparedCore(std::shared_ptr<LoaderCore> loader, PrepareOptions options)
    : loader_(std::move(loader)),
      options_(std::move(options)),
      rank_(options_.process_index.value_or(options_.group.rank())),
      world_size_(options_.num_processes.value_or(options_.group.size())),
      // A single process has no ranks to dispatch to.
      dispatches_(wants_dispatch(*loader_, options_) && world_size_ > 1),
      skip_(loader_->take_skip()) {
  comm::synchronize_rng_states(options_.rng_types, comm::Group());  // with a group of one it only checks the names
  if (options_.configuration.split_batches) check_split(loader_->batch_size(), world_size_);
  if (!loader_->is_iterable()) choose_sampler();
}

/// The loader's sampler, if it is of this kind.
template <class Kind>
std::shared_ptr<Kind> PreparedCore::sampler_of() const {
  if (loader_->is_iterable()) return nullptr;
  return std::dynamic_pointer_cast<Kind>(loader_->batch_sampler()->sampler());
}

void PreparedCore::choose_sampler() {
  const auto& configuration = options_.configuration;
  if (configuration.use_seedable_sampler) {
    auto sampler = sampler_of<RandomSampler>();
    if (!sampler) return;
    uint64_t seed = configuration.data_seed.value_or(at::detail::getDefaultCPUGenerator().current_seed());
    std::vector<uint64_t> seeds = {seed};
    comm::broadcast_object_list(seeds, options_.group);
    loader_->batch_sampler()->set_sampler(std::make_shared<SeedableRandomSampler>(
        sampler->dataset_size(), seeds.front(),
        RandomSamplerOptions{.replacement = sampler->replacement(), .num_samples = sampler->size()}));
  } else if (auto sampler = sampler_of<GeneratorSampler>(); sampler && shards() && !sampler->generator().defined()) {
    sampler->set_generator(at::detail::createCPUGenerator(draw_seed()));
  }
}

/// A resumed epoch synchronizes only the sampler's generator: its other initial draws precede the saved state.
void PreparedCore::synchronize_generators() const {
  if (!shards()) return;
  auto kinds = options_.rng_types;
  if (position_->resumed) std::erase_if(kinds, [](const auto& kind) { return kind != "generator"; });
  at::Generator generator;
  if (auto sampler = sampler_of<GeneratorSampler>()) generator = sampler->generator();
  if (!generator.defined()) std::erase(kinds, "generator");
  comm::synchronize_rng_states(kinds, options_.group, generator);
}

Skip PreparedCore::dispatch_skip(int64_t num_rounds) const {
  if (num_rounds == 0) return {};
  return {.count = (num_rounds - 1) * batches_per_dispatch(), .after = batches_per_dispatch()};
}

ShardOptions PreparedCore::shard() const {
  return {.rank = rank_,
          .world_size = world_size_,
          .batch_size = loader_->batch_size(),
          .drop_last = loader_->drop_last(),
          .split_batches = options_.configuration.split_batches,
          .even_batches = options_.configuration.even_batches};
}

IterableShardOptions PreparedCore::stream_shard() const {
  auto shard = loader_->whole_stream();
  if (!shards()) return shard;
  shard.rank = rank_;
  shard.world_size = world_size_;
  shard.split_batches = options_.configuration.split_batches;
  shard.complete_last = true;
  return shard;
}

int64_t PreparedCore::size() const { return std::max<int64_t>(0, whole_size() - skip_); }

int64_t PreparedCore::whole_size() const {
  const int64_t num_batches = loader_->size();
  if (world_size_ == 1) return num_batches;
  if (dispatches_) {
    // Counts rounds like a shard with one batch per rank; all ranks take part in an incomplete one.
    auto rounds = shard();
    rounds.even_batches = true;
    return shard_length(num_batches, rounds);
  }
  if (!loader_->is_iterable()) return shard_length(num_batches, shard());
  return iterable_shard_length(*loader_->source().num_samples(), stream_shard());
}

int64_t PreparedCore::total_batch_size() const {
  auto batch_size = loader_->batch_size();
  if (!batch_size) fail("total_batch_size: the batches of this batch sampler have different sizes");
  return options_.configuration.split_batches ? *batch_size : *batch_size * world_size_;
}

int64_t PreparedCore::total_dataset_length() const {
  auto length = loader_->source().num_samples();
  if (!length) fail("total_dataset_length: the iterable data set has no size()");
  return *length;
}

int64_t PreparedCore::known_remainder() const {
  // The true length of a stream is known only at its end, whatever its size() says.
  if (dispatches_ || loader_->is_iterable() || loader_->drop_last() || !loader_->batch_size()) return -1;
  auto length = loader_->batch_sampler()->num_samples();
  return length ? *length % total_batch_size() : -1;
}

std::shared_ptr<PreparedCore> PreparedCore::skipping(int64_t num_batches) {
  auto rest = std::make_shared<PreparedCore>(*this);
  rest->skip_ = num_batches;
  skip_ = 0;
  return rest;
}

LoaderPosition PreparedCore::state_dict() const {
  LoaderPosition position{.epoch = position_->epoch, .batches_seen = position_->batches_seen};
  if (auto sampler = sampler_of<SeedableRandomSampler>()) position.seed = sampler->seed();
  if (position.batches_seen > 0) position.read_ahead_state = position_->read_ahead_state;
  if (loader_->is_iterable()) return position;
  if (position.batches_seen > 0) {
    if (auto sampler = loader_->batch_sampler()->sampler()) position.generator_state = sampler->epoch_state();
  } else if (auto sampler = sampler_of<GeneratorSampler>(); sampler && sampler->generator().defined()) {
    position.generator_state = sampler->generator().get_state();
  }
  return position;
}

void PreparedCore::load_state_dict(const LoaderPosition& position) {
  check_state(position);
  *position_ = position;
  position_->resumed = position.batches_seen > 0;
  skip_ = position.batches_seen;
  if (auto sampler = sampler_of<SeedableRandomSampler>(); sampler && position.seed) sampler->set_seed(*position.seed);
  if (loader_->is_iterable()) return;
  const auto sampler = loader_->batch_sampler()->sampler();
  if (sampler) sampler->forget_repeat();  // from a position that was loaded earlier
  if (!position.generator_state.defined()) return;
  if (position_->resumed) {
    if (sampler) sampler->repeat_epoch(position.generator_state);
  } else if (auto sampler = sampler_of<GeneratorSampler>(); sampler && sampler->generator().defined()) {
    auto generator = sampler->generator();
    generator.set_state(position.generator_state);
  }
}

void PreparedCore::check_state(const LoaderPosition& position) const {
  if (position.epoch < 0 || position.batches_seen < 0) {
    fail("a data loader cannot be at batch ", position.batches_seen, " of epoch ", position.epoch);
  }
  if (position.read_ahead_state.defined()) check_generator_state(position.read_ahead_state, "read_ahead_state");
  // The state of a user's own sampler can be anything.
  if (position.generator_state.defined() && sampler_of<GeneratorSampler>()) {
    check_generator_state(position.generator_state, "generator_state");
  }
}

LoaderPass::LoaderPass(std::shared_ptr<PreparedCore> core) : core_(std::move(core)) {
  auto& position = *core_->position_;
  core_->synchronize_generators();
  const bool resumed = std::exchange(position.resumed, false);
  core_->loader_->set_epoch(position.epoch);
  if (!resumed) core_->loader_->draw_base_seed();
  if (resumed) first_read_state_ = position.read_ahead_state;
  skip_ = std::exchange(core_->skip_, 0);
  position.batches_seen = skip_;
  progress_->remainder = core_->known_remainder();
  core_->progress_ = progress_;
  if (auto& active = core_->options_.active_loaders) active->add(progress_);
}

LoaderPass::~LoaderPass() { leave(); }

EpochBatches LoaderPass::batches() const {
  auto all = core_->loader_->batch_sampler()->begin();
  if (core_->dispatches_) return {std::move(all), core_->dispatch_skip(skip_)};
  if (!core_->shards()) return {std::move(all), {.count = skip_}};
  return {std::move(all), {.count = skip_}, core_->shard(), progress_};
}

void LoaderPass::note_read_ahead() { core_->position_->read_ahead_state = global_generator_state(); }

void LoaderPass::deliver(bool is_last) {
  ++core_->position_->batches_seen;
  if (!is_last) return;
  progress_->end_of_dataloader = true;
  const bool may_have_repeats = core_->dispatches_ || !core_->loader_->drop_last();
  if (progress_->remainder < 0 && may_have_repeats) progress_->remainder = progress_->last_round_size;
}

void LoaderPass::finish() {
  if (std::exchange(finished_, true)) return;
  ++core_->position_->epoch;
  core_->position_->batches_seen = 0;
  leave();
}

void LoaderPass::leave() {
  if (auto& active = core_->options_.active_loaders) active->remove(progress_);
}

}  // namespace accelerate::data
