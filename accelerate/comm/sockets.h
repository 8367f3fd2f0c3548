#pragma once

// The few socket calls that rendezvous needs. Torch-free.

#include <chrono>
#include <string>

namespace accelerate::comm {

/// Whether `host` names this machine only ("localhost", 127.x.x.x, ::1).
bool is_loopback(const std::string& host);

/// Returns when something accepts connections at host:port. Throws Error when nothing does within `timeout`, telling
/// refused, unreachable and unresolvable apart. A name that is not known yet is asked for again until then.
void wait_until_reachable(const std::string& host, int port, std::chrono::milliseconds timeout);

/// The address of this machine on the way to `host`: what peers on other machines can reach.
std::string local_address_towards(const std::string& host);

}  // namespace accelerate::comm
