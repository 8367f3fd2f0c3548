#pragma once

// Local SGD with an Accelerator.

#include "accelerate/accelerator.h"
#include "accelerate/parallel/local_sgd.h"

namespace accelerate {

/// While it lives, ranks train without averaging gradients. Parameters are averaged after every `local_sgd_steps` calls
/// of step(), and in finish():
///
///   accelerate::LocalSGD local_sgd(accelerator, model, 8);
///   for (auto& batch : train) {
///     ...
///     optimizer.step();
///     local_sgd.step();
///   }
///   local_sgd.finish();
///
/// The destructor does not average. It warns if steps were taken since the last average, unless the stack is unwinding.
class [[nodiscard]] LocalSGD {
 public:
  template <class M>
  LocalSGD(Accelerator& accelerator, const Model<M>& model, int64_t local_sgd_steps, bool enabled = true)
      : no_sync_(train::SyncScope::Kind::Pause,
                 enabled ? std::vector{record_of(model)} : std::vector<std::shared_ptr<train::PreparedModel>>()),
        averaging_(model.parameters(), accelerator.group(), local_sgd_steps, enabled) {}

  /// Counts an optimizer step. Collective when it averages.
  void step() { averaging_.step(); }

  /// Averages once more and ends the averaging. Collective; a second call does nothing.
  void finish() { averaging_.finish(); }

 private:
  train::SyncScope no_sync_;
  parallel::PeriodicAveraging averaging_;
};

}  // namespace accelerate
