#include "accelerate/comm/side_channel.h"

#include <chrono>
#include <thread>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "accelerate/base/error.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/quiet_c10d.h"

namespace accelerate::comm {

using Clock = std::chrono::steady_clock;

SideChannel::SideChannel(Group group) : group_(std::move(group)) {
  static std::atomic<int64_t> next_number = 0;
  number_ = next_number++;
}

std::string SideChannel::key(int64_t round, int rank) const {
  return "side_channel/" + std::to_string(number_) + "/" + std::to_string(round) + "/" + std::to_string(rank);
}

std::vector<std::string> SideChannel::all_gather_bytes(const std::string& bytes) {
  if (group_.size() == 1) return {bytes};
  const auto store = group_.connection()->process_group()->getStore();
  const int64_t round = round_++;
  auto quietly = [](auto&& ask) {
    QuietC10d quiet;
    return ask();
  };
  quietly([&] { store->set(key(round, group_.rank()), std::vector<uint8_t>(bytes.begin(), bytes.end())); });

  const auto deadline = Clock::now() + group_.timeout();
  std::vector<std::string> all;
  for (int rank = 0; rank < group_.size(); ++rank) {
    // Polls with exponential back-off: a blocking wait would hold the store's connection, which the training thread
    // uses too.
    for (auto pause = std::chrono::milliseconds(1); !quietly([&] { return store->check({key(round, rank)}); });
         pause = std::min(2 * pause, std::chrono::milliseconds(50))) {
      if (closed_) fail("rank ", group_.rank(), " stopped waiting for rank ", rank);
      if (Clock::now() > deadline) {
        fail("rank ", group_.rank(), " waited ", std::chrono::duration<double>(group_.timeout()).count(),
             " s for rank ", rank);
      }
      std::this_thread::sleep_for(pause);
    }
    const auto text = quietly([&] { return store->get(key(round, rank)); });
    all.emplace_back(text.begin(), text.end());
  }
  // All ranks have reached this round, so all have read the messages of the previous one.
  if (round > 0) quietly([&] { store->deleteKey(key(round - 1, group_.rank())); });
  return all;
}

}  // namespace accelerate::comm
