#include "accelerate/comm/agreement.h"

#include <exception>
#include <set>

#include "accelerate/base/error.h"

namespace accelerate::comm {

namespace {

/// The message of the exception being handled; never empty.
std::string current_exception_message() {
  try {
    throw;
  } catch (const std::exception& error) {
    const std::string message = error.what();
    return message.empty() ? "an exception without a message was thrown" : message;
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
    mine = kFailed + current_exception_message();
  }
  auto all = exchange(mine);

  std::string errors;
  std::set<std::string> seen;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const bool failed = all[rank].front() == kFailed;
    all[rank].erase(0, 1);
    if (!failed || !seen.insert(all[rank]).second) continue;  // the same message as of a lower rank
    if (!errors.empty()) errors += '\n';
    errors += (all.size() > 1 ? "rank " + std::to_string(rank) + ": " : "") + all[rank];
  }
  if (!errors.empty()) throw Error(errors);
  return all;
}

}  // namespace accelerate::comm
