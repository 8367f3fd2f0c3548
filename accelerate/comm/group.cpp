#include "accelerate/comm/group.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>

#include <torch/types.h>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "accelerate/comm/connection.h"
#include "accelerate/shared_memory/call.h"

namespace accelerate::comm {

namespace {

/// The call of a rank, as numbers that fit into one small collective.
struct Call {
  static constexpr size_t kMaxDims = 12;

  int64_t operation = 0;
  int64_t dtype = 0;
  int64_t num_dims = 0;
  std::array<int64_t, kMaxDims> sizes{};

  bool operator==(const Call&) const = default;
};
constexpr int64_t kCallNumbers = sizeof(Call) / sizeof(int64_t);

enum Operation : int64_t { kAllReduce, kAllGather, kBroadcast, kGatherBytes, kBroadcastBytes, kBarrier };

const char* name_of(int64_t operation) {
  static constexpr const char* kNames[] = {"reduce", "gather", "broadcast", "gather_object", "broadcast_object_list",
                                           "barrier"};
  return operation >= 0 && operation < 6 ? kNames[operation] : "unknown";
}

/// "gather Float [2, 3]".
std::string describe(const Call& call) {
  std::ostringstream text;
  text << name_of(call.operation);
  if (call.operation != kBarrier) {
    text << " " << c10::toString(static_cast<at::ScalarType>(call.dtype)) << " "
         << at::IntArrayRef(call.sizes.data(), call.num_dims);
  }
  return text.str();
}

Call make_call(Operation operation, const at::Tensor& tensor) {
  Call call;
  call.operation = operation;
  call.dtype = static_cast<int64_t>(tensor.scalar_type());
  call.num_dims = tensor.dim();
  if (tensor.dim() > static_cast<int64_t>(Call::kMaxDims)) {
    fail(name_of(operation), ": a tensor of ", tensor.dim(), " dimensions; at most ", Call::kMaxDims, " can be sent");
  }
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), call.sizes.begin());
  return call;
}

std::vector<Call> exchange(Group::Connection& connection, const Call& mine) {
  auto input = torch::empty({kCallNumbers}, torch::kLong);
  std::memcpy(input.mutable_data_ptr(), &mine, sizeof(mine));
  auto output = torch::empty({connection.size() * kCallNumbers}, torch::kLong);
  connection.wait(name_of(mine.operation), input,
                  [&] { return connection.process_group()->all_gather_single(output, input); });
  std::vector<Call> calls(connection.size());
  std::memcpy(calls.data(), output.const_data_ptr(), calls.size() * sizeof(Call));
  return calls;
}

[[noreturn]] void fail_mismatch(const std::vector<Call>& calls, const Group::Connection& connection) {
  std::vector<shared_memory::DescribedCall> described;
  for (int other = 0; other < connection.size(); ++other) {
    described.push_back({.rank = connection.name_of(other), .call = describe(calls[other])});
  }
  fail(shared_memory::describe_mismatch(connection.name_of(connection.rank()), described),
       "\nEvery rank must call the same operations in the same order, with tensors of the same type",
       " and matching shapes (pad_across_processes pads them).");
}

/// All-gathers the calls. Throws on every rank if they do not match. Dim 0 may differ in all_gather, all_gather_bytes
/// and broadcast_bytes.
std::vector<Call> exchange_and_compare(Group::Connection& connection, const Call& mine) {
  auto calls = exchange(connection, mine);
  bool free_rows = mine.operation == kAllGather || mine.operation == kGatherBytes || mine.operation == kBroadcastBytes;
  for (auto call : calls) {
    if (free_rows && call.num_dims > 0) call.sizes[0] = mine.sizes[0];
    if (call != mine) fail_mismatch(calls, connection);
  }
  return calls;
}

/// Only in debug mode, because it costs one more small collective.
void check(Group::Connection& connection, Operation operation, const at::Tensor& tensor) {
  if (connection.options().debug) exchange_and_compare(connection, make_call(operation, tensor));
}

