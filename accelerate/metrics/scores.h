#pragma once

// What a metric computes: numbers by name.

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace accelerate::metrics {

/// Numbers by name, in the order in which the metric gives them. A range of pairs: `for (auto& [name, value] :
/// scores)`. `accelerator.print` shows them as Python shows a dict, and `accelerator.log` takes them.
class Scores {
 public:
  void add(std::string name, double value) { scores_.emplace_back(std::move(name), value); }

  /// Throws Error naming those there are when there is none of this name.
  double at(std::string_view name) const;
  double operator[](std::string_view name) const { return at(name); }

  bool contains(std::string_view name) const;
  size_t size() const { return scores_.size(); }
  auto begin() const { return scores_.begin(); }
  auto end() const { return scores_.end(); }

 private:
  std::vector<std::pair<std::string, double>> scores_;
};

/// {'accuracy': 0.8627450980392157, 'f1': 0.9037800687285223}, every number with as many digits as tell it from others.
std::ostream& operator<<(std::ostream& stream, const Scores& scores);

}  // namespace accelerate::metrics
