#pragma once

// The main class: four changes make a libtorch training loop run on any number of processes.
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
#include <functional>
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
#include "accelerate/checkpoint/model_files.h"
#include "accelerate/checkpoint/save_state.h"
#include "accelerate/comm/operations.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/data/data_loader.h"
#include "accelerate/data/loader_position.h"
#include "accelerate/data/prepared_loader.h"
#include "accelerate/log_values.h"
#include "accelerate/metrics/scores.h"
#include "accelerate/prepared_objects.h"
#include "accelerate/profile.h"
#include "accelerate/train/gradient_state.h"
#include "accelerate/train/model.h"
#include "accelerate/train/optimizer.h"
#include "accelerate/train/scheduler.h"

namespace accelerate::checkpoint {
class Checkpointer;
struct TrainingState;
}  // namespace accelerate::checkpoint

namespace accelerate::tracking {
class Trackers;
}

namespace accelerate {

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
  // The loss is a sum over this many items of the batch, such as the labelled tokens. Gradients become those of the
  // mean over all items of the accumulation window, on all ranks, as if they were one batch. All ranks give it in every
  // backward of a window, once in each step of accumulate(). Such a loss is not divided by the number of steps.
  std::optional<int64_t> num_items = std::nullopt;
};

struct PrepareModelOptions {
  bool evaluation_mode = false;  // the model is not trained: no gradients to average
};

struct JoinOptions {
  std::optional<bool> even_batches = std::nullopt;  // in the body, for the map-style loaders prepared so far
};

/// The entry point of the library. Tells this process's place in the job (see PartialState), prepares the objects of a
/// training loop, and provides the calls that a distributed loop needs. Several may live in one process; they share the
/// job, not their options.
class Accelerator : public comm::PartialState {
 public:
  explicit Accelerator(const AcceleratorOptions& options = {});
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;
  ~Accelerator();

  // Preparing

  /// Returns a handle for each argument, in order: a Model for a module (TORCH_MODULE, ModuleHolder, shared_ptr), an
  /// Optimizer, a Scheduler, a sharded data loader. One argument returns its handle, several return a tuple for
  /// structured bindings. Borrows optimizers and schedulers that are lvalues: they must outlive their handles, and live
  /// until free_memory() or end_training(). Owns rvalues, and shares the target of a shared_ptr. Moves a model to the
  /// device and broadcasts rank 0's parameters and buffers (collective). Preparing an object twice returns the same
  /// handle. A handle may be prepared again after free_memory(), and a model's handle by another Accelerator.
  template <class... Objects>
  auto prepare(Objects&&... objects);

  template <train::ModuleLike T>
  auto prepare_model(const T& model, const PrepareModelOptions& options = {});

  /// Prepares a data loader. If rank 0 reads for all, `slice_fn_for_dispatch` cuts each rank's slice out of the
  /// dispatched round: `[](const BatchT& round, const DispatchSlice& slice) { return part; }`. Collective.
  template <class BatchT>
  data::PreparedDataLoader<BatchT> prepare_data_loader(
      const DataLoader<BatchT>& loader,
      std::type_identity_t<data::SliceFunction<BatchT>> slice_fn_for_dispatch = nullptr);

  /// Prepares one optimizer or scheduler. The optimizer that a scheduler follows must be prepared too.
  template <class Object>
  Optimizer prepare_optimizer(Object&& optimizer);
  template <class Object>
  Scheduler prepare_scheduler(Object&& scheduler);

  // The loop

  /// Computes gradients of `loss`, divided by the number of accumulation steps. Averages them over ranks at the end of
  /// a window; collective then. With `num_items`, weights batches by their items instead.
  void backward(const at::Tensor& loss, const BackwardOptions& options = {});

  /// Begins a step of gradient accumulation. Inside the scope, gradients of `models` (default: all prepared ones) stay
  /// local unless this step ends the window, and optimizers and schedulers do nothing until it ends.
  template <class... M>
  [[nodiscard]] train::SyncScope accumulate(const Model<M>&... models);

