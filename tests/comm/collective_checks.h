#pragma once

// What c10d promises of every collective, checked on a backend against results that each rank computes by itself.

#include <doctest/doctest.h>

#include <vector>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "tests/support/torch.h"

namespace accelerate::tests {

using Backend = c10::intrusive_ptr<c10d::Backend>;
using Tensors = std::vector<at::Tensor>;
using TensorLists = std::vector<Tensors>;

/// What `rank` has for `peer`: small whole numbers, so that sums and products are exact in every type. Every rank can
/// compute every other's.
inline at::Tensor values(int rank, int peer, int64_t count, at::ScalarType type) {
  return ((torch::arange(count, torch::kLong) * 7 + rank * 3 + peer) % 3 + 1).to(type);
}

inline at::Tensor reduced(int size, int peer, int64_t count, at::ScalarType type, c10d::ReduceOp::RedOpType operation) {
  std::vector<at::Tensor> all;
  for (int rank = 0; rank < size; ++rank) all.push_back(values(rank, peer, count, at::kDouble));
  auto stack = torch::stack(all);
  switch (operation) {
    case c10d::ReduceOp::PRODUCT:
      return stack.prod(0).to(type);
    case c10d::ReduceOp::MIN:
      return stack.amin(0).to(type);
    case c10d::ReduceOp::MAX:
      return stack.amax(0).to(type);
    case c10d::ReduceOp::AVG:
      return stack.mean(0).to(type);
    default:
      return stack.sum(0).to(type);
  }
}

inline void check_reductions(const Backend& backend, int64_t count, at::ScalarType type) {
  int rank = backend->getRank();
  int size = backend->getSize();
  for (auto operation :
       {c10d::ReduceOp::SUM, c10d::ReduceOp::PRODUCT, c10d::ReduceOp::MIN, c10d::ReduceOp::MAX, c10d::ReduceOp::AVG}) {
    if (operation == c10d::ReduceOp::AVG && !at::isFloatingType(type)) continue;
    if (operation == c10d::ReduceOp::PRODUCT && size > 3) continue;  // more than the small types hold
    Tensors tensors{values(rank, 0, count, type)};
    backend->allreduce(tensors, {.reduceOp = operation})->wait();
    CHECK(torch::equal(tensors[0], reduced(size, 0, count, type, operation)));

    Tensors one{values(rank, 0, count, type)};
    backend->reduce(one, {.reduceOp = operation, .rootRank = size - 1})->wait();
    if (rank == size - 1) CHECK(torch::equal(one[0], tensors[0]));

    Tensors outputs{torch::empty({count}, type)};
    TensorLists inputs(1);
    for (int peer = 0; peer < size; ++peer) inputs[0].push_back(values(rank, peer, count, type));
    backend->reduce_scatter(outputs, inputs, {.reduceOp = operation})->wait();
    CHECK(torch::equal(outputs[0], reduced(size, rank, count, type, operation)));
    auto whole = torch::cat(inputs[0]);
    auto part = torch::empty({count}, type);
    backend->_reduce_scatter_base(part, whole, {.reduceOp = operation})->wait();
    CHECK(torch::equal(part, outputs[0]));
  }
}

inline void check_moves(const Backend& backend, int64_t count, at::ScalarType type) {
  int rank = backend->getRank();
  int size = backend->getSize();
  int root = static_cast<int>(count) % size;
  auto nothing = [&] { return torch::zeros({count}, type); };

  Tensors tensors{values(rank, 0, count, type)};
  backend->broadcast(tensors, {.rootRank = root})->wait();
  CHECK(torch::equal(tensors[0], values(root, 0, count, type)));

  Tensors mine{values(rank, 0, count, type)};
  Tensors all;
  for (int from = 0; from < size; ++from) all.push_back(values(from, 0, count, type));
  TensorLists outputs{Tensors(size)};
  for (auto& output : outputs[0]) output = nothing();
  backend->allgather(outputs, mine)->wait();
  for (int from = 0; from < size; ++from) CHECK(torch::equal(outputs[0][from], all[from]));
  auto flat = torch::zeros({size * count}, type);
  backend->_allgather_base(flat, mine[0])->wait();
  CHECK(torch::equal(flat, torch::cat(all)));

  TensorLists gathered(rank == root ? 1 : 0);
  for (int from = 0; rank == root && from < size; ++from) gathered[0].push_back(nothing());
  backend->gather(gathered, mine, {.rootRank = root})->wait();
  if (rank == root) CHECK(torch::equal(torch::cat(gathered[0]), flat));

  TensorLists scattered(rank == root ? 1 : 0);
  for (int to = 0; rank == root && to < size; ++to) scattered[0].push_back(values(rank, to, count, type));
  Tensors taken{nothing()};
  backend->scatter(taken, scattered, {.rootRank = root})->wait();
  CHECK(torch::equal(taken[0], values(root, rank, count, type)));

  Tensors to_all, from_all;
  for (int peer = 0; peer < size; ++peer) {
    to_all.push_back(values(rank, peer, count, type));
    from_all.push_back(nothing());
  }
  backend->alltoall(from_all, to_all)->wait();
  for (int from = 0; from < size; ++from) CHECK(torch::equal(from_all[from], values(from, rank, count, type)));
  std::vector<int64_t> even;
  auto input = torch::cat(to_all);
  auto output = torch::zeros_like(input);
  backend->alltoall_base(output, input, even, even)->wait();
  CHECK(torch::equal(output, torch::cat(from_all)));
}

/// Lists of tensors in one call, parts of different sizes, and a barrier that is watched.
inline void check_lists(const Backend& backend, int64_t count, at::ScalarType type) {
  int rank = backend->getRank();
  int size = backend->getSize();
  auto all_of = [&](int peer, int64_t length) {
    Tensors all;
    for (int from = 0; from < size; ++from) all.push_back(values(from, peer, length, type));
    return torch::cat(all);
  };

  Tensors mine{values(rank, 0, count, type), values(rank, 1, count + 2, type)};
  TensorLists by_rank(size);
  for (auto& of_rank : by_rank) of_rank = {torch::zeros({count}, type), torch::zeros({count + 2}, type)};
  backend->allgather_coalesced(by_rank, mine)->wait();
  for (int from = 0; from < size; ++from) {
    CHECK(torch::equal(by_rank[from][0], values(from, 0, count, type)));
    CHECK(torch::equal(by_rank[from][1], values(from, 1, count + 2, type)));
  }

  Tensors wholes{torch::zeros({size * count}, type), torch::zeros({size * (count + 2)}, type)};
  backend->allgather_into_tensor_coalesced(wholes, mine)->wait();
  CHECK(torch::equal(wholes[0], all_of(0, count)));
  CHECK(torch::equal(wholes[1], all_of(1, count + 2)));

  Tensors parts{torch::zeros({count}, type), torch::zeros({count + 2}, type)};
  backend->reduce_scatter_tensor_coalesced(parts, wholes)->wait();
  CHECK(torch::equal(parts[0], values(rank, 0, count, type) * size));
  CHECK(torch::equal(parts[1], values(rank, 1, count + 2, type) * size));

  // Rank `from` has `from + to` rows for rank `to`.
  std::vector<int64_t> given, taken;
  Tensors rows_given, rows_expected;
  for (int peer = 0; peer < size; ++peer) {
    given.push_back(rank + peer);
    taken.push_back(peer + rank);
    rows_given.push_back(values(rank, peer, (rank + peer) * 3, type).reshape({-1, 3}));
    rows_expected.push_back(values(peer, rank, (peer + rank) * 3, type).reshape({-1, 3}));
  }
  auto input = torch::cat(rows_given);
  auto output = torch::zeros_like(input);
  backend->alltoall_base(output, input, taken, given)->wait();
  CHECK(torch::equal(output, torch::cat(rows_expected)));

  backend->monitoredBarrier({}, /*waitAllRanks=*/true);
}

/// And, or and exclusive or of integers, and all reductions of booleans.
inline void check_bits(const Backend& backend, int64_t count) {
  int rank = backend->getRank();
  int size = backend->getSize();
  auto combined = [&](at::ScalarType type, c10d::ReduceOp::RedOpType operation) {
    auto result = values(0, 0, count, type);
    for (int from = 1; from < size; ++from) {
      auto next = values(from, 0, count, type);
      if (operation == c10d::ReduceOp::BAND) result = at::bitwise_and(result, next);
      if (operation == c10d::ReduceOp::BOR) result = at::bitwise_or(result, next);
      if (operation == c10d::ReduceOp::BXOR) result = at::bitwise_xor(result, next);
    }
    return result;
  };
  for (auto operation : {c10d::ReduceOp::BAND, c10d::ReduceOp::BOR, c10d::ReduceOp::BXOR}) {
    for (auto type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong}) {
      Tensors tensors{values(rank, 0, count, type)};
      backend->allreduce(tensors, {.reduceOp = operation})->wait();
      CHECK(torch::equal(tensors[0], combined(type, operation)));
    }
    Tensors floating{torch::ones({count})};
    CHECK_THROWS(backend->allreduce(floating, {.reduceOp = operation}));
  }
  // The last rank alone says yes to every third.
  auto votes = rank == size - 1 ? torch::arange(count) % 3 == 0 : torch::zeros({count}, at::kBool);
  for (auto operation : {c10d::ReduceOp::SUM, c10d::ReduceOp::MAX, c10d::ReduceOp::PRODUCT, c10d::ReduceOp::MIN}) {
    bool any = operation == c10d::ReduceOp::SUM || operation == c10d::ReduceOp::MAX;
    Tensors tensors{votes.clone()};
    backend->allreduce(tensors, {.reduceOp = operation})->wait();
    CHECK(torch::equal(tensors[0], any ? torch::arange(count) % 3 == 0 : torch::zeros({count}, at::kBool)));
  }
}

