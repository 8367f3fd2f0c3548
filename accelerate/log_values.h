#pragma once

// The arguments of log(): the values of trackers, and tensors.

#include <concepts>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/tracking/tracker.h"

namespace accelerate {

class LogValue;

/// Values by name: {{"loss", loss}, {"epoch", 3}}.
using LogValues = std::vector<std::pair<std::string, LogValue>>;

/// A number, Boolean, string, tensor with one element, or several of these by name. A tensor is read only when a
/// tracker needs its value, so it costs nothing on other processes.
class LogValue {
 public:
  /// Throws Error for a tensor with more or fewer elements than one.
  LogValue(at::Tensor tensor);
  template <class T>
    requires(std::constructible_from<tracking::Value, T> && !std::convertible_to<T, at::Tensor>)
  LogValue(T&& value) : content_(tracking::Value(std::forward<T>(value))) {}
  LogValue(std::initializer_list<std::pair<std::string, LogValue>> parts) : content_(LogValues(parts)) {}

  tracking::Value value() const;

 private:
  std::variant<tracking::Value, at::Tensor, LogValues> content_;
};

/// Converts to the values of trackers. Reads every tensor.
tracking::Values values_of(const LogValues& values);

/// Throws Error naming the image if the tensor is not [channels, height, width] or a batch of these, with 1, 3 or 4
/// channels.
void check_image(const std::string& name, const at::Tensor& tensor);

/// An image from a tensor [channels, height, width], or a grid with eight images per row from a batch [n, channels,
/// height, width]. Bytes are used as they are; other types are colours from 0 to 1. The tensor must pass check_image().
tracking::Image image_of(const at::Tensor& tensor);

/// All elements of a tensor.
std::vector<double> numbers_of(const at::Tensor& tensor);

}  // namespace accelerate
