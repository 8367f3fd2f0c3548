#pragma once

// The face of the library: four changes make a libtorch training loop run on any number of processes.
//
//   accelerate::Accelerator accelerator;
//   auto [train, model, optimizer] = accelerator.prepare(train_batches, net, adamw);
//   for (auto& batch : train) {
//     auto loss = loss_of(model(batch.data), batch.target);
//     accelerator.backward(loss);
//     optimizer.step();
//     optimizer.zero_grad();
//   }

#include "accelerate/base/require_cpp20.h"

#include <concepts>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include "accelerate/accelerator_options.h"
#include "accelerate/checkpoint/checkpointer.h"
#include "accelerate/checkpoint/model_files.h"
#include "accelerate/comm/operations.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/data/active_loaders.h"
#include "accelerate/data/data_loader.h"
#include "accelerate/data/prepared_loader.h"
#include "accelerate/log_values.h"
#include "accelerate/metrics/scores.h"
#include "accelerate/parallel/join.h"
#include "accelerate/profile.h"
#include "accelerate/tracking/trackers.h"
#include "accelerate/train/gradient_state.h"
#include "accelerate/train/model.h"
#include "accelerate/train/optimizer.h"
#include "accelerate/train/scheduler.h"

namespace accelerate {

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
  // The loss is a sum over this many items of the batch, such as the tokens that have a label. The gradients become
  // those of the mean over all items of the window of accumulation, on all ranks, as if they were one batch. Every
  // backward of a window gives it, one in each step of accumulate(), and on every rank. The number of steps does not
  // divide such a loss.
  std::optional<int64_t> num_items = std::nullopt;
};

struct PrepareModelOptions {
  bool evaluation_mode = false;  // the model is not trained: no gradients to average
};

struct JoinOptions {
  std::optional<bool> even_batches =
      std::nullopt;  // override that of the map-style loaders prepared so far, in the scope
};

/// Ranks with different numbers of batches train together while it lives (parallel::Join). A rank that has run out does
/// not step, so sharded optimizers are no longer sharded from here on.
class [[nodiscard]] UnevenInputs {
 public:
  UnevenInputs(std::vector<std::shared_ptr<parallel::Replicas>> models, const comm::Group& group,
               std::vector<std::shared_ptr<data::PreparedCore>> loaders, const std::vector<Optimizer>& optimizers,
               const JoinOptions& options);
  UnevenInputs(const UnevenInputs&) = delete;
  UnevenInputs& operator=(const UnevenInputs&) = delete;
  ~UnevenInputs() noexcept(false);

 private:
  std::vector<std::pair<std::shared_ptr<data::PreparedCore>, bool>> overridden_;  // with the value to restore
  parallel::Join join_;
};

/// Knows this process's place in the job (everything of PartialState), prepares what a loop uses, and carries the few
/// calls that a loop on several processes needs. Several may live in one process; they share the job, not their
/// settings.
class Accelerator : public comm::PartialState {
 public:
  explicit Accelerator(const AcceleratorOptions& options = {});
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  // Preparing

  /// Returns a handle for each argument, in their order: a Model for a module (TORCH_MODULE, ModuleHolder, shared_ptr),
  /// an Optimizer, a Scheduler, a sharded data loader. One argument gives its handle, several a tuple for structured
  /// bindings. Optimizers and schedulers that are lvalues are borrowed, and have to live until free_memory() or
  /// end_training() and as long as their handles; rvalues are owned, and what a shared_ptr points to is shared. A model
  /// is moved to the device and becomes rank 0's on all ranks (collective). Preparing something twice gives the same
  /// handle again. A handle may be given again after free_memory(), and a model's to another Accelerator.
  template <class... Objects>
  auto prepare(Objects&&... objects);

  template <train::ModuleLike T>
  auto prepare_model(const T& model, const PrepareModelOptions& options = {});