/// A matrix whose rows are not one after the other in memory.
inline at::Tensor strided(const at::Tensor& matrix) { return matrix.t().contiguous().t(); }

/// Tensors that are not contiguous, given and taken.
inline void check_strides(const Backend& backend) {
  int rank = backend->getRank();
  int size = backend->getSize();
  auto matrix = [](int from, int to) { return strided(values(from, to, 35, at::kFloat).reshape({5, 7})); };
  auto space = [] { return strided(torch::zeros({5, 7})); };
  REQUIRE_FALSE(matrix(0, 0).is_contiguous());
  Tensors mine{matrix(rank, 0)};

  TensorLists gathered(rank == 0 ? 1 : 0);
  for (int from = 0; rank == 0 && from < size; ++from) gathered[0].push_back(space());
  backend->gather(gathered, mine, {.rootRank = 0})->wait();
  for (int from = 0; rank == 0 && from < size; ++from) CHECK(torch::equal(gathered[0][from], matrix(from, 0)));

  TensorLists scattered(rank == 0 ? 1 : 0);
  for (int to = 0; rank == 0 && to < size; ++to) scattered[0].push_back(matrix(0, to));
  Tensors taken{space()};
  backend->scatter(taken, scattered, {.rootRank = 0})->wait();
  CHECK(torch::equal(taken[0], matrix(0, rank)));

  TensorLists for_all(1);
  for (int to = 0; to < size; ++to) for_all[0].push_back(matrix(rank, to));
  Tensors sum{space()};
  backend->reduce_scatter(sum, for_all)->wait();
  CHECK(torch::equal(sum[0].reshape({35}), reduced(size, rank, 35, at::kFloat, c10d::ReduceOp::SUM)));

  Tensors from_all;
  for (int from = 0; from < size; ++from) from_all.push_back(space());
  backend->alltoall(from_all, for_all[0])->wait();
  for (int from = 0; from < size; ++from) CHECK(torch::equal(from_all[from], matrix(from, rank)));

  Tensors received{space()};
  if (rank == 0) backend->send(mine, 1, /*tag=*/0)->wait();
  if (rank == 1) backend->recv(received, 0, /*tag=*/0)->wait();
  if (rank == 1) CHECK(torch::equal(received[0], matrix(0, 0)));
}

}  // namespace accelerate::tests
