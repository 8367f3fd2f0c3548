// Builds the process group of a job. The only file that includes gloo (gloo_headers/README.md).

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>
#include <string_view>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupWrapper.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/base/text.h"
#include "accelerate/comm/backends/hierarchical_backend.h"
#include "accelerate/comm/backends/shared_memory_backend.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/failures/quiet_c10d.h"
#include "accelerate/process/crash_file.h"
#include "accelerate/process/lost_peer.h"

namespace accelerate::comm {

namespace shm = shared_memory;

namespace {

using Gloo = c10d::ProcessGroupGloo;

c10::intrusive_ptr<Gloo> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, const std::string& prefix, int rank,
                                   int size, const Group::Connection::Options& options) {
  auto gloo_options = Gloo::Options::create(options.timeout);
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME")) {
    gloo_options->devices.push_back(Gloo::createDeviceForInterface(interface));
  } else {
    gloo_options->devices.push_back(Gloo::createDeviceForHostname(options.local_address));
  }
  return c10::make_intrusive<Gloo>(c10::make_intrusive<c10d::PrefixStore>(prefix, store), rank, size, gloo_options);
}

/// "the machines have 2, 1 ranks ...".
std::string uneven(const Machines& machines) {
  auto counts = std::views::transform([](const auto& ranks) { return ranks.size(); });
  return "the machines have different numbers of ranks (" + listed(machines | counts) +
         "), so all ranks talk over TCP; with the same number on each machine, the ranks of a machine would share its "
         "memory";
}

/// Whether a transport failed. NCCL and shared memory throw their own types; Gloo throws plain exceptions that name its
/// source file.
bool is_from_transport(const std::exception& error) {
  return dynamic_cast<const c10::DistError*>(&error) || dynamic_cast<const shm::PeerError*>(&error) ||
         std::string_view(error.what()).find("gloo/") != std::string_view::npos;
}

/// Whether the ranks called different collectives; the message then says what each called. In debug mode libtorch
/// compares the calls, and has no exception type for it.
bool is_mismatch(const std::exception& error) {
  return dynamic_cast<const shm::MismatchError*>(&error) ||
         std::string_view(error.what()).find("Detected mismatch between collectives") != std::string_view::npos;
}

}  // namespace

const char* to_string(Transport transport) {
  switch (transport) {
    case Transport::SharedMemory:
      return "shm";
    case Transport::Hierarchical:
      return "hierarchical";
    case Transport::Gloo:
      return "gloo";
    default:
      return "auto";
  }
}

Group::Connection::Connection(c10::intrusive_ptr<c10d::Store> store, int rank, int size, Options options)
    : store_(std::move(store)), options_(std::move(options)), rank_(rank), size_(size) {
  using BackendType = c10d::ProcessGroup::BackendType;
  QuietC10d quiet;  // the rendezvous goes through the store
  process_group_ = c10::make_intrusive<c10d::ProcessGroup>(store_, rank, size);
  auto backend = choose_transport();
  auto type = transport_ == Transport::Gloo ? BackendType::GLOO : BackendType::CUSTOM;
  if (options_.debug) {
    // Compares every collective across ranks over a second group, including those of the Reducer.
    backend = c10::make_intrusive<c10d::ProcessGroupWrapper>(backend, make_gloo(store_, "check", rank, size, options_));
  }
  process_group_->setBackend(c10::DeviceType::CPU, type, backend);
  process_group_->setDefaultBackend(type);
  process_group_->setGroupName("accelerate");
  if (options_.use_nccl) add_nccl_backend(*process_group_, store_, options_.timeout);
  watchdog_.emplace(store_, rank, size, recorder_, WatchdogOptions{options_.names, options_.topology});
}

std::string Group::Connection::name_of(int rank) const {
  return std::to_string(options_.names.empty() ? rank : options_.names[rank]);
}

/// "rank 1 of 4", or "rank 3 of the group of ranks 1, 3".
std::string Group::Connection::describe_self() const {
  auto self = "rank " + name_of(rank_) + " of ";
  if (options_.names.empty()) return self + std::to_string(size_);
  return self + "the group of ranks " + listed(options_.names);
}

std::shared_ptr<Group::Connection> Group::Connection::connect_subgroup(int number,
                                                                       const std::vector<int>& ranks) const {
  auto options = options_;
  options.transport = transport_ == Transport::Gloo ? Transport::Gloo : Transport::Auto;
  options.names = ranks;
  if (!options_.names.empty()) {
    for (int& rank : options.names) rank = options_.names[rank];
  }
  auto store = c10::make_intrusive<c10d::PrefixStore>("group/" + std::to_string(number), store_);
  auto place = std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin();
  return std::make_shared<Connection>(store, static_cast<int>(place), static_cast<int>(ranks.size()), options);
}

