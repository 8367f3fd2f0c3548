#include "accelerate/comm/rendezvous.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <thread>
#include <vector>

#include "accelerate/base/cpu.h"
#include "accelerate/base/error.h"
#include "accelerate/base/host_name.h"
#include "accelerate/base/text.h"
#include "accelerate/base/version.h"
#include "accelerate/comm/failures/quiet_c10d.h"
#include "accelerate/comm/store.h"
#include "accelerate/process/lost_peer.h"

namespace accelerate::comm {

namespace {

using Clock = std::chrono::steady_clock;

/// The numbers of the NUMA nodes that `cores` belong to, sorted. Empty if the kernel does not tell.
std::vector<int> numa_nodes_of(const std::vector<int>& cores) {
  std::vector<int> nodes;
  std::error_code unknown;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", unknown)) {
    const auto name = entry.path().filename().string();
    int node = 0;
    if (!name.starts_with("node") ||
        std::from_chars(name.data() + 4, name.data() + name.size(), node).ec != std::errc())
      continue;
    const bool has_core = std::any_of(cores.begin(), cores.end(), [&](int core) {
      return std::filesystem::exists(entry.path() / ("cpu" + std::to_string(core)), unknown);
    });
    if (has_core) nodes.push_back(node);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

/// One rank's side of the first exchange through the store.
class Rendezvous {
 public:
  Rendezvous(c10d::Store& store, const ProcessEnvironment& process, const RankCard& own,
             std::chrono::milliseconds timeout)
      : store_(store), process_(process), own_(own), timeout_(timeout), deadline_(Clock::now() + timeout) {}

  Topology run() {
    claim_rank();
    store_.set(card_key(process_.rank), text_to_bytes(own_.to_text()));
    if (process_.rank == 0) {
      gather_cards();
    } else {
      read_card(0);
    }
    wait_for("complete");
    std::istringstream texts(get_text(store_, "complete"));
    std::vector<RankCard> cards;
    for (int rank = 0; rank < process_.world_size; ++rank) cards.push_back(RankCard::read(texts));
    return Topology(std::move(cards));
  }

 private:
  static std::string card_key(int rank) { return "job/" + std::to_string(rank); }

  /// Publishes why the job cannot start to all ranks, then throws it here.
  [[noreturn]] void refuse(const std::string& reason) {
    store_.set("refused", text_to_bytes(reason));
    throw Error(reason);
  }

  void throw_if_refused() {
    if (store_.check({"refused"})) throw Error(get_text(store_, "refused"));
  }

  void claim_rank() {
    const auto rank = std::to_string(process_.rank);
    if (store_.add("claimed/" + rank, 1) == 1) return;
    refuse("two processes claim rank " + rank + " of the job at " + process_.store_place() + " (" + own_.job +
           "); is another job using the same " + (process_.store_file.empty() ? "port" : "file, or an old one") +
           ", or a rank started twice?");
  }

  /// Waits for the card of `rank`, and refuses the job if that rank belongs to another.
  std::string read_card(int rank) {
    wait_for(card_key(rank));
    auto text = get_text(store_, card_key(rank));
    const auto card = RankCard::from_text(text);
    if (card.job != own_.job) {
      refuse("the ranks do not belong to one job: rank " + std::to_string(process_.rank) + " has " + own_.job +
             "; rank " + std::to_string(rank) + " has " + card.job);
    }
    return text;
  }

  /// Rank 0 reads all cards and publishes them together.
  void gather_cards() {
    std::string all = own_.to_text() + "\n";
    for (int rank = 1; rank < process_.world_size; ++rank) all += read_card(rank) + "\n";
    throw_if_refused();
    store_.set("complete", text_to_bytes(all));
  }

  void wait_for(const std::string& key) {
    if (wait_for_key(store_, key, deadline_, [this] { throw_if_refused(); })) return;
    std::vector<int> missing;
    for (int rank = 0; rank < process_.world_size; ++rank) {
      if (!store_.check({card_key(rank)})) missing.push_back(rank);
    }
    fail("rank ", process_.rank, " waited ", timeout_.count() / 1000.0, " s for the job to start, but of ",
         process_.world_size, " ranks these did not join: ", listed(missing),
         "; were they started, with the same MASTER_ADDR and MASTER_PORT?");
  }

  c10d::Store& store_;
  const ProcessEnvironment& process_;
  const RankCard& own_;
  std::chrono::milliseconds timeout_;
  Clock::time_point deadline_;
};

}  // namespace

RankCard make_card(const ProcessEnvironment& process) {
  std::error_code unknown;
  auto cores = allowed_cores();
  return {.job = "world size " + std::to_string(process.world_size) + ", run id '" + process.run_id + "', accelerate " +
                 kVersion,
          .host = host_name(),
          .boot_id = boot_id().value_or(""),
          .network = std::filesystem::read_symlink("/proc/self/ns/net", unknown).string(),
          .cores = cores,
          .numa_nodes = numa_nodes_of(cores),
          .local_rank = process.local_rank,
          .pid = getpid()};
}

Topology verify_ranks(c10d::Store& store, const ProcessEnvironment& process, const RankCard& own,
                      std::chrono::milliseconds timeout) {
  try {
    QuietC10d quiet;
    return Rendezvous(store, process, own, timeout).run();
  } catch (const Error&) {
    // Gives the other ranks time to read the reason: the store ends with this process.
    if (hosts_store(process)) std::this_thread::sleep_for(4 * kLongestStorePause);
    throw;
  } catch (const std::exception& error) {
    process::note_lost_peer(first_line(error));
    fail("rank ", process.rank, " lost the job's store at ", process.store_place(),
         " before the job had started: ", first_line(error),
         "; the process that hosts it has ended; see its own message");
  }
}

}  // namespace accelerate::comm
