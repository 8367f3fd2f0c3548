#pragma once

// How a prepared loader shares its data among ranks, and what it remembers in a checkpoint.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/data/active_loaders.h"

namespace accelerate::data {

struct DataLoaderConfiguration {
  bool split_batches = false;                           // a batch is shared by the ranks, instead of one batch for each
  std::optional<bool> dispatch_batches = std::nullopt;  // rank 0 reads for all; by default for iterable data sets only
  bool even_batches = true;           // repeat samples from the start so that all ranks take as many steps
  bool use_seedable_sampler = false;  // shuffle by a seed and the epoch's number alone
  std::optional<uint64_t> data_seed =
      std::nullopt;           // that seed; by default the one libtorch was seeded with, on rank 0
  bool non_blocking = false;  // copies to the device do not wait
};

struct PrepareOptions {
  at::Device device = at::kCPU;
  comm::Group group = {};
  DataLoaderConfiguration configuration = {};
  bool put_on_device = true;
  std::vector<std::string> rng_types = {"generator"};       // what rank 0 hands to all ranks before each epoch
  std::shared_ptr<ActiveLoaders> active_loaders = nullptr;  // told where the loop is
  std::optional<int> num_processes = std::nullopt;          // instead of those of the group
  std::optional<int> process_index = std::nullopt;
};

/// Where a loader is. Loaded into a loader made alike, it goes on with exactly the batches that are left of the epoch.
struct LoaderState {
  int64_t epoch = 0;
  int64_t batches_seen = 0;                     // by this rank in that epoch; 0 between epochs
  std::optional<uint64_t> seed = std::nullopt;  // of a seedable sampler
  at::Tensor generator_state = {};   // of the shuffle, from which the epoch's order can be drawn again; else undefined
  at::Tensor read_ahead_state = {};  // of libtorch's global generator, before the batch behind those seen was read
};

}  // namespace accelerate::data

namespace accelerate {
using data::DataLoaderConfiguration;
using data::LoaderState;
}  // namespace accelerate
