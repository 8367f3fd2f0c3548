#pragma once

// The address of machine 0, and the addresses and TCP ports of this machine.

#include <string>

#include "accelerate/base/tcp.h"

namespace accelerate::launch {

/// The addresses of the --main_process_ip host, at least one. Throws Error if it cannot be resolved.
Addresses resolve_main_process(const std::string& host, int port);

/// Whether `host` is a name, not an address. Other machines may resolve a name to a different address.
bool is_host_name(const std::string& host);

/// An address at which other machines may reach this one. The host name if this machine has no network address.
std::string own_address();

/// Throws Error if rank 0 could not listen on `port` of all interfaces. The message names the program that listens
/// there, if this user may see it.
void check_port_is_free(int port);

/// A currently free port, on all interfaces.
int free_port();

/// The program that listens on a port of this machine, as "pid 12 (python3)". Empty if unknown.
std::string owner_of_port(int port);

}  // namespace accelerate::launch
