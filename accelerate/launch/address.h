#pragma once

// Where machine 0 is, and connections to it.

#include <netdb.h>

#include <chrono>
#include <memory>
#include <string>

#include "accelerate/base/descriptor.h"

namespace accelerate::launch {

/// A chain of one address at least.
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// What stands behind --main_process_ip. Throws Error when nothing does.
Addresses resolve_main_process(const std::string& host, int port);

/// Whether it is a name rather than an address: another machine may know the same name by another address.
bool is_host_name(const std::string& host);

struct Connection {
  Descriptor socket = Descriptor();  // none after an error
  int error = 0;                     // ETIMEDOUT when there was no answer in time
};

/// Connects to one address.
Connection try_to_connect(const addrinfo& address, std::chrono::milliseconds limit);

}  // namespace accelerate::launch
