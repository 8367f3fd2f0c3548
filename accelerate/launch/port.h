#pragma once

// A port of this machine, and who has it.

#include <string>

namespace accelerate::launch {

/// Throws Error when rank 0 could not listen on `port` of all interfaces; it names the program that does, if this user
/// may know it.
void check_port_is_free(int port);

/// A port that is free now, on all interfaces.
int free_port();

/// The program that listens on a port of this machine, as "pid 12 (python3)"; empty when that cannot be seen.
std::string owner_of_port(int port);

}  // namespace accelerate::launch
