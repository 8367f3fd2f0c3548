#pragma once

// The few socket calls that rendezvous needs. Torch-free.

#include <chrono>
#include <string>

namespace accelerate::comm {

/// Whether `host` names this machine only ("localhost", 127.x.x.x, ::1).
bool is_loopback(const std::string& host);

/// Returns when a process accepts connections at host:port. Throws Error if none does within `timeout`; the message
/// distinguishes refused, unreachable and unresolved. Retries names that do not resolve yet.
void wait_until_reachable(const std::string& host, int port, std::chrono::milliseconds timeout);

/// The address of this machine on the route to `host`, which peers on other machines can reach.
std::string local_address_towards(const std::string& host);

}  // namespace accelerate::comm
