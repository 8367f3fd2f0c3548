#include "accelerate/checkpoint/staged_save.h"

#include <random>

#include "accelerate/durable/seal.h"

namespace accelerate::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr char kEnd = '\0';  // separator: the one character that no path contains

/// The message that ranks all-gather first: leader, staging path, target and a random number for the id.
std::string encode_hello(int leader, const fs::path& path, const fs::path& target) {
  const auto chance = std::to_string(std::random_device{}());
  return std::to_string(leader) + kEnd + path.string() + kEnd + target.string() + kEnd + chance;
}

std::vector<std::string> decode_hello(const std::string& hello) {
  std::vector<std::string> parts(1);
  for (char letter : hello) {
    if (letter == kEnd) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

}  // namespace

StagedSave::StagedSave(const RankAndLeader& ranks, const std::function<durable::Stage()>& make_stage,
                       const comm::Exchange& exchange)
    : ranks_(ranks) {
  const auto all = comm::collectively(exchange, [&] {
    if (!ranks_.leads()) return encode_hello(ranks_.leader, {}, {});
    stage_.emplace(make_stage());
    return encode_hello(ranks_.leader, stage_->path(), stage_->target());
  });
  for (const auto& text : all) leaders_.push_back(std::stoi(text));
  const auto parts = decode_hello(all[ranks_.leader]);
  path_ = parts.at(1);
  target_ = parts.at(2);
  id_ = decode_hello(all.front()).at(3);
}

void StagedSave::finish(const std::vector<CheckpointFile>& files, const std::map<std::string, std::string>& metadata,
                        const comm::Exchange& exchange) {
  const auto all = comm::collectively(exchange, [&] {
    std::vector<durable::SealedFile> written;
    for (const auto& file : files) {
      auto& output = written.emplace_back(path_, file.name);
      file.write([&](std::string_view bytes) { output.append(bytes); });
    }
    std::vector<durable::FileRecord> records;
    for (const auto& file : written) records.push_back(file.seal());
    return durable::encode_records(records);
  });
  comm::collectively(exchange, [&] {
    if (!ranks_.leads()) return;
    std::vector<durable::FileRecord> records;
    for (size_t rank = 0; rank < all.size(); ++rank) {
      if (leaders_[rank] != ranks_.leader) continue;
      const auto of_rank = durable::decode_records(all[rank]);
      records.insert(records.end(), of_rank.begin(), of_rank.end());
    }
    stage_->commit(std::move(records), metadata);
  });
}

}  // namespace accelerate::checkpoint
