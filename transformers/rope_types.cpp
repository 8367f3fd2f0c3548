#include "transformers/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include <ATen/ops/arange.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include "accelerate/base/error.h"

namespace transformers {

namespace {

/// The RoPE parameters of a configuration.
class Settings {
 public:
  Settings(const PretrainedConfig& config, const RopeSource& source, int64_t head_size)
      : config_(config),
        sections_(source.sections),
        head_size_(head_size),
        max_length_(static_cast<double>(source.max_length)),
        theta_(number("rope_theta", source.theta)) {}

  template <class T>
  std::optional<T> find(const std::string& key) const {
    for (const auto& section : sections_) {
      if (auto value = config_.find<T>(section + "." + key)) return value;
    }
    return std::nullopt;
  }

  template <class T>
  T require(const std::string& key) const {
    if (auto value = find<T>(key)) return *value;
    return config_.require<T>(sections_.back() + "." + key);
  }

  double number(const std::string& key, double fallback) const { return find<double>(key).value_or(fallback); }

  /// The same, but 0 means the fallback too.
  double number_or(const std::string& key, double fallback) const {
    auto value = number(key, fallback);
    return value == 0 ? fallback : value;
  }

  std::string type() const {
    auto type = find<std::string>("rope_type");
    return type ? *type : find<std::string>("type").value_or("default");
  }

  const std::string& source() const { return config_.source(); }
  double theta() const { return theta_; }
  int64_t head_size() const { return head_size_; }
  double max_length() const { return max_length_; }

  /// The length of the texts that the model was first trained on.
  double trained_length() const {
    const std::string key = "original_max_position_embeddings";
    auto length = config_.find<double>(key);
    if (!length) length = find<double>(key);
    return length ? *length : max_length();
  }

  /// The factor by which the maximum length exceeds trained_length().
  double factor() const {
    auto factor = find<double>("factor");
    return factor ? *factor : max_length() / trained_length();
  }

 private:
  const PretrainedConfig& config_;
  std::vector<std::string> sections_;
  int64_t head_size_;
  double max_length_;
  double theta_;
};

/// The index of each pair divided by the number of pairs: 0 to below 1.
at::Tensor places(int64_t head_size) { return at::arange(0, head_size, 2, at::kFloat) / head_size; }

at::Tensor plain_frequencies(double theta, int64_t head_size) { return at::pow(theta, places(head_size)).reciprocal(); }

Rope linear(const Settings& settings) {
  return {.frequencies =
              plain_frequencies(settings.theta(), settings.head_size()) / settings.require<double>("factor")};
}

/// Llama 3.1: divides low frequencies by `factor`, keeps high ones and interpolates in between.
Rope llama3(const Settings& settings) {
  auto plain = plain_frequencies(settings.theta(), settings.head_size());
  auto factor = settings.require<double>("factor");
  auto low = settings.require<double>("low_freq_factor"), high = settings.require<double>("high_freq_factor");
  auto trained = settings.trained_length();
  auto wavelength = plain.reciprocal() * (2 * std::numbers::pi);
  auto is_slow = wavelength > trained / low, is_fast = wavelength < trained / high;
  auto share = (wavelength.reciprocal() * trained - low) / (high - low);
  auto mixture = (1 - share) * plain / factor + share * plain;
  return {.frequencies = at::where(is_slow, plain / factor, at::where(is_fast, plain, mixture))};
}

/// Dynamic NTK scaling: theta grows with the text if it is longer than the maximum length of the model. As in Python,
/// the frequencies of the longest text stay in use until a text is shorter than the maximum length.
Rope dynamic(const Settings& settings) {
  auto theta = settings.theta(), factor = settings.require<double>("factor"), made_for = settings.max_length();
  auto head_size = settings.head_size();
  auto exponent = static_cast<double>(head_size) / static_cast<double>(head_size - 2);
  auto shortest = plain_frequencies(theta * std::pow(factor * made_for / made_for - (factor - 1), exponent), head_size);
  auto for_length = [=, longest = made_for, frequencies = shortest](int64_t length) mutable {
    if (static_cast<double>(length) > longest) {
      // In float32, as in Python.
      auto growth = at::scalar_tensor(length, at::kLong) * factor / made_for - (factor - 1);
      frequencies = at::pow(at::pow(growth, exponent) * theta, places(head_size)).reciprocal();
      longest = static_cast<double>(length);
    } else if (static_cast<double>(length) < made_for) {
      frequencies = shortest;
      longest = made_for;
    }
    return frequencies;
  };
  return {.frequencies = shortest, .for_length = for_length};
}

/// YaRN (Peng et al., 2023): keeps high frequencies, divides low ones by `factor` and interpolates in between.
Rope yarn(const Settings& settings) {
  auto theta = settings.theta(), factor = settings.factor(), trained = settings.trained_length();
  auto size = static_cast<double>(settings.head_size());
  auto pair_that_turns = [&](double times) {
    return size * std::log(trained / (times * 2 * std::numbers::pi)) / (2 * std::log(theta));
  };
  auto first = pair_that_turns(settings.number_or("beta_fast", 32));
  auto last = pair_that_turns(settings.number_or("beta_slow", 1));
  if (settings.find<bool>("truncate").value_or(true)) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, size - 1);
  if (first == last) last += 0.001;