  /// What `prepare` does for a data loader. Where rank 0 reads for all, `slice_fn_for_dispatch` cuts each rank's part
  /// out of what it sent: `[](const BatchT& round, const DispatchSlice& slice) { return part; }`. Collective.
  template <class BatchT>
  data::PreparedDataLoader<BatchT> prepare_data_loader(
      const DataLoader<BatchT>& loader,
      std::type_identity_t<data::SliceFunction<BatchT>> slice_fn_for_dispatch = nullptr);

  /// What `prepare` does for an optimizer, and for a scheduler. Prepare the optimizer that a scheduler follows as well.
  template <class Object>
  Optimizer prepare_optimizer(Object&& optimizer);
  template <class Object>
  Scheduler prepare_scheduler(Object&& scheduler);

  // The loop

  /// Computes gradients of `loss` divided by the steps of accumulation; averaged over ranks when a window ends.
  /// Collective then. With `num_items`, batches are weighted by their items instead.
  void backward(const at::Tensor& loss, const BackwardOptions& options = {});

  /// Opens a step of gradient accumulation: inside the scope, gradients of the models (all prepared ones if none is
  /// named) stay local unless the window ends with this step, and optimizers and schedulers wait for that end.
  template <class... M>
  [[nodiscard]] train::SyncScope accumulate(const Model<M>&... models);

  /// Gradients of forwards in this scope stay local.
  template <class M>
  [[nodiscard]] train::SyncScope no_sync(const Model<M>& model) {
    return train::SyncScope(train::SyncScope::Kind::Pause, {model.prepared()});
  }

  /// The next backward averages the gradients of `model`, although its forwards ran under no_sync.
  template <class M>
  [[nodiscard]] train::SyncScope trigger_sync_in_backward(const Model<M>& model) {
    return train::SyncScope(train::SyncScope::Kind::Trigger, {model.prepared()});
  }

  /// Ranks that run out of batches in this scope stay and keep the others company. Collective. See parallel::Join.
  template <class... M>
  UnevenInputs join_uneven_inputs(const Model<M>&... models) {
    return join_uneven_inputs(JoinOptions{}, models...);
  }
  template <class... M>
  UnevenInputs join_uneven_inputs(const JoinOptions& options, const Model<M>&... models) {
    return UnevenInputs({model_replicas(models)...}, group(), loaders_, optimizers_in_use(), options);
  }

