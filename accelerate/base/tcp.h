#pragma once

// Where a host is, and connections to it.

#include <netdb.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>

#include "accelerate/base/descriptor.h"

namespace accelerate {

/// A chain of addresses.
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

struct HostLookup {
  Addresses addresses;       // one at least, unless there is a problem
  std::string problem = {};  // what the resolver says; it may be another thing a moment later
};

/// Asks the resolver for the addresses of a host, whose sockets are of that type.
HostLookup look_up_host(const std::string& host, int port, int socket_type = SOCK_STREAM);

struct TcpConnection {
  Descriptor socket = Descriptor();  // none after an error; calls on it wait, as usual
  int error = 0;                     // ETIMEDOUT when there was no answer in time
};

/// Connects to one address. A signal does not cut it short.
TcpConnection try_to_connect(const addrinfo& address, std::chrono::milliseconds limit);

}  // namespace accelerate
