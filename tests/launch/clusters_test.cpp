// Machines that find each other: by arrival, and what Slurm and MPI say in the environment and take on the command
// line.

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/launch/machines/launcher_rendezvous.h"
#include "accelerate/launch/machines/main_machine.h"
#include "accelerate/launch/settings/mpirun.h"
#include "accelerate/launch/settings/slurm.h"
#include "accelerate/process/exit_status.h"
#include "tests/support/resolver.h"

using namespace accelerate;
using namespace accelerate::launch;

TEST_CASE("launchers that srun has started know their machine") {
  PatchEnvironment slurm{{"SLURM_JOB_ID", "12345"},    {"SLURM_STEP_ID", "0"},
                         {"SLURM_NNODES", "3"},        {"SLURM_NTASKS", "3"},
                         {"SLURM_NODEID", "2"},        {"SLURM_STEP_NODELIST", "node[4-6]"},
                         {"SLURM_STEP_NUM_NODES", {}}, {"SLURM_STEP_NUM_TASKS", {}}};
  Settings settings({settings_of_slurm()});
  CHECK(settings.integer("num_machines") == 3);
  CHECK(settings.integer("machine_rank") == 2);
  CHECK(settings.text("main_process_ip") == "node4");
  CHECK(settings.integer("main_process_port") == 22345);
  {
    PatchEnvironment two_each{{"SLURM_NTASKS", "6"}};
    CHECK_THROWS_WITH_AS(settings_of_slurm(), doctest::Contains("--ntasks-per-node=1"), Error);
  }
  SettingMap none, one = {{"num_machines", {"1", "--num_machines"}}},
                   three = {{"num_machines", {"3", "--num_machines"}}};
  CHECK(settings_of_slurm({none, one}).empty());
  CHECK(settings_of_slurm({three, one}).size() == 4);
  CHECK(settings_of_slurm({one, three}).empty());
  PatchEnvironment batch_script{{"SLURM_STEP_ID", std::nullopt}};
  CHECK(settings_of_slurm().empty());
}

TEST_CASE("one node of Slurm is one machine") {
  PatchEnvironment slurm{
      {"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NNODES", "1"}, {"SLURM_STEP_NUM_NODES", {}}};
  CHECK(settings_of_slurm().empty());
}

TEST_CASE("mpirun is called as its kind takes it") {
  LaunchOptions options{.num_processes = 16, .num_machines = 4, .mpirun_hostfile = "hosts/hostfile"};
  process::Command program{"/usr/bin/python3", {"python3", "script", "--cpu"}};
  CHECK(mpirun_command("/usr/bin/mpirun", MpiKind::Hydra, options, program, {{"A", "1"}}).arguments ==
        std::vector<std::string>{"mpirun", "-f", "hosts/hostfile", "-ppn", "4", "-n", "16", "/usr/bin/python3",
                                 "script", "--cpu"});
  CHECK(mpirun_command("/usr/bin/mpirun", MpiKind::OpenMpi, options, program, {{"A", "1"}, {"B", std::nullopt}})
            .arguments == std::vector<std::string>{"mpirun", "--hostfile", "hosts/hostfile", "--npernode", "4", "-n",
                                                   "16", "--bind-to", "socket", "-x", "A", "/usr/bin/python3", "script",
                                                   "--cpu"});
}

TEST_CASE("a launcher knows when mpirun has started it") {
  PatchEnvironment none{
      {"OMPI_COMM_WORLD_SIZE", {}}, {"MV2_COMM_WORLD_SIZE", {}}, {"PMI_SIZE", {}}, {"SLURM_JOB_ID", {}}};
  CHECK_FALSE(started_by_mpirun());
  {
    PatchEnvironment patch{{"OMPI_COMM_WORLD_SIZE", "2"}};
    CHECK(started_by_mpirun());
  }
  PatchEnvironment patch{{"PMI_SIZE", "2"}};
  CHECK(started_by_mpirun());
  PatchEnvironment slurm{{"SLURM_JOB_ID", "1"}};
  CHECK_FALSE(started_by_mpirun());
}

