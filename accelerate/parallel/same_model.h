#pragma once

// Makes all ranks hold the same model. With different ones they would reduce buffers of different sizes: a hang or
// garbage.

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/comm/group.h"
#include "accelerate/parallel/named_tensor.h"

namespace accelerate::parallel {

/// One line per tensor: kind, name, type, shape, strides if not contiguous, and whether it is frozen.
std::vector<std::string> describe_model(const std::vector<NamedTensor>& parameters,
                                        const std::vector<NamedTensor>& buffers);

/// The first difference between the lists, with the line of every rank; nothing if all are equal. Pure.
std::optional<std::string> first_difference(const std::vector<std::vector<std::string>>& descriptions_by_rank);

/// Throws the same Error on every rank unless the descriptions of all ranks are equal. Collective.
void check_same_model(const std::vector<std::string>& description, const comm::Group& group);

/// Overwrites the tensors with those of `rank`, without bumping their version counters. Collective.
void broadcast_tensors(std::initializer_list<const std::vector<NamedTensor>*> lists, int rank,
                       const comm::Group& group);

}  // namespace accelerate::parallel
