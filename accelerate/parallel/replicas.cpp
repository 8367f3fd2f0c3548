#include "accelerate/parallel/replicas.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include <torch/autograd.h>
#include <torch/csrc/distributed/c10d/logger.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/scope.h"
#include "accelerate/comm/connection.h"
#include "accelerate/parallel/gradient_hooks.h"
#include "accelerate/parallel/gradient_reducer.h"
#include "accelerate/parallel/gradient_shares.h"
#include "accelerate/parallel/gradient_squares.h"
#include "accelerate/parallel/join.h"
#include "accelerate/parallel/reducer_hook.h"
#include "accelerate/parallel/same_model.h"

namespace accelerate::parallel {

namespace {

constexpr size_t kBroadcastBytes = 250 * 1024 * 1024;
constexpr size_t kNamesInMessage = 5;

bool uses_power_sgd(const DistributedDataParallelKwargs& kwargs) {
  return kwargs.comm_hook == CommHook::PowerSGD || kwargs.comm_hook == CommHook::BatchedPowerSGD;
}

std::string describe(const DistributedDataParallelKwargs& kwargs) {
  std::ostringstream line;
  line << "options broadcast_buffers=" << kwargs.broadcast_buffers << " bucket_cap_mb=" << kwargs.bucket_cap_mb
       << " find_unused_parameters=" << kwargs.find_unused_parameters << " static_graph=" << kwargs.static_graph
       << " comm_hook=" << static_cast<int>(kwargs.comm_hook)
       << " comm_wrapper=" << static_cast<int>(kwargs.comm_wrapper);
  if (!uses_power_sgd(kwargs)) return line.str();
  const auto& state = kwargs.comm_state_option;
  line << " matrix_approximation_rank=" << state.matrix_approximation_rank
       << " start_powerSGD_iter=" << state.start_powerSGD_iter << " min_compression_rate=" << state.min_compression_rate
       << " use_error_feedback=" << state.use_error_feedback << " warm_start=" << state.warm_start
       << " orthogonalization_epsilon=" << state.orthogonalization_epsilon << " random_seed=" << state.random_seed
       << " batch_tensors_with_same_shape=" << state.batch_tensors_with_same_shape;
  return line.str();
}

std::vector<NamedTensor> without_frozen(const std::vector<NamedTensor>& parameters) {
  std::vector<NamedTensor> trainable;
  for (const auto& parameter : parameters) {
    if (parameter.tensor.requires_grad()) trainable.push_back(parameter);
  }
  return trainable;
}

/// If a module was prepared several times, only its newest Replicas average an unarmed backward.
class NewestReplicas {
 public:
  NewestReplicas() = default;
  NewestReplicas(const NewestReplicas&) = delete;
  NewestReplicas& operator=(const NewestReplicas&) = delete;
  ~NewestReplicas() {
    std::lock_guard lock(mutex);
    std::erase_if(holders(), [this](const auto& entry) { return entry.second == this; });
  }

  void hold(const std::vector<NamedTensor>& parameters) {
    std::lock_guard lock(mutex);
    for (const auto& parameter : parameters) holders()[parameter.tensor.unsafeGetTensorImpl()] = this;
  }

  bool is_newest(const at::Tensor& parameter) const {
    std::lock_guard lock(mutex);
    const auto found = holders().find(parameter.unsafeGetTensorImpl());
    return found == holders().end() || found->second == this;
  }