  /// Gradients of forwards in this scope stay local.
  template <class M>
  [[nodiscard]] train::SyncScope no_sync(const Model<M>& model) {
    return train::SyncScope(train::SyncScope::Kind::Pause, {record_of(model)});
  }

  /// Makes the next backward average the gradients of `model`, even if its forwards ran under no_sync.
  template <class M>
  [[nodiscard]] train::SyncScope trigger_sync_in_backward(const Model<M>& model) {
    return train::SyncScope(train::SyncScope::Kind::Trigger, {record_of(model)});
  }

  /// Calls `body`, in which ranks may train `model` on different numbers of batches. A rank whose body returns early
  /// takes part in the collectives of the others, with zeros, until all have returned. Then all ranks get the model of
  /// the last one that trained. Sharded optimizers are unsharded permanently, because a rank without batches does not
  /// step. Collective. If `body` throws, the exception leaves at once, and the other ranks fail when this one ends.
  ///
  ///   accelerator.join_uneven_inputs(model, [&] {
  ///     for (auto& batch : train) ...
  ///   });
  template <class M, std::invocable Body>
  void join_uneven_inputs(const Model<M>& model, Body&& body, const JoinOptions& options = {}) {
    run_joined({record_of(model)}, std::forward<Body>(body), options);
  }

  /// The same for several models: `std::tie(generator, discriminator)`.
  template <class... M, std::invocable Body>
  void join_uneven_inputs(const std::tuple<M...>& models, Body&& body, const JoinOptions& options = {}) {
    auto records = std::apply([](const auto&... model) { return std::vector{record_of(model)...}; }, models);
    run_joined(records, std::forward<Body>(body), options);
  }

