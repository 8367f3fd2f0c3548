#include "accelerate/tracking/formats/event_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace accelerate::tracking {

namespace {

// Field numbers of the TensorBoard messages that are written here.
namespace event {
enum { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5 };
}
namespace value {
enum { kTag = 1, kSimpleValue = 2, kImage = 4, kHistogram = 5, kTensor = 8, kMetadata = 9 };
}
namespace image {
enum { kHeight = 1, kWidth = 2, kColorspace = 3, kEncoded = 4 };
}
namespace histogram {
enum { kMin = 1, kMax = 2, kNum = 3, kSum = 4, kSumSquares = 5, kBucketLimit = 6, kBucket = 7 };
}
namespace tensor {
enum { kDtype = 1, kShape = 2, kStringValue = 8, kShapeDim = 2, kDimSize = 1, kStringType = 7 };
}
namespace hparam {
enum { kExperiment = 2, kSessionStart = 3, kSessionEnd = 4, kInfos = 4, kInfoName = 1, kInfoType = 4 };
enum {
  kStartHparams = 1,
  kMapKey = 1,
  kMapValue = 2,
  kNumber = 2,
  kString = 3,
  kBool = 4,
  kEndStatus = 1,
  kSuccess = 1
};
enum { kTypeString = 1, kTypeBool = 2, kTypeFloat64 = 3 };
}  // namespace hparam
constexpr int kSummaryValue = 1;

constexpr std::array<uint32_t, 256> crc32c_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    table[byte] = crc;
  }
  return table;
}

std::string record_of(const ProtobufMessage& event) {
  std::string record;
  append_little_endian(record, event.bytes().size(), 8);
  append_little_endian(record, masked_crc32c(record), 4);
  record += event.bytes();
  append_little_endian(record, masked_crc32c(event.bytes()), 4);
  return record;
}

/// The limits of all buckets, ascending.
const std::vector<double>& bucket_limits() {
  static const auto limits = [] {
    std::vector<double> positive;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive.push_back(limit);
    std::vector<double> all;
    for (auto limit = positive.rbegin(); limit != positive.rend(); ++limit) all.push_back(-*limit);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return limits;
}

}  // namespace

uint32_t masked_crc32c(std::string_view bytes) {
  static constexpr auto kTable = crc32c_table();
  uint32_t crc = ~uint32_t{0};
  for (unsigned char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ byte) & 0xff];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

std::string event_file_name(int64_t unix_seconds, std::string_view host, int64_t process, int64_t number) {
  char seconds[24];
  std::snprintf(seconds, sizeof(seconds), "%010lld", static_cast<long long>(unix_seconds));
  return std::string("events.out.tfevents.") + seconds + "." + std::string(host) + "." + std::to_string(process) + "." +
         std::to_string(number);
}

std::string event_file_header(double wall_time) {
  return record_of(ProtobufMessage().real64(event::kWallTime, wall_time).text(event::kFileVersion, "brain.Event:2"));
}

EventSummary& EventSummary::scalar(std::string_view tag, double number) {
  summary_.message(kSummaryValue,
                   ProtobufMessage().text(value::kTag, tag).real32(value::kSimpleValue, static_cast<float>(number)));
  return *this;
}

EventSummary& EventSummary::text(std::string_view tag, std::string_view text) {
  auto shape = ProtobufMessage().message(tensor::kShapeDim, ProtobufMessage().integer(tensor::kDimSize, 1));
  auto words = ProtobufMessage()
                   .integer(tensor::kDtype, tensor::kStringType)
                   .message(tensor::kShape, shape)
                   .text(tensor::kStringValue, text);
  plugin(std::string(tag) + "/text_summary", "text", "", &words);
  return *this;
}

