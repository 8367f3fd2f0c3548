#pragma once

// Dispatched loading: rank 0 reads the batches of all ranks and broadcasts them; each rank keeps its slice.

#include <array>
#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "accelerate/comm/group.h"
#include "accelerate/data/reader.h"
#include "accelerate/tensors/archive.h"

namespace accelerate::data {

namespace detail {

template <class T>
constexpr bool can_be_sent();

template <class T>
struct parts_can_be_sent : std::false_type {};
template <class... Parts>
struct parts_can_be_sent<std::tuple<Parts...>>
    : std::bool_constant<(can_be_sent<std::remove_cvref_t<Parts>>() && ...)> {};
template <class First, class Second>
struct parts_can_be_sent<std::pair<First, Second>>
    : std::bool_constant<can_be_sent<std::remove_cvref_t<First>>() && can_be_sent<Second>()> {};
template <class Part, size_t size>
struct parts_can_be_sent<std::array<Part, size>> : std::bool_constant<can_be_sent<Part>()> {};

template <class T>
constexpr bool can_be_sent() {
  if constexpr (!std::default_initializable<T>) {
    return false;
  } else if constexpr (std::is_same_v<T, at::Tensor> || std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                       std::is_same_v<T, std::string> || std::is_same_v<T, tensors::Batch>) {
    return true;
  } else if constexpr (tensors::HasFields<T>) {
    return parts_can_be_sent<decltype(tensors::fields_of(std::declval<T&>()))>::value;
  } else if constexpr (tensors::detail::Tuple<T>) {
    return parts_can_be_sent<T>::value;
  } else if constexpr (tensors::detail::is_optional<T>) {
    return can_be_sent<typename T::value_type>();
  } else if constexpr (tensors::detail::Range<T>) {
    return can_be_sent<std::remove_cvref_t<std::ranges::range_value_t<T>>>();
  } else {
    return false;
  }
}

}  // namespace detail

/// A batch that can be sent to other ranks.
template <class BatchT>
concept Dispatchable = detail::can_be_sent<BatchT>();

/// The rows of a round that a rank keeps, its rank and the world size.
struct DispatchSlice {
  int64_t begin = 0;
  int64_t end = 0;  // past the last row
  int process_index = 0;
  int num_processes = 1;
};

/// Returns this rank's slice of a round that rank 0 broadcast. Called on every rank.
template <class BatchT>
using SliceFunction = std::function<BatchT(const BatchT& round, const DispatchSlice& slice)>;

struct DispatchOptions {
  comm::Group group;
  int64_t batches_per_round = 1;  // read and concatenated by rank 0
  bool drop_last = false;
  bool skip_first = false;  // skip the first round; rank 0 still reads it, to pad the last one
};

/// Returns this rank's slices of the batches that rank 0 reads. Every call is collective. If reading fails, all ranks
/// throw Error with rank 0's message.
template <Dispatchable BatchT>
class Dispatcher {
 public:
  /// Only rank 0 has `batches`. Every round sets `progress->last_round_size`. Without `slice` a rank keeps an equal
  /// slice of every tensor's rows.
  Dispatcher(std::optional<OrderedPrefetcher<BatchT>> batches, DispatchOptions options,
             std::shared_ptr<LoaderProgress> progress, SliceFunction<BatchT> slice = nullptr)
      : batches_(std::move(batches)),
        options_(std::move(options)),
        progress_(std::move(progress)),
        slice_(std::move(slice)) {}

  std::optional<BatchT> next() {
    if (finished_) return std::nullopt;
    const auto& group = options_.group;
    Message message;
    if (group.rank() == 0) {
      message = prepare_message();
      group.broadcast_bytes(tensors::pack(message.parts()));
    } else {
      auto parts = message.parts();
      tensors::ArchiveReader(group.broadcast_bytes({})).read(parts);
    }
    finished_ = !message.has_batch;
    if (!message.error.empty()) fail("rank 0 could not read batch ", num_rounds_, " for all ranks: ", message.error);
    if (finished_) return std::nullopt;
    ++num_rounds_;
    progress_->last_round_size = message.num_rows;
    const int64_t part = num_rows_of(message.batch) / group.size();
    const DispatchSlice mine{group.rank() * part, (group.rank() + 1) * part, group.rank(), group.size()};
    return slice_ ? slice_(message.batch, mine) : tensors::slice_tensors(message.batch, mine.begin, mine.end);
  }

 private:
  struct Message {
    std::string error;
    bool has_batch = false;  // false at the end and after an error
    BatchT batch{};          // its number of rows is a multiple of the world size
    int64_t num_rows = 0;    // without repeated ones

    auto parts() { return std::tie(error, has_batch, batch, num_rows); }
  };

  Message prepare_message() {
    Message message;
    try {
      if (std::exchange(options_.skip_first, false)) next_round();
      if (auto round = next_round()) {
        message.num_rows = num_rows_of(*round);
        message.batch = completed(std::move(*round));
        message.has_batch = true;
      }
    } catch (const std::exception& error) {
      message.error = error.what();
      if (message.error.empty()) message.error = "the error has no message";
    } catch (...) {
      message.error = "what was thrown is not a std::exception";
    }
    return message;
  }

  std::optional<BatchT> next_round() {
    std::vector<BatchT> round;
    while (static_cast<int64_t>(round.size()) < options_.batches_per_round) {
      auto batch = batches_->next();
      if (!batch) break;
      round.push_back(std::move(*batch));
    }
    const bool incomplete = static_cast<int64_t>(round.size()) < options_.batches_per_round;
    if (round.empty() || (incomplete && options_.drop_last)) return std::nullopt;
    auto joined = join(round);
    if (!first_rows_) first_rows_ = tensors::slice_tensors(joined, 0, options_.group.size());
    return joined;
  }

  static BatchT join(const std::vector<BatchT>& round) {
    try {
      return tensors::concatenate(round);
    } catch (const std::exception& error) {
      fail(
          "batches of different shapes cannot be joined and dispatched; set dispatch_batches to false, or "
          "split_batches to "
          "true so that each batch is sent by itself: ",
          error.what());
    }
  }

  static int64_t num_rows_of(const BatchT& batch) {
    auto num_rows = tensors::find_batch_size(batch);
    if (!num_rows) fail("a batch without tensors cannot be shared by the ranks; set dispatch_batches to false");
    return *num_rows;
  }

  /// Pads the batch with rows from the start of the epoch, to a multiple of the world size.
  BatchT completed(BatchT batch) const {
    const int64_t world_size = options_.group.size();
    const int64_t num_rows = num_rows_of(batch);
    const int64_t wanted = (num_rows + world_size - 1) / world_size * world_size;
    if (num_rows == wanted) return batch;
    std::vector<BatchT> parts = {batch};
    for (int64_t count = num_rows; count < wanted; count += num_rows_of(*first_rows_)) parts.push_back(*first_rows_);
    return tensors::slice_tensors(tensors::concatenate(parts), 0, wanted);
  }

  std::optional<OrderedPrefetcher<BatchT>> batches_;
  DispatchOptions options_;
  std::shared_ptr<LoaderProgress> progress_;
  SliceFunction<BatchT> slice_;
  std::optional<BatchT> first_rows_;  // rank 0 only: at most world-size rows
  int64_t num_rounds_ = 0;
  bool finished_ = false;
};

}  // namespace accelerate::data
