#include "accelerate/launch/address.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <utility>

#include "accelerate/base/error.h"
#include "accelerate/base/host_name.h"
#include "accelerate/base/scope.h"

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

std::string own_address() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return host_name();
  ScopeExit free([first] { freeifaddrs(first); });
  for (auto* entry = first; entry; entry = entry->ifa_next) {
    bool reachable = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0;
    if (!reachable || !entry->ifa_addr || entry->ifa_addr->sa_family != AF_INET) continue;
    char text[NI_MAXHOST];
    int error = getnameinfo(entry->ifa_addr, sizeof(sockaddr_in), text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
    if (error == 0) return text;
  }
  return host_name();
}

}  // namespace accelerate::launch