c10d::ReduceOp c10d_operation(Reduction reduction) {
  switch (reduction) {
    case Reduction::Max:
      return c10d::ReduceOp::MAX;
    case Reduction::Min:
      return c10d::ReduceOp::MIN;
    default:
      return c10d::ReduceOp::SUM;
  }
}

/// Throws unless the sorted `ranks` are distinct ranks of a group of `size`.
void check_members(const std::vector<int>& ranks, int size) {
  if (ranks.empty()) fail("subgroup: the list of its ranks is empty; it needs at least one");
  for (int rank : {ranks.front(), ranks.back()}) {
    if (rank < 0 || rank >= size) fail("subgroup: there is no rank ", rank, " in a group of ", size);
  }
  auto twice = std::adjacent_find(ranks.begin(), ranks.end());
  if (twice != ranks.end()) fail("subgroup: rank ", *twice, " is named twice in ", listed(ranks));
}

/// Throws on every rank if the lists differ.
void check_same_members(const Group& group, const std::vector<int>& ranks) {
  auto lists = group.all_gather_bytes(listed(ranks));
  if (std::all_of(lists.begin(), lists.end(), [&](const auto& list) { return list == lists[0]; })) return;
  std::string message = "subgroup: the ranks named different members:";
  for (size_t rank = 0; rank < lists.size(); ++rank) {
    message += "\n  - Process " + group.connection()->name_of(static_cast<int>(rank)) + ": " +
               (lists[rank].empty() ? "none" : lists[rank]);
  }
  fail(message, "\nEvery rank must name the same members, including ranks that are not among them.");
}

}  // namespace

Group::Group() = default;

Group::Group(std::shared_ptr<Connection> connection)
    : connection_(std::move(connection)), rank_(connection_->rank()), size_(connection_->size()) {}

std::chrono::milliseconds Group::timeout() const {
  return connection_ ? connection_->options().timeout : std::chrono::milliseconds(0);
}

bool Group::debug() const { return connection_ && connection_->options().debug; }

void Group::all_reduce(at::Tensor& tensor, Reduction reduction) const {
  bool mean = reduction == Reduction::Mean;
  if (mean && !tensor.is_floating_point() && !tensor.is_complex()) {
    fail("reduce: a tensor of type ", tensor.scalar_type(),
         " has no mean over ranks; convert it to a floating-point type first");
  }
  if (!connection_) return;
  check(*connection_, kAllReduce, tensor);
  auto plain = tensor.detach();
  std::vector<at::Tensor> buffer{plain.is_non_overlapping_and_dense() ? plain : plain.contiguous()};
  c10d::AllreduceOptions options;
  options.reduceOp = c10d_operation(reduction);
  connection_->wait("reduce", plain, [&] { return connection_->process_group()->allreduce(buffer, options); });
  if (mean) buffer[0].div_(size_);
  if (!buffer[0].is_same(plain)) plain.copy_(buffer[0]);
}

at::Tensor Group::all_gather(const at::Tensor& tensor) const {
  auto rows = tensor.detach();
  if (rows.dim() == 0) rows = rows.reshape({1});
  if (!connection_) return tensor.dim() == 0 ? rows : tensor;

  auto calls = exchange_and_compare(*connection_, make_call(kAllGather, rows));
  int64_t most = 0;
  for (const auto& call : calls) most = std::max(most, call.sizes[0]);
  bool even = std::all_of(calls.begin(), calls.end(), [&](const Call& call) { return call.sizes[0] == most; });

  auto sizes = rows.sizes().vec();
  sizes[0] = most;
  auto input = rows.contiguous();
  if (rows.size(0) != most) {
    input = torch::zeros(sizes, rows.options());
    input.narrow(0, 0, rows.size(0)).copy_(rows);
  }
  sizes[0] = most * size_;
  auto output = torch::empty(sizes, rows.options());
  connection_->wait("gather", rows, [&] { return connection_->process_group()->all_gather_single(output, input); });
  if (even) return output;

  std::vector<at::Tensor> parts;
  for (int rank = 0; rank < size_; ++rank) parts.push_back(output.narrow(0, rank * most, calls[rank].sizes[0]));
  return at::cat(parts);
}

