#include "accelerate/comm/rendezvous.h"

#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/base/lost_peer.h"
#include "accelerate/base/text.h"
#include "accelerate/base/version.h"
#include "accelerate/comm/quiet_c10d.h"
#include "accelerate/comm/sockets.h"
#include "accelerate/comm/store_text.h"

namespace accelerate::comm {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLongestPause = std::chrono::milliseconds(50);  // between two polls of the store

bool hosts_store(const ProcessEnvironment& process) { return process.rank == 0 && !process.agent_store; }

std::string first_line(const std::exception& error) {
  std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

std::string describe(const ProcessEnvironment& process) {
  return "world size " + std::to_string(process.world_size) + ", run id '" + process.run_id + "', accelerate " +
         kVersion;
}

/// Publishes why the job cannot start to all ranks, then throws it here.
[[noreturn]] void refuse(c10d::Store& store, const std::string& reason) {
  store.set("refused", bytes_of(reason));
  throw Error(reason);
}

void throw_if_refused(c10d::Store& store) {
  if (store.check({"refused"})) throw Error(text_of(store, "refused"));
}

std::string missing_ranks(c10d::Store& store, const ProcessEnvironment& process) {
  std::vector<int> missing;
  for (int rank = 0; rank < process.world_size; ++rank) {
    if (!store.check({"job/" + std::to_string(rank)})) missing.push_back(rank);
  }
  return listed(missing);
}

/// Polls for `key` with exponential back-off. Throws if a rank refuses the job or the time is up.
void await(c10d::Store& store, const std::string& key, const ProcessEnvironment& process, Clock::time_point deadline,
           std::chrono::milliseconds timeout) {
  auto pause = std::chrono::milliseconds(1);
  while (!store.check({key})) {
    throw_if_refused(store);
    if (Clock::now() > deadline) {
      fail("rank ", process.rank, " waited ", timeout.count() / 1000.0, " s for the job to start, but of ",
           process.world_size, " ranks these did not join: ", missing_ranks(store, process),
           "; were they started, with the same MASTER_ADDR and MASTER_PORT?");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

void meet(c10d::Store& store, const ProcessEnvironment& process, std::chrono::milliseconds timeout) {
  auto deadline = Clock::now() + timeout;
  auto rank = std::to_string(process.rank);
  if (store.add("claimed/" + rank, 1) > 1) {
    refuse(store, "two processes claim rank " + rank + " of the job at " + process.store_place() + " (" +
                      describe(process) + "); is another job using the same " +
                      (process.store_file.empty() ? "port" : "file, or an old one") + ", or a rank started twice?");
  }
  auto mine = describe(process);
  store.set("job/" + rank, bytes_of(mine));
  auto compare_with = [&](int other) {
    auto key = "job/" + std::to_string(other);
    await(store, key, process, deadline, timeout);
    auto theirs = text_of(store, key);
    if (theirs == mine) return;
    refuse(store, "the ranks do not belong to one job: rank " + rank + " has " + mine + "; rank " +
                      std::to_string(other) + " has " + theirs);
  };
  if (process.rank != 0) compare_with(0);
  if (process.rank == 0) {
    for (int other = 1; other < process.world_size; ++other) compare_with(other);
    throw_if_refused(store);
    store.set("complete", bytes_of("yes"));
  }
  await(store, "complete", process, deadline, timeout);
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

c10::intrusive_ptr<c10d::Store> open_store(const ProcessEnvironment& process, std::chrono::milliseconds timeout) {
  if (!process.store_file.empty()) return open_file_store(process, timeout);
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(process.main_port);
  options.isServer = hosts_store(process);
  options.numWorkers = process.world_size;
  options.waitWorkers = false;  // verify_job waits, and names missing ranks
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
    if (!options.isServer) note_lost_peer(first_line(error));
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

void verify_job(c10d::Store& store, const ProcessEnvironment& process, std::chrono::milliseconds timeout) {
  try {
    QuietC10d quiet;
    meet(store, process, timeout);
  } catch (const Error&) {
    // Gives the other ranks time to read the reason: the store ends with this process.
    if (hosts_store(process)) std::this_thread::sleep_for(4 * kLongestPause);
    throw;
  } catch (const std::exception& error) {
    note_lost_peer(first_line(error));
    fail("rank ", process.rank, " lost the job's store at ", process.store_place(),
         " before the job had started: ", first_line(error),
         "; the process that hosts it has ended; see its own message");
  }
}

}  // namespace accelerate::comm
