#include "accelerate/checkpoint/staged_save.h"

#include <random>

#include "accelerate/durable/seal.h"

namespace accelerate::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr char kEnd = '\0';  // separator: the one character that no path contains

/// The message that ranks all-gather first: leader, staging path, target and a random number for the id.
std::string introduction(int leader, const fs::path& path, const fs::path& target) {
  const auto chance = std::to_string(std::random_device{}());
  return std::to_string(leader) + kEnd + path.string() + kEnd + target.string() + kEnd + chance;
}

std::vector<std::string> parts_of(const std::string& introduction) {
  std::vector<std::string> parts(1);
  for (char letter : introduction) {
    if (letter == kEnd) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

}  // namespace

StagedSave::StagedSave(const Place& place, const std::function<durable::Stage()>& make_stage, const Exchange& exchange)
    : place_(place) {
  const auto all = collectively(exchange, [&] {
    if (!place_.leads()) return introduction(place_.leader, {}, {});
    stage_.emplace(make_stage());
    return introduction(place_.leader, stage_->path(), stage_->target());
  });
  for (const auto& text : all) leaders_.push_back(std::stoi(text));
  const auto parts = parts_of(all[place_.leader]);
  path_ = parts.at(1);
  target_ = parts.at(2);
  id_ = parts_of(all.front()).at(3);
}

void StagedSave::finish(const std::vector<CheckpointFile>& files, const std::map<std::string, std::string>& metadata,
                        const Exchange& exchange) {
  const auto all = collectively(exchange, [&] {
    std::vector<durable::SealedFile> written;
    for (const auto& file : files) {
      auto& output = written.emplace_back(path_, file.name);
      file.write([&](std::string_view bytes) { output.append(bytes); });
    }
    std::vector<durable::FileRecord> records;
    for (const auto& file : written) records.push_back(file.seal());
    return durable::encode_records(records);
  });
  collectively(exchange, [&]() -> std::string {
    if (!place_.leads()) return {};
    std::vector<durable::FileRecord> records;
    for (size_t rank = 0; rank < all.size(); ++rank) {
      if (leaders_[rank] != place_.leader) continue;
      const auto of_rank = durable::decode_records(all[rank]);
      records.insert(records.end(), of_rank.begin(), of_rank.end());
    }
    stage_->commit(std::move(records), metadata);
    return {};
  });
}

}  // namespace accelerate::checkpoint
