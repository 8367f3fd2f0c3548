#pragma once

// Where machine 0 is.

#include <string>

#include "accelerate/base/tcp.h"

namespace accelerate::launch {

/// What stands behind --main_process_ip, one address at least. Throws Error when nothing does.
Addresses resolve_main_process(const std::string& host, int port);

/// Whether it is a name rather than an address: another machine may know the same name by another address.
bool is_host_name(const std::string& host);

/// An address by which other machines may reach this one, its host name when no network has given it one.
std::string own_address();

}  // namespace accelerate::launch