c10::intrusive_ptr<c10d::Backend> Group::Connection::choose_transport() {
  auto machines = topology().machines_of(job_ranks());
  auto intra_node = connect_local_ranks(machines);
  if (intra_node && machines.size() == 1) {
    transport_ = Transport::SharedMemory;
    return intra_node;
  }
  auto flat = make_gloo(store_, "gloo", rank_, size_, options_);
  if (!intra_node) {
    transport_ = Transport::Gloo;
    return flat;
  }
  transport_ = Transport::Hierarchical;
  auto place = place_of(machines, rank_);
  auto inter_node = make_gloo(store_, "between/" + std::to_string(place.number), place.machine,
                              static_cast<int>(machines.size()), options_);
  return c10::make_intrusive<HierarchicalBackend>(machines, HierarchicalBackend::Levels{intra_node, inter_node}, flat);
}

/// The numbers in the job of this group's ranks.
std::vector<int> Group::Connection::job_ranks() const {
  if (!options_.names.empty()) return options_.names;
  std::vector<int> ranks(size_);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// Whether no rank asks for TCP and all machines are identified. Rank 0 warns if only the latter is missing.
bool Group::Connection::may_share_memory() const {
  if (options_.transport == Transport::Gloo || !topology().all_want_memory()) return false;
  const auto unidentified = topology().first_unidentified();
  if (unidentified && rank_ == 0) {
    get_logger("accelerate")
        .warning("the ranks talk over TCP, because rank " + std::to_string(*unidentified) +
                 " cannot read /proc/sys/kernel/random/boot_id, which tells machines apart");
  }
  return !unidentified;
}

/// Connects the ranks of each machine through shared memory if all machines have the same number of ranks, at least
/// two. Otherwise, or if that fails, returns null; rank 0 warns unless the reason is obvious. Throws Error instead if
/// shared memory is required.
c10::intrusive_ptr<SharedMemoryBackend> Group::Connection::connect_local_ranks(const Machines& machines) const {
  bool required = options_.transport == Transport::SharedMemory;
  std::string reason = "the ranks are on several machines, or some of them request gloo";
  bool warn = rank_ == 0 && !required;
  const bool may_share = may_share_memory();
  if (may_share && !all_alike(machines)) {
    if (warn) get_logger("accelerate").warning(uneven(machines));
  } else if (may_share && machines[0].size() > 1 && !(required && machines.size() > 1)) {
    try {
      return connect_through_memory(key_value_store(store_), machines, rank_,
                                    {.timeout = options_.timeout,
                                     .core_sharers = topology().core_sharers(job_ranks()[rank_]).count,
                                     .names = options_.names});
    } catch (const Error& error) {
      reason = error.what();
      if (warn) {
        get_logger("accelerate").warning("the ranks talk over TCP, because they have no shared memory: " + reason);
      }
    }
  }
  if (required) fail("rank ", rank_, ": shared memory is requested (shm), but ", reason, "; auto would use gloo");
  return nullptr;
}

void Group::Connection::wait(const std::string& operation, const at::Tensor& tensor,
                             const std::function<c10::intrusive_ptr<c10d::Work>()>& start, bool by_all) {
  auto number = recorder_.begin(operation, tensor, by_all);
  try {
    start()->wait();
  } catch (const std::exception& error) {
    fail_without(number, error);
  }
  recorder_.end(number, Collective::State::Done);
}

void Group::Connection::run_recorded(const std::string& operation, int64_t bytes, const std::function<void()>& work,
                                     bool by_all) {
  auto number = recorder_.begin(operation, bytes, by_all);
  try {
    work();
  } catch (const std::exception& error) {
    if (is_from_transport(error)) fail_without(number, error);
    recorder_.end(number, Collective::State::Failed);
    if (!is_mismatch(error)) throw;
    watchdog_->write_report();
    fail(process::message_of(error), "\nThe call on this rank was ", operation);
  }
  recorder_.end(number, Collective::State::Done);
}

void Group::Connection::fail_without(int64_t number, const std::exception& error) {
  // A mismatch, or a tensor that cannot be sent, does not mean that a peer is lost.
  bool is_loss = is_from_transport(error);
  if (is_loss)
    process::note_lost_peer(process::message_of(error));  // now: the launcher compares the times of the records
  recorder_.end(number, Collective::State::Failed);
  auto collective = recorder_.find(number);
  auto elapsed = std::chrono::duration<double>(collective.end - collective.begin);
  bool timed_out = elapsed > 0.9 * options_.timeout;
  // If all ranks share memory, the error names the process that has ended. The watchdog has to find ranks that are
  // alive but missing, and ranks lost on other machines.
  bool by_memory = transport_ == Transport::SharedMemory && dynamic_cast<const shm::PeerError*>(&error) != nullptr;
  bool reason_is_known = !is_loss || (by_memory && !timed_out);
  auto missing = reason_is_known ? "" : watchdog_->missing_ranks(number);
  // If another rank has ended, its own message says more and should not be buried under this report.
  if (timed_out || is_mismatch(error)) watchdog_->write_report();
  auto reason =
      missing.empty() ? process::message_of(error) : missing + (by_memory ? "" : ". " + process::message_of(error));
  fail(describe_self(), ": ", describe(collective), " failed after ", std::round(elapsed.count() * 10) / 10, " s; ",
       reason);
}

}  // namespace accelerate::comm
