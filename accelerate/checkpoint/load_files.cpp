#include "accelerate/checkpoint/load_files.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "accelerate/base/log.h"
#include "accelerate/checkpoint/file_names.h"
#include "accelerate/checkpoint/loop_state.h"
#include "accelerate/checkpoint/random_states.h"
#include "accelerate/checkpoint/stored_weights.h"
#include "accelerate/tensors/files/weight_files.h"

namespace accelerate::checkpoint {
namespace {

namespace fs = std::filesystem;
using tensors::TorchValue;

/// Collects all errors, to report them at once.
class ErrorList {
 public:
  /// Runs `work` and records what it throws, with the file name.
  template <class Work>
  void about(const fs::path& file, Work&& work) {
    try {
      work();
    } catch (const std::exception& error) {
      std::string text = error.what();
      if (!text.starts_with(file.string())) text = file.string() + ": " + text;
      add(text);
    }
  }

  void add(const std::string& text) { text_ += (text_.empty() ? "" : "\n") + text; }

  void throw_if_any() const {
    if (!text_.empty()) throw Error(text_);
  }

 private:
  std::string text_;
};

/// Reads Python's scaler.pt. Throws Error if a key is missing or has another type.
precision::GradScalerState read_scaler_state(const TorchValue& state) {
  return {.scale = state.at("scale").number(),
          .growth_factor = state.at("growth_factor").number(),
          .backoff_factor = state.at("backoff_factor").number(),
          .growth_interval = state.at("growth_interval").integer(),
          .growth_tracker = state.at("_growth_tracker").integer()};
}

class Checker {
 public:
  Checker(const fs::path& directory, const TrainingState& state, const Models& models, const LoadFilesOptions& options)
      : directory_(directory), state_(state), models_(models), options_(options) {}

  CheckedFiles check() {
    check_counts();
    errors_.throw_if_any();
    check_schedulers();
    check_objects();
    check_models();
    check_optimizers();
    check_scaler();
    check_position();
    check_random_states();
    errors_.throw_if_any();
    return std::move(checked_);
  }

 private:
  void check_counts() {
    const auto num_models = std::max(count_files(directory_, model_file), count_files(directory_, torch_model_file));
    if (options_.compare_models) compare("models", num_models, models_.size());
    compare("optimizers", count_files(directory_, optimizer_file), state_.optimizers.size());
    compare("schedulers", count_files(directory_, scheduler_file), state_.schedulers.size());
    compare("registered objects", count_files(directory_, custom_object_file), state_.objects.size());
  }

  void compare(const char* what, size_t saved, size_t own) {
    if (saved == own) return;
    errors_.add(directory_.string() + ": the checkpoint has " + std::to_string(saved) + " " + what +
                "; the program has " + std::to_string(own) +
                ". Prepare and register the same objects as when it was saved, in the same order");
  }

  /// Reads a torch file and passes it to `use`. Errors are recorded with the file name.
  template <class Use>
  void with_file(const std::string& name, Use&& use) {
    errors_.about(directory_ / name, [&] { use(tensors::load_torch_file(directory_ / name)); });
  }

  void add(std::function<void()> change) { checked_.changes.push_back(std::move(change)); }

  template <class Part>
  void add_load_of_user(const std::string& name, Part part) {
    with_file(name, [&](TorchValue value) {
      checked_.loads_of_user.push_back([part, value = std::move(value), file = directory_ / name]() mutable {
        ErrorList errors;
        errors.about(file, [&] { part.load_state_dict(value); });
        errors.throw_if_any();
      });
    });
  }

  void check_schedulers() {
    for (size_t i = 0; i < state_.schedulers.size(); ++i) add_load_of_user(scheduler_file(i), state_.schedulers[i]);
  }

  void check_objects() {
    for (size_t i = 0; i < state_.objects.size(); ++i) add_load_of_user(custom_object_file(i), state_.objects[i]);
  }

  /// One change for all models: hooks may leave different models on different ranks.
  void check_models() {
    std::vector<std::function<void()>> loads;
    for (size_t i = 0; i < models_.size(); ++i) {
      auto file = directory_ / model_file(i);
      if (!fs::exists(file)) file = directory_ / torch_model_file(i);
      errors_.about(file, [&] {
        auto weights = train::state_dict_of(*models_[i]);
        const auto stored = tensors::open_weights(file, {.verify = options_.verify});
        loads.push_back(check_weights(weights, stored, file, /*strict=*/true).load);
      });
    }
    add([loads = std::move(loads)] {
      for (const auto& load : loads) load();
    });
  }

  void check_optimizers() {
    for (size_t i = 0; i < state_.optimizers.size(); ++i) {
      const auto file = directory_ / optimizer_file(i);
      errors_.about(file, [&] {
        add(state_.optimizers[i].checked_state(tensors::open_torch_file(file, {.verify = options_.verify})));
      });
    }
  }

  void check_scaler() {
    if (!state_.scaler || !state_.scaler->is_enabled()) return;
    std::optional<precision::GradScalerState> saved;
    if (fs::exists(directory_ / kScalerFile)) {
      with_file(kScalerFile, [&](const TorchValue& value) {
        if (!value.entries().empty()) saved = read_scaler_state(value);
      });
    } else {
      get_logger("accelerate.checkpoint")
          .warning(directory_.string() +
                   ": the saved run did not use fp16; the loss scale starts from its initial value");
    }
    add([scaler = state_.scaler, saved] {
      if (saved) scaler->load_state(*saved);
    });
  }

  void check_position() {
    errors_.about(directory_ / loop_state_file(options_.rank),
                  [&] { add(checked_loop_state(directory_, state_, options_.rank, options_.world_size)); });
  }

  void check_random_states() {
    const auto ranks = ranks_with_file(directory_, random_states_file);
    const bool has_own = std::binary_search(ranks.begin(), ranks.end(), options_.rank);
    const int rank = has_own || ranks.empty() ? options_.rank : ranks.front();
    with_file(random_states_file(rank), [&](const TorchValue& value) {
      auto states = has_own ? checked_random_states(value) : random_states_of_new_rank(value, options_.rank);
      checked_.python = std::move(states.python);
      add([gradient_state = state_.gradient_state, states = std::move(states)] {
        gradient_state->step = states.step;
        states.restore();
      });
    });
  }

  fs::path directory_;
  const TrainingState& state_;
  const Models& models_;
  LoadFilesOptions options_;
  ErrorList errors_;
  CheckedFiles checked_;
};

}  // namespace

CheckedFiles check_files(const fs::path& directory, const TrainingState& state, const Models& models,
                         const LoadFilesOptions& options) {
  return Checker(directory, state, models, options).check();
}

}  // namespace accelerate::checkpoint
