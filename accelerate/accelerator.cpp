#include "accelerate/accelerator.h"

#include <algorithm>

#include "accelerate/base/log.h"
#include "accelerate/base/scope.h"
#include "accelerate/checkpoint/checkpointer.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/random.h"
#include "accelerate/parallel/join.h"
#include "accelerate/parallel/replicas.h"
#include "accelerate/process/signals.h"
#include "accelerate/resolve_options.h"
#include "accelerate/sharding/gradient_shards.h"
#include "accelerate/sharding/optimizer_sharding.h"
#include "accelerate/tensors/safetensors.h"
#include "accelerate/tensors/tensor_memory.h"
#include "accelerate/tracking/trackers.h"
#include "accelerate/train/clip_gradients.h"
#include "accelerate/train/optimizer_access.h"

namespace accelerate {

namespace {

bool same_models(const std::vector<std::weak_ptr<train::PreparedModel>>& before,
                 const std::vector<std::shared_ptr<train::PreparedModel>>& now) {
  return std::equal(before.begin(), before.end(), now.begin(), now.end(),
                    [](const auto& weak, const auto& model) { return weak.lock() == model; });
}

bool shares_a_parameter(const Optimizer& optimizer, const std::vector<at::Tensor>& parameters) {
  for (const auto& group : optimizer.param_groups()) {
    for (const auto& held : group.params()) {
      for (const auto& parameter : parameters) {
        if (held.is_same(parameter)) return true;
      }
    }
  }
  return false;
}

}  // namespace

Accelerator::Accelerator(const AcceleratorOptions& options)
    : PartialState({.cpu = options.cpu,
                    .timeout = options.timeout,
                    .backend = options.backend,
                    .init_method = options.init_method}),
      options_(options),
      project_configuration_(resolve_project(options)),
      mixed_precision_(resolve_precision(options)),
      zero_stage_(resolve_zero_stage(options)),
      prepared_(zero_stage_),
      trackers_(std::make_unique<tracking::Trackers>()) {
  comm::synchronize_rng_states(options.rng_types, comm::Group());  // without peers it only checks the names
  const auto& plugin = options.gradient_accumulation_plugin;
  gradient_state_->sync_with_dataloader = plugin.sync_with_dataloader;
  gradient_state_->sync_each_batch = plugin.sync_each_batch;
  set_gradient_accumulation_steps(resolve_accumulation_steps(options));
  const bool save_on_each_node = project_configuration_.save_on_each_node && use_distributed();
  checkpointer_ = std::make_unique<checkpoint::Checkpointer>(
      group(), save_on_each_node ? group().connection()->topology().leader_of(process_index()) : 0);
  if (zero_stage_ == 2 && use_distributed()) check_gradient_sharding(options, mixed_precision_, group());
  if (mixed_precision_ == precision::MixedPrecision::Fp16) {
    scaler_ = std::make_shared<precision::GradScaler>(options.grad_scaler);
  }
}

Accelerator::~Accelerator() = default;

void Accelerator::set_gradient_accumulation_steps(int64_t num_steps) {
  if (num_steps < 1) fail("gradient_accumulation_steps is ", num_steps, "; it must be at least 1");
  gradient_state_->num_steps = num_steps;
  loss_divisor_ = num_steps;
}

std::shared_ptr<train::PreparedModel> Accelerator::prepare_module(const std::shared_ptr<torch::nn::Module>& module,
                                                                  bool evaluation_mode) {
  if (!module) fail("prepare: the model is empty; construct it before preparing it");
  if (auto known = prepared_.find_model(*module)) return known;
  for (const auto& parameter : module->named_parameters()) {
    if (scaler_ && parameter->requires_grad() && parameter->scalar_type() == at::kHalf) {
      fail("prepare: the parameter ", parameter.key(),
           " is in float16; with mixed_precision = fp16 parameters must be in float32; autocast converts them");
    }
  }
  if (options_.device_placement) module->to(device());

  std::shared_ptr<parallel::DistributedModel> distributed;
  if (!evaluation_mode) {
    distributed = std::make_shared<parallel::Replicas>(parallel::parameters_of(*module), parallel::buffers_of(*module),
                                                       group(), options_.distributed_data_parallel);
  }
  return prepared_.add_model(std::make_shared<train::PreparedModel>(
      module, distributed,
      train::PreparedModel::Options{
          .device = device(), .mixed_precision = mixed_precision_, .autocast = options_.autocast}));
}

Optimizer Accelerator::prepare_borrowed(torch::optim::Optimizer& optimizer) {
  return prepare_shared(std::shared_ptr<torch::optim::Optimizer>(std::shared_ptr<void>(), &optimizer));
}

Optimizer Accelerator::prepare_shared(const std::shared_ptr<torch::optim::Optimizer>& optimizer) {
  if (!optimizer) fail("prepare: the optimizer is empty; construct it before preparing it");
  if (const auto* known = prepared_.find_optimizer(*optimizer)) return prepared_.add_optimizer(*known);
  return prepared_.add_optimizer(
      Optimizer(optimizer, gradient_state_, scaler_, OptimizerOptions{.fused = options_.fused_optimizers}));
}

train::SchedulerOptions Accelerator::scheduler_options() const {
  return {.step_with_optimizer = options_.step_scheduler_with_optimizer,
          .split_batches = options_.dataloader_config.split_batches,
          .num_processes = num_processes()};
}

data::PrepareOptions Accelerator::prepare_options() const {
  return {.device = device(),
          .group = group(),
          .configuration = options_.dataloader_config,
          .put_on_device = options_.device_placement,
          .rng_types = options_.rng_types,
          .active_loaders = active_loaders_};
}

train::SyncScope Accelerator::begin_accumulation(std::vector<std::shared_ptr<train::PreparedModel>> models) {
  auto& state = *gradient_state_;
  state.items.begin_step(/*begins_window=*/state.sync_gradients);
  if (state.items.is_open() && !accumulating_.empty() && !same_models(accumulating_, models)) {
    fail("accumulate: this step has different models than earlier steps of its window, and num_items applies to all ",
         "models of a window; pass the same models in each step");
  }
  accumulating_.assign(models.begin(), models.end());
  const bool loader_ends = state.sync_with_dataloader && end_of_dataloader();
  state.step = loader_ends ? 0 : state.step + 1;
  state.sync_gradients = state.step % state.num_steps == 0;
  loss_divisor_ = state.num_steps;
  for (const auto& model : models) {
    const int64_t window_length = model->count_step(/*ends=*/state.sync_gradients);
    if (!loader_ends || !options_.gradient_accumulation_plugin.scale_last_window) continue;
    if (window_length >= state.num_steps || state.items.is_open()) continue;
    // Earlier steps of the window were divided by its full length, before it was known to be shorter.
    model->scale_gradients(static_cast<double>(state.num_steps) / window_length);
    loss_divisor_ = window_length;
  }
  if (state.sync_gradients || state.sync_each_batch) return {};
  return train::SyncScope(train::SyncScope::Kind::Pause, std::move(models));
}

/// Inside join_uneven_inputs(), ranks without batches contribute zero.
int64_t Accelerator::sum_over_ranks(int64_t num_items) const {
  for (const auto& model : prepared_.models_in_use()) {
    if (!model->distributed()) continue;
    if (const auto sum = model->distributed()->sum_in_join(num_items)) return *sum;
  }
  auto sum = torch::tensor({num_items}, torch::kLong);
  group().all_reduce(sum);
  return sum.item<int64_t>();
}

/// Scales a loss that is a sum to its part of the mean over the accumulation window.
at::Tensor Accelerator::weighted_by_items(const at::Tensor& loss, int64_t num_items) {
  const auto scale = gradient_state_->items.count(
      num_items,
      {.ends_window = gradient_state_->sync_gradients, .gradients_are_averaged = gradient_state_->sync_each_batch},
      num_processes(), [this](int64_t here) { return sum_over_ranks(here); });
  for (const auto& weak : accumulating_) {
    if (const auto model = weak.lock(); model && scale.gradients != 1) model->scale_gradients(scale.gradients);
  }
  return loss * scale.loss;
}

void Accelerator::backward(const at::Tensor& loss, const BackwardOptions& options) {
  if (!loss.defined()) {
    fail(
        "backward: the loss is undefined; did the batch have labels? Models compute a loss only from batches with "
        "them");
  }
  auto objective = loss;
  if (options.num_items) {
    objective = weighted_by_items(loss, *options.num_items);
  } else {
    gradient_state_->items.skip(/*ends_window=*/gradient_state_->sync_gradients);
    if (loss_divisor_ != 1) objective = loss / loss_divisor_;
  }
  if (scaler_) objective = scaler_->scale(objective);
  std::vector<parallel::DistributedModel*> armed;
  int64_t gradient_bytes = 0;
  if (use_distributed()) {
    for (const auto& model : prepared_.models_in_use()) {
      if (!model->synchronizes()) continue;
      armed.push_back(model->distributed().get());
      armed.back()->arm(objective);
      gradient_bytes += armed.back()->gradient_bytes();
    }
  }
  auto differentiate = [&] {
    objective.backward({}, options.retain_graph ? std::optional<bool>(true) : std::nullopt, options.create_graph);
  };
  if (armed.empty()) return differentiate();
  group().connection()->run_recorded("the reduction of gradients in backward", gradient_bytes, differentiate);
  for (auto* model : armed) model->after_backward();
}

at::Tensor Accelerator::clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type) {
  unscale_gradients_of(parameters);
  // With ZeRO-2 no rank holds complete gradients.
  if (!options_.shared_clipping && zero_stage_ != 2) return train::clip_grad_norm_(parameters, max_norm, norm_type);
  train::ClippingRanks ranks{.shardings = shardings_in_step()};
  for (const auto& model : prepared_.models_in_use()) {
    // With a scaler, sums of squares from the all-reduces are still scaled.
    if (model->distributed() && !scaler_) ranks.models.push_back(model->distributed().get());
  }
  return train::clip_grad_norm_together_(parameters, max_norm, norm_type, ranks);
}

