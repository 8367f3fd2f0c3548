#pragma once

// Selects which streams of which ranks go to files, in the notation of torchrun: a number for all local ranks, or a
// list of rank:number. 0 is neither stream, 1 standard output, 2 standard error, 3 both.

#include <map>
#include <string>

namespace accelerate::launch {

/// A set of streams for each local rank.
class StreamChoice {
 public:
  StreamChoice() = default;
  /// Throws Error naming `flag` if the text is not in the notation.
  StreamChoice(const std::string& flag, const std::string& text);

  bool output(int local_rank) const { return (bits(local_rank) & 1) != 0; }
  bool errors(int local_rank) const { return (bits(local_rank) & 2) != 0; }
  bool any() const { return for_all_ != 0 || !for_one_.empty(); }

 private:
  int bits(int local_rank) const;

  int for_all_ = 0;
  std::map<int, int> for_one_;
};

struct StreamRoutes {
  StreamChoice redirects = {};  // to a file instead of the console
  StreamChoice tee = {};        // to a file and the console

  bool any() const { return redirects.any() || tee.any(); }
};

}  // namespace accelerate::launch