  /// Scales gradients so that their norm is at most `max_norm`. Returns the norm before scaling. Unscales fp16
  /// gradients first. Collective with `shared_clipping` and with `zero_stage = 2`.
  at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type = 2.0);
  void clip_grad_value_(const std::vector<at::Tensor>& parameters, double clip_value);

  /// Divides gradients by the fp16 loss scale, for all optimizers or one. At most once per step.
  void unscale_gradients();
  void unscale_gradients(const Optimizer& optimizer);

  /// A scope that autocasts to the accelerator's precision, for computation outside of a prepared model.
  [[nodiscard]] precision::Autocast autocast() const { return autocast(options_.autocast); }
  [[nodiscard]] precision::Autocast autocast(const AutocastKwargs& kwargs) const {
    return precision::Autocast(device().type(), mixed_precision_, kwargs);
  }

  // Collectives: on any nest of tensors, see comm/operations.h

  template <class T>
  T gather(const T& nest) const {
    return comm::gather(nest, group());
  }

  /// gather, without the samples that were repeated to fill the last batch. Gathers lists of other objects with
  /// gather_object.
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

  /// Sets a flag on this rank. The next check_trigger() returns true on all ranks and clears it.
  void set_trigger() { trigger_ = true; }
  bool check_trigger();  // collective

  /// Whether a job scheduler has asked any rank to end, with SIGTERM or SIGUSR1. All ranks get the same answer in the
  /// same call, and it stays true. A loop that asks once per step can therefore save and leave at the same step
  /// everywhere. Collective: sends one number, which costs a rank about 10 µs of CPU time through shared memory and 100
  /// µs over gloo. From the first call on these signals no longer end the process by themselves. Existing signal
  /// handlers of the program stay in place.
  bool preemption_requested();

  // Tracking

  /// Starts the trackers of log_with (default: JSON lines) for a run of this project and logs its configuration. Files
  /// go to logging_dir/project_name. All ranks call it; only the main process writes, unless a tracker asks for all.
  /// After this call trackers never throw: a failure is logged as a warning.
  void init_trackers(const std::string& project_name, const tracking::Values& config = {},
                     const InitTrackersOptions& options = {});

  /// Logs to all trackers: accelerator.log({{"loss", loss}, {"epoch", epoch}}, step).
  void log(const LogValues& values, std::optional<int64_t> step = std::nullopt);

  /// Logs the result of a metric: accelerator.log(metric.compute(), step). A template, so that values in braces select
  /// the function above.
  template <std::same_as<metrics::Scores> Scores>
  void log(const Scores& scores, std::optional<int64_t> step = std::nullopt) {
    log(LogValues(scores.begin(), scores.end()), step);
  }

  /// Logs images [channels, height, width] or batches of them, by name, to the trackers that support images.
  void log_images(const std::vector<std::pair<std::string, at::Tensor>>& images,
                  std::optional<int64_t> step = std::nullopt);

  /// Logs histograms of the elements of tensors, by name, to the trackers that support histograms.
  void log_histograms(const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                      std::optional<int64_t> step = std::nullopt);

  /// A tracker by its name. May be called on all ranks, including those on which the tracker does nothing.
  Tracker& get_tracker(const std::string& name);

  /// Begins to record a profile; see Profile. Default: the ProfileKwargs of AcceleratorOptions.
  Profile profile() const { return Profile(options_.profile, group()); }
  Profile profile(const ProfileKwargs& kwargs) const { return Profile(kwargs, group()); }

  // Models and files

  /// The user's module, as given to prepare.
  template <train::ModuleLike T>
  auto unwrap_model(const T& model) const {
    return train::module_of(model);
  }

  /// Parameters and buffers by name, in the order of Python's state_dict. They share memory with the model.
  template <train::ModuleLike T>
  StateDict get_state_dict(const T& model) const {
    return train::state_dict_of(*train::module_of(model));
  }

  /// Writes tensors to a safetensors file, on the main process; with save_on_each_node, on one process per machine.
  void save(const StateDict& tensors, const std::filesystem::path& path) const;

  /// Writes the weights of a model to `directory` as safetensors files of at most `max_shard_size`, on the main
  /// process; with save_on_each_node, on one process per machine. Read them with load_checkpoint_in_model().
  template <train::ModuleLike T>
  void save_model(const T& model, const std::filesystem::path& directory, const SaveModelOptions& options = {}) const {
    if (writes_files()) checkpoint::save_model_files(get_state_dict(model), directory, options);
  }

  // Checkpoints: see docs/how_to/resume.md

  /// Writes all prepared and registered objects, and the position of the loop, to `output_dir`. Without one, writes to
  /// the next project_dir/checkpoints/checkpoint_N (ProjectConfiguration::automatic_checkpoint_naming). Returns the
  /// directory, which has the files of Python's Accelerate. Atomic: a crash leaves the previous content or the complete
  /// checkpoint. With `async` it returns as soon as the state is copied; an error is then thrown by the next call, on
  /// all ranks. Collective; an Error on one rank is thrown on all. A number is used once, even if the save fails.
  std::filesystem::path save_state(const std::filesystem::path& output_dir = {}, const SaveStateOptions& options = {});
  std::filesystem::path save_state(const SaveStateOptions& options) { return save_state({}, options); }

  /// Resumes from a checkpoint of this library or of Python's Accelerate; without `input_dir`, from the newest complete
  /// one. The same objects must be prepared and registered as when it was saved. Throws Error, and changes nothing, if
  /// the checkpoint is damaged or does not fit. Schedulers and registered objects check only while they load: if one
  /// throws, on any rank, some of these may have changed, but nothing else. The next iteration over a loader yields the
  /// rest of its epoch. Collective.
  void load_state(const std::filesystem::path& input_dir = {});

  /// Whether load_state() with this argument has something to load, on all machines; false in the first start of a run.
  /// Unlike the existence of a directory, the answer is the same on all ranks, and correct after a crash in the first
  /// save. True for a damaged `input_dir`: load_state() reports the damage. Without `input_dir`, throws Error for a
  /// checkpoint in the format of another release. Collective.
  bool has_checkpoint(const std::filesystem::path& input_dir = {});

  /// Includes objects in checkpoints: anything with `TorchValue state_dict()` and `load_state_dict(const TorchValue&)`.
  /// Borrows them, or shares ownership of a shared_ptr. Register them in the same order for saving and loading.
  template <class... Objects>
  void register_for_checkpointing(Objects&... objects) {
    static_assert((requires { checkpoint::custom_object(objects); } && ...),
                  "register_for_checkpointing() takes objects that have `TorchValue state_dict()` and "
                  "`load_state_dict(const TorchValue&)`; models, optimizers and schedulers go through prepare()");
    (custom_objects_.push_back(checkpoint::custom_object(objects)), ...);
  }

  /// Calls `hook` when a checkpoint is saved, before anything is written, with the directory that becomes the
  /// checkpoint. Entries that it removes from `weights` are not written.
  checkpoint::RemovableHandle register_save_state_pre_hook(checkpoint::SaveStateHook hook);

  /// Calls `hook` when a checkpoint is loaded. Entries that it removes from `models` are not loaded.
  checkpoint::RemovableHandle register_load_state_pre_hook(checkpoint::LoadStateHook hook);

  /// The number of the next checkpoint in automatic naming.
  int64_t save_iteration() const { return project_configuration_.iteration; }
  void set_save_iteration(int64_t iteration) { project_configuration_.iteration = iteration; }

  template <class Loader>
  auto skip_first_batches(const Loader& loader, int64_t num_batches = 0) const {
    return data::skip_first_batches(loader, num_batches);
  }

  // State

  /// The options as given; the members below return the values in effect.
  const AcceleratorOptions& options() const { return options_; }

  precision::MixedPrecision mixed_precision() const { return mixed_precision_; }
  const std::filesystem::path& project_dir() const { return project_configuration_.project_dir; }
  const std::filesystem::path& logging_dir() const { return project_configuration_.logging_dir; }
  const std::vector<tracking::LogWith>& log_with() const { return options_.log_with; }
  bool device_placement() const { return options_.device_placement; }
  bool step_scheduler_with_optimizer() const { return options_.step_scheduler_with_optimizer; }
  const std::vector<std::string>& rng_types() const { return options_.rng_types; }

  /// How loaders that are prepared later divide their data among ranks.
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

  /// The directories of checkpoints and logs; logging_dir is filled in.
  const ProjectConfiguration& project_configuration() const { return project_configuration_; }

  /// Whether the current batch is the last of its loader, and how many of its samples, over all ranks, are not repeats.
  bool end_of_dataloader() const { return active_loaders_->end_of_dataloader(); }
  int64_t remainder() const { return active_loaders_->remainder(); }

  /// Whether a prepared optimizer skipped its latest step because fp16 gradients overflowed.
  bool optimizer_step_was_skipped() const;

  const std::vector<Optimizer>& optimizers() const { return prepared_.optimizers(); }
  const std::vector<Scheduler>& schedulers() const { return prepared_.schedulers(); }

  /// Releases all prepared objects: they are no longer part of checkpoints, nor of any call that applies to all
  /// prepared objects. Existing handles keep working; the last one frees its object.
  void free_memory();

  /// Finishes the trackers, gives every rank the whole state of sharded optimizers, and leaves the job. Call it at the
  /// end of a program on several processes.
  void end_training();

  std::string describe() const;

 private:
  template <class Object>
  auto first_pass(Object&& object);

  template <class S>
  struct Deferred;  // a scheduler; prepared after all optimizers

  std::shared_ptr<train::PreparedModel> prepare_module(const std::shared_ptr<torch::nn::Module>& module,
                                                       bool evaluation_mode);
  Optimizer prepare_borrowed(torch::optim::Optimizer& optimizer);
  Optimizer prepare_shared(const std::shared_ptr<torch::optim::Optimizer>& optimizer);
  train::SchedulerOptions scheduler_options() const;
  data::PrepareOptions prepare_options() const;
  bool writes_files() const;
  using Shardings = std::vector<const sharding::OptimizerSharding*>;
  Shardings shardings_in_step() const;
  checkpoint::TrainingState training_state() const;
  std::filesystem::path checkpoints_dir() const;
  at::Tensor weighted_by_items(const at::Tensor& loss, int64_t num_items);
  int64_t sum_over_ranks(int64_t num_items) const;
  train::SyncScope begin_accumulation(std::vector<std::shared_ptr<train::PreparedModel>> models);
  void run_joined(const std::vector<std::shared_ptr<train::PreparedModel>>& models, const std::function<void()>& body,
                  const JoinOptions& options);
  void unscale_gradients_of(const std::vector<at::Tensor>& parameters);
  bool is_tracked(std::string_view call) const;

  AcceleratorOptions options_;
  ProjectConfiguration project_configuration_;
  precision::MixedPrecision mixed_precision_;
  std::optional<int64_t> zero_stage_;  // unset: shard a step if that is safe and pays
  std::shared_ptr<precision::GradScaler> scaler_;
  std::shared_ptr<GradientState> gradient_state_ = std::make_shared<GradientState>();
  std::shared_ptr<data::ActiveLoaders> active_loaders_ = std::make_shared<data::ActiveLoaders>();
  PreparedObjects prepared_;
  std::vector<checkpoint::CustomObject> custom_objects_;
  std::unique_ptr<checkpoint::Checkpointer> checkpointer_;
  int64_t loss_divisor_;                                           // the length of the window of the next backward
  std::vector<std::weak_ptr<train::PreparedModel>> accumulating_;  // the models of the current step of accumulate()
  bool trigger_ = false;
  std::unique_ptr<tracking::Trackers> trackers_;
  bool preempted_ = false;
};

