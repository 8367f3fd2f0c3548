// Builds the process group of a job. The only file that sees gloo (gloo_headers/README.md).

#include <cmath>
#include <string_view>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupWrapper.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/base/uncaught.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/shared_memory_backend.h"

namespace accelerate::comm {

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

/// Gloo throws plain exceptions that begin with its file, NCCL's and shared memory's have a type of their own.
bool is_from_transport(const std::exception& error) {
  return dynamic_cast<const c10::DistError*>(&error) || dynamic_cast<const shared_memory::PeerError*>(&error) ||
         std::string_view(error.what()).find("gloo/") != std::string_view::npos;
}

}  // namespace

Group::Connection::Connection(c10::intrusive_ptr<c10d::Store> store, int rank, int size, Options options)
    : store_(std::move(store)), options_(std::move(options)), rank_(rank), size_(size) {
  using BackendType = c10d::ProcessGroup::BackendType;
  process_group_ = c10::make_intrusive<c10d::ProcessGroup>(store_, rank, size);
  auto backend = choose_transport();
  auto type = transport_ == Transport::Gloo ? BackendType::GLOO : BackendType::CUSTOM;
  if (options_.debug) {
    // Compares every collective with those of the other ranks over a second group, the Reducer's included.
    backend = c10::make_intrusive<c10d::ProcessGroupWrapper>(backend, make_gloo(store_, "check", rank, size, options_));
  }
  process_group_->setBackend(c10::DeviceType::CPU, type, backend);
  process_group_->setDefaultBackend(type);
  process_group_->setGroupName("accelerate");
  if (options_.use_nccl) add_nccl_backend(*process_group_, store_, options_.timeout);
  watchdog_.emplace(store_, rank, size, recorder_);
}

c10::intrusive_ptr<c10d::Backend> Group::Connection::choose_transport() {
  bool required = options_.transport == Transport::SharedMemory;
  std::string reason = "the ranks are on several machines, or some of them ask for gloo";
  try {
    bool willing = options_.transport != Transport::Gloo;
    if (auto backend = connect_through_memory(store_, rank_, size_, willing, options_.timeout)) {
      transport_ = Transport::SharedMemory;
      return backend;
    }
  } catch (const Error& error) {
    reason = error.what();
    if (rank_ == 0 && !required) {
      get_logger("accelerate").warning("the ranks talk over TCP, because they have no shared memory: " + reason);
    }
  }
  if (required) fail("rank ", rank_, ": shared memory is asked for (shm), but ", reason, "; auto would take gloo");
  transport_ = Transport::Gloo;
  return make_gloo(store_, "gloo", rank_, size_, options_);
}

void Group::Connection::wait(const std::string& operation, const at::Tensor& tensor,
                             const std::function<c10::intrusive_ptr<c10d::Work>()>& start) {
  auto number = recorder_.begin(operation, tensor);
  try {
    start()->wait();
  } catch (const std::exception& error) {
    fail_without(number, error);
  }
  recorder_.end(number, Collective::State::Done);
}

void Group::Connection::explain(const std::string& operation, int64_t bytes, const std::function<void()>& work) {
  auto number = recorder_.begin(operation, bytes);
  try {
    work();
  } catch (const std::exception& error) {
    if (is_from_transport(error)) fail_without(number, error);
    recorder_.end(number, Collective::State::Failed);
    throw;
  }
  recorder_.end(number, Collective::State::Done);
}

void Group::Connection::fail_without(int64_t number, const std::exception& error) {
  recorder_.end(number, Collective::State::Failed);
  auto collective = recorder_.find(number);
  auto elapsed = std::chrono::duration<double>(collective.end - collective.begin);
  // Shared memory knows at once when a process has ended. Who lives and does not come has to be asked about.
  bool by_memory = dynamic_cast<const shared_memory::PeerError*>(&error) != nullptr;
  auto missing = by_memory && elapsed < options_.timeout / 2 ? "" : watchdog_->missing_ranks(number);
  watchdog_->write_report();
  auto reason = missing.empty() ? message_of(error) : missing + (by_memory ? "" : ". " + message_of(error));
  fail("rank ", rank_, " of ", size_, ": ", describe(collective), " failed after ",
       std::round(elapsed.count() * 10) / 10, " s; ", reason);
}

}  // namespace accelerate::comm
