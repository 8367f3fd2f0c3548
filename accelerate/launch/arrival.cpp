#include "accelerate/launch/arrival.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <utility>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"
#include "accelerate/launch/port.h"

namespace accelerate::launch {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPause = std::chrono::milliseconds(100);
constexpr auto kFirstWord = std::chrono::seconds(5);
constexpr auto kNextWord = std::chrono::seconds(30);

sockaddr_storage address_of(const std::string& host, int port, socklen_t& size) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    fail("--main_process_ip ", host, " cannot be resolved: ", gai_strerror(error),
         "; give the address of a machine of the job, or a name that this machine knows");
  }
  sockaddr_storage address{};
  std::memcpy(&address, found->ai_addr, found->ai_addrlen);
  size = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

/// The same port on all interfaces.
sockaddr_storage everywhere(sockaddr_storage address) {
  if (address.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(address).sin6_addr = in6addr_any;
  } else {
    reinterpret_cast<sockaddr_in&>(address).sin_addr.s_addr = INADDR_ANY;
  }
  return address;
}

/// A socket that listens there, or none when the address is another machine's or taken.
Descriptor try_to_listen(const sockaddr_storage& address, socklen_t size) {
  Descriptor socket(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  bool bound = bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
  return bound && listen(socket.get(), SOMAXCONN) == 0 ? std::move(socket) : Descriptor();
}

Descriptor try_to_connect(const sockaddr_storage& address, socklen_t size) {
  Descriptor socket(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  timeval limit{.tv_sec = 1, .tv_usec = 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));  // also for connect
  bool connected = connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0;
  return connected ? std::move(socket) : Descriptor();
}

/// Another machine, as machine 0 sees it.
struct Peer {
  LineSocket socket;
  std::optional<std::string> greeting = {};
};

std::string greeting_of(const JobShape& shape, std::optional<int> machine_rank) {
  auto rank = machine_rank ? std::to_string(*machine_rank) : "any";
  return "accelerate arrival 2: machines " + std::to_string(shape.num_machines) + " processes " +
         std::to_string(shape.num_processes) + " rank " + rank;
}

std::string disagreement(const std::string& here, const std::string& there) {
  return "the machines do not agree about the job: machine 0 has '" + here + "', another one '" + there +
         "'; give all of them the same --num_machines and --num_processes, and each its own --machine_rank or none";
}

/// Says now and then what is waited for, and ends it.
class Deadline {
 public:
  explicit Deadline(std::chrono::seconds timeout) : timeout_(timeout), until_(Clock::now() + timeout) {}
  void check(const std::string& state) {
    if (Clock::now() > until_) fail(state, "; gave up after ", timeout_.count(), " s");
    if (Clock::now() < next_word_) return;
    std::cerr << "accelerate launch: " + state + "\n" << std::flush;
    next_word_ += kNextWord;
  }

 private:
  std::chrono::seconds timeout_;
  Clock::time_point until_;
  Clock::time_point next_word_ = Clock::now() + kFirstWord;
};

/// The rank that a machine claims; nothing when it is none of this job's.
std::optional<size_t> claimed_rank(const std::string& greeting, const JobShape& shape) {
  for (int rank = 1; rank < shape.num_machines; ++rank) {
    if (greeting == greeting_of(shape, rank)) return rank;
  }
  return std::nullopt;
}

/// The machines that have come, by rank; with `given_ranks` each comes with its own. Throws Error when one does not
/// belong here.
std::vector<Peer*> seats_of(std::vector<Peer>& peers, const JobShape& shape, bool given_ranks) {
  std::vector<Peer*> seats(static_cast<size_t>(shape.num_machines));
  auto usual = greeting_of(shape, given_ranks ? std::optional(0) : std::nullopt);
  size_t next = 1;
  for (auto& peer : peers) {
    if (!peer.greeting) continue;
    auto rank = claimed_rank(*peer.greeting, shape);
    if (!given_ranks) rank = *peer.greeting == usual ? std::optional(next++) : std::nullopt;
    if (!rank) fail(disagreement(usual, *peer.greeting));
    if (*rank >= seats.size()) continue;  // one too many
    if (seats[*rank]) fail("two machines have the rank ", *rank, "; give each its own --machine_rank");
    seats[*rank] = &peer;
  }
  return seats;
}

/// Takes greetings; forgets who has gone again, and strangers.
void look_at_peers(std::vector<Peer>& peers) {
  std::erase_if(peers, [](Peer& peer) {
    if (auto line = peer.socket.receive()) peer.greeting = line;
    return peer.socket.gone() || (peer.greeting && !peer.greeting->starts_with("accelerate arrival"));
  });
}

/// What is wrong is told to all who have come, and then thrown.
std::vector<Peer*> seats_or_refusal(std::vector<Peer>& peers, const JobShape& shape, bool given_ranks) {
  try {
    return seats_of(peers, shape, given_ranks);
  } catch (const Error& error) {
    for (const auto& peer : peers) peer.socket.send(std::string("no ") + error.what());
    throw;
  }
}

Arrival host(const Descriptor& listener, const JobShape& shape, std::optional<int> port, Deadline& deadline,
             SignalWatch& signals) {
  std::vector<Peer> peers;
  std::vector<Peer*> seats;
  while (true) {
    for (int fd; (fd = accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      peers.push_back({LineSocket(Descriptor(fd))});
    }
    look_at_peers(peers);
    seats = seats_or_refusal(peers, shape, port.has_value());
    auto missing = std::count(seats.begin() + 1, seats.end(), nullptr);
    if (missing == 0) break;
    deadline.check(std::to_string(missing) + " of " + std::to_string(shape.num_machines) +
                   " machines have not arrived");
    if (int number = signals.request_to_stop(kPause)) return {.stopped_by = number};
  }
  Arrival own{.machine_rank = 0, .main_process_port = port ? *port : free_port()};
  for (size_t rank = 1; rank < seats.size(); ++rank) {
    seats[rank]->socket.send("go " + std::to_string(rank) + " " + std::to_string(own.main_process_port));
    own.others.push_back(std::move(seats[rank]->socket));
    seats[rank]->greeting.reset();
  }
  for (const auto& late : peers) {
    if (late.greeting)
      late.socket.send("no the job has all of its " + std::to_string(shape.num_machines) + " machines");
  }
  return own;
}

/// Nothing when the host went away before it had an answer.
std::optional<Arrival> ask(LineSocket socket, const std::string& greeting, Deadline& deadline, SignalWatch& signals) {
  socket.send(greeting);
  while (true) {
    if (auto line = socket.receive()) {
      Arrival arrival;
      if (line->starts_with("no ")) fail(line->substr(3));
      if (std::sscanf(line->c_str(), "go %d %d", &arrival.machine_rank, &arrival.main_process_port) != 2) {
        fail("--main_process_port is answered by a program that is no launcher of ours; give another port");
      }
      arrival.others.push_back(std::move(socket));
      return arrival;
    }
    if (socket.gone()) return std::nullopt;
    deadline.check("machine 0 still waits for other machines");
    if (int number = signals.request_to_stop(kPause)) return Arrival{.stopped_by = number};
  }
}

}  // namespace

Arrival arrive(const std::string& host_name, int port, const JobShape& shape, std::optional<int> machine_rank,
               std::chrono::seconds timeout, SignalWatch& signals) {
  socklen_t size = 0;
  auto address = address_of(host_name, port, size);
  auto greeting = greeting_of(shape, machine_rank);
  Deadline deadline(timeout);
  while (true) {
    if (machine_rank == 0) check_port_is_free(port);
    if (machine_rank.value_or(0) == 0) {
      if (auto listener = try_to_listen(machine_rank ? everywhere(address) : address, size)) {
        return host(listener, shape, machine_rank ? std::optional(port) : std::nullopt, deadline, signals);
      }
    }
    if (auto socket = try_to_connect(address, size)) {
      if (auto arrival = ask(LineSocket(std::move(socket)), greeting, deadline, signals)) return std::move(*arrival);
    }
    deadline.check("nobody listens on " + host_name + ", port " + std::to_string(port) +
                   ": the machine with that address has not been started, or cannot be reached");
    if (int number = signals.request_to_stop(kPause)) return {.stopped_by = number};
  }
}

}  // namespace accelerate::launch