// Definitions of the templates.

template <class S>
struct Accelerator::Deferred {
  Accelerator& accelerator;
  S&& scheduler;

  Scheduler prepare() {
    return accelerator.prepared_.add_scheduler(Scheduler(std::forward<S>(scheduler),
                                                         accelerator.prepared_.shared_optimizers(),
                                                         accelerator.gradient_state_, accelerator.scheduler_options()));
  }
};

template <class Object>
auto Accelerator::first_pass(Object&& object) {
  using T = std::remove_cvref_t<Object>;
  if constexpr (train::is_model<T>) {
    return T(object.module(), prepared_.add_model(record_of(object)));
  } else if constexpr (std::same_as<T, Optimizer>) {
    return prepared_.add_optimizer(object);
  } else if constexpr (std::same_as<T, Scheduler>) {
    return prepared_.add_scheduler(object);
  } else if constexpr (data::PreparedLoaderLike<T>) {
    prepared_.add_loader(core_of(object));
    return T(object);
  } else if constexpr (train::ModuleLike<T>) {
    return prepare_model(object);
  } else if constexpr (std::derived_from<T, torch::optim::Optimizer>) {
    if constexpr (std::is_lvalue_reference_v<Object>)
      return prepare_borrowed(object);
    else
      return prepare_shared(std::make_shared<T>(std::move(object)));
  } else if constexpr (std::convertible_to<Object, std::shared_ptr<torch::optim::Optimizer>>) {
    return prepare_shared(std::shared_ptr<torch::optim::Optimizer>(std::forward<Object>(object)));
  } else if constexpr (requires { static_cast<torch::optim::Optimizer&>(*object); }) {
    return prepare_borrowed(*object);
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
    return std::type_identity<T>();  // so that the message above is the only one
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
  std::tuple parts{first_pass(std::forward<Objects>(objects))...};  // braces evaluate from left to right, on every rank
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
  return Model(module, prepare_module(module, options.evaluation_mode));
}

template <class BatchT>
data::PreparedDataLoader<BatchT> Accelerator::prepare_data_loader(
    const DataLoader<BatchT>& loader, std::type_identity_t<data::SliceFunction<BatchT>> slice_fn_for_dispatch) {
  using Prepared = data::PreparedDataLoader<BatchT>;
  if (auto known = prepared_.find_loader(*core_of(loader)))
    return Prepared(loader, known, std::move(slice_fn_for_dispatch));
  Prepared prepared(loader, prepare_options(), std::move(slice_fn_for_dispatch));
  prepared_.add_loader(core_of(prepared));
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
    return begin_accumulation(prepared_.models_in_use());
  else
    return begin_accumulation({record_of(models)...});
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
