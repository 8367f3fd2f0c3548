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

}  // namespace accelerate::tests