void Accelerator::clip_grad_value_(const std::vector<at::Tensor>& parameters, double clip_value) {
  unscale_gradients_of(parameters);
  train::clip_grad_value_(parameters, clip_value, zero_stage_ == 2 ? shardings_in_step() : Shardings{});
}

/// The shardings of optimizers whose gradients are the same on all ranks.
Accelerator::Shardings Accelerator::shardings_in_step() const {
  Shardings shardings;
  for (const auto& optimizer : prepared_.optimizers_in_use()) {
    const auto* sharding = train::OptimizerAccess::sharding(optimizer);
    if (sharding && !sharding->gradients_are_local()) shardings.push_back(sharding);
  }
  return shardings;
}

/// Unscales the gradients of the optimizers that step one of `parameters`.
void Accelerator::unscale_gradients_of(const std::vector<at::Tensor>& parameters) {
  if (!scaler_) return;
  for (const auto& optimizer : prepared_.optimizers_in_use()) {
    if (shares_a_parameter(optimizer, parameters)) unscale_gradients(optimizer);
  }
}

void Accelerator::unscale_gradients() {
  for (const auto& optimizer : prepared_.optimizers_in_use()) unscale_gradients(optimizer);
}

void Accelerator::unscale_gradients(const Optimizer& optimizer) {
  if (scaler_) scaler_->unscale_(*optimizer);
}

