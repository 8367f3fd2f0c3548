// Slurm and MPI, by what they say in the environment and take on the command line.

#include <doctest/doctest.h>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/launch/mpirun.h"
#include "accelerate/launch/slurm.h"

using namespace accelerate;
using namespace accelerate::launch;

TEST_CASE("the first host of a list of Slurm's") {
  CHECK(first_host("node1") == "node1");
  CHECK(first_host("node1,node2") == "node1");
  CHECK(first_host("gpu[03-07,12],cpu1") == "gpu03");
  CHECK(first_host("gpu[3,5]") == "gpu3");
  CHECK(first_host("head,gpu[3,5]") == "head");
  CHECK(first_host("a-b[10-11]") == "a-b10");
}

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
  PatchEnvironment batch_script{{"SLURM_STEP_ID", std::nullopt}};
  CHECK(settings_of_slurm().empty());
}

TEST_CASE("one node of Slurm is one machine") {
  PatchEnvironment slurm{
      {"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NNODES", "1"}, {"SLURM_STEP_NUM_NODES", {}}};
  CHECK(settings_of_slurm().empty());
}

TEST_CASE("mpirun is called as its kind takes it") {
  LaunchOptions options{.num_processes = 16, .num_machines = 4, .mpirun_hostfile = "/home/user/hostfile"};
  Command program{"/usr/bin/python3", {"python3", "script", "--cpu"}};
  CHECK(mpirun_command("/usr/bin/mpirun", MpiKind::Hydra, options, program, {{"A", "1"}}).arguments ==
        std::vector<std::string>{"mpirun", "-f", "/home/user/hostfile", "-ppn", "4", "-n", "16", "/usr/bin/python3",
                                 "script", "--cpu"});
  CHECK(mpirun_command("/usr/bin/mpirun", MpiKind::OpenMpi, options, program, {{"A", "1"}, {"B", std::nullopt}})
            .arguments == std::vector<std::string>{"mpirun", "--hostfile", "/home/user/hostfile", "--npernode", "4",
                                                   "-n", "16", "--bind-to", "socket", "-x", "A", "/usr/bin/python3",
                                                   "script", "--cpu"});
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