EventSummary& EventSummary::histogram(std::string_view tag, std::span<const double> values) {
  const auto& limits = bucket_limits();
  std::vector<double> counts(limits.size() - 1);
  double min = INFINITY, max = -INFINITY, num = 0, sum = 0, sum_squares = 0;
  for (double number : values) {
    if (!(number >= limits.front() && number <= limits.back())) continue;
    // A bucket includes its lower limit and excludes its upper one; the last bucket includes both.
    auto above = std::upper_bound(limits.begin(), limits.end(), number) - limits.begin();
    counts[std::min<size_t>(above, counts.size()) - 1] += 1;
    min = std::min(min, number);
    max = std::max(max, number);
    num += 1;
    sum += number;
    sum_squares += number * number;
  }
  if (num == 0) return *this;

  // Keeps only the buckets between the first and the last filled one. An empty bucket before them provides the lower
  // limit of the first, because the format stores upper limits only.
  auto filled = [](double count) { return count > 0; };
  auto first = std::find_if(counts.begin(), counts.end(), filled) - counts.begin();
  auto last = counts.rend() - std::find_if(counts.rbegin(), counts.rend(), filled);
  std::vector<double> kept_counts = {0};
  kept_counts.insert(kept_counts.end(), counts.begin() + first, counts.begin() + last);
  std::vector<double> kept_limits(limits.begin() + first, limits.begin() + last + 1);

  auto histogram = ProtobufMessage()
                       .real64(histogram::kMin, min)
                       .real64(histogram::kMax, max)
                       .real64(histogram::kNum, num)
                       .real64(histogram::kSum, sum)
                       .real64(histogram::kSumSquares, sum_squares)
                       .reals(histogram::kBucketLimit, kept_limits)
                       .reals(histogram::kBucket, kept_counts);
  summary_.message(kSummaryValue, ProtobufMessage().text(value::kTag, tag).message(value::kHistogram, histogram));
  return *this;
}

EventSummary& EventSummary::image(std::string_view tag, int64_t height, int64_t width, int64_t channels,
                                  std::string_view png) {
  auto picture = ProtobufMessage()
                     .integer(image::kHeight, height)
                     .integer(image::kWidth, width)
                     .integer(image::kColorspace, channels)
                     .data(image::kEncoded, png);
  summary_.message(kSummaryValue, ProtobufMessage().text(value::kTag, tag).message(value::kImage, picture));
  return *this;
}

std::string EventSummary::record(double wall_time, int64_t step) const {
  return record_of(ProtobufMessage()
                       .real64(event::kWallTime, wall_time)
                       .integer(event::kStep, step)
                       .message(event::kSummary, summary_));
}

void EventSummary::plugin(std::string_view tag, std::string_view plugin_name, std::string_view content,
                          const ProtobufMessage* tensor) {
  auto metadata = ProtobufMessage().message(1, ProtobufMessage().text(1, plugin_name).data(2, content));
  auto entry = ProtobufMessage().text(value::kTag, tag);
  if (tensor) entry.message(value::kTensor, *tensor);
  summary_.message(kSummaryValue, entry.message(value::kMetadata, metadata));
}

std::vector<EventSummary> EventSummary::hparams(const std::vector<std::pair<std::string, HParam>>& settings) {
  ProtobufMessage experiment, start;
  for (const auto& [name, setting] : settings) {
    ProtobufMessage content;
    int type = hparam::kTypeString;
    if (auto* number = std::get_if<double>(&setting)) {
      content.real64(hparam::kNumber, *number);
      type = hparam::kTypeFloat64;
    } else if (auto* flag = std::get_if<bool>(&setting)) {
      content.integer(hparam::kBool, *flag);
      type = hparam::kTypeBool;
    } else {
      content.text(hparam::kString, std::get<std::string>(setting));
    }
    experiment.message(hparam::kInfos,
                       ProtobufMessage().text(hparam::kInfoName, name).integer(hparam::kInfoType, type));
    start.message(hparam::kStartHparams,
                  ProtobufMessage().text(hparam::kMapKey, name).message(hparam::kMapValue, content));
  }
  auto end = ProtobufMessage().integer(hparam::kEndStatus, hparam::kSuccess);

  std::vector<EventSummary> summaries(3);
  auto add = [](EventSummary& summary, const char* tag, int field, const ProtobufMessage& part) {
    summary.plugin(tag, "hparams", ProtobufMessage().message(field, part).bytes(), nullptr);
  };
  add(summaries[0], "_hparams_/experiment", hparam::kExperiment, experiment);
  add(summaries[1], "_hparams_/session_start_info", hparam::kSessionStart, start);
  add(summaries[2], "_hparams_/session_end_info", hparam::kSessionEnd, end);
  return summaries;
}

}  // namespace accelerate::tracking
