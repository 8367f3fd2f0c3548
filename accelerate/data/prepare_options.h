#pragma once

// Options of a prepared loader.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/data/loader_position.h"

namespace accelerate::data {

struct DataLoaderConfiguration {
  bool split_batches = false;  // split each batch among the ranks, instead of one batch per rank
  std::optional<bool> dispatch_batches = std::nullopt;  // rank 0 reads for all ranks; default: iterable data sets only
  bool even_batches = true;           // repeat samples from the start so that all ranks take the same number of steps
  bool use_seedable_sampler = false;  // shuffle by a seed and the epoch number alone
  std::optional<uint64_t> data_seed = std::nullopt;  // that seed; default: libtorch's current seed on rank 0
  bool non_blocking = false;                         // copies to the device are asynchronous
};

struct PrepareOptions {
  at::Device device = at::kCPU;
  comm::Group group = {};
  DataLoaderConfiguration configuration = {};
  bool put_on_device = true;
  std::vector<std::string> rng_types = {"generator"};       // random states that rank 0 broadcasts before each epoch
  std::shared_ptr<ActiveLoaders> active_loaders = nullptr;  // informed about each pass
  std::optional<int> num_processes = std::nullopt;          // default: those of the group
  std::optional<int> process_index = std::nullopt;
};

}  // namespace accelerate::data

namespace accelerate {
using data::DataLoaderConfiguration;
}  // namespace accelerate
