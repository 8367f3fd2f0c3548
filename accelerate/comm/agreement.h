#pragma once

// Runs work that succeeds on all ranks or fails on all with the same error, so that no rank waits for a failed one.

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace accelerate::comm {

/// An all-gather of strings: takes this rank's string and returns the strings of all ranks, in rank order. Collective.
using Exchange = std::function<std::vector<std::string>(const std::string&)>;

/// Runs `work` on all ranks and returns the result of each, in rank order. If it throws on any rank, all ranks throw
/// Error with the distinct messages of the failed ranks. Collective.
std::vector<std::string> collectively(const Exchange& exchange, const std::function<std::string()>& work);

/// The same for work without a result.
template <std::invocable Work>
  requires std::is_void_v<std::invoke_result_t<Work>>
void collectively(const Exchange& exchange, Work&& work) {
  collectively(exchange, [&]() -> std::string {
    work();
    return {};
  });
}

}  // namespace accelerate::comm
