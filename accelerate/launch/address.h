#pragma once

// Resolves the address of machine 0.

#include <string>

#include "accelerate/base/tcp.h"

namespace accelerate::launch {

/// The addresses of the --main_process_ip host, at least one. Throws Error if it cannot be resolved.
Addresses resolve_main_process(const std::string& host, int port);

/// Whether `host` is a name, not an address. Other machines may resolve a name to a different address.
bool is_host_name(const std::string& host);

/// An address at which other machines may reach this one. The host name if this machine has no network address.
std::string own_address();

}  // namespace accelerate::launch
