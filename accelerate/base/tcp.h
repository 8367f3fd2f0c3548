#pragma once

// Resolves host names and connects to hosts.

#include <netdb.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>

#include "accelerate/base/descriptor.h"

namespace accelerate {

/// A linked list of addresses.
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

struct HostLookup {
  Addresses addresses;       // at least one, unless there is a problem
  std::string problem = {};  // the resolver's error, which may be temporary
};

/// Resolves a host to addresses for sockets of that type.
HostLookup look_up_host(const std::string& host, int port, int socket_type = SOCK_STREAM);

struct TcpConnection {
  Descriptor socket = Descriptor();  // blocking; none after an error
  int error = 0;                     // ETIMEDOUT if there was no answer in time
};

/// Connects to one address within `limit`. Signals do not interrupt it.
TcpConnection try_to_connect(const addrinfo& address, std::chrono::milliseconds limit);

}  // namespace accelerate
