#pragma once

// The iterator behind `for (auto& batch : loader)`.

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

namespace accelerate::data {

/// One pass over the batches of a loader.
template <class BatchT>
class Epoch {
 public:
  virtual ~Epoch() = default;

  /// Returns the next batch, valid until the following call; null at the end.
  virtual BatchT* next() = 0;
};

/// Owns the pass: leaving the loop early ends it and its worker threads.
template <class BatchT>
class BatchIterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = BatchT;
  using difference_type = std::ptrdiff_t;

  explicit BatchIterator(std::unique_ptr<Epoch<BatchT>> epoch) : epoch_(std::move(epoch)), batch_(epoch_->next()) {}

  BatchT& operator*() const { return *batch_; }
  BatchT* operator->() const { return batch_; }
  BatchIterator& operator++() {
    batch_ = epoch_->next();
    return *this;
  }
  void operator++(int) { ++*this; }

  friend bool operator==(const BatchIterator& iterator, std::default_sentinel_t) { return iterator.batch_ == nullptr; }

 private:
  std::unique_ptr<Epoch<BatchT>> epoch_;
  BatchT* batch_;
};

}  // namespace accelerate::data