void Group::broadcast(at::Tensor& tensor, int from) const {
  if (from < 0 || from >= size_) fail("broadcast: there is no rank ", from, " in a group of ", size_);
  if (!connection_) return;
  check(*connection_, kBroadcast, tensor);
  auto plain = tensor.detach();
  std::vector<at::Tensor> buffer{plain.contiguous()};
  c10d::BroadcastOptions options;
  options.rootRank = from;
  connection_->wait(
      "broadcast", plain, [&] { return connection_->process_group()->broadcast(buffer, options); },
      /*by_all=*/false);
  if (!buffer[0].is_same(plain)) plain.copy_(buffer[0]);
}

std::vector<std::string> Group::all_gather_bytes(const std::string& bytes) const {
  if (!connection_) return {bytes};
  auto mine = torch::from_blob(const_cast<char*>(bytes.data()), {static_cast<int64_t>(bytes.size())}, torch::kByte);
  auto calls = exchange_and_compare(*connection_, make_call(kGatherBytes, mine));
  int64_t most = 0;
  for (const auto& call : calls) most = std::max(most, call.sizes[0]);
  if (most == 0) return std::vector<std::string>(size_);
  auto input = torch::zeros({most}, torch::kByte);
  input.narrow(0, 0, mine.size(0)).copy_(mine);
  auto output = torch::empty({most * size_}, torch::kByte);
  connection_->wait("gather_object", mine,
                    [&] { return connection_->process_group()->all_gather_single(output, input); });
  std::vector<std::string> all;
  for (int rank = 0; rank < size_; ++rank) {
    all.emplace_back(static_cast<const char*>(output.const_data_ptr()) + rank * most, calls[rank].sizes[0]);
  }
  return all;
}

std::string Group::broadcast_bytes(std::string bytes, int from) const {
  if (from < 0 || from >= size_) fail("broadcast_object_list: there is no rank ", from, " in a group of ", size_);
  if (!connection_) return bytes;
  auto mine = torch::from_blob(bytes.data(), {static_cast<int64_t>(bytes.size())}, torch::kByte);
  auto calls = exchange_and_compare(*connection_, make_call(kBroadcastBytes, mine));
  bytes.resize(calls[from].sizes[0]);
  if (bytes.empty()) return bytes;
  std::vector<at::Tensor> buffer{torch::from_blob(bytes.data(), {static_cast<int64_t>(bytes.size())}, torch::kByte)};
  c10d::BroadcastOptions options;
  options.rootRank = from;
  connection_->wait(
      "broadcast_object_list", buffer[0], [&] { return connection_->process_group()->broadcast(buffer, options); },
      /*by_all=*/false);
  return bytes;
}

void Group::barrier(const std::string& what) const {
  if (!connection_) return;
  if (connection_->options().debug) {
    Call call;
    call.operation = kBarrier;
    exchange_and_compare(*connection_, call);
  }
  connection_->wait(what, {}, [&] { return connection_->process_group()->barrier(); });
}

std::optional<Group> Group::subgroup(std::vector<int> ranks) const {
  std::sort(ranks.begin(), ranks.end());
  // Compared first: if the list of one rank alone is invalid, the others must not wait for it.
  if (connection_) check_same_members(*this, ranks);
  check_members(ranks, size_);
  if (!connection_) return Group();
  const int number = connection_->count_subgroup();
  if (!std::binary_search(ranks.begin(), ranks.end(), rank_)) return std::nullopt;
  return ranks.size() == 1 ? Group() : Group(connection_->connect_subgroup(number, ranks));
}

}  // namespace accelerate::comm
