#include "accelerate/parallel/replicas.h"

#include <algorithm>
#include <numeric>
#include <ranges>

#include <torch/autograd.h>
#include <torch/csrc/distributed/c10d/logger.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"
#include "accelerate/base/text.h"
#include "accelerate/comm/connection.h"
#include "accelerate/parallel/gradient_hooks.h"
#include "accelerate/parallel/gradient_reducer.h"
#include "accelerate/parallel/gradient_squares.h"
#include "accelerate/parallel/join.h"
#include "accelerate/parallel/reducer_hook.h"
#include "accelerate/parallel/same_model.h"

namespace accelerate::parallel {

namespace {

constexpr size_t kNamesInMessage = 5;

std::vector<NamedTensor> without_frozen(const std::vector<NamedTensor>& parameters) {
  std::vector<NamedTensor> trainable;
  for (const auto& parameter : parameters) {
    if (parameter.tensor.requires_grad()) trainable.push_back(parameter);
  }
  return trainable;
}

}  // namespace

Replicas::Replicas(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers,
                   comm::Group group, DistributedDataParallelKwargs kwargs)
    : group_(std::move(group)), kwargs_(kwargs), parameters_(distinct(parameters)), buffers_(distinct(buffers)) {
  if (group_.size() == 1) return;
  const bool shared = group_.connection()->transport() != comm::Transport::Gloo && !group_.debug();
  kwargs_.gradient_as_bucket_view = kwargs_.gradient_as_bucket_view.value_or(shared);
  auto description = describe_model(parameters_, buffers_);
  description.push_back(describe(kwargs_));
  check_same_model(description, group_);
  copy_model_from(0);
  const auto trainable = without_frozen(parameters_);
  if (trainable.empty()) return;
  check_hooks(kwargs_, trainable);
  average_gradients_of(trainable);
}

Replicas::~Replicas() = default;

void Replicas::average_gradients_of(const std::vector<NamedTensor>& trainable) {
  num_trainable_ = trainable.size();
  for (const auto& [name, parameter, sparse] : trainable) {
    trainable_bytes_ += static_cast<int64_t>(parameter.nbytes());
    if (!sparse) dense_.insert(parameter.unsafeGetTensorImpl());
  }
  // Registered before the Reducer's hooks, so that a gradient it cannot handle is rejected first.
  gradient_hooks_ = std::make_unique<GradientHooks>(
      trainable,
      GradientHooks::Listener{.on_unarmed = [this](const auto& parameter) { on_unarmed_gradient(parameter); },
                              .on_first = [this] { on_first_gradient(); },
                              .on_any = [this](const NamedTensor& parameter) { on_gradient(parameter); }});
  reducer_ = std::make_shared<GradientReducer>(trainable, group_.connection()->process_group(), kwargs_);
  if (auto hook = reducer_hook(kwargs_, group_)) reducer_->use_hook(std::move(hook));
  // The Reducer needs a logger: it reports to it when the set of used parameters changes.
  logger_ = std::make_shared<c10d::Logger>(reducer_);
  reducer_->set_logger(logger_);
}

void Replicas::before_forward(bool training) {
  if (unarmed_) end_unarmed();  // the previous backward threw
  if (!reducer_ || !kwargs_.broadcast_buffers || buffers_.empty()) return;
  if (buffers_stale_) {
    if (join_) join_->announce(Join::Event::Buffers, join_index_);
    copy_buffers_from(join_ ? join_->leader() : 0);
  }
  buffers_stale_ = training;
}

void Replicas::arm(const at::Tensor& loss) {
  if (!reducer_) return;
  // Still armed: the previous backward threw.
  if (gradient_hooks_->listening()) reducer_->abandon();
  unarmed_ = false;
  gradient_hooks_->start();
  if (join_) return;

  if (kwargs_.static_graph && !graph_declared_static_) {
    // Not earlier: the Reducer would count unarmed backwards as part of the graph.
    reducer_->set_static_graph();
    graph_declared_static_ = true;
  }
  if (reducer_->should_rebuild_buckets()) rebuild_buckets();
  reducer_->prepare_for_forward();
  const bool search = kwargs_.find_unused_parameters && !kwargs_.static_graph;
  reducer_->prepare_for_backward(search ? std::vector<at::Tensor>{loss} : std::vector<at::Tensor>{});
}

void Replicas::rebuild_buckets() {
  const bool collecting = squares_ != nullptr;
  squares_.reset();  // it holds the buckets
  group_.connection()->run_recorded("agreeing on the order of gradients in backward", 0,
                                    [&] { reducer_->rebuild_buckets(); });
  if (collecting) collect_squares();
}

void Replicas::after_backward() {
  if (!reducer_ || !gradient_hooks_->listening()) return;
  gradient_hooks_->stop();
  if (gradient_hooks_->count() == 0) return reducer_->disarm();
  if (join_ || unarmed_) {
    const bool all_expected = !kwargs_.find_unused_parameters && !kwargs_.static_graph;
    if (all_expected && gradient_hooks_->count() < num_trainable_) fail_unused();
    if (join_) join_->announce(Join::Event::Gradients, join_index_);
    reduce_now(/*contribute=*/true);
  } else if (reducer_->is_unfinished()) {
    reducer_->abandon();
    fail_unused();
  }
  gradient_hooks_->clear_local_gradients();  // averaged with the rest
  if (squares_) squares_->settle();
}

void Replicas::reduce_now(bool contribute) {
  group_.connection()->run_recorded("the reduction of gradients", trainable_bytes_,
                                    [&] { reducer_->reduce_now(contribute); });
}

void Replicas::fail_unused() const {
  const auto missing = gradient_hooks_->missing();
  const auto quoted = [](const std::string& name) { return "'" + name + "'"; };
  const auto names = listed(missing | std::views::take(kNamesInMessage) | std::views::transform(quoted));
  const auto* remedy =
      kwargs_.static_graph
          ? "This differs from the first step, so static_graph = true cannot be used with this model"
          : "If the loss intentionally does not use all parameters, set find_unused_parameters = true in "
            "DistributedDataParallelKwargs; otherwise use them in the loss, or freeze them before "
            "prepare";
  fail("rank ", group_.rank(), ": backward computed no gradient for ", missing.size(), " of ", num_trainable_,
       " parameters: ", names, missing.size() > kNamesInMessage ? ", ..." : "", ". ", remedy);
}

void Replicas::on_gradient(const NamedTensor& parameter) {
  if (observer_) observer_->on_gradient(parameter, /*into_bucket=*/gradient_hooks_->listening());
}

/// Replaces the Reducer, which has to be prepared before a backward begins.
void Replicas::on_unarmed_gradient(const NamedTensor& parameter) {
  if (!averages_unarmed_ || !gradient_hooks_->are_newest_of(parameter.tensor)) return;
  unarmed_ = true;
  gradient_hooks_->start();
  torch::autograd::Engine::get_default_engine().queue_callback([this] {
    ScopeExit end([this] { end_unarmed(); });
    after_backward();
  });
}

void Replicas::end_unarmed() {
  unarmed_ = false;
  gradient_hooks_->stop();
}

void Replicas::on_first_gradient() {
  if (!kwargs_.static_graph || join_ || unarmed_ || reduced_once_) return;
  // In the first step the Reducer only counts the gradients of a static graph. They are reduced at the end of
  // backward.
  reduced_once_ = true;
  torch::autograd::Engine::get_default_engine().queue_callback([this] { reducer_->delay_all_reduce(); });
}

bool Replicas::gradients_are_local() const { return gradient_hooks_ && gradient_hooks_->has_local_gradients(); }

void Replicas::register_comm_hook(CommHookFunction hook) {
  if (!hook) fail("register_comm_hook: the hook is empty; pass a function");
  if (!reducer_) return;
  if (observer_) {
    fail("register_comm_hook: with zero_stage = 2 ranks keep shards of their gradients, which a hook cannot reduce; ",
         "use zero_stage = 1");
  }
  if (reducer_->has_hook()) {
    fail("register_comm_hook: the model already has a comm_hook; it can have only one");
  }
  reducer_->use_hook(reducer_hook(std::move(hook), group_));
  squares_.reset();
}

bool Replicas::can_sum_squares() const {
  return reducer_ && *kwargs_.gradient_as_bucket_view && dense_.size() == num_trainable_ && !join_ &&
         !gradients_are_local() && !reducer_->has_hook() && comm::ReductionWatch::possible(group_);
}

std::optional<SumOfSquares> Replicas::sum_of_squares() {
  if (!can_sum_squares()) return std::nullopt;
  if (!squares_) collect_squares();
  return squares_->sum();
}

void Replicas::collect_squares() { squares_ = std::make_unique<GradientSquares>(group_, reducer_->dense_buckets()); }

std::vector<size_t> Replicas::bucket_bytes() const {
  return reducer_ ? reducer_->bucket_bytes() : std::vector<size_t>{};
}

int64_t Replicas::gradient_bytes() const {
  const auto bytes = bucket_bytes();
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

void Replicas::observe_gradients(
    const std::function<std::unique_ptr<GradientObserver>(std::vector<GradientBucket> buckets)>& make_observer) {
  if (!reducer_) return;
  auto buckets = reducer_->dense_buckets();
  const bool shared = std::ranges::all_of(buckets, [&](const auto& bucket) {
    return bucket.memory.is_cpu() && comm::ReductionWatch::lies_in_shared_memory(group_, bucket.memory);
  });
  if (!shared || !*kwargs_.gradient_as_bucket_view || reducer_->has_hook()) {
    fail("ranks cannot shard their gradients: gradients must be views of the buckets, on the CPU and without ",
         "a comm_hook, and the buckets must be in memory shared by all ranks of one machine; use "
         "gradient_as_bucket_view = true, ",
         "ACCELERATE_COMM=shm and no DDP_DISABLE_COMM_MEM, or keep all gradients (zero_stage = 1)");
  }
  // Rebuilding would allocate new buckets while the old memory is still in use.
  reducer_->keep_buckets();
  observer_ = make_observer(std::move(buckets));
}

void Replicas::enter(Join* join, size_t index) {
  join_ = join;
  join_index_ = index;
  squares_.reset();  // ranks without batches do not observe reductions
}

void Replicas::shadow_gradients() {
  if (reducer_) reduce_now(/*contribute=*/false);
}

std::optional<int64_t> Replicas::sum_in_join(int64_t number) {
  if (!join_) return std::nullopt;
  join_->announce(Join::Event::Sum, join_index_);
  return join_->sum(number);
}

void Replicas::copy_buffers_from(int rank) { broadcast_tensors({&buffers_}, rank, group_); }

void Replicas::copy_model_from(int rank) {
  broadcast_tensors({&parameters_, &buffers_}, rank, group_);
  buffers_stale_ = false;
}

}  // namespace accelerate::parallel
