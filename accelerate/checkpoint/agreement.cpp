#include "accelerate/checkpoint/agreement.h"

namespace accelerate::checkpoint {

std::vector<std::string> together(const Exchange& exchange, const std::function<std::string()>& work) {
  constexpr char kDone = '+', kFailed = '-';  // how a text begins
  std::string mine;
  try {
    mine = kDone + work();
  } catch (const std::exception& error) {
    mine = kFailed + std::string(error.what());
  }
  auto all = exchange(mine);

  std::string complaints;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const bool failed = all[rank].front() == kFailed;
    all[rank].erase(0, 1);
    if (!failed || complaints.find(all[rank]) != std::string::npos) continue;  // ranks may say the same
    if (!complaints.empty()) complaints += '\n';
    complaints += (all.size() > 1 ? "rank " + std::to_string(rank) + ": " : "") + all[rank];
  }
  if (!complaints.empty()) throw Error(complaints);
  return all;
}

}  // namespace accelerate::checkpoint
