#pragma once

// User hooks that run during a save or load.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace accelerate::checkpoint {

/// Unregisters a function. Destroying the handle does not.
class RemovableHandle {
 public:
  explicit RemovableHandle(std::function<void()> remove) : remove_(std::move(remove)) {}
  void remove() { remove_(); }

 private:
  std::function<void()> remove_;
};

/// Functions, called in the order of their registration.
template <class Function>
class Hooks {
 public:
  RemovableHandle add(Function function) {
    const int64_t number = next_number_++;
    functions_->emplace(number, std::move(function));
    return RemovableHandle([number, functions = std::weak_ptr(functions_)] {
      if (auto alive = functions.lock()) alive->erase(number);
    });
  }

  bool empty() const { return functions_->empty(); }

  template <class... Arguments>
  void call(Arguments&&... arguments) const {
    for (const auto& [number, function] : *functions_) function(arguments...);
  }

 private:
  std::shared_ptr<std::map<int64_t, Function>> functions_ = std::make_shared<std::map<int64_t, Function>>();
  int64_t next_number_ = 0;
};

}  // namespace accelerate::checkpoint
