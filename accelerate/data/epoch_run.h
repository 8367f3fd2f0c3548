#pragma once

// The bookkeeping of one pass over a prepared loader.

#include <memory>

#include "accelerate/data/prepared_core.h"

namespace accelerate::data {

/// One pass, registered with the active loaders from construction until finish() or destruction.
class EpochRun {
 public:
  EpochRun(std::shared_ptr<PreparedCore> core, std::shared_ptr<EpochEnd> end);
  ~EpochRun();
  EpochRun(const EpochRun&) = delete;
  EpochRun& operator=(const EpochRun&) = delete;

  /// Call it when a batch is returned to the user.
  void deliver(bool is_last);

  /// Call it when the user asks for another batch after the last one. Moves on to the next epoch.
  void finish();

 private:
  void leave();

  std::shared_ptr<PreparedCore> core_;
  std::shared_ptr<EpochEnd> end_;
  std::shared_ptr<LoaderProgress> progress_;
  bool finished_ = false;
};

}  // namespace accelerate::data
