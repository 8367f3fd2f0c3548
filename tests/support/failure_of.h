#pragma once

// The error of something that is meant to fail.

#include <string>

#include "accelerate/base/error.h"

namespace accelerate::tests {

/// What `action` throws, as text; empty when it does not throw.
template <class Action>
std::string failure_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace accelerate::tests
