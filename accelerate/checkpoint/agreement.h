#pragma once

// Work that succeeds on all ranks or fails on all, with the same error, so that none waits for one that has given up.

#include <functional>
#include <string>
#include <vector>

#include "accelerate/base/error.h"

namespace accelerate::checkpoint {

/// How ranks hear of each other: takes this rank's text and gives everyone's, in rank order. Every rank calls it.
using Exchange = std::function<std::vector<std::string>(const std::string&)>;

/// Runs `work` on every rank and gives what it returned on each. Where it throws on one, all ranks throw Error with
/// what each failed rank said. Every rank calls it.
std::vector<std::string> together(const Exchange& exchange, const std::function<std::string()>& work);

}  // namespace accelerate::checkpoint
