#pragma once

// What this machine calls itself, and what tells it apart.

#include <optional>
#include <string>

namespace accelerate {

/// The name that the system knows this machine by, "localhost" when it has none to tell.
std::string host_name();

/// Changes with every machine, and with every start of its kernel; the same in all of its containers. Nothing where the
/// kernel does not tell.
std::optional<std::string> boot_id();

}  // namespace accelerate
