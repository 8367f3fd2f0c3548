#pragma once

// Small configurations of all architectures, for tests that go through all of them.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace transformers {

/// One of every architecture at least, with the keys that its model reads, and one of every kind of rotations.
std::vector<nlohmann::json> small_configurations();

/// The architectures that the library has, without those that tests add.
const std::vector<std::string>& built_in_architectures();

}  // namespace transformers