 private:
  using Holders = std::unordered_map<const at::TensorImpl*, const NewestReplicas*>;
  static Holders& holders() {
    static auto& all = *new Holders();  // never destroyed: static models may outlive it
    return all;
  }
  static inline std::mutex mutex;
};

}  // namespace

class Replicas::Impl {
 public:
  Impl(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers, comm::Group group,
       DistributedDataParallelKwargs kwargs)
      : group_(std::move(group)), kwargs_(kwargs), parameters_(distinct(parameters)), buffers_(distinct(buffers)) {
    if (group_.size() == 1) return;
    bool shared = group_.connection()->transport() != comm::Transport::Gloo && !group_.debug();
    kwargs_.gradient_as_bucket_view = kwargs_.gradient_as_bucket_view.value_or(shared);
    auto description = describe_model(parameters_, buffers_);
    description.push_back(describe(kwargs_));
    check_same_model(description, group_);
    copy_model_from(0);
    auto trainable = without_frozen(parameters_);
    if (trainable.empty()) return;
    check_hook(trainable);
    num_trainable_ = trainable.size();
    newest_.hold(trainable);
    for (const auto& [name, parameter, sparse] : trainable) {
      gradient_bytes_ += static_cast<int64_t>(parameter.nbytes());
      if (!sparse) dense_.insert(parameter.unsafeGetTensorImpl());
    }
    // Registered before the Reducer's hooks, so that a gradient it cannot handle is rejected first.
    gradient_hooks_.emplace(
        trainable,
        GradientHooks::Listener{.on_unheard = [this](const auto& parameter) { on_unarmed_gradient(parameter); },
                                .on_first = [this] { on_first_gradient(); },
                                .on_any = [this](const NamedTensor& parameter) { on_gradient(parameter); }});
    reducer_ = std::make_shared<GradientReducer>(trainable, group_.connection()->process_group(), kwargs_);
    if (auto hook = reducer_hook(kwargs_, group_)) reducer_->use_hook(std::move(hook));
    // The Reducer needs a logger: it reports to it when the set of used parameters changes.
    logger_ = std::make_shared<c10d::Logger>(reducer_);
    reducer_->set_logger(logger_);
  }

  void before_forward(bool training) {
    if (unarmed_) end_unarmed();  // the previous backward threw
    if (!reducer_ || !kwargs_.broadcast_buffers || buffers_.empty()) return;
    if (buffers_stale_) {
      if (join_) join_->announce(Join::Event::Buffers, join_index_);
      copy_buffers_from(join_ ? join_->leader_ : 0);
    }
    buffers_stale_ = training;
  }

  void arm(const at::Tensor& loss) {
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
    if (reducer_->should_rebuild_buckets()) {
      const bool collecting = squares_.has_value();
      squares_.reset();  // it holds the buckets
      group_.connection()->run_recorded("agreeing on the order of gradients in backward", 0,
                                        [&] { reducer_->rebuild_buckets(); });
      if (collecting) collect_squares();
    }
    reducer_->prepare_for_forward();
    bool search = kwargs_.find_unused_parameters && !kwargs_.static_graph;
    reducer_->prepare_for_backward(search ? std::vector<at::Tensor>{loss} : std::vector<at::Tensor>{});
  }

  void register_comm_hook(CommHookFunction hook) {
    if (!hook) fail("register_comm_hook: the hook is empty; give a function");
    if (!reducer_) return;
    if (shares_) {
      fail("register_comm_hook: with zero_stage = 2 ranks keep shares of their gradients, which a hook cannot reduce; ",
           "use zero_stage = 1");
    }
    if (reducer_->has_hook()) {
      fail("register_comm_hook: the model has a comm_hook already, and can have one only");
    }
    reducer_->use_hook(reducer_hook(std::move(hook), group_));
    squares_.reset();
  }

