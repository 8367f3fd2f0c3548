#pragma once

// The last collectives of a rank, for the question where a job hangs or broke.

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
  std::optional<at::ScalarType> dtype = std::nullopt;  // nothing when several tensors or none take part
  std::vector<int64_t> sizes = {};
  int64_t bytes = 0;
  Clock::time_point begin = {};
  Clock::time_point end = {};
  State state = State::Running;
  bool by_all = true;  // it ends on no rank before all have begun it; a broadcast may, at its source
};

/// "reduce #12 (Float [2, 3])".
std::string describe(const Collective& collective);

/// A ring of collectives. Any thread may call any member; noting one costs a fraction of a microsecond.
class FlightRecorder {
 public:
  static constexpr size_t kCapacity = 64;

  /// Notes the beginning of a collective on `tensor`, which may be undefined. Returns its number.
  int64_t begin(std::string_view operation, const at::Tensor& tensor, bool by_all = true);

  /// The same for one on many tensors that have `bytes` together.
  int64_t begin(std::string_view operation, int64_t bytes, bool by_all = true);

  /// Notes the end of the collective with that number.
  void end(int64_t number, Collective::State state);

  /// The collective with that number, which is one of the last.
  Collective find(int64_t number) const;

  /// Those that the ring still has, the oldest first.
  std::vector<Collective> history() const;

  /// The collective that began last; nothing before the first.
  std::optional<Collective> newest() const;

  /// The newest collective that proves where the other ranks were: it has ended, and all of them had begun it. Nothing
  /// when the ring has none.
  std::optional<Collective> newest_by_all() const;

  /// The newest collectives as text, at most `most`, a line for each: what it was, how long it took, how long ago.
  std::string report(size_t most = kCapacity) const;

 private:
  Collective& begin_next(std::string_view operation, bool by_all);

  mutable std::mutex mutex_;
  std::array<Collective, kCapacity> ring_;
  int64_t num_begun_ = 0;
};

}  // namespace accelerate::comm