bool Accelerator::check_trigger() {
  bool any = comm::true_on_any_rank(trigger_, group());
  if (any) trigger_ = false;
  return any;
}

bool Accelerator::preemption_requested() {
  process::watch_for_preemption();
  preempted_ = preempted_ || comm::true_on_any_rank(process::preemption_noted(), group());
  return preempted_;
}

void Accelerator::init_trackers(const std::string& project_name, const tracking::Values& config,
                                const InitTrackersOptions& options) {
  trackers_->init(options_.log_with,
                  {.project_name = project_name,
                   .logging_dir = project_configuration_.logging_dir,
                   .mlflow = options.mlflow,
                   .wandb = options.wandb},
                  config, is_main_process());
}

/// Whether a tracker on this process takes the values of `call`.
bool Accelerator::is_tracked(std::string_view call) const {
  if (!trackers_->initialized()) {
    get_logger("accelerate").warning_once(std::string(call) + ": the values are dropped; call init_trackers first");
  }
  return trackers_->active();
}

void Accelerator::log(const LogValues& values, std::optional<int64_t> step) {
  if (is_tracked("log")) trackers_->log(values_of(values), step);
}

void Accelerator::log_images(const std::vector<std::pair<std::string, at::Tensor>>& images,
                             std::optional<int64_t> step) {
  // On every process, so that no rank waits for one that failed.
  for (const auto& [name, tensor] : images) check_image(name, tensor);
  if (!is_tracked("log_images")) return;
  tracking::Images list;
  for (const auto& [name, tensor] : images) list.emplace_back(name, image_of(tensor));
  trackers_->log_images(list, step);
}

void Accelerator::log_histograms(const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                                 std::optional<int64_t> step) {
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.defined()) fail("log_histograms: '", name, "' is an undefined tensor; log it once it has a value");
  }
  if (!is_tracked("log_histograms")) return;
  tracking::Histograms list;
  for (const auto& [name, tensor] : tensors) list.emplace_back(name, numbers_of(tensor));
  trackers_->log_histograms(list, step);
}

Tracker& Accelerator::get_tracker(const std::string& name) { return trackers_->get(name); }

bool Accelerator::writes_files() const {
  return project_configuration_.save_on_each_node ? is_local_main_process() : is_main_process();
}

void Accelerator::save(const StateDict& tensors, const std::filesystem::path& path) const {
  if (!writes_files()) return;
  tensors::TensorList list;
  for (const auto& item : tensors) list.emplace_back(item.key(), item.value());
  tensors::save_safetensors(list, path);
}

checkpoint::TrainingState Accelerator::training_state() const {
  checkpoint::TrainingState state{.optimizers = prepared_.optimizers(),
                                  .schedulers = prepared_.schedulers(),
                                  .loaders = prepared_.loaders(),
                                  .scaler = scaler_,
                                  .gradient_state = gradient_state_,
                                  .objects = custom_objects_};
  for (const auto& model : prepared_.models()) state.models.push_back(model->module());
  return state;
}

