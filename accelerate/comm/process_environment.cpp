#include "accelerate/comm/process_environment.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/slurm_lists.h"

namespace accelerate::comm {

namespace {

int parse(const std::string& name, const std::string& text) {
  const int64_t value = parse_integer(name, text);
  if (!std::in_range<int>(value)) fail("environment variable ", name, " is ", text, ", which is too large");
  return static_cast<int>(value);
}

int parse_port(const std::string& name, const std::string& text) {
  const int port = parse(name, text);
  if (port < 1 || port > 65535) {
    fail("environment variable ", name, " is ", port, "; the port of a job must be a number from 1 to 65535");
  }
  return port;
}

/// The value of the first of these variables that holds a non-negative number.
std::optional<int> first_number(const Lookup& lookup, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    auto text = lookup(name);
    if (!text || text->empty()) continue;
    int value = parse(name, *text);
    if (value >= 0) return value;
  }
  return std::nullopt;
}

/// Whether srun started several tasks. A batch script also has SLURM_PROCID, but is a single process.
bool in_slurm_step(const Lookup& lookup) {
  auto tasks = lookup("SLURM_STEP_NUM_TASKS");
  return tasks && lookup("SLURM_PROCID") && parse("SLURM_STEP_NUM_TASKS", *tasks) > 1;
}

void read_slurm_step(const Lookup& lookup, ProcessEnvironment& process) {
  auto tasks = lookup("SLURM_STEP_NUM_TASKS");
  process.distributed = true;
  process.world_size = parse("SLURM_STEP_NUM_TASKS", *tasks);
  process.rank = parse("SLURM_PROCID", *lookup("SLURM_PROCID"));
  process.local_rank = parse("SLURM_LOCALID", lookup("SLURM_LOCALID").value_or("0"));
  auto node = parse("SLURM_NODEID", lookup("SLURM_NODEID").value_or("0"));
  process.local_world_size =
      static_cast<int>(slurm_tasks_on_node(lookup("SLURM_STEP_TASKS_PER_NODE").value_or(*tasks), node));
  auto nodes = lookup("SLURM_STEP_NODELIST");
  // On one machine the node name is not needed, and perhaps only Slurm can resolve it.
  if (nodes && !process.one_machine()) process.main_address = first_slurm_node(*nodes);
  auto job = lookup("SLURM_JOB_ID").value_or("0");
  process.main_port = slurm_port(parse("SLURM_JOB_ID", job));
  process.run_id = "slurm-" + job + "." + lookup("SLURM_STEP_ID").value_or("0");
}

}  // namespace

ProcessEnvironment read_process_environment(const Lookup& lookup) {
  ProcessEnvironment process;
  auto rank = first_number(lookup, {"RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK"});
  auto world = first_number(lookup, {"WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE"});
  auto local_rank = first_number(
      lookup, {"LOCAL_RANK", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK"});
  auto local_world = first_number(
      lookup, {"LOCAL_WORLD_SIZE", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"});

  // Slurm's pmi2 plugin sets the rank and the size of PMI, but nothing that tells one machine from several.
  const bool from_slurm = !first_number(lookup, {"RANK", "WORLD_SIZE"}) && !local_rank && !local_world;
  if (from_slurm && in_slurm_step(lookup)) {
    read_slurm_step(lookup, process);
  } else if (rank || world) {
    process.distributed = true;
    process.rank = rank.value_or(0);
    process.world_size = world.value_or(1);
    process.local_world_size = local_world.value_or(process.world_size);
    process.local_rank = local_rank.value_or(process.rank % std::max(process.local_world_size, 1));
    process.run_id = lookup("TORCHELASTIC_RUN_ID").value_or("none");
    if (auto restarts = lookup("TORCHELASTIC_RESTART_COUNT")) process.run_id += "." + *restarts;
  }

  if (process.world_size < 1) fail("WORLD_SIZE is ", process.world_size, "; it must be at least 1");
  if (process.rank >= process.world_size) {
    fail("RANK is ", process.rank, " but WORLD_SIZE is ", process.world_size,
         "; ranks are numbered from 0 to WORLD_SIZE - 1");
  }
  if (process.local_rank >= process.local_world_size) {
    fail("LOCAL_RANK is ", process.local_rank, " but LOCAL_WORLD_SIZE is ", process.local_world_size,
         "; local ranks are numbered from 0 to LOCAL_WORLD_SIZE - 1");
  }

  auto address = lookup("MASTER_ADDR");
  if (address && !address->empty())
    process.main_address = *address;
  else if (!process.one_machine() && process.run_id.rfind("slurm-", 0) != 0) {
    fail("this job has ", process.world_size, " ranks, of which ", process.local_world_size,
         " are on this machine, but MASTER_ADDR is not set; export the address of rank 0's machine as MASTER_ADDR");
  }
  if (auto port = lookup("MASTER_PORT"); port && !port->empty()) process.main_port = parse_port("MASTER_PORT", *port);
  if (auto fd = lookup("ACCELERATE_STORE_FD"); fd && process.rank == 0)
    process.store_fd = parse("ACCELERATE_STORE_FD", *fd);
  process.agent_store = lookup("TORCHELASTIC_USE_AGENT_STORE").value_or("False") == "True";
  return process;
}

ProcessEnvironment read_process_environment() { return read_process_environment(environment_variable); }

}  // namespace accelerate::comm
