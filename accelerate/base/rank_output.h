#pragma once

// What the ranks write, on its way to the console and to files. Lines of different ranks are never mixed.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "accelerate/base/descriptor.h"

namespace accelerate {

/// Where one stream of one rank goes.
struct StreamTarget {
  int local_rank = 0;
  bool is_errors = false;   // standard error rather than output
  int console = -1;         // a descriptor of this process, or -1 for nowhere
  std::string file = {};    // empty for none
  std::string prefix = {};  // before each line on the console
};

/// Carries streams of ranks to their targets, in a thread of its own.
class RankOutput {
 public:
  RankOutput();
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;
  ~RankOutput();

  /// Makes a stream and returns the descriptor that a rank writes to: a terminal if the console is one, so that
  /// programs behave as on it, else a pipe. Throws Error when the file cannot be written. Only before `start`.
  int open(const StreamTarget& target);

  /// Begins to carry. The descriptors for the ranks are closed in this process: they have started.
  void start();

  /// Carries what is still on the way and ends.
  void finish();

  /// Closes all descriptors in this process. For a forked rank, once it has made a copy of its own: what a rank leaves
  /// open, its peers and the one who reads cannot see the end of.
  void close_all();

  /// The last lines of a rank: those of its standard error, or of its output when it has written no errors.
  std::vector<std::string> last_lines(int local_rank, size_t count) const;

 private:
  struct Stream;

  void carry();
  void write_console(Stream& stream);

  std::vector<std::unique_ptr<Stream>> streams_;
  Descriptor wake_;  // written to by finish()
  std::thread thread_;
  Stream* unfinished_ = nullptr;  // has left a progress bar without an end on the terminal
};

}  // namespace accelerate
