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
};

/// "reduce #12 (Float [2, 3])".
std::string describe(const Collective& collective);

/// A ring of collectives. Any thread may call any member; noting one costs a fraction of a microsecond.
class FlightRecorder {
 public:
  static constexpr size_t kCapacity = 64;

  /// Notes the beginning of a collective on `tensor`, which may be undefined. Returns its number.
  int64_t begin(std::string_view operation, const at::Tensor& tensor);

  /// The same for one on many tensors that have `bytes` together.
  int64_t begin(std::string_view operation, int64_t bytes);

  /// Notes the end of the collective with that number.
  void end(int64_t number, Collective::State state);

  /// The collective with that number, which is one of the last.
  Collective find(int64_t number) const;

  /// Those that the ring still has, the oldest first.
  std::vector<Collective> history() const;

  /// The collective that began last; nothing before the first.
  std::optional<Collective> newest() const;

  /// The history as text, a line for each: what it was, how long it took, how long ago.
  std::string report() const;

 private:
  Collective& begin_next(std::string_view operation);

  mutable std::mutex mutex_;
  std::array<Collective, kCapacity> ring_;
  int64_t num_begun_ = 0;
};

}  // namespace accelerate::comm
