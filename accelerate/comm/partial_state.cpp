#include "accelerate/comm/partial_state.h"

#include <map>
#include <mutex>

#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "accelerate/base/cpu.h"
#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/process_environment.h"
#include "accelerate/comm/process_setup.h"
#include "accelerate/comm/rendezvous.h"
#include "accelerate/comm/store.h"
#include "accelerate/comm/topology.h"
#include "accelerate/process/crash_file.h"
#include "accelerate/process/lost_peer.h"

namespace accelerate::comm {

struct PartialState::Shared {
  ProcessEnvironment process;
  PartialStateOptions options;  // given when joining; the timeout is set if there are several ranks
  DistributedType type = DistributedType::No;
  at::Device device = at::kCPU;
  std::string backend;
  Group group;
};

namespace {

// Ranks of a job may start minutes apart, if nodes boot or programs load data first, but not half an hour.
constexpr auto kStartTimeout = std::chrono::minutes(5);

std::mutex current_mutex;
int num_joined = 0;  // counts the rendezvous of this process, so that each has its own keys in the store

at::Device named_device(const std::string& name) {
  try {
    return at::Device(name);
  } catch (const c10::Error&) {
    fail("the environment variable ACCELERATE_TORCH_DEVICE is '", name,
         "'; it must be a libtorch device, such as cpu or cuda:0");
  }
}

at::Device choose_device(bool cpu, int local_rank) {
  if (auto name = environment_variable("ACCELERATE_TORCH_DEVICE"); name && !name->empty()) return named_device(*name);
  auto accelerator = cpu ? std::nullopt : at::accelerator::getAccelerator();
  if (!accelerator || at::accelerator::deviceCount() == 0) return at::kCPU;
  auto index = static_cast<at::DeviceIndex>(local_rank % at::accelerator::deviceCount());
  at::accelerator::setDeviceIndex(index);
  return at::Device(*accelerator, index);
}

void choose_num_threads(const Sharers& sharers) {
  if (!wanted_threads()) at::set_num_threads(threads_per_process(sharers.count));
}

/// Called after the ranks are connected, because connecting looks at the allowed cores of each. A rank that is bound to
/// cores of its own stays on them.
void choose_cores(const Sharers& sharers) {
  if (!environment_flag("ACCELERATE_CPU_AFFINITY", false)) return;
  if (!pin_to_cores(cores_of_process(allowed_cores(), sharers.index, sharers.count))) {
    get_logger("accelerate").warning("the system does not let this rank choose its cores, so it is not bound to any");
  }
}

/// The job's store, opened once per process: the server on rank 0 must outlive every rendezvous.
c10::intrusive_ptr<c10d::Store> job_store(const ProcessEnvironment& process, std::chrono::milliseconds timeout) {
  static auto* stores = new std::map<std::string, c10::intrusive_ptr<c10d::Store>>();
  auto& store = (*stores)[process.store_place()];
  if (!store) store = open_store(process, timeout);
  return store;
}

/// The backend from the program, else from the environment, else auto. Throws Error for an unknown name.
std::string backend_name(const std::string& option) {
  const auto name = option.empty() ? environment_variable("ACCELERATE_COMM").value_or("") : option;
  if (name.empty()) return "auto";
  for (const char* known : {"auto", "shm", "gloo", "nccl"}) {
    if (name == known) return name;
  }
  fail("the backend is '", name, "'", option.empty() ? " (ACCELERATE_COMM)" : "",
       "; it can be auto, shm, gloo or nccl");
}

/// The transport of CPU tensors. GPUs use nccl in addition. Throws Error for nccl without GPUs.
Transport wanted_transport(const std::string& backend, bool gpu) {
  if (backend == "shm") return Transport::SharedMemory;
  if (backend == "gloo") return Transport::Gloo;
  if (backend == "nccl" && !gpu) fail("the backend is nccl, but the ranks are on the CPU; it can be auto, shm or gloo");
  return Transport::Auto;
}

std::chrono::milliseconds default_timeout(bool use_nccl) { return std::chrono::minutes(use_nccl ? 10 : 30); }

/// A DistError of libtorch means here that the store or a rank is gone.
Group connect(const ProcessEnvironment& process, const PartialStateOptions& options, bool use_nccl) try {
  Group::Connection::Options connection;
  connection.transport = wanted_transport(backend_name(options.backend), use_nccl);
  connection.timeout = *options.timeout;
  connection.debug = environment_flag("ACCELERATE_DEBUG_MODE", false);
  connection.use_nccl = use_nccl;

  rank_setup(/*on_cpu=*/!use_nccl);
  auto start_timeout = std::min<std::chrono::milliseconds>(connection.timeout, kStartTimeout);
  auto prefix = "accelerate/" + process.run_id + "/" + std::to_string(num_joined++);
  auto store = c10::make_intrusive<c10d::PrefixStore>(prefix, job_store(process, start_timeout));
  auto card = make_card(process);
  card.shares_memory = connection.transport != Transport::Gloo;
  const auto topology = std::make_shared<const Topology>(verify_ranks(*store, process, card, start_timeout));
  connection.topology = topology;
  // Only now: until rank 0 has been reached, its name may not resolve.
  connection.local_address =
      topology->one_machine() ? std::string("127.0.0.1") : local_address_towards(process.main_address);
  const auto sharers = topology->core_sharers(process.rank);
  if (!use_nccl) choose_num_threads(sharers);
  Group group(std::make_shared<Group::Connection>(store, process.rank, process.world_size, connection));
  choose_cores(sharers);
  return group;
} catch (const c10::DistError& error) {
  process::note_lost_peer(process::message_of(error));
  throw;
}

}  // namespace

const char* to_string(DistributedType type) {
  switch (type) {
    case DistributedType::MultiCpu:
      return "MULTI_CPU";
    case DistributedType::MultiGpu:
      return "MULTI_GPU";
    default:
      return "NO";
  }
}

ProcessFirst::ProcessFirst(Group group, bool first) : group_(std::move(group)), first_(first) {
  if (!first_) group_.barrier("main_process_first");
}

ProcessFirst::~ProcessFirst() {
  if (!first_) return;
  try {
    group_.barrier("main_process_first");
  } catch (const std::exception& error) {
    get_logger("accelerate").warning(error.what(), {.main_process_only = false});
  }
}

// Never destroyed: at the end of the process other ranks may still be reading from the store, and libtorch's threads
// must not outlive what they use.
std::shared_ptr<const PartialState::Shared>& PartialState::current() {
  static auto* shared = new std::shared_ptr<const Shared>();
  return *shared;
}

PartialState::PartialState(const PartialStateOptions& options) {
  std::lock_guard lock(current_mutex);
  if (current()) {
    check_joined(*current(), options);
  } else {
    process_setup();
    current() = join(options);
  }
  shared_ = current();
}

std::shared_ptr<const PartialState::Shared> PartialState::join(const PartialStateOptions& options) {
  check_log_level_variable();
  backend_name(options.backend);  // checked with one process too: the same program may run on several
  auto shared = std::make_shared<Shared>();
  shared->process = with_init_method(read_process_environment(), options.init_method);
  shared->options = options;
  bool cpu = options.cpu || environment_flag("ACCELERATE_USE_CPU", false);
  shared->device = choose_device(cpu, shared->process.local_rank);
  if (shared->process.world_size > 1) {
    bool gpu = shared->device.is_cuda();
    shared->type = gpu ? DistributedType::MultiGpu : DistributedType::MultiCpu;
    shared->options.timeout = options.timeout.value_or(default_timeout(gpu));
    shared->group = connect(shared->process, shared->options, gpu);
    shared->backend = gpu ? "nccl" : to_string(shared->group.connection()->transport());
  }
  auto group = shared->group;
  set_log_context({.rank = shared->process.rank,
                   .local_rank = shared->process.local_rank,
                   .world_size = shared->process.world_size,
                   .barrier = [group] { group.barrier("log in order"); }});
  return shared;
}

/// Throws Error if options differ from those the job was joined with.
void PartialState::check_joined(const Shared& joined, const PartialStateOptions& options) {
  constexpr const char* remedy = "; give it to the first Accelerator or PartialState of the process";
  if (options.cpu && !joined.device.is_cpu()) {
    fail("cpu is true, but this process already joined its job with the device ", joined.device, remedy,
         ", or set ACCELERATE_USE_CPU=1");
  }
  if (joined.process.world_size == 1) {  // nothing to compare with, but invalid values are still errors
    backend_name(options.backend);
    with_init_method(joined.process, options.init_method);
    return;
  }
  if (options.timeout && options.timeout != joined.options.timeout) {
    fail("the timeout is ", options.timeout->count(), " ms, but this process already joined its job with one of ",
         joined.options.timeout->count(), " ms", remedy);
  }
  const bool names_store = !options.init_method.empty() && options.init_method != "env://";
  if (names_store && options.init_method != joined.options.init_method) {
    fail("init_method is '", options.init_method, "', but this process already joined its job with '",
         joined.options.init_method, "'", remedy);
  }
  const bool same_backend = options.backend == joined.options.backend || options.backend == joined.backend;
  if (!options.backend.empty() && options.backend != "auto" && !same_backend) {
    fail("the backend is ", options.backend, ", but this process already joined its job with ", joined.backend, remedy,
         ", or set ACCELERATE_COMM=", options.backend);
  }
}

bool PartialState::initialized() {
  std::lock_guard lock(current_mutex);
  return current() != nullptr;
}

void PartialState::reset() {
  std::lock_guard lock(current_mutex);
  current().reset();
  // Log lines after the end of the job still show the rank, but there are no ranks left to wait for.
  auto context = log_context();
  context.barrier = {};
  set_log_context(std::move(context));
}

int PartialState::num_processes() const { return shared_->group.size(); }
int PartialState::process_index() const { return shared_->group.rank(); }
int PartialState::local_process_index() const { return shared_->process.local_rank; }
DistributedType PartialState::distributed_type() const { return shared_->type; }
const std::string& PartialState::backend() const { return shared_->backend; }
at::Device PartialState::device() const { return shared_->device; }
const Group& PartialState::group() const { return shared_->group; }

std::string PartialState::describe() const {
  std::ostringstream text;
  text << "Distributed environment: DistributedType." << to_string(distributed_type());
  if (!backend().empty()) text << "  Backend: " << backend();
  text << "\nNum processes: " << num_processes() << "\nProcess index: " << process_index()
       << "\nLocal process index: " << local_process_index() << "\nDevice: " << device() << "\n";
  return text.str();
}

}  // namespace accelerate::comm
