#pragma once

// Sockets of one machine, over which processes hand each other file descriptors.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/descriptor.h"

namespace accelerate::shared_memory {

/// Listens under `name`, which is not a file and goes away with the socket. Throws Error when the name is taken.
Descriptor listen_at(const std::string& name);

/// Waits up to `limit` for someone of this user to connect.
std::optional<Descriptor> accept_from(const Descriptor& listener, std::chrono::milliseconds limit);

/// Throws Error when nobody listens there.
Descriptor connect_to(const std::string& name);

/// Sends a number and descriptors, of which the receiver gets duplicates. Throws Error.
void send_descriptors(const Descriptor& socket, int32_t number, const std::vector<int>& descriptors);

struct Parcel {
  int32_t number = 0;
  std::vector<Descriptor> descriptors;
};

/// Waits up to `limit` for what was sent. Throws Error when nothing comes or the sender is gone.
Parcel receive_descriptors(const Descriptor& socket, std::chrono::milliseconds limit);

}  // namespace accelerate::shared_memory
