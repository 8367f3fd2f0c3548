#pragma once

// The bytes of TensorBoard's event files: records of protocol buffers, each with two checksums. What the summaries say
// is what torch.utils.tensorboard writes for the same values.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "accelerate/formats/protobuf.h"

namespace accelerate::formats {

/// The name of a new event file. Files of one second and process are told apart by `number`.
std::string event_file_name(int64_t unix_seconds, std::string_view host, int64_t process, int64_t number);

/// The record that every event file begins with.
std::string event_file_header(double wall_time);

/// A setting of a run, as the HParams tab shows it.
using HParam = std::variant<bool, double, std::string>;

/// Something to show at a step: one or more values, added by the functions below.
class EventSummary {
 public:
  EventSummary& scalar(std::string_view tag, double value);
  EventSummary& text(std::string_view tag, std::string_view text);
  /// Buckets grow by a tenth from 1e-12 to 1e20 on both sides of zero; values beyond them and not-a-numbers are left
  /// out. Adds nothing when no value is left.
  EventSummary& histogram(std::string_view tag, std::span<const double> values);
  /// `png` is an image file of `height` x `width` pixels in 1 (grey), 3 (RGB) or 4 (RGBA) channels.
  EventSummary& image(std::string_view tag, int64_t height, int64_t width, int64_t channels, std::string_view png);

  /// The three summaries that make a run appear in the HParams tab, to be written in this order.
  static std::vector<EventSummary> hparams(const std::vector<std::pair<std::string, HParam>>& settings);

  /// The record of an event with these values.
  std::string record(double wall_time, int64_t step) const;

 private:
  void plugin(std::string_view tag, std::string_view plugin_name, std::string_view content,
              const ProtobufMessage* tensor);

  ProtobufMessage summary_;
};

/// The checksum of a record: CRC-32C (Castagnoli), rotated and shifted so that a checksum of checksums is no fixed
/// point.
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace accelerate::formats
