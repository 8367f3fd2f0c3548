#include "accelerate/checkpoint/loop_state.h"

#include <algorithm>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/checkpoint/file_names.h"
#include "accelerate/checkpoint/open_window.h"

namespace accelerate::checkpoint {
namespace {

namespace fs = std::filesystem;
using tensors::TorchValue;

constexpr int64_t kVersion = 1;

/// What one step of all ranks consumes: samples, or batches if their sizes vary.
int64_t round_size(const data::PreparedCore& loader) {
  if (loader.loader().batch_size()) return loader.total_batch_size();
  return loader.options().configuration.split_batches ? 1 : loader.world_size();
}

TorchValue value_if_defined(const at::Tensor& tensor) { return tensor.defined() ? TorchValue(tensor) : TorchValue(); }

at::Tensor tensor_if_there(const TorchValue* value) {
  return value && !value->is_none() ? value->tensor() : at::Tensor();
}

TorchValue value_of(const data::PreparedCore& loader) {
  const auto position = loader.state_dict();
  return TorchValue::dict(
      {{"epoch", position.epoch},
       {"batches_seen", position.batches_seen},
       {"round_size", round_size(loader)},
       {"seed", position.seed ? TorchValue(static_cast<int64_t>(*position.seed)) : TorchValue()},  // bits
       {"generator_state", value_if_defined(position.generator_state)},
       {"read_ahead_state", value_if_defined(position.read_ahead_state)}});
}

/// The position for a loader whose batch size or world size may differ from the saved one. Rounds down, so no sample is
/// skipped.
data::LoaderPosition position_for(const data::PreparedCore& loader, const TorchValue& value, bool same_job) {
  const int64_t taken = value.at("batches_seen").integer() * value.at("round_size").integer();
  const int64_t again = taken % round_size(loader);
  if (again != 0) {
    get_logger("accelerate.checkpoint")
        .warning("the batches of this job differ from those of the saved one: " + std::to_string(again) + " " +
                 (loader.loader().batch_size() ? "samples" : "batches") + " of this epoch are repeated");
  }
  data::LoaderPosition position{.epoch = value.at("epoch").integer(), .batches_seen = taken / round_size(loader)};
  if (!value.at("seed").is_none()) position.seed = static_cast<uint64_t>(value.at("seed").integer());
  position.generator_state = tensor_if_there(&value.at("generator_state"));
  // With another world size the next batch is not the one that was read ahead. Older checkpoints do not have this
  // state.
  if (same_job) position.read_ahead_state = tensor_if_there(value.find("read_ahead_state"));
  loader.check_state(position);
  return position;
}

TorchValue read_file(const fs::path& directory, int rank) {
  const auto path = directory / loop_state_file(rank);
  auto file = tensors::load_torch_file(path);
  if (const auto version = file.at("version").integer(); version > kVersion) {
    fail(path.string(), ": was written by a newer release (version ", version, "; this one reads ", kVersion, ")");
  }
  return file;
}

/// Reads the files of all ranks of the saved job. Throws Error if one is missing or of another job.
std::vector<TorchValue> files_of_all_ranks(const fs::path& directory, const std::vector<int>& ranks, int saved_ranks) {
  const auto num_here = std::lower_bound(ranks.begin(), ranks.end(), saved_ranks) - ranks.begin();
  if (num_here != saved_ranks) {
    fail("the saved job of ", saved_ranks, " ranks was inside an accumulation window, and only ", num_here,
         " of their gradients are available; continue with the same number of ranks, or collect the files of all "
         "machines");
  }
  std::vector<TorchValue> files;
  for (int rank = 0; rank < saved_ranks; ++rank) {
    const auto world_size = files.emplace_back(read_file(directory, rank)).at("world_size").integer();
    if (world_size != saved_ranks) {
      fail((directory / loop_state_file(rank)).string(), ": belongs to a job of ", world_size,
           " ranks, and the other files to one of ", saved_ranks, "; collect the files of one save");
    }
  }
  return files;
}

}  // namespace

TorchValue loop_state(const TrainingState& state, int world_size) {
  auto loaders = TorchValue::list();
  for (const auto& loader : state.loaders) loaders.items().push_back(value_of(*loader));
  return TorchValue::dict({{"version", kVersion},
                           {"world_size", world_size},
                           {"sync_gradients", state.gradient_state->sync_gradients},
                           {"loaders", std::move(loaders)},
                           {"items", counted_items(state)},
                           {"gradients", accumulated_gradients(state)}});
}

std::function<void()> checked_loop_state(const fs::path& directory, const TrainingState& state, int rank,
                                         int world_size) {
  const auto ranks = ranks_with_file(directory, loop_state_file);
  if (ranks.empty()) return [] {};
  const int first = std::binary_search(ranks.begin(), ranks.end(), rank) ? rank : ranks.front();
  auto file = read_file(directory, first);
  const auto saved_ranks = static_cast<int>(file.at("world_size").integer());
  const bool same_job = saved_ranks == world_size;
  if (const int right = same_job ? rank : ranks.front(); right != first) file = read_file(directory, right);

  const auto& saved = file.at("loaders").items();
  if (saved.size() != state.loaders.size()) {
    fail("there are ", saved.size(), " data loaders; the program has prepared ", state.loaders.size());
  }
  std::vector<data::LoaderPosition> positions;
  for (size_t i = 0; i < saved.size(); ++i) {
    positions.push_back(position_for(*state.loaders[i], saved[i], same_job));
  }

  auto window = window_of(file, state);
  if (!same_job && !window.gradients.empty()) {
    const auto files = files_of_all_ranks(directory, ranks, saved_ranks);
    window = share_of_windows(files, state, rank, world_size);
  }

  return [state, positions, window, sync_gradients = file.at("sync_gradients").boolean()]() mutable {
    for (size_t i = 0; i < positions.size(); ++i) state.loaders[i]->load_state_dict(positions[i]);
    state.gradient_state->sync_gradients = sync_gradients;
    restore(window, state);
  };
}

}  // namespace accelerate::checkpoint
