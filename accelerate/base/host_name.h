#pragma once

// Identifies this machine.

#include <optional>
#include <string>

namespace accelerate {

/// The host name of this machine, "localhost" if unknown.
std::string host_name();

/// Unique for each machine and each boot of its kernel; the same in all containers. Nothing if the kernel does not
/// provide it.
std::optional<std::string> boot_id();

}  // namespace accelerate
