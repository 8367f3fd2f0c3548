#include "accelerate/launch/launch.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "accelerate/base/cpu.h"
#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/base/scope.h"
#include "accelerate/launch/child_environment.h"

namespace accelerate::launch {

namespace fs = std::filesystem;

namespace {

/// Throws Error when rank 0 could not host the job's store on `port` of all interfaces.
void check_port_is_free(int port) {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ScopeExit close_socket([fd] { ::close(fd); });
  int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    fail("--main_process_port ", port, " cannot be used on this machine: ", std::strerror(errno),
         "; stop the program that holds it, or give all machines another port");
  }
}

std::string make_error_directory(int local_processes) {
  auto pattern = (fs::temp_directory_path() / "accelerate_launch_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) fail("cannot create the directory ", pattern, ": ", std::strerror(errno));
  for (int local_rank = 0; local_rank < local_processes; ++local_rank) {
    fs::create_directory(pattern + "/" + std::to_string(local_rank));
  }
  return pattern;
}

std::optional<int> wanted_threads() {
  auto threads = environment_integer({"OMP_NUM_THREADS"}).value_or(0);
  return threads > 0 ? std::optional(static_cast<int>(threads)) : std::nullopt;
}

}  // namespace

int count_gpus(const std::string& directory) {
  std::error_code error;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    auto name = entry.path().filename().string();
    auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    if (name.starts_with("nvidia") && name.size() > 6 && std::all_of(name.begin() + 6, name.end(), is_digit)) ++count;
  }
  return count;
}

Outcome launch(const LaunchOptions& options) {
  check(options);
  auto command = find_command(options.program, options.arguments, environment_variable("PATH").value_or(""));

  Machine machine;
  machine.use_cpu = options.use_cpu || count_gpus() == 0;
  machine.cores = std::min(physical_cores(), available_cores());
  machine.omp_num_threads = wanted_threads();
  std::optional<LoopbackPort> port;
  if (options.one_machine()) {
    port.emplace(options.main_process_port.value_or(0));
    machine.main_process_port = port->number();
    machine.store_fd = port->fd();
  } else {
    machine.main_process_port = options.main_process_port.value_or(0);  // checked: several machines have one
    if (options.machine_rank == 0) check_port_is_free(machine.main_process_port);
  }
  machine.error_directory = make_error_directory(options.local_processes());
  ScopeExit remove_error_directory([&] {
    std::error_code ignored;
    fs::remove_all(machine.error_directory, ignored);
  });

  SignalWatch signals;
  std::vector<Rank> ranks;
  for (int local_rank = 0; local_rank < options.local_processes(); ++local_rank) {
    ChildProcess::Setup setup;
    setup.environment = merge_environment(environ, child_environment(options, machine, local_rank));
    setup.signal_mask = signals.original_mask();
    if (local_rank == 0) setup.inherited_fd = machine.store_fd;
    int number = options.machine_rank * options.local_processes() + local_rank;
    ranks.push_back({number, std::make_unique<ChildProcess>(command, setup)});
  }
  if (port) port->close();
  return supervise(ranks, signals, options.program);
}

}  // namespace accelerate::launch