  /// Scales gradients so that their norm is at most `max_norm`; returns the norm before. Unscales fp16 gradients first.
  /// Collective with `shared_clipping` and with `zero_stage = 2`.
  at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type = 2.0);
  void clip_grad_value_(const std::vector<at::Tensor>& parameters, double clip_value);

  /// Divides gradients by the fp16 loss scale; of all optimizers, or of one. At most once per step.
  void unscale_gradients();
  void unscale_gradients(const Optimizer& optimizer);

  /// A scope that computes in the accelerator's precision, for work outside of a prepared model.
  [[nodiscard]] precision::Autocast autocast() const { return autocast(options_.autocast); }
  [[nodiscard]] precision::Autocast autocast(const AutocastKwargs& kwargs) const {
    return precision::Autocast(device().type(), mixed_precision_, kwargs);
  }

  // Collectives: on any nest of tensors, see comm/operations.h

  template <class T>
  T gather(const T& nest) const {
    return comm::gather(nest, group());
  }

  /// gather, without the samples that were repeated to fill the last batch. Lists of other things are gathered as
  /// objects.
  template <class T>
  T gather_for_metrics(const T& nest) const;

  template <class T>
  std::vector<T> gather_object(const std::vector<T>& objects) const {
    return comm::gather_object(objects, group());
  }

  template <class T>
  T reduce(const T& nest, std::string_view reduction = "sum", double scale = 1.0) const {
    return comm::reduce(nest, group(), reduction, scale);
  }

  template <class T>
  T pad_across_processes(const T& nest, const comm::PadOptions& options = {}) const {
    return comm::pad_across_processes(nest, group(), options);
  }

  /// Raises a flag on this rank; check_trigger() is then true on all ranks, once.
  void set_trigger() { trigger_ = true; }
  bool check_trigger();  // collective

  /// Whether a scheduler has asked a rank to end, with SIGTERM or SIGUSR1. All ranks get the same answer in the same
  /// call, and it stays true, so a loop that asks once per step can save and leave at the same step everywhere.
  /// Collective: it sends one number, which costs a rank about 10 µs of computing through shared memory and 100 µs over
  /// gloo. From the first call on these signals no longer end the process by themselves, unless the program has
  /// handlers of its own, which stay.
  bool preemption_requested();

  // Tracking

  /// Starts the trackers of log_with (JSON lines if there are none) for a run of this project and tells them its
  /// configuration. Files go to logging_dir/project_name. All ranks call it; the main process writes, unless a tracker
  /// wants to hear from all. From here on nothing about a tracker throws: one that fails costs a warning.
  void init_trackers(const std::string& project_name, const tracking::Values& config = {},
                     const InitTrackersOptions& options = {});

  /// Tells all trackers: accelerator.log({{"loss", loss}, {"epoch", epoch}}, step).
  void log(const LogValues& values, std::optional<int64_t> step = std::nullopt);

  /// Tells all trackers what a metric computed: accelerator.log(metric.compute(), step). A template, so that values in
  /// braces mean the function above.
  template <std::same_as<metrics::Scores> Scores>
  void log(const Scores& scores, std::optional<int64_t> step = std::nullopt) {
    log(LogValues(scores.begin(), scores.end()), step);
  }

  /// Images [channels, height, width] or batches of them by name, for the trackers that show images.
  void log_images(const std::vector<std::pair<std::string, at::Tensor>>& images,
                  std::optional<int64_t> step = std::nullopt);

  /// The distribution of the elements of tensors by name, for the trackers that show histograms.
  void log_histograms(const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                      std::optional<int64_t> step = std::nullopt);

  /// One of the trackers, by its name; on ranks where it does nothing, it may be called just the same.
  Tracker& get_tracker(const std::string& name) { return trackers_.get(name); }

  /// A scope that is recorded; see ProfileKwargs. Without an argument those of AcceleratorOptions hold.
  Profile profile() const { return Profile(options_.profile, group()); }
  Profile profile(const ProfileKwargs& kwargs) const { return Profile(kwargs, group()); }

  // Models and files

  /// The user's module. Nothing wraps it, so this is what was given to prepare.
  template <train::ModuleLike T>
  auto unwrap_model(const T& model) const {
    return train::module_of(model);
  }

  /// Parameters and buffers by name, in the order of Python's state_dict. They share memory with the model.
  template <train::ModuleLike T>
  StateDict get_state_dict(const T& model) const {
    return train::state_dict_of(*train::module_of(model));
  }

  /// Writes tensors as a safetensors file, on the main process; with save_on_each_node, on one process of each machine.
  void save(const StateDict& tensors, const std::filesystem::path& path) const;

  /// Writes the weights of a model as safetensors into `directory`, divided into files of at most `max_shard_size`, on
  /// the main process; with save_on_each_node, on one process of each machine. load_checkpoint_in_model() reads them.
  template <train::ModuleLike T>
  void save_model(const T& model, const std::filesystem::path& directory, const SaveModelOptions& options = {}) const {
    if (writes_files()) checkpoint::save_model_files(get_state_dict(model), directory, options);
  }

  // Checkpoints: see docs/how_to/resume.md

  /// Writes all that was prepared or registered, and where the loop is, to `output_dir`; without one, to the next
  /// project_dir/checkpoints/checkpoint_N (ProjectConfiguration::automatic_checkpoint_naming). Returns the directory,
  /// with the files of Python's Accelerate in it. A crash at any moment leaves what was there before, or the whole
  /// checkpoint. With `async` it returns as soon as the state is copied; an error then comes with the next call, on
  /// every rank. Collective; an Error on one rank is thrown on all. A number is used once, also if its save fails.
  std::filesystem::path save_state(const std::filesystem::path& output_dir = {}, const SaveStateOptions& options = {});
  std::filesystem::path save_state(const SaveStateOptions& options) { return save_state({}, options); }

  /// Goes on from a checkpoint of ours or of Python's; without `input_dir`, from the newest that is complete. The same
  /// objects have to be prepared and registered as when it was saved. Throws Error, and changes nothing, when it is
  /// damaged or does not fit. Whether it fits a scheduler or a registered object is seen when that loads its state: if
  /// it throws, on whichever rank, some of these may have changed, and nothing else. The next walk over a loader gives
  /// the rest of its epoch. Collective.
  void load_state(const std::filesystem::path& input_dir = {});

  /// Whether load_state() with this argument has something to load, on all machines: in a run's first start it has not.
  /// Unlike the existence of a directory this is the same on every rank, and right after a crash in the first save. A
  /// damaged `input_dir` counts: load_state() says what is wrong with it. Without one, a checkpoint that another
  /// release has saved in its own form is an Error. Collective.
  bool has_checkpoint(const std::filesystem::path& input_dir = {});

  /// Makes objects part of checkpoints: anything with `TorchValue state_dict()` and `load_state_dict(const
  /// TorchValue&)`, borrowed, or shared through a shared_ptr. In the same order whenever a checkpoint is saved or
  /// loaded.
  template <class... Objects>
  void register_for_checkpointing(Objects&... objects) {
    static_assert((requires { checkpoint::custom_object(objects); } && ...),
                  "register_for_checkpointing() takes objects that have `TorchValue state_dict()` and "
                  "`load_state_dict(const TorchValue&)`; models, optimizers and schedulers go through prepare()");
    (custom_objects_.push_back(checkpoint::custom_object(objects)), ...);
  }

  /// `hook` is called when a checkpoint is saved, before anything is written, with the directory that becomes it. What
  /// it takes out of `weights` is not written.
  checkpoint::RemovableHandle register_save_state_pre_hook(checkpoint::SaveStateHook hook) {
    return checkpointer_->save_hooks.add(std::move(hook));
  }

  /// `hook` is called when a checkpoint is loaded. What it takes out of `models` is not loaded.
  checkpoint::RemovableHandle register_load_state_pre_hook(checkpoint::LoadStateHook hook) {
    return checkpointer_->load_hooks.add(std::move(hook));
  }

  /// The number of the next checkpoint that save_state() names by itself.
  int64_t save_iteration() const { return project_configuration_.iteration; }
  void set_save_iteration(int64_t iteration) { project_configuration_.iteration = iteration; }

  template <class Loader>
  auto skip_first_batches(const Loader& loader, int64_t num_batches = 0) const {
    return data::skip_first_batches(loader, num_batches);
  }

  // State

  /// What the program asked for; the members below tell what came of it.
  const AcceleratorOptions& options() const { return options_; }

  precision::MixedPrecision mixed_precision() const { return mixed_precision_; }
  const std::filesystem::path& project_dir() const { return project_configuration_.project_dir; }
  const std::filesystem::path& logging_dir() const { return project_configuration_.logging_dir; }
  const std::vector<tracking::LogWith>& log_with() const { return options_.log_with; }
  bool device_placement() const { return options_.device_placement; }
  bool step_scheduler_with_optimizer() const { return options_.step_scheduler_with_optimizer; }
  const std::vector<std::string>& rng_types() const { return options_.rng_types; }

  /// How loaders that are prepared from now on share their data.
  const DataLoaderConfiguration& dataloader_config() const { return options_.dataloader_config; }
  bool split_batches() const { return dataloader_config().split_batches; }
  std::optional<bool> dispatch_batches() const { return dataloader_config().dispatch_batches; }
  bool even_batches() const { return dataloader_config().even_batches; }
  void set_even_batches(bool even_batches) { options_.dataloader_config.even_batches = even_batches; }
  bool use_seedable_sampler() const { return dataloader_config().use_seedable_sampler; }
  bool non_blocking() const { return dataloader_config().non_blocking; }

  const std::shared_ptr<precision::GradScaler>& scaler() const { return scaler_; }  // null unless fp16
  bool sync_gradients() const { return gradient_state_->sync_gradients; }
  int64_t gradient_accumulation_steps() const { return gradient_state_->num_steps; }
  void set_gradient_accumulation_steps(int64_t num_steps);
  const std::shared_ptr<GradientState>& gradient_state() const { return gradient_state_; }

  /// Where the run keeps its checkpoints and logs; logging_dir is filled in.
  const ProjectConfiguration& project_configuration() const { return project_configuration_; }

  /// Whether the batch being worked on is its loader's last, and how many of its samples over all ranks are not
  /// repeats.
  bool end_of_dataloader() const { return active_loaders_->end_of_dataloader(); }
  int64_t remainder() const { return active_loaders_->remainder(); }

  /// Whether a prepared optimizer left out its latest step because fp16 gradients overflowed.
  bool optimizer_step_was_skipped() const;

  const std::vector<Optimizer>& optimizers() const { return *optimizers_; }
  const std::vector<Scheduler>& schedulers() const { return schedulers_; }

  /// Forgets everything prepared: it is no longer part of checkpoints, and of nothing else that is done for all that
  /// was prepared. Handles that are still around keep working; what they held is freed with the last.
  void free_memory();

  /// Finishes the trackers, gives every rank the whole state of sharded optimizers, and leaves the job. Call it at the
  /// end of a program on several processes.
  void end_training();

  std::string describe() const;

 private:
  template <class Object>
  auto first_pass(Object&& object);

  template <class S>
  struct Deferred;  // a scheduler, prepared when all optimizers are

  std::shared_ptr<train::PreparedModel> register_model(const std::shared_ptr<torch::nn::Module>& module,
                                                       bool evaluation_mode);
  std::shared_ptr<train::PreparedModel> keep(const std::shared_ptr<train::PreparedModel>& model);
  std::vector<std::shared_ptr<train::PreparedModel>> models_in_use() const;
  bool writes_files() const;
  Optimizer register_optimizer(torch::optim::Optimizer& optimizer);
  Optimizer register_optimizer(const std::shared_ptr<torch::optim::Optimizer>& optimizer);
  Optimizer keep(const Optimizer& optimizer);
  const Optimizer& add(const Optimizer& optimizer);
  const Optimizer* find_optimizer(const torch::optim::Optimizer& optimizer) const;
  std::vector<Optimizer> optimizers_in_use() const;
  void shard(const Optimizer& optimizer) const;
  using Shardings = std::vector<const train::OptimizerSharding*>;
  Shardings shardings_in_step() const;
  Scheduler keep(const Scheduler& scheduler);
  train::SchedulerOptions scheduler_options() const;
  void keep(const std::shared_ptr<data::PreparedCore>& loader);
  std::shared_ptr<data::PreparedCore> find_loader(const data::LoaderCore& loader) const;
  data::PrepareOptions prepare_options() const;
  checkpoint::TrainingState training_state() const;
  std::filesystem::path checkpoints_dir() const;
  at::Tensor weighted_by_items(const at::Tensor& loss, int64_t num_items);
  int64_t sum_over_ranks(int64_t num_items) const;
  train::SyncScope begin_accumulation(std::vector<std::shared_ptr<train::PreparedModel>> models);
  static std::shared_ptr<parallel::Replicas> replicas_of(const std::shared_ptr<train::PreparedModel>& model);
  void unscale_gradients_of(const std::vector<at::Tensor>& parameters);
  bool is_tracked(std::string_view call) const;

  template <class M>
  static std::shared_ptr<parallel::Replicas> model_replicas(const Model<M>& model) {
    return replicas_of(model.prepared());
  }

  AcceleratorOptions options_;
  ProjectConfiguration project_configuration_;
  precision::MixedPrecision mixed_precision_;
  std::optional<int64_t> zero_stage_;  // else ranks share a step where that is safe and pays
  std::shared_ptr<precision::GradScaler> scaler_;
  std::shared_ptr<GradientState> gradient_state_ = std::make_shared<GradientState>();
  std::shared_ptr<data::ActiveLoaders> active_loaders_ = std::make_shared<data::ActiveLoaders>();
  std::vector<std::shared_ptr<train::PreparedModel>> models_;
  // Also those that free_memory() forgot, while someone holds a handle: backward averages their gradients too.
  std::vector<std::weak_ptr<train::PreparedModel>> models_in_use_;
  // Shared with the schedulers, which may be prepared before the optimizer that they follow.
  std::shared_ptr<std::vector<Optimizer>> optimizers_ = std::make_shared<std::vector<Optimizer>>();
  // Also those that free_memory() forgot, while someone holds a handle: they may share gradients with other ranks.
  std::vector<train::WeakOptimizer> optimizers_in_use_;
  std::vector<Scheduler> schedulers_;
  std::vector<std::shared_ptr<data::PreparedCore>> loaders_;
  std::vector<checkpoint::CustomObject> custom_objects_;
  std::unique_ptr<checkpoint::Checkpointer> checkpointer_;
  int64_t loss_divisor_;  // the length of the window that the next backward belongs to
  std::vector<std::weak_ptr<train::PreparedModel>> accumulating_;  // the models of the step of accumulate()
  bool trigger_ = false;
  tracking::Trackers trackers_;
  bool preempted_ = false;
};

