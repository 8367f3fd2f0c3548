#pragma once

// Unix sockets in the abstract namespace, over which processes send file descriptors (unix(7), SCM_RIGHTS).

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/descriptor.h"

namespace accelerate::shared_memory {

/// Listens at an abstract address, which disappears with the socket. Throws Error if the name is taken.
Descriptor listen_at(const std::string& name);

/// Waits up to `limit` for a process of the same user to connect.
std::optional<Descriptor> accept_from(const Descriptor& listener, std::chrono::milliseconds limit);

/// Throws Error if no process listens there.
Descriptor connect_to(const std::string& name);

/// Sends a number and descriptors; the receiver gets duplicates. Throws Error if it fails.
void send_descriptors(const Descriptor& socket, int32_t number, const std::vector<int>& descriptors);

struct ReceivedDescriptors {
  int32_t number = 0;
  std::vector<Descriptor> descriptors;
};

/// Waits up to `limit` for a message. Throws Error if none arrives or the sender has closed the socket.
ReceivedDescriptors receive_descriptors(const Descriptor& socket, std::chrono::milliseconds limit);

}  // namespace accelerate::shared_memory
