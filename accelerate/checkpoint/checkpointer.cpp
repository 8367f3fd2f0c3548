#include "accelerate/checkpoint/checkpointer.h"

#include <algorithm>
#include <exception>
#include <limits>

#include <ATen/CPUGeneratorImpl.h>

#include "accelerate/base/log.h"
#include "accelerate/base/version.h"
#include "accelerate/checkpoint/load_files.h"
#include "accelerate/checkpoint/save_files.h"
#include "accelerate/durable/manifest.h"
#include "accelerate/durable/verify.h"

namespace accelerate::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr const char* kVerified = "verified, save ";
constexpr const char* kSave = "save";  // manifest key: the id of the save

/// The description of a checkpoint that leaders send to the other ranks.
std::string description_of(const std::optional<durable::Manifest>& manifest) {
  if (!manifest) return "taken as it is";
  const auto save = manifest->metadata.find(kSave);
  return kVerified + (save == manifest->metadata.end() ? "" : save->second);
}

/// Throws Error if machines have different checkpoints under one name. This happens on local disks after a crash
/// between their commits.
void check_is_of_one_save(const std::vector<std::string>& descriptions, const fs::path& directory) {
  for (size_t rank = 0; rank < descriptions.size(); ++rank) {
    if (descriptions[rank].empty() || descriptions[rank] == descriptions.front()) continue;
    fail(directory.string(), ": the machine of rank ", rank,
         " has a different checkpoint under this name than the machine of rank 0; ", "load one that all machines have");
  }
}

/// Throws Error if `directory` no longer has the checkpoint of `description`.
void check_is_still(const std::string& description, const fs::path& directory) {
  if (description_of(durable::read_manifest(directory)) == description) return;
  fail(directory.string(), ": another job saved here while this one was loading; load it again");
}

}  // namespace

Checkpointer::Checkpointer(comm::Group group, int leader)
    : group_(group),
      ranks_{.rank = group.rank(), .leader = leader},
      exchange_([group](const std::string& text) { return group.all_gather_bytes(text); }),
      side_channel_(group) {}

Checkpointer::~Checkpointer() {
  if (!background_.valid()) return;
  // The other ranks may have ended, and the exception should be reported soon.
  constexpr auto kShutdownTimeout = std::chrono::seconds(10);
  if (std::uncaught_exceptions() > 0 && background_.wait_for(kShutdownTimeout) != std::future_status::ready) {
    side_channel_.close();
  }
  try {
    wait();
  } catch (const std::exception& error) {
    get_logger("accelerate.checkpoint").error(error.what());
  }
}

durable::Stage Checkpointer::make_stage(const Destination& destination) {
  if (!destination.number) return durable::Stage(destination.directory);
  if (!series_ || series_->first != destination.directory) {
    series_.emplace(destination.directory, durable::CheckpointDirectory(destination.directory));
  }
  return series_->second.stage(*destination.number);
}

fs::path Checkpointer::save(TrainingState state, const Destination& destination, const SaveStateOptions& options) {
  wait();
  auto staged = std::make_shared<StagedSave>(ranks_, [&] { return make_stage(destination); }, exchange_);
  if (python_.random.is_none()) {
    python_ = seeded_python_generators(at::detail::getDefaultCPUGenerator().current_seed());
  }

  auto files = files_of(state, staged->path(), options);
  const std::map<std::string, std::string> metadata = {{"step", std::to_string(state.gradient_state->step)},
                                                       {"world_size", std::to_string(group_.size())},
                                                       {kSave, staged->id()},
                                                       {"accelerate_cpp", kVersion}};
  auto finish = [this, staged, files = std::move(files), metadata, destination](const comm::Exchange& exchange) {
    staged->finish(files, metadata, exchange);
    prune(destination);
  };
  if (options.async) {
    background_ = std::async(std::launch::async, [this, finish = std::move(finish)] {
      finish([this](const std::string& text) { return side_channel_.all_gather_bytes(text); });
    });
  } else {
    finish(exchange_);
  }
  return staged->target();
}