// What follows is the part of the above that depends on the user's types.

template <class S>
struct Accelerator::Deferred {
  Accelerator& accelerator;
  S&& scheduler;

  Scheduler prepare() {
    return accelerator.keep(Scheduler(std::forward<S>(scheduler), accelerator.optimizers_, accelerator.gradient_state_,
                                      accelerator.scheduler_options()));
  }
};

template <class Object>
auto Accelerator::first_pass(Object&& object) {
  using T = std::remove_cvref_t<Object>;
  if constexpr (train::is_model<T>) {
    return T(object.module(), keep(object.prepared()));
  } else if constexpr (std::same_as<T, Optimizer> || std::same_as<T, Scheduler>) {
    return keep(object);
  } else if constexpr (requires { std::declval<T&>().core()->dispatches(); }) {
    keep(object.core());
    return T(object);
  } else if constexpr (train::ModuleLike<T>) {
    return prepare_model(object);
  } else if constexpr (std::derived_from<T, torch::optim::Optimizer>) {
    if constexpr (std::is_lvalue_reference_v<Object>)
      return register_optimizer(object);
    else
      return register_optimizer(std::make_shared<T>(std::move(object)));
  } else if constexpr (std::convertible_to<Object, std::shared_ptr<torch::optim::Optimizer>>) {
    return register_optimizer(std::shared_ptr<torch::optim::Optimizer>(std::forward<Object>(object)));
  } else if constexpr (requires { static_cast<torch::optim::Optimizer&>(*object); }) {
    return register_optimizer(*object);
  } else if constexpr (requires { prepare_data_loader(object); }) {
    return prepare_data_loader(object);
  } else if constexpr (data::is_torch_loader<T>) {
    static_assert(
        !data::is_torch_loader<T>,
        "prepare() cannot share a torch::data loader among ranks, or resume it. Give its data set to a loader "
        "of ours, and prepare that: accelerate::DataLoader loader(dataset, {.batch_size = 32, .shuffle = true});");
    return std::move(object);
  } else if constexpr (train::SchedulerLike<T> || train::SchedulerPointer<T>) {
    return Deferred<Object>{*this, std::forward<Object>(object)};
  } else {
    static_assert(
        train::SchedulerLike<T> || train::SchedulerPointer<T>,
        "prepare() takes modules, torch::optim optimizers, accelerate::DataLoader and schedulers. This argument "
        "is none of them: pass the module's holder or shared_ptr, and build the loader with accelerate::DataLoader.");
    return std::type_identity<T>();  // so that the sentence above is all that is said
  }
}

