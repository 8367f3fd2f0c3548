#pragma once

// The bookkeeping of one walk over a prepared loader.

#include <memory>

#include "accelerate/data/prepared_core.h"

namespace accelerate::data {

/// One walk, registered with the active loaders from the first batch until the walk ends or is given up.
class EpochRun {
 public:
  EpochRun(std::shared_ptr<PreparedCore> core, std::shared_ptr<EpochEnd> end);
  ~EpochRun();
  EpochRun(const EpochRun&) = delete;
  EpochRun& operator=(const EpochRun&) = delete;

  /// A batch goes to the user.
  void deliver(bool is_last);

  /// The user has come back for another after the last one.
  void finish();

 private:
  void leave();

  std::shared_ptr<PreparedCore> core_;
  std::shared_ptr<EpochEnd> end_;
  std::shared_ptr<LoaderProgress> progress_;
  bool finished_ = false;
};

}  // namespace accelerate::data
