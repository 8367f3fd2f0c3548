#include "accelerate/launch/address.h"

#include <netdb.h>

#include <utility>

#include "accelerate/base/error.h"

namespace accelerate::launch {

Addresses resolve_main_process(const std::string& host, int port) {
  auto found = look_up_host(host, port);
  if (!found.problem.empty()) {
    fail("--main_process_ip ", host, " cannot be resolved: ", found.problem,
         "; give the address of machine 0, or a name that this machine knows");
  }
  return std::move(found.addresses);
}

bool is_host_name(const std::string& host) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return true;
  freeaddrinfo(found);
  return false;
}

}  // namespace accelerate::launch