template <class... Objects>
auto Accelerator::prepare(Objects&&... objects) {
  static_assert(sizeof...(Objects) > 0, "prepare() needs at least one object to prepare");
  auto second_pass = []<class Part>(Part& part) {
    if constexpr (requires { part.prepare(); })
      return part.prepare();
    else
      return std::move(part);
  };
  std::tuple parts{first_pass(std::forward<Objects>(objects))...};  // braces: from left to right on every rank
  return std::apply(
      [&](auto&... part) {
        if constexpr (sizeof...(part) == 1)
          return (second_pass(part), ...);
        else
          return std::tuple{second_pass(part)...};
      },
      parts);
}

template <train::ModuleLike T>
auto Accelerator::prepare_model(const T& model, const PrepareModelOptions& options) {
  auto module = train::module_of(model);
  return Model(module, register_model(module, options.evaluation_mode));
}

template <class BatchT>
data::PreparedDataLoader<BatchT> Accelerator::prepare_data_loader(
    const DataLoader<BatchT>& loader, std::type_identity_t<data::SliceFunction<BatchT>> slice_fn_for_dispatch) {
  using Prepared = data::PreparedDataLoader<BatchT>;
  if (auto known = find_loader(*loader.core())) return Prepared(loader, known, std::move(slice_fn_for_dispatch));
  Prepared prepared(loader, prepare_options(), std::move(slice_fn_for_dispatch));
  keep(prepared.core());
  return prepared;
}

