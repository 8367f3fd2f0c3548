#pragma once

// Records the last collectives of a rank, to show where a job hangs or failed.

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::comm {

struct Collective {
  using Clock = std::chrono::steady_clock;
  enum class State { Running, Done, Failed };

  int64_t number = 0;  // counts from 1; the same on all ranks, which call the same collectives in the same order
  std::string operation = {};
  std::optional<at::ScalarType> dtype = std::nullopt;  // not set for several tensors or none
  std::vector<int64_t> sizes = {};
  int64_t bytes = 0;
  Clock::time_point begin = {};
  Clock::time_point end = {};
  State state = State::Running;
  bool by_all = true;  // no rank can finish it before all have begun it; false for a broadcast: its source can
};

/// "reduce #12 (Float [2, 3])".
std::string describe(const Collective& collective);

/// A ring buffer of collectives. Thread-safe. Recording one costs a fraction of a microsecond.
class FlightRecorder {
 public:
  static constexpr size_t kCapacity = 64;

  /// Records the start of a collective on `tensor`, which may be undefined. Returns its number.
  int64_t begin(std::string_view operation, const at::Tensor& tensor, bool by_all = true);

  /// The same for several tensors of `bytes` in total.
  int64_t begin(std::string_view operation, int64_t bytes, bool by_all = true);

  /// Records the end of the collective with that number, if it is still in the ring.
  void end(int64_t number, Collective::State state);

  /// The collective with that number, which must still be in the ring.
  Collective find(int64_t number) const;

  /// The collectives in the ring, oldest first.
  std::vector<Collective> history() const;

  /// The collective that began last, if any.
  std::optional<Collective> newest() const;

  /// The newest finished collective with `by_all`, if the ring has one. It proves how far the other ranks had come: all
  /// of them had begun it.
  std::optional<Collective> newest_by_all() const;

  /// The newest collectives as text, at most `most`, one per line: the operation, its duration and its age.
  std::string report(size_t most = kCapacity) const;

 private:
  Collective& begin_next(std::string_view operation, bool by_all);

  mutable std::mutex mutex_;
  std::array<Collective, kCapacity> ring_;
  int64_t num_begun_ = 0;
};

}  // namespace accelerate::comm