std::vector<CheckpointFile> Checkpointer::files_of(TrainingState& state, const fs::path& stage,
                                                   const SaveStateOptions& options) {
  std::vector<train::StateDict> weights;
  comm::collectively(exchange_, [&] {
    for (const auto& model : state.models) weights.push_back(train::state_dict_of(*model));
    auto models = state.models;  // a copy for the hooks: accumulated gradients are saved for all models
    save_hooks.call(models, weights, stage);
  });
  // Separate from the hooks: a rank whose hook failed would miss the all-gather of optimizer states.
  std::vector<CheckpointFile> files;
  copies_.begin();
  comm::collectively(exchange_, [&] {
    auto gathered = gathered_states(state.optimizers, /*keep=*/ranks_.leads());
    files = save_files(state, weights, std::move(gathered), python_,
                       {.rank = ranks_.rank,
                        .world_size = group_.size(),
                        .shared = ranks_.leads(),
                        .safe_serialization = options.safe_serialization,
                        .copies = options.async ? &copies_ : nullptr});
  });
  return files;
}

/// Only warns on failure: the new checkpoint is already saved.
void Checkpointer::prune(const Destination& destination) const {
  if (!ranks_.leads() || !destination.total_limit) return;
  try {
    series_->second.prune(*destination.total_limit);
  } catch (const std::exception& error) {
    get_logger("accelerate.checkpoint")
        .warning(
            std::string("the checkpoint is saved, but an old one beyond total_limit was not removed: ") + error.what(),
            {.main_process_only = false});
  }
}

/// Returns the results of `work` on all leaders.
std::vector<int64_t> Checkpointer::from_leaders(const std::function<int64_t()>& work) const {
  std::vector<int64_t> numbers;
  for (const auto& text : comm::collectively(exchange_, [&] { return ranks_.leads() ? std::to_string(work()) : ""; })) {
    if (!text.empty()) numbers.push_back(std::stoll(text));
  }
  return numbers;
}

std::optional<fs::path> Checkpointer::newest(const fs::path& directory) {
  wait();
  constexpr int64_t kNone = -1;
  for (auto at_most = std::numeric_limits<int64_t>::max();;) {
    const auto numbers = from_leaders([&] {
      const auto found = durable::newest_checkpoint(directory, at_most);
      return found ? found->number : kNone;
    });
    const auto [lowest, highest] = std::minmax_element(numbers.begin(), numbers.end());
    if (*lowest == kNone) return std::nullopt;
    if (*lowest == *highest) return directory / durable::checkpoint_name(*lowest);
    at_most = *lowest;  // a machine stopped before it had committed what the others have
  }
}

bool Checkpointer::exists(const fs::path& directory) {
  wait();
  const auto answers = from_leaders([&]() -> int64_t {
    durable::restore(directory);
    return fs::is_directory(directory) && !fs::is_empty(directory) ? 1 : 0;
  });
  return std::find(answers.begin(), answers.end(), 0) == answers.end();
}

int64_t Checkpointer::next_number(const fs::path& directory) const {
  const auto numbers = from_leaders([&] { return durable::next_number(directory); });
  return *std::max_element(numbers.begin(), numbers.end());
}

void Checkpointer::load(TrainingState state, const fs::path& directory) {
  wait();
  const auto found = comm::collectively(
      exchange_, [&] { return ranks_.leads() ? description_of(durable::verify(directory)) : std::string(); });
  check_is_of_one_save(found, directory);
  CheckedFiles checked;
  comm::collectively(exchange_, [&] {
    auto models = state.models;
    load_hooks.call(models, directory);
    checked = check_files(directory, state, models,
                          {.rank = ranks_.rank,
                           .world_size = group_.size(),
                           .compare_models = load_hooks.empty(),
                           .verify = !found[ranks_.leader].starts_with(kVerified)});
  });
  // Only after all ranks have opened their files: open files do not change when a checkpoint is replaced.
  comm::collectively(exchange_, [&] {
    if (ranks_.leads()) check_is_still(found[group_.rank()], directory);
  });
  // User code runs first: if it throws, everything else is unchanged on all ranks. Each change is agreed on separately:
  // a change may be collective, so all ranks must know if an earlier one failed.
  for (const auto* changes : {&checked.loads_of_user, &checked.changes}) {
    for (const auto& change : *changes) comm::collectively(exchange_, change);
  }
  python_ = std::move(checked.python);
}

void Checkpointer::wait() {
  if (!background_.valid()) return;
  try {
    background_.get();
  } catch (const std::exception& error) {
    fail("the background save of a checkpoint failed: ", error.what());
  }
}

}  // namespace accelerate::checkpoint
