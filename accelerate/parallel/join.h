#pragma once

// Training when ranks have different numbers of batches: a rank that runs out keeps its peers company.

#include <memory>
#include <vector>

#include "accelerate/comm/group.h"
#include "accelerate/parallel/replicas.h"

namespace accelerate::parallel {

/// A scope in which the ranks train `models` on as many batches as each has. A rank that leaves it waits inside, taking
/// part in the collectives of those still training with nothing of its own, until the last has left; then every rank
/// has the model of the last ones. Gradients are divided by the size of the group throughout.
///
/// Every rank enters with the same models in the same order. Only the models' collectives are shadowed: others in the
/// loop (a gather) would wait for ranks that have left it. Inside the scope gradients are reduced after backward, not
/// during it, because a rank without data cannot know in which order several models' buckets come.
class Join {
 public:
  Join(std::vector<std::shared_ptr<Replicas>> models, comm::Group group);
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  /// Calls finish(). When an exception is on its way the rank just leaves: its peers fail when it ends.
  ~Join() noexcept(false);

  /// Stays until all ranks have finished. Collective; the second call does nothing.
  void finish();

 private:
  friend class Replicas;
  enum class Event { None, Buffers, Gradients, Sum };
  struct Announcement {
    Event event;
    size_t model;
  };

  /// Exchanges what the training ranks are about to do; a rank that has finished says None and hears it.
  Announcement announce(Event event, size_t model);
  int64_t sum(int64_t number) const;
  void leave();

  std::vector<std::shared_ptr<Replicas>> models_;
  comm::Group group_;
  int leader_ = 0;  // the highest rank that took part in the last event: its model is as far as any
  int exceptions_at_entry_;
  bool finished_ = false;
};

}  // namespace accelerate::parallel