std::filesystem::path Accelerator::checkpoints_dir() const {
  const auto& project = project_configuration_;
  if (!project.automatic_checkpoint_naming || project.project_dir.empty()) {
    fail("no directory is given; pass one, or set project_dir and automatic_checkpoint_naming of the project_config");
  }
  return project.project_dir / "checkpoints";
}

std::filesystem::path Accelerator::save_state(const std::filesystem::path& output_dir,
                                              const SaveStateOptions& options) {
  auto& project = project_configuration_;
  checkpoint::Destination destination{.directory = output_dir};
  if (output_dir.empty()) {
    destination = {.directory = checkpoints_dir(), .number = project.iteration, .total_limit = project.total_limit};
  }
  // Also on failure: one of several machines may have a checkpoint of this number already.
  ScopeExit advance([&] { ++project.iteration; });
  return checkpointer_->save(training_state(), destination, options);
}

checkpoint::RemovableHandle Accelerator::register_save_state_pre_hook(checkpoint::SaveStateHook hook) {
  return checkpointer_->save_hooks.add(std::move(hook));
}

checkpoint::RemovableHandle Accelerator::register_load_state_pre_hook(checkpoint::LoadStateHook hook) {
  return checkpointer_->load_hooks.add(std::move(hook));
}

void Accelerator::load_state(const std::filesystem::path& input_dir) {
  auto directory = input_dir;
  if (input_dir.empty()) {
    const auto newest = checkpointer_->newest(checkpoints_dir());
    if (!newest) {
      fail(checkpoints_dir().string(),
           ": there is no complete checkpoint; pass its directory, or call has_checkpoint() ",
           "first and start without a checkpoint");
    }
    directory = *newest;
  }
  checkpointer_->load(training_state(), directory);
  accumulating_.clear();  // the models of the saved window are unknown
  auto& project = project_configuration_;
  if (!project.automatic_checkpoint_naming || project.project_dir.empty()) return;
  project.iteration = std::max(project.iteration, checkpointer_->next_number(checkpoints_dir()));
}

bool Accelerator::has_checkpoint(const std::filesystem::path& input_dir) {
  return input_dir.empty() ? checkpointer_->newest(checkpoints_dir()).has_value() : checkpointer_->exists(input_dir);
}

bool Accelerator::optimizer_step_was_skipped() const {
  return std::any_of(optimizers().begin(), optimizers().end(),
                     [](const Optimizer& optimizer) { return optimizer.step_was_skipped(); });
}

void Accelerator::free_memory() {
  prepared_.clear();
  gradient_state_->step = 0;
  gradient_state_->items = {};
  accumulating_.clear();
  tensors::release_tensor_memory();
}

void Accelerator::end_training() {
  trackers_->finish();
  checkpointer_->wait();
  // No optimizer steps any more, so dropping gradient shards needs no warning.
  for (const auto& model : prepared_.models_in_use()) {
    if (auto* replicas = dynamic_cast<parallel::Replicas*>(model->distributed().get()))
      sharding::keep_whole_gradients(*replicas);
  }
  for (const auto& optimizer : prepared_.optimizers_in_use()) unshard(optimizer);
  wait_for_everyone();
  free_memory();
  PartialState::reset();
}

std::string Accelerator::describe() const {
  return PartialState::describe() + "\nMixed precision type: " + std::string(precision::to_string(mixed_precision_)) +
         "\n";
}

void Accelerator::run_joined(const std::vector<std::shared_ptr<train::PreparedModel>>& models,
                             const std::function<void()>& body, const JoinOptions& options) {
  std::vector<std::shared_ptr<parallel::DistributedModel>> distributed;
  for (const auto& model : models) {
    if (!model->distributed()) {
      fail("join_uneven_inputs: the model was prepared for evaluation only, so it has no gradients to join");
    }
    distributed.push_back(model->distributed());
  }
  parallel::Join join(std::move(distributed), group());
  for (const auto& optimizer : prepared_.optimizers_in_use()) unshard(optimizer);
  {
    std::vector<std::pair<std::shared_ptr<data::PreparedCore>, bool>> overridden;  // with the value to restore
    ScopeExit restore([&] {
      for (const auto& [loader, even_batches] : overridden) loader->set_even_batches(even_batches);
    });
    for (const auto& loader : prepared_.loaders()) {
      if (!options.even_batches || loader->loader().is_iterable()) continue;
      overridden.emplace_back(loader, loader->options().configuration.even_batches);
      loader->set_even_batches(*options.even_batches);
    }
    body();
  }
  join.finish();
}

}  // namespace accelerate