template <class Object>
Optimizer Accelerator::prepare_optimizer(Object&& optimizer) {
  static_assert(std::same_as<decltype(prepare(std::forward<Object>(optimizer))), Optimizer>,
                "prepare_optimizer() takes a torch::optim optimizer, a shared_ptr to one, or the handle of one");
  return prepare(std::forward<Object>(optimizer));
}

template <class Object>
Scheduler Accelerator::prepare_scheduler(Object&& scheduler) {
  static_assert(std::same_as<decltype(prepare(std::forward<Object>(scheduler))), Scheduler>,
                "prepare_scheduler() takes a learning-rate scheduler: one of torch::optim, accelerate::LambdaLR, what "
                "transformers::get_scheduler gives, a class with step(), or the handle of one");
  return prepare(std::forward<Object>(scheduler));
}

template <class... M>
train::SyncScope Accelerator::accumulate(const Model<M>&... models) {
  if constexpr (sizeof...(models) == 0)
    return begin_accumulation(models_in_use());
  else
    return begin_accumulation({models.prepared()...});
}

template <class T>
T Accelerator::gather_for_metrics(const T& nest) const {
  bool cut = end_of_dataloader() && remainder() > 0;
  if constexpr (tensors::holds_tensors<T>) {
    auto all = gather(nest);
    if (!cut) return all;
    tensors::for_each_list(all, [&](auto& list) {
      if (remainder() < static_cast<int64_t>(list.size())) list.erase(list.begin() + remainder(), list.end());
    });
    return tensors::slice_tensors(all, 0, remainder());
  } else {
    auto all = gather_object(nest);
    if (cut && remainder() < static_cast<int64_t>(all.size())) all.resize(remainder());
    return all;
  }
}

}  // namespace accelerate
