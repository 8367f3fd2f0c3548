#pragma once

// Forwards the output of the ranks to the console and to files. Lines of different ranks are never mixed.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "accelerate/base/descriptor.h"

namespace accelerate::process {

/// The target of one stream of one rank.
struct StreamTarget {
  int local_rank = 0;
  bool is_errors = false;   // standard error, not standard output
  int console = -1;         // a descriptor of this process, or -1 for none
  std::string file = {};    // empty for none
  std::string prefix = {};  // before each line on the console
};

/// Forwards streams of ranks to their targets in a background thread.
class RankOutput {
 public:
  RankOutput();
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;
  ~RankOutput();

  /// Opens a stream and returns the descriptor that a rank writes to. It is a pseudo-terminal if the console is a
  /// terminal, so that programs behave as on it; otherwise a pipe. Throws Error if the file cannot be written. Call it
  /// before `start`.
  int open(const StreamTarget& target);

  /// Starts forwarding. Call it once the ranks have started: it closes their descriptors in this process.
  void start();

  /// Forwards the remaining output and stops the thread.
  void finish();

  /// Closes all descriptors in this process. Call it in a forked rank after it has duplicated its own: a descriptor
  /// left open would hide the end of a stream from its reader and from other ranks.
  void close_all();

  /// The last lines of a rank's standard error, or of its standard output if standard error is empty.
  std::vector<std::string> last_lines(int local_rank, size_t count) const;

 private:
  struct Stream;

  void forward();
  void write_console(Stream& stream);

  std::vector<std::unique_ptr<Stream>> streams_;
  Descriptor wake_;  // written to by finish()
  std::thread thread_;
  Stream* unfinished_ = nullptr;  // its progress bar on the terminal has no newline yet
};

}  // namespace accelerate::process
