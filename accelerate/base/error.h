#pragma once

// How the library fails: one exception type, thrown through fail().

#include <sstream>
#include <stdexcept>
#include <string>

namespace accelerate {

/// A user's mistake, a broken file or a lost peer. The message names the thing, its value and the remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error with all arguments concatenated, as written to a stream.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(message.str());
}

}  // namespace accelerate
