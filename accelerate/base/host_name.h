#pragma once

// What this machine calls itself.

#include <string>

namespace accelerate {

/// The name that the system knows this machine by, "localhost" when it has none to tell.
std::string host_name();

}  // namespace accelerate
