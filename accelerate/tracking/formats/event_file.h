#pragma once

// The format of TensorBoard's event files: protocol buffer records, each with two checksums (CRC-32C, masked as in
// TFRecord). Summaries equal those of torch.utils.tensorboard for the same values. Written here because TensorBoard has
// no C++ library.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "accelerate/tracking/formats/protobuf.h"

namespace accelerate::tracking {

/// The name of a new event file. `number` distinguishes files of the same second and process.
std::string event_file_name(int64_t unix_seconds, std::string_view host, int64_t process, int64_t number);

/// The first record of every event file.
std::string event_file_header(double wall_time);

/// A hyperparameter of a run, as the HParams tab shows it.
using HParam = std::variant<bool, double, std::string>;

/// One or more values of a step, added by the functions below.
class EventSummary {
 public:
  EventSummary& scalar(std::string_view tag, double value);
  EventSummary& text(std::string_view tag, std::string_view text);
  /// Adds a histogram. Bucket limits grow by 10 % from 1e-12 to 1e20 on both sides of zero. Values outside of these and
  /// NaNs are dropped. Adds nothing if no value is left.
  EventSummary& histogram(std::string_view tag, std::span<const double> values);
  /// `png` is an image file of `height` x `width` pixels in 1 (grey), 3 (RGB) or 4 (RGBA) channels.
  EventSummary& image(std::string_view tag, int64_t height, int64_t width, int64_t channels, std::string_view png);

  /// The three summaries that the HParams tab needs for a run, to be written in this order.
  static std::vector<EventSummary> hparams(const std::vector<std::pair<std::string, HParam>>& settings);

  /// The record of an event with these values.
  std::string record(double wall_time, int64_t step) const;

 private:
  void plugin(std::string_view tag, std::string_view plugin_name, std::string_view content,
              const ProtobufMessage* tensor);

  ProtobufMessage summary_;
};

/// The checksum of a record: CRC-32C (Castagnoli), rotated and offset, because the plain CRC of data that contains its
/// own CRC would be a constant.
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace accelerate::tracking
