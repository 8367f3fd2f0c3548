#pragma once

// TCP ports of this machine: which are free, and which program listens.

#include <string>

namespace accelerate::launch {

/// Throws Error if rank 0 could not listen on `port` of all interfaces. The message names the program that listens
/// there, if this user may see it.
void check_port_is_free(int port);

/// A currently free port, on all interfaces.
int free_port();

/// The program that listens on a port of this machine, as "pid 12 (python3)". Empty if unknown.
std::string owner_of_port(int port);

}  // namespace accelerate::launch
