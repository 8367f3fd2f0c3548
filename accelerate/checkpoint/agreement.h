#pragma once

// Work that succeeds on all ranks or fails on all with the same error, so that no rank waits for one that has failed.

#include <functional>
#include <string>
#include <vector>

#include "accelerate/base/error.h"

namespace accelerate::checkpoint {

/// An all-gather of texts: takes this rank's and returns those of all ranks, in rank order. All ranks call it.
using Exchange = std::function<std::vector<std::string>(const std::string&)>;

/// Runs `work` on all ranks and returns the result of each. If it throws on one, all ranks throw Error with the message
/// of each failed rank. All ranks call it.
std::vector<std::string> collectively(const Exchange& exchange, const std::function<std::string()>& work);

}  // namespace accelerate::checkpoint