  auto ramp = ((at::arange(settings.head_size() / 2, at::kFloat) - first) / (last - first)).clamp(0, 1);
  auto kept = 1 - ramp;
  auto periods = at::pow(theta, places(settings.head_size()));
  auto mixture = (periods * factor).reciprocal() * (1 - kept) + periods.reciprocal() * kept;

  auto scale_of = [&](double weight) { return factor <= 1 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0; };
  auto scale = scale_of(1);
  auto weight = settings.number("mscale", 0), weight_of_all = settings.number("mscale_all_dim", 0);
  if (weight != 0 && weight_of_all != 0) scale = scale_of(weight) / scale_of(weight_of_all);
  return {.frequencies = mixture, .scale = settings.number("attention_factor", scale)};
}

/// LongRoPE (Ding et al., 2024): divides each frequency by its own factor; texts beyond the trained length have other
/// factors.
Rope longrope(const Settings& settings) {
  auto trained = settings.trained_length(), factor = settings.factor();
  auto frequencies_by = [&](const std::string& key) {
    auto factors = settings.require<std::vector<double>>(key);
    if (static_cast<int64_t>(factors.size()) != settings.head_size() / 2) {
      accelerate::fail(settings.source(), ": \"", key, "\" has ", factors.size(), " numbers, and \"head_dim\" is ",
                       settings.head_size(), "; there must be one number for each pair of a head's features");
    }
    auto periods = at::pow(settings.theta(), places(settings.head_size()));
    return (at::tensor(factors, at::kFloat) * periods).reciprocal();
  };
  auto of_short = frequencies_by("short_factor"), of_long = frequencies_by("long_factor");
  auto for_length = [=](int64_t length) { return static_cast<double>(length) > trained ? of_long : of_short; };
  auto scale = factor <= 1 ? 1.0 : std::sqrt(1 + std::log(factor) / std::log(trained));
  return {.frequencies = of_short, .scale = settings.number("attention_factor", scale), .for_length = for_length};
}

}  // namespace

Rope make_rope(const PretrainedConfig& config, const RopeSource& source, int64_t head_size) {
  Settings settings(config, source, head_size);
  auto type = settings.type();
  if (type == "default") return {.frequencies = plain_frequencies(settings.theta(), head_size)};
  if (type == "linear") return linear(settings);
  if (type == "dynamic") return dynamic(settings);
  if (type == "yarn") return yarn(settings);
  if (type == "longrope") return longrope(settings);
  if (type == "llama3") return llama3(settings);
  accelerate::fail(config.source(), ": \"rope_type\" is \"", type,
                   "\"; it must be default, linear, dynamic, yarn, longrope or llama3");
}

}  // namespace transformers
