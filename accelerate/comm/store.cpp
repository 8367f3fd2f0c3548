#include "accelerate/comm/store.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/base/tcp.h"
#include "accelerate/comm/failures/quiet_c10d.h"
#include "accelerate/process/lost_peer.h"

namespace accelerate::comm {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Pauses {
  milliseconds first;
  milliseconds longest;
};

/// Calls `ready` with exponential back-off until it returns true. Returns false after the deadline, at which it calls
/// `ready` once more.
template <class Ready>
bool poll_until(Clock::time_point deadline, Pauses pauses, Ready ready) {
  for (auto pause = pauses.first; !ready(); pause = std::min(2 * pause, pauses.longest)) {
    const auto now = Clock::now();
    if (now >= deadline) return false;
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, deadline - now));
  }
  return true;
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0; }

std::string reason_for(int error) {
  if (error == ECONNREFUSED) return "connection refused: rank 0 does not listen there";
  if (error == ETIMEDOUT) return "no answer: is the address correct, and is there a firewall?";
  return std::strerror(error);
}

/// Tries each address of the host once. Returns why none of them answers, or an empty string if one does.
std::string try_to_reach(const std::string& host, int port, milliseconds limit) {
  auto found = look_up_host(host, port);
  if (!found.problem.empty()) return "the name cannot be resolved (" + found.problem + ")";
  int error = 0;
  for (auto* address = found.addresses.get(); address; address = address->ai_next) {
    error = try_to_connect(*address, limit).error;
    if (error == 0) return "";
  }
  return reason_for(error);
}

/// Opens a store in a file. The last rank to exit removes the file, so that the next job may use the same name.
c10::intrusive_ptr<c10d::Store> open_file_store(const ProcessEnvironment& process, std::chrono::milliseconds timeout) {
  struct OpenFile {
    c10::intrusive_ptr<c10d::FileStore> store;
    int world_size;
  };
  static std::mutex mutex;
  static auto* files = new std::vector<OpenFile>();
  // FileStore would wait for a missing directory until its timeout.
  std::error_code unreadable;
  const auto directory = std::filesystem::path(process.store_file).parent_path();
  if (!std::filesystem::is_directory(directory, unreadable)) {
    fail("init_method refers to the file ", process.store_file, ", but ", directory.string(),
         " is not a directory; create it first");
  }
  try {
    auto store = c10::make_intrusive<c10d::FileStore>(process.store_file, process.world_size);
    store->setTimeout(timeout);
    store->add("opened", 1);  // creates the file, or throws the reason
    std::lock_guard lock(mutex);
    files->push_back({store, process.world_size});
    static const int once = std::atexit([] {
      for (auto& file : *files) {
        try {
          const auto& path = file.store->getPath();
          if (!std::filesystem::exists(path)) continue;  // FileStore would wait for it, or create it again
          if (file.store->add("ended", 1) == file.world_size) std::filesystem::remove(path);
        } catch (const std::exception&) {  // no rank is left to report to
        }
      }
    });
    static_cast<void>(once);
    return store;
  } catch (const std::exception& error) {
    fail("rank ", process.rank, " cannot use the file ", process.store_file,
         " as the job's store: ", first_line(error));
  }
}

}  // namespace

std::string first_line(const std::exception& error) {
  std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

bool hosts_store(const ProcessEnvironment& process) { return process.rank == 0 && !process.agent_store; }

c10::intrusive_ptr<c10d::Store> open_store(const ProcessEnvironment& process, std::chrono::milliseconds timeout) {
  if (!process.store_file.empty()) return open_file_store(process, timeout);
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(process.main_port);
  options.isServer = hosts_store(process);
  options.numWorkers = process.world_size;
  options.waitWorkers = false;  // verify_ranks waits, and names missing ranks
  options.timeout = timeout;
  if (!options.isServer) {
    wait_until_reachable(process.main_address, process.main_port, timeout);
  } else if (process.store_fd) {
    options.masterListenFd = *process.store_fd;
  } else if (process.one_machine() && is_loopback(process.main_address)) {
    LoopbackPort port(process.main_port);
    port.listen();
    options.masterListenFd = port.release();
  }
  try {
    QuietC10d quiet;
    return c10::make_intrusive<c10d::TCPStore>(process.main_address, options);
  } catch (const std::exception& error) {
    if (!options.isServer) process::note_lost_peer(first_line(error));
    if (options.isServer && first_line(error).find("EADDRINUSE") != std::string::npos) {
      fail("rank 0 cannot host the job's store at ", process.store_place(), ": port ", process.main_port,
           " of this machine is in use. Is there another rank 0 of this job, such as a second machine with ",
           "--machine_rank 0? Number the machines from 0. Otherwise stop the program that uses the port, or choose ",
           "another one with MASTER_PORT or --main_process_port");
    }
    fail("rank ", process.rank, " cannot ", options.isServer ? "host" : "reach", " the job's store at ",
         process.store_place(), ": ", first_line(error));
  }
}

void wait_until_reachable(const std::string& host, int port, milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  std::string reason;
  // Unresolved names are retried too: the name of a Kubernetes pod resolves only once the pod runs.
  const bool reached = poll_until(deadline, {milliseconds(5), milliseconds(200)}, [&] {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    reason = try_to_reach(host, port, std::clamp(left, milliseconds(1), milliseconds(2000)));
    return reason.empty();
  });
  if (reached) return;
  fail("rank 0 cannot be reached at ", host, ":", port, " within ", timeout.count() / 1000.0, " s: ", reason,
       "; check MASTER_ADDR and MASTER_PORT");
}

std::string local_address_towards(const std::string& host) {
  auto [addresses, problem] = look_up_host(host, 9, SOCK_DGRAM);
  if (!problem.empty()) fail("the address '", host, "' cannot be resolved: ", problem, "; check MASTER_ADDR");
  // Connecting a datagram socket sends nothing; it only asks the kernel for the route.
  Descriptor socket(::socket(addresses->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage local{};
  socklen_t size = sizeof(local);
  if (connect(socket.get(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&local), &size) != 0) {
    fail("there is no route to '", host, "': ", std::strerror(errno), "; check MASTER_ADDR and the network");
  }
  char text[NI_MAXHOST];
  getnameinfo(reinterpret_cast<sockaddr*>(&local), size, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
  return text;
}

bool wait_for_key(c10d::Store& store, const std::string& key, Clock::time_point deadline,
                  const std::function<void()>& give_up) {
  return poll_until(deadline, {milliseconds(1), kLongestStorePause}, [&] {
    {
      QuietC10d quiet;
      if (store.check({key})) return true;
    }
    if (give_up) give_up();
    return false;
  });
}

}  // namespace accelerate::comm
