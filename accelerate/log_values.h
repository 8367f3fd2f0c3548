#pragma once

// What a program gives to log(): the values of trackers, and tensors too.

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

/// Names and what they stand for: {{"loss", loss}, {"epoch", 3}}.
using LogValues = std::vector<std::pair<std::string, LogValue>>;

/// A number, truth value, text, tensor of one element, or several of them by name. A tensor is read when a tracker
/// wants the value, so on the other processes it costs nothing.
class LogValue {
 public:
  /// Throws Error for a tensor of more or fewer elements than one.
  LogValue(at::Tensor tensor);
  template <class T>
    requires(std::constructible_from<tracking::Value, T> && !std::convertible_to<T, at::Tensor>)
  LogValue(T&& value) : content_(tracking::Value(std::forward<T>(value))) {}
  LogValue(std::initializer_list<std::pair<std::string, LogValue>> parts) : content_(LogValues(parts)) {}

  tracking::Value value() const;

 private:
  std::variant<tracking::Value, at::Tensor, LogValues> content_;
};

/// The values as trackers take them; every tensor is read here.
tracking::Values values_of(const LogValues& values);

/// Throws Error naming the image when the tensor is none: [channels, height, width] or a batch of them, with 1, 3 or 4
/// channels.
void check_image(const std::string& name, const at::Tensor& tensor);

/// An image of a tensor [channels, height, width], or of a batch [n, channels, height, width], whose images then lie in
/// rows of eight. Bytes are taken as they are; other numbers are colours from 0 to 1. The tensor has to pass
/// check_image().
tracking::Image image_of(const at::Tensor& tensor);

/// All elements of a tensor.
std::vector<double> numbers_of(const at::Tensor& tensor);

}  // namespace accelerate
