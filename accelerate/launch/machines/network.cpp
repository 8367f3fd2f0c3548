#include "accelerate/launch/machines/network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"
#include "accelerate/base/host_name.h"
#include "accelerate/base/scope.h"

namespace accelerate::launch {

namespace fs = std::filesystem;

namespace {

/// The inode of the socket that listens on the port, from /proc/net. Empty if there is no such socket.
std::string listening_inode(int port) {
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream fields(line);
      std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
      auto colon = local.rfind(':');
      constexpr auto kListening = "0A";
      if (state == kListening && std::stoi(local.substr(colon + 1), nullptr, 16) == port) return inode;
    }
  }
  return "";
}

}  // namespace

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

std::string owner_of_port(int port) {
  auto inode = listening_inode(port);
  if (inode.empty()) return "";
  auto wanted = "socket:[" + inode + "]";
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    auto pid = process.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    for (const auto& descriptor : fs::directory_iterator(process.path() / "fd", error)) {
      if (fs::read_symlink(descriptor.path(), error) != wanted) continue;
      std::ifstream name_file(process.path() / "comm");
      std::string name;
      std::getline(name_file, name);
      return "pid " + pid + " (" + name + ")";
    }
  }
  return "";
}

int free_port() {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof(address);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (bind(socket.get(), plain, size) != 0 || getsockname(socket.get(), plain, &size) != 0) {
    fail("no port is free for rank 0: ", std::strerror(errno));
  }
  return ntohs(address.sin_port);
}

void check_port_is_free(int port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return;
  int error = errno;
  auto owner = error == EADDRINUSE ? owner_of_port(port) : "";
  fail("--main_process_port ", port, " cannot be used on this machine: ", std::strerror(error),
       owner.empty() ? "" : ", by " + owner, "; stop the program that uses it, or choose another port");
}

}  // namespace accelerate::launch