namespace {

/// Starts `launcher_rendezvous` in a process of its own; its exit code is the rank it got, or 100 for an error.
pid_t start_arriving(int port, const JobShape& shape, std::chrono::seconds timeout = std::chrono::seconds(20),
                     std::optional<int> machine_rank = std::nullopt, const std::string& host = "127.0.0.1") {
  pid_t pid = fork();
  if (pid != 0) return pid;
  process::SignalWatch signals;
  try {
    auto rendezvous = launcher_rendezvous(host, port, shape, machine_rank, timeout, signals);
    _exit(rendezvous.main_process_port > 0 ? rendezvous.machine_rank : 99);
  } catch (const Error&) {
    _exit(100);
  }
}

int exit_code_after(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return process::exit_code_of(status);
}

int unused_port() {
  LoopbackPort port;
  return port.number();
}

}  // namespace

TEST_CASE("machines get ranks in the order of their arrival, each its own") {
  int port = unused_port();
  std::vector<pid_t> launchers;
  for (int i = 0; i < 4; ++i) launchers.push_back(start_arriving(port, {4, 8}));
  std::set<int> ranks;
  for (pid_t launcher : launchers) ranks.insert(exit_code_after(launcher));
  CHECK(ranks == std::set<int>{0, 1, 2, 3});
}

TEST_CASE("a machine that is known by name is reached at another address than its own for that name") {
  int port = unused_port();
  std::vector<pid_t> launchers;
  for (auto host : {"localhost", "127.0.0.2"}) {
    launchers.push_back(start_arriving(port, {2, 2}, std::chrono::seconds(10), std::nullopt, host));
    usleep(200'000);
  }
  CHECK(exit_code_after(launchers[0]) == 0);
  CHECK(exit_code_after(launchers[1]) == 1);
}

TEST_CASE("machines that disagree about the job all end with an error") {
  int port = unused_port();
  std::vector<pid_t> launchers = {start_arriving(port, {2, 2}), start_arriving(port, {2, 4})};
  for (pid_t launcher : launchers) CHECK(exit_code_after(launcher) == 100);
}

TEST_CASE("machines that come with their ranks keep them, and two with one rank end with an error") {
  using std::chrono::seconds;
  int port = unused_port();
  std::vector<pid_t> launchers;
  for (int rank : {2, 0, 1}) launchers.push_back(start_arriving(port, {3, 3}, seconds(20), rank));
  CHECK(exit_code_after(launchers[0]) == 2);
  CHECK(exit_code_after(launchers[1]) == 0);
  CHECK(exit_code_after(launchers[2]) == 1);
  port = unused_port();
  launchers.clear();
  for (int rank : {1, 0, 1}) launchers.push_back(start_arriving(port, {3, 3}, seconds(20), rank));
  for (pid_t launcher : launchers) CHECK(exit_code_after(launcher) == 100);
}

TEST_CASE("a machine that leaves before all are there is not counted, nor is a stranger") {
  int port = unused_port();
  auto first = start_arriving(port, {3, 3});
  usleep(300'000);
  auto lost = start_arriving(port, {3, 3});
  usleep(300'000);
  kill(lost, SIGKILL);
  exit_code_after(lost);
  int stranger = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  CHECK(write(stranger, "GET / HTTP/1.0\r\n\r\n", 18) == 18);
  auto second = start_arriving(port, {3, 3}), third = start_arriving(port, {3, 3});
  CHECK(exit_code_after(first) == 0);
  CHECK(exit_code_after(second) + exit_code_after(third) == 3);
  close(stranger);
}

TEST_CASE("waiting for machines ends when the time is up") {
  CHECK(exit_code_after(start_arriving(unused_port(), {2, 2}, std::chrono::seconds(1))) == 100);
}

TEST_CASE("a resolver that fails for a moment is a reason to wait for machine 0, not to end") {
  LoopbackPort port;
  port.listen();
  MainMachine machine("localhost", port.number());
  {
    auto broken = tests::break_resolver(EAI_AGAIN);
    CHECK_THROWS_WITH_AS(MainMachine("localhost", port.number()), doctest::Contains("cannot be resolved"), Error);
    CHECK(machine.problem() == std::string("machine 0: localhost cannot be resolved: ") + gai_strerror(EAI_AGAIN));
    MainMachineWatch watch(machine);
    while (watch.problem().empty()) usleep(1000);
  }
  CHECK(machine.problem() == "");
}
