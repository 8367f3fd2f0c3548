#include "accelerate/tracking/formats/wandb_file.h"

#include <algorithm>
#include <cmath>

#include "accelerate/formats/crc32.h"

namespace accelerate::tracking {

namespace {

// Field numbers of the W&B messages that are written here.
namespace wandb_record {
enum { kNumber = 1, kHistory = 2, kSummary = 3, kConfig = 5, kRun = 17, kExit = 18, kHeader = 21, kInfo = 200 };
}
namespace wandb_header {
enum { kVersion = 1, kProducer = 1, kMinConsumer = 2 };
}
namespace wandb_run {
enum {
  kId = 1,
  kEntity = 2,
  kProject = 3,
  kGroup = 6,
  kJobType = 7,
  kName = 8,
  kNotes = 9,
  kTags = 10,
  kHost = 13,
  kStartTime = 17,
  kResume = 24
};
}
namespace wandb_item {
enum { kUpdate = 1, kKey = 1, kNestedKey = 2, kJson = 16 };
}
namespace wandb_exit {
enum { kCode = 1, kRuntime = 2 };
}
constexpr int kHistoryStep = 2, kStepNumber = 1, kInfoStream = 1, kSeconds = 1, kNanoseconds = 2;

constexpr std::string_view kFileHeader(":W&B\xe1\xbe\0", 7);
constexpr const char* kOldestReader = "0.70.0";  // the same as in Python's records

constexpr uint64_t kBlockBytes = 32768;
constexpr uint64_t kChunkHeaderBytes = 7;  // checksum, size, kind
enum class Chunk : char { Full = 1, First = 2, Middle = 3, Last = 4 };

ProtobufMessage time_stamp(double seconds) {
  const auto whole = std::floor(seconds);
  return ProtobufMessage()
      .integer(kSeconds, static_cast<int64_t>(whole))
      .integer(kNanoseconds, static_cast<int64_t>((seconds - whole) * 1e9));
}

ProtobufMessage wandb_items(const WandbItems& items) {
  ProtobufMessage list;
  for (const auto& [names, json] : items) {
    ProtobufMessage item;
    for (const auto& name : names) item.text(wandb_item::kNestedKey, name);
    list.message(wandb_item::kUpdate, item.text(wandb_item::kJson, json));
  }
  return list;
}

void append_chunk(std::string& bytes, Chunk kind, std::string_view part) {
  const char byte = static_cast<char>(kind);
  append_little_endian(bytes, formats::crc32(part, formats::crc32({&byte, 1})), 4);
  append_little_endian(bytes, part.size(), 2);
  bytes.push_back(byte);
  bytes += part;
}

/// Splits the record into one chunk per block. The end of a block is zero-padded if it is too short for a chunk header.
void append_record(std::string& bytes, uint64_t file_bytes, std::string_view record) {
  for (bool is_first = true; is_first || !record.empty(); is_first = false) {
    auto room = kBlockBytes - (file_bytes + bytes.size()) % kBlockBytes;
    if (room < kChunkHeaderBytes) {
      bytes.append(room, '\0');
      room = kBlockBytes;
    }
    const auto part = record.substr(0, room - kChunkHeaderBytes);
    record.remove_prefix(part.size());
    const bool is_last = record.empty();
    append_chunk(bytes, is_first ? (is_last ? Chunk::Full : Chunk::First) : (is_last ? Chunk::Last : Chunk::Middle),
                 part);
  }
}

}  // namespace

ProtobufMessage wandb_version_record(std::string_view run_id) {
  auto version = ProtobufMessage()
                     .text(wandb_header::kProducer, "accelerate for C++")
                     .text(wandb_header::kMinConsumer, kOldestReader);
  return ProtobufMessage()
      .message(wandb_record::kHeader, ProtobufMessage().message(wandb_header::kVersion, version))
      .message(wandb_record::kInfo, ProtobufMessage().text(kInfoStream, run_id));
}

ProtobufMessage wandb_run_record(const WandbRun& run) {
  ProtobufMessage message;
  auto add = [&](int field, const std::string& text) {
    if (!text.empty()) message.text(field, text);
  };
  add(wandb_run::kId, run.id);
  add(wandb_run::kEntity, run.entity);
  add(wandb_run::kProject, run.project);
  add(wandb_run::kGroup, run.group);
  add(wandb_run::kJobType, run.job_type);
  add(wandb_run::kName, run.name);
  add(wandb_run::kNotes, run.notes);
  for (const auto& tag : run.tags) add(wandb_run::kTags, tag);
  add(wandb_run::kHost, run.host);
  message.message(wandb_run::kStartTime, time_stamp(run.start_time)).integer(wandb_run::kResume, run.resume);
  return ProtobufMessage().message(wandb_record::kRun, message);
}

ProtobufMessage wandb_config_record(const WandbItems& items) {
  ProtobufMessage list;
  for (const auto& [names, json] : items) {
    list.message(wandb_item::kUpdate,
                 ProtobufMessage().text(wandb_item::kKey, names.front()).text(wandb_item::kJson, json));
  }
  return ProtobufMessage().message(wandb_record::kConfig, list);
}

ProtobufMessage wandb_history_record(const WandbItems& items, int64_t step) {
  auto row = wandb_items(items);
  row.message(kHistoryStep, ProtobufMessage().integer(kStepNumber, step));
  return ProtobufMessage().message(wandb_record::kHistory, row);
}

ProtobufMessage wandb_summary_record(const WandbItems& items) {
  return ProtobufMessage().message(wandb_record::kSummary, wandb_items(items));
}

ProtobufMessage wandb_exit_record(int64_t runtime_seconds) {
  auto exit = ProtobufMessage().integer(wandb_exit::kCode, 0).integer(wandb_exit::kRuntime, runtime_seconds);
  return ProtobufMessage().message(wandb_record::kExit, exit);
}

std::string wandb_file_bytes(uint64_t file_bytes, int64_t num_records, const std::vector<ProtobufMessage>& records) {
  std::string bytes;
  if (file_bytes == 0) bytes = kFileHeader;
  for (const auto& record : records) {
    auto numbered = ProtobufMessage().integer(wandb_record::kNumber, ++num_records).bytes() + record.bytes();
    append_record(bytes, file_bytes, numbered);
  }
  return bytes;
}

}  // namespace accelerate::tracking
