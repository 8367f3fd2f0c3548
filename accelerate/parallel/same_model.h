#pragma once

// Whether the ranks hold the same model. Ranks that do not would reduce buffers of different sizes: a hang or garbage.

#include <optional>
#include <string>
#include <vector>

#include "accelerate/comm/group.h"
#include "accelerate/parallel/named_tensor.h"

namespace accelerate::parallel {

/// One line for each tensor: kind, name, type, shape, strides where they are not the usual ones, and whether it is
/// frozen.
std::vector<std::string> describe_model(const std::vector<NamedTensor>& parameters,
                                        const std::vector<NamedTensor>& buffers);

/// The first place where the lists of the ranks differ, with every rank's line; nothing where all are equal. Pure.
std::optional<std::string> first_difference(const std::vector<std::vector<std::string>>& descriptions_by_rank);

/// Throws the same Error on every rank unless the descriptions of all ranks are equal. Collective.
void check_same_model(const std::vector<std::string>& description, const comm::Group& group);

}  // namespace accelerate::parallel