  void after_backward() {
    if (!reducer_ || !gradient_hooks_->listening()) return;
    gradient_hooks_->stop();
    if (gradient_hooks_->count() == 0) return reducer_->disarm();
    if (join_ || unarmed_) {
      bool all_expected = !kwargs_.find_unused_parameters && !kwargs_.static_graph;
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

  void average_unarmed(bool on) { averages_unarmed_ = on; }

  void enter(Join* join, int index) {
    join_ = join;
    join_index_ = index;
    squares_.reset();  // ranks without batches do not observe reductions
  }

  void shadow_gradients() {
    if (reducer_) reduce_now(/*contribute=*/false);
  }

  std::optional<int64_t> sum_in_join(int64_t number) {
    if (!join_) return std::nullopt;
    join_->announce(Join::Event::Sum, join_index_);
    return join_->sum(number);
  }

  void copy_buffers_from(int rank) { copy_from(rank, {&buffers_}); }

  void copy_model_from(int rank) {
    copy_from(rank, {&parameters_, &buffers_});
    buffers_stale_ = false;
  }

  bool averages(const at::Tensor& parameter) const { return dense_.contains(parameter.unsafeGetTensorImpl()); }
  bool gradients_are_local() const { return gradient_hooks_ && gradient_hooks_->has_local_gradients(); }
  const comm::Group& group() const { return group_; }

  bool can_sum_squares() const {
    return reducer_ && *kwargs_.gradient_as_bucket_view && dense_.size() == num_trainable_ && !join_ &&
           !gradients_are_local() && !reducer_->has_hook() && comm::ReductionWatch::possible(group_);
  }

  std::optional<SumOfSquares> sum_of_squares() {
    if (!can_sum_squares()) return std::nullopt;
    if (!squares_) collect_squares();
    return squares_->sum();
  }

  void keep_shares(const KeptElements& kept) {
    if (!reducer_) return;
    if (!shares_ && !whole_for_good_) begin_shares(kept);
    if (++num_keeping_shares_ == 1 && !whole_for_good_) shares_->go_on();
  }

  void release_shares() {
    if (reducer_ && --num_keeping_shares_ == 0 && shares_) shares_->stop();
  }

  size_t keep_whole_gradients() {
    whole_for_good_ = true;
    return shares_ ? shares_->stop() : 0;
  }

  std::vector<size_t> bucket_bytes() const { return reducer_ ? reducer_->bucket_bytes() : std::vector<size_t>{}; }

 private:
  void check_hook(const std::vector<NamedTensor>& trainable) const {
    if (kwargs_.comm_wrapper != CommHook::No && kwargs_.comm_wrapper != CommHook::Fp16 &&
        kwargs_.comm_wrapper != CommHook::Bf16) {
      fail("comm_wrapper is a PowerSGD hook; it can be CommHook::No, Fp16 or Bf16. PowerSGD is a comm_hook");
    }
    if (!uses_power_sgd(kwargs_)) return;
    for (const auto& parameter : trainable) {
      if (!parameter.sparse_gradient) continue;
      fail("the comm_hook is PowerSGD, which does not compress sparse gradients, and '", parameter.name,
           "' has one; make the embedding dense, or use another comm_hook");
    }
  }

  void begin_shares(const KeptElements& kept) {
    auto buckets = reducer_->dense_buckets();
    const bool shared = std::all_of(buckets.begin(), buckets.end(), [&](const auto& bucket) {
      return bucket.memory.is_cpu() && comm::ReductionWatch::lies_in_shared_memory(group_, bucket.memory);
    });
    if (!shared || !*kwargs_.gradient_as_bucket_view || reducer_->has_hook()) {
      fail(
          "ranks cannot keep shares of their gradients: gradients have to live in the buckets, on the CPU and without ",
          "a comm_hook, and buckets in memory that all ranks of one machine share; use gradient_as_bucket_view = "
          "true, ",
          "ACCELERATE_COMM=shm and no DDP_DISABLE_COMM_MEM, or keep all gradients (zero_stage = 1)");
    }
    // Rebuilding would allocate new buckets while the old memory is still in use.
    reducer_->keep_buckets();
    shares_.emplace(group_, std::move(buckets), kept);
  }

  void reduce_now(bool contribute) {
    group_.connection()->run_recorded("the reduction of gradients", gradient_bytes_,
                                      [&] { reducer_->reduce_now(contribute); });
  }

  void collect_squares() { squares_.emplace(group_, reducer_->dense_buckets()); }

  void on_gradient(const NamedTensor& parameter) {
    if (shares_) shares_->receive(parameter, /*into_bucket=*/gradient_hooks_->listening());
  }

  /// Replaces the Reducer, which has to be prepared before a backward begins.
  void on_unarmed_gradient(const NamedTensor& parameter) {
    if (!averages_unarmed_ || !newest_.is_newest(parameter.tensor)) return;
    unarmed_ = true;
    gradient_hooks_->start();
    torch::autograd::Engine::get_default_engine().queue_callback([this] {
      ScopeExit end([this] { end_unarmed(); });
      after_backward();
    });
  }

  void end_unarmed() {
    unarmed_ = false;
    gradient_hooks_->stop();
  }

  void on_first_gradient() {
    if (!kwargs_.static_graph || join_ || unarmed_ || reduced_once_) return;
    // In the first step the Reducer only counts the gradients of a static graph. They are reduced at the end of
    // backward.
    reduced_once_ = true;
    torch::autograd::Engine::get_default_engine().queue_callback([this] { reducer_->delay_all_reduce(); });
  }

  [[noreturn]] void fail_unused() {
    auto missing = gradient_hooks_->missing();
    std::ostringstream names;
    for (size_t i = 0; i < std::min(missing.size(), kNamesInMessage); ++i) {
      names << (i == 0 ? "'" : ", '") << missing[i] << "'";
    }
    if (missing.size() > kNamesInMessage) names << ", ...";
    auto remedy = kwargs_.static_graph
                      ? "This differs from the first step, so static_graph = true does not fit the model"
                      : "If the loss is meant to leave parameters out, set find_unused_parameters = true in "
                        "DistributedDataParallelKwargs; if not, let them take part in it or freeze them before prepare";
    fail("rank ", group_.rank(), ": backward gave no gradient to ", missing.size(), " of ", num_trainable_,
         " parameters: ", names.str(), ". ", remedy);
  }

  /// Overwrites tensors with those of `rank` without bumping their version counters: otherwise backward would reject a
  /// graph that has saved a buffer.
  void copy_from(int rank, std::initializer_list<const std::vector<NamedTensor>*> lists) {
    std::vector<at::Tensor> tensors;
    int64_t bytes = 0;
    for (const auto* list : lists) {
      for (const auto& named : *list) {
        tensors.emplace_back(named.tensor.variable_data());
        bytes += static_cast<int64_t>(named.tensor.nbytes());
      }
    }
    if (tensors.empty()) return;
    auto broadcast = [&] {
      c10d::broadcast_coalesced(group_.connection()->process_group(), tensors, kBroadcastBytes, rank);
    };
    group_.connection()->run_recorded("taking over the model of rank " + std::to_string(rank), bytes, broadcast,
                                      /*by_all=*/false);
  }

  comm::Group group_;
  DistributedDataParallelKwargs kwargs_;
  std::vector<NamedTensor> parameters_;
  std::vector<NamedTensor> buffers_;
  size_t num_trainable_ = 0;
  std::unordered_set<const at::TensorImpl*> dense_;  // the trainable parameters with dense gradients
  int64_t gradient_bytes_ = 0;
  std::optional<GradientHooks> gradient_hooks_;
  std::shared_ptr<GradientReducer> reducer_;
  std::shared_ptr<c10d::Logger> logger_;
  NewestReplicas newest_;
  std::optional<GradientShares> shares_;    // set once ranks keep only shards
  int num_keeping_shares_ = 0;              // open calls of keep_shares()
  bool whole_for_good_ = false;             // keep_whole_gradients() was called
  std::optional<GradientSquares> squares_;  // set by the first sum_of_squares()

  bool buffers_stale_ = false;
  bool graph_declared_static_ = false;
  bool reduced_once_ = false;
  bool averages_unarmed_ = false;
  bool unarmed_ = false;  // an unarmed backward that is averaged is running

  Join* join_ = nullptr;
  size_t join_index_ = 0;
};

Replicas::Replicas(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers,
                   comm::Group group, DistributedDataParallelKwargs kwargs)
    : impl_(std::make_unique<Impl>(parameters, buffers, std::move(group), kwargs)) {}

Replicas::~Replicas() = default;

void Replicas::before_forward(bool training) { impl_->before_forward(training); }
void Replicas::arm(const at::Tensor& loss) { impl_->arm(loss); }
void Replicas::register_comm_hook(CommHookFunction hook) { impl_->register_comm_hook(std::move(hook)); }
void Replicas::after_backward() { impl_->after_backward(); }
void Replicas::average_unarmed(bool on) { impl_->average_unarmed(on); }
bool Replicas::averages(const at::Tensor& parameter) const { return impl_->averages(parameter); }
bool Replicas::gradients_are_local() const { return impl_->gradients_are_local(); }
bool Replicas::can_sum_squares() const { return impl_->can_sum_squares(); }
std::optional<SumOfSquares> Replicas::sum_of_squares() { return impl_->sum_of_squares(); }
void Replicas::keep_shares(const KeptElements& kept) { impl_->keep_shares(kept); }
void Replicas::release_shares() { impl_->release_shares(); }
size_t Replicas::keep_whole_gradients() { return impl_->keep_whole_gradients(); }
std::optional<int64_t> Replicas::sum_in_join(int64_t number) { return impl_->sum_in_join(number); }
const comm::Group& Replicas::group() const { return impl_->group(); }
std::vector<size_t> Replicas::bucket_bytes() const { return impl_->bucket_bytes(); }
void Replicas::enter(Join* join, int index) { impl_->enter(join, index); }
void Replicas::shadow_gradients() { impl_->shadow_gradients(); }
void Replicas::copy_buffers_from(int rank) { impl_->copy_buffers_from(rank); }
void Replicas::copy_model_from(int rank) { impl_->copy_model_from(rank); }

}  // namespace accelerate::parallel
