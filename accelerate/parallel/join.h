#pragma once

// Training with uneven inputs, as torch's Join: a rank that runs out of batches shadows the collectives of the others.

#include <memory>
#include <vector>

#include "accelerate/comm/group.h"
#include "accelerate/parallel/distributed_model.h"

namespace accelerate::parallel {

/// Ranks may train `models` on different numbers of batches until they call finish(). A rank that does so early waits
/// and shadows the collectives of the ranks that still train, contributing zeros. When all have finished, the models of
/// the last rank to train are broadcast to all. Gradients are always divided by the size of the whole group.
///
/// All ranks enter with the same models in the same order. Only the models' collectives are shadowed. Any other
/// collective in the loop, such as a gather, would wait for ranks that have finished. Until then gradients are
/// reduced after backward, not during it, because a rank without data cannot know the order in which buckets of several
/// models become ready.
class Join {
 public:
  Join(std::vector<std::shared_ptr<DistributedModel>> models, comm::Group group);
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  /// Without finish(), this rank leaves without waiting: its peers fail when it ends. Not collective.
  ~Join() { leave(); }

  /// Waits until all ranks have finished. Collective; a second call does nothing.
  void finish();

  // For the models

  enum class Event { None, Buffers, Gradients, Sum };
  struct Announcement {
    Event event;
    size_t model;
  };

  /// Agrees on the next collective by an all-reduce. A rank that has finished passes None and gets the event of the
  /// others.
  Announcement announce(Event event, size_t model);

  /// The sum of `number` over all ranks. Collective, after announce(Event::Sum).
  int64_t sum(int64_t number) const;

  /// The highest rank that took part in the last event; its model is up to date.
  int leader() const { return leader_; }

 private:
  void leave();

  std::vector<std::shared_ptr<DistributedModel>> models_;
  comm::Group group_;
  int leader_ = 0;
  bool finished_ = false;
};

}  // namespace accelerate::parallel
