#include "accelerate/checkpoint/agreement.h"

#include <exception>

namespace accelerate::checkpoint {
namespace {

/// The message of the exception being handled; never empty.
std::string words_of_exception() {
  try {
    throw;
  } catch (const std::exception& error) {
    const std::string words = error.what();
    return words.empty() ? "an exception without a message was thrown" : words;
  } catch (...) {
    return "something was thrown that is not a std::exception";
  }
}

}  // namespace

std::vector<std::string> collectively(const Exchange& exchange, const std::function<std::string()>& work) {
  constexpr char kDone = '+', kFailed = '-';  // the first character of a message
  std::string mine;
  try {
    mine = kDone + work();
  } catch (...) {  // any exception: the other ranks wait for this message
    mine = kFailed + words_of_exception();
  }
  auto all = exchange(mine);

  std::string complaints;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const bool failed = all[rank].front() == kFailed;
    all[rank].erase(0, 1);
    if (!failed || complaints.find(all[rank]) != std::string::npos) continue;  // drop duplicate messages
    if (!complaints.empty()) complaints += '\n';
    complaints += (all.size() > 1 ? "rank " + std::to_string(rank) + ": " : "") + all[rank];
  }
  if (!complaints.empty()) throw Error(complaints);
  return all;
}

}  // namespace accelerate::checkpoint
