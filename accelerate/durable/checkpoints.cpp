#include "accelerate/durable/checkpoints.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <string>
#include <string_view>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/durable/verify.h"

namespace accelerate::durable {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint_";

std::optional<int64_t> number_in(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  int64_t number = 0;
  auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
  bool is_number =
      error == std::errc() && end == name.data() + name.size() && checkpoint_name(number) == name && number >= 0;
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string checkpoint_name(int64_t number) { return std::string(kPrefix) + std::to_string(number); }

std::vector<NumberedCheckpoint> list_checkpoints(const fs::path& directory) {
  std::vector<NumberedCheckpoint> checkpoints;
  if (!fs::is_directory(directory)) return checkpoints;
  for (const auto& entry : fs::directory_iterator(directory)) {
    auto number = number_in(entry.path().filename().string());
    if (number) checkpoints.push_back({.number = *number, .path = entry.path()});
  }
  std::sort(checkpoints.begin(), checkpoints.end(),
            [](const auto& one, const auto& other) { return one.number < other.number; });
  return checkpoints;
}

std::optional<NumberedCheckpoint> newest_checkpoint(const fs::path& directory, int64_t at_most) {
  auto checkpoints = list_checkpoints(directory);
  for (auto checkpoint = checkpoints.rbegin(); checkpoint != checkpoints.rend(); ++checkpoint) {
    if (checkpoint->number > at_most) continue;
    const auto reason = incompleteness(checkpoint->path);
    if (reason.empty()) return *checkpoint;
    get_logger("accelerate.durable").warning(checkpoint->path.string() + ": is incomplete and was skipped: " + reason);
  }
  return std::nullopt;
}

int64_t next_number(const fs::path& directory) {
  auto checkpoints = list_checkpoints(directory);
  return checkpoints.empty() ? 0 : checkpoints.back().number + 1;
}

CheckpointDirectory::CheckpointDirectory(const fs::path& directory)
    : directory_(fs::absolute(directory)), staging_(StagingDirectory::for_directories_below(directory)) {}

Stage CheckpointDirectory::stage(int64_t number) const {
  auto name = checkpoint_name(number);
  if (fs::exists(staging_->target(name))) {
    fail(staging_->target(name).string(), ": already exists; continue with number ", next_number(directory_),
         ", set by Accelerator::set_save_iteration");
  }
  return Stage(staging_, name);
}

int64_t CheckpointDirectory::prune(int64_t total_limit) const {
  assert(total_limit >= 1);
  auto checkpoints = list_checkpoints(directory_);
  std::erase_if(checkpoints, [](const auto& checkpoint) { return !is_complete(checkpoint.path); });
  int64_t removed = 0;
  for (; std::ssize(checkpoints) - removed > total_limit; ++removed) {
    staging_->remove(checkpoint_name(checkpoints[static_cast<size_t>(removed)].number));
  }
  return removed;
}

}  // namespace accelerate::durable
