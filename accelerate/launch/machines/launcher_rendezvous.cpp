#include "accelerate/launch/machines/launcher_rendezvous.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"
#include "accelerate/base/tcp.h"
#include "accelerate/launch/machines/network.h"
#include "accelerate/launch/machines/wait_notice.h"

namespace accelerate::launch {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenLooks = std::chrono::milliseconds(100);

/// The same port on all interfaces.
sockaddr_storage everywhere(const addrinfo& address) {
  sockaddr_storage all{};
  std::memcpy(&all, address.ai_addr, address.ai_addrlen);
  if (all.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(all).sin6_addr = in6addr_any;
  } else {
    reinterpret_cast<sockaddr_in&>(all).sin_addr.s_addr = INADDR_ANY;
  }
  return all;
}

/// A socket bound to the address, or none if the address is in use or belongs to another machine.
Descriptor try_to_bind(const sockaddr* address, socklen_t size) {
  Descriptor socket(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  return bind(socket.get(), address, size) == 0 ? std::move(socket) : Descriptor();
}

Descriptor listening(Descriptor socket) {
  return socket && listen(socket.get(), SOMAXCONN) == 0 ? std::move(socket) : Descriptor();
}

/// A socket that listens on the port of all interfaces, or none if the port is in use.
Descriptor try_to_listen_everywhere(const addrinfo& address) {
  auto all = everywhere(address);
  return listening(try_to_bind(reinterpret_cast<const sockaddr*>(&all), address.ai_addrlen));
}

/// A socket that listens on the address, or none if the address is in use or belongs to another machine. A machine may
/// resolve its own name to an address that others cannot reach, such as Debian's 127.0.1.1. For a name, a successful
/// bind only shows that it is this machine's; it then listens on all interfaces.
Descriptor try_to_listen_at(const addrinfo& address, bool by_name) {
  auto socket = try_to_bind(address.ai_addr, address.ai_addrlen);
  if (!socket || !by_name) return listening(std::move(socket));
  socket = Descriptor();
  return try_to_listen_everywhere(address);
}

/// Another machine, as machine 0 sees it.
struct Peer {
  LineSocket socket;
  std::optional<std::string> greeting = {};
};

std::string greeting_of(const JobShape& shape, std::optional<int> machine_rank) {
  auto rank = machine_rank ? std::to_string(*machine_rank) : "any";
  return "accelerate arrival 3: machines " + std::to_string(shape.num_machines) + " processes " +
         std::to_string(shape.num_processes) + " rank " + rank;
}

std::string disagreement(const std::string& here, const std::string& there) {
  return "the machines disagree about the job: machine 0 has '" + here + "', another one '" + there +
         "'; give all of them the same --num_machines and --num_processes, and each its own --machine_rank or none";
}

/// Periodically prints what is waited for, and throws Error after the timeout.
class Deadline {
 public:
  explicit Deadline(std::chrono::seconds timeout) : timeout_(timeout), until_(Clock::now() + timeout) {}
  void check(const std::string& state) {
    if (Clock::now() > until_) fail(state, "; gave up after ", timeout_.count(), " s");
    notice_.show(state);
  }

 private:
  std::chrono::seconds timeout_;
  Clock::time_point until_;
  WaitNotice notice_;
};

/// The rank that a machine claims, or nothing if it does not belong to this job.
std::optional<size_t> claimed_rank(const std::string& greeting, const JobShape& shape) {
  for (int rank = 1; rank < shape.num_machines; ++rank) {
    if (greeting == greeting_of(shape, rank)) return rank;
  }
  return std::nullopt;
}

/// The machines that have arrived, by rank. With `given_ranks` each machine has sent its rank. Throws Error if one does
/// not belong to the job.
std::vector<Peer*> peers_by_rank(std::vector<Peer>& peers, const JobShape& shape, bool given_ranks) {
  std::vector<Peer*> by_rank(static_cast<size_t>(shape.num_machines));
  auto usual = greeting_of(shape, given_ranks ? std::optional(0) : std::nullopt);
  size_t next = 1;
  for (auto& peer : peers) {
    if (!peer.greeting) continue;
    auto rank = claimed_rank(*peer.greeting, shape);
    if (!given_ranks) rank = *peer.greeting == usual ? std::optional(next++) : std::nullopt;
    if (!rank) fail(disagreement(usual, *peer.greeting));
    if (*rank >= by_rank.size()) continue;  // a surplus machine
    if (by_rank[*rank]) fail("two machines have the rank ", *rank, "; give each its own --machine_rank");
    by_rank[*rank] = &peer;
  }
  return by_rank;
}

/// Reads greetings. Drops peers that have disconnected and other programs.
void look_at_peers(std::vector<Peer>& peers) {
  std::erase_if(peers, [](Peer& peer) {
    if (auto line = peer.socket.receive()) peer.greeting = line;
    return peer.socket.gone() || (peer.greeting && !peer.greeting->starts_with("accelerate arrival"));
  });
}

/// Sends an error to all machines that have arrived, then throws it.
std::vector<Peer*> peers_or_refusal(std::vector<Peer>& peers, const JobShape& shape, bool given_ranks) {
  try {
    return peers_by_rank(peers, shape, given_ranks);
  } catch (const Error& error) {
    for (const auto& peer : peers) peer.socket.send(std::string("no ") + error.what());
    throw;
  }
}

LauncherRendezvous host(const Descriptor& listener, const JobShape& shape, std::optional<int> port, Deadline& deadline,
                        process::SignalWatch& signals) {
  std::vector<Peer> peers;
  std::vector<Peer*> by_rank;
  while (true) {
    for (int fd; (fd = accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      peers.push_back({LineSocket(Descriptor(fd))});
    }
    look_at_peers(peers);
    by_rank = peers_or_refusal(peers, shape, port.has_value());
    auto missing = std::count(by_rank.begin() + 1, by_rank.end(), nullptr);
    if (missing == 0) break;
    deadline.check(std::to_string(missing) + " of " + std::to_string(shape.num_machines) +
                   " machines have not arrived");
    if (int number = signals.request_to_stop(kBetweenLooks)) return {.stopped_by = number};
  }
  LauncherRendezvous own{.machine_rank = 0, .main_process_port = port ? *port : free_port()};
  for (size_t rank = 1; rank < by_rank.size(); ++rank) {
    by_rank[rank]->socket.send("go " + std::to_string(rank) + " " + std::to_string(own.main_process_port));
    own.others.push_back(std::move(by_rank[rank]->socket));
    by_rank[rank]->greeting.reset();
  }
  for (const auto& late : peers) {
    if (late.greeting)
      late.socket.send("no the job already has all of its " + std::to_string(shape.num_machines) + " machines");
  }
  return own;
}

/// Nothing if the host disconnected before it answered.
std::optional<LauncherRendezvous> ask(LineSocket socket, const std::string& greeting, Deadline& deadline,
                                      process::SignalWatch& signals) {
  socket.send(greeting);
  while (true) {
    if (auto line = socket.receive()) {
      LauncherRendezvous rendezvous;
      if (line->starts_with("no ")) fail(line->substr(3));
      if (std::sscanf(line->c_str(), "go %d %d", &rendezvous.machine_rank, &rendezvous.main_process_port) != 2) {
        fail("--main_process_port is used by a program that is not our launcher; choose another port");
      }
      rendezvous.others.push_back(std::move(socket));
      return rendezvous;
    }
    if (socket.gone()) return std::nullopt;
    deadline.check("machine 0 is still waiting for other machines");
    if (int number = signals.request_to_stop(kBetweenLooks)) return LauncherRendezvous{.stopped_by = number};
  }
}

}  // namespace

LauncherRendezvous launcher_rendezvous(const std::string& host_name, int port, const JobShape& shape,
                                       std::optional<int> machine_rank, std::chrono::seconds timeout,
                                       process::SignalWatch& signals) {
  auto addresses = resolve_main_process(host_name, port);
  const auto& address = *addresses;
  bool by_name = is_host_name(host_name);
  auto greeting = greeting_of(shape, machine_rank);
  Deadline deadline(timeout);
  while (true) {
    if (machine_rank == 0) check_port_is_free(port);
    if (machine_rank.value_or(0) == 0) {
      if (auto listener = machine_rank ? try_to_listen_everywhere(address) : try_to_listen_at(address, by_name)) {
        return host(listener, shape, machine_rank ? std::optional(port) : std::nullopt, deadline, signals);
      }
    }
    if (auto socket = try_to_connect(address, std::chrono::seconds(1)).socket) {
      if (auto rendezvous = ask(LineSocket(std::move(socket)), greeting, deadline, signals))
        return std::move(*rendezvous);
    }
    deadline.check("no launcher listens on " + host_name + ", port " + std::to_string(port) +
                   ": the machine with that address has not been started, or cannot be reached");
    if (int number = signals.request_to_stop(kBetweenLooks)) return {.stopped_by = number};
  }
}

}  // namespace accelerate::launch
