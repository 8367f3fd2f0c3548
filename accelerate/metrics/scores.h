#pragma once

// The result of a metric: numbers by name.

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace accelerate::metrics {

/// Numbers by name, in the order of the metric. A range of pairs: `for (auto& [name, value] : scores)`.
/// `accelerator.print` prints them like a Python dict, and `accelerator.log` accepts them.
class Scores {
 public:
  void add(std::string name, double value) { scores_.emplace_back(std::move(name), value); }

  /// Throws Error if there is no such name; the message lists the names.
  double at(std::string_view name) const;
  double operator[](std::string_view name) const { return at(name); }

  bool contains(std::string_view name) const;
  size_t size() const { return scores_.size(); }
  auto begin() const { return scores_.begin(); }
  auto end() const { return scores_.end(); }

 private:
  std::vector<std::pair<std::string, double>> scores_;
};

/// {'accuracy': 0.8627450980392157, 'f1': 0.9037800687285223}, every number with the fewest digits that identify it, as
/// in Python.
std::ostream& operator<<(std::ostream& stream, const Scores& scores);

}  // namespace accelerate::metrics
