#include "accelerate/checkpoint/checkpointer.h"

#include <exception>

#include <ATen/CPUGeneratorImpl.h>

#include "accelerate/base/file.h"
#include "accelerate/base/log.h"
#include "accelerate/base/version.h"
#include "accelerate/checkpoint/load_files.h"
#include "accelerate/checkpoint/save_files.h"
#include "accelerate/durable/verify.h"

namespace accelerate::checkpoint {

namespace fs = std::filesystem;

Checkpointer::Checkpointer(comm::Group group, int leader)
    : group_(group),
      place_{.rank = group.rank(), .leader = leader},
      exchange_([group](const std::string& text) { return group.all_gather_bytes(text); }),
      side_channel_(group) {}

Checkpointer::~Checkpointer() {
  if (!background_.valid()) return;
  // The other ranks may be gone, and whoever watches this one should hear of the exception soon.
  constexpr auto kPatience = std::chrono::seconds(10);
  if (std::uncaught_exceptions() > 0 && background_.wait_for(kPatience) != std::future_status::ready) {
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
  report_file_size_limit();
  auto staged = std::make_shared<StagedSave>(place_, [&] { return make_stage(destination); }, exchange_);
  if (python_.random.is_none()) {
    python_ = seeded_python_generators(at::detail::getDefaultCPUGenerator().current_seed());
  }

  std::vector<CheckpointFile> files;
  copies_.begin();
  together(exchange_, [&] {
    std::vector<train::StateDict> weights;
    for (const auto& model : state.models) weights.push_back(train::state_dict_of(*model));
    save_hooks.call(state.models, weights, staged->path());
    files = save_files(state, weights, python_,
                       {.rank = place_.rank,
                        .world_size = group_.size(),
                        .shared = place_.leads(),
                        .safe_serialization = options.safe_serialization,
                        .copies = options.async ? &copies_ : nullptr});
    return std::string();
  });
  const std::map<std::string, std::string> metadata = {{"step", std::to_string(state.gradient_state->step)},
                                                       {"world_size", std::to_string(group_.size())},
                                                       {"accelerate_cpp", kVersion}};
  auto prune = [this, destination] {
    if (destination.total_limit) series_->second.prune(*destination.total_limit);
  };
  if (!options.async) {
    staged->finish(files, metadata, prune, exchange_);
    return staged->target();
  }
  background_ = std::async(std::launch::async, [this, staged, files = std::move(files), metadata, prune] {
    staged->finish(files, metadata, prune,
                   [this](const std::string& text) { return side_channel_.all_gather_bytes(text); });
  });
  return staged->target();
}

std::string Checkpointer::from_first_rank(const std::function<std::string()>& work) const {
  return together(exchange_, [&] { return place_.rank == 0 ? work() : std::string(); }).front();
}

fs::path Checkpointer::newest(const fs::path& directory) {
  wait();
  return from_first_rank([&] {
    const auto found = durable::newest_checkpoint(directory);
    if (!found) fail(directory.string(), ": there is no complete checkpoint; name its directory, or start without one");
    return found->path.string();
  });
}

int64_t Checkpointer::next_number(const fs::path& directory) const {
  return std::stoll(from_first_rank([&] {
    const auto all = durable::list_checkpoints(directory);
    return std::to_string(all.empty() ? 0 : all.back().number + 1);
  }));
}

void Checkpointer::load(TrainingState state, const fs::path& directory) {
  wait();
  constexpr const char* kVerified = "verified";
  const auto found = together(exchange_, [&]() -> std::string {
    if (!place_.leads()) return {};
    durable::restore(directory);
    if (!fs::is_directory(directory)) fail(directory.string(), ": there is no such directory to load from");
    return durable::verify(directory) ? kVerified : "";
  });
  CheckedFiles checked;
  together(exchange_, [&]() -> std::string {
    load_hooks.call(state.models, directory);
    checked = check_files(directory, state,
                          {.rank = place_.rank,
                           .world_size = group_.size(),
                           .compare_models = load_hooks.empty(),
                           .verify = found[place_.leader] != kVerified});
    return {};
  });
  together(exchange_, [&]() -> std::string {
    for (const auto& change : checked.changes) change();
    return {};
  });
  python_ = std::move(checked.python);
}

void Checkpointer::wait() {
  if (!background_.valid()) return;
  try {
    background_.get();
  } catch (const std::exception& error) {
    fail("the checkpoint that was saved in the background is lost: ", error.what());
  }
}

}  // namespace accelerate::checkpoint
