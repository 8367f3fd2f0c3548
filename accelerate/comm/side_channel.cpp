#include "accelerate/comm/side_channel.h"

#include <chrono>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "accelerate/base/error.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/failures/quiet_c10d.h"
#include "accelerate/comm/store.h"

namespace accelerate::comm {

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
  quietly([&] { store->set(key(round, group_.rank()), text_to_bytes(bytes)); });

  const auto deadline = std::chrono::steady_clock::now() + group_.timeout();
  std::vector<std::string> all;
  for (int rank = 0; rank < group_.size(); ++rank) {
    const auto give_up = [&] {
      if (closed_) fail("rank ", group_.rank(), " stopped waiting for rank ", rank);
    };
    if (!wait_for_key(*store, key(round, rank), deadline, give_up)) {
      fail("rank ", group_.rank(), " waited ", std::chrono::duration<double>(group_.timeout()).count(), " s for rank ",
           rank);
    }
    all.push_back(quietly([&] { return get_text(*store, key(round, rank)); }));
  }
  // All ranks have reached this round, so all have read the messages of the previous one.
  if (round > 0) quietly([&] { store->deleteKey(key(round - 1, group_.rank())); });
  return all;
}

}  // namespace accelerate::comm
