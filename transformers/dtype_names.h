#pragma once

// The types of weights, as configurations call them.

#include <string>
#include <string_view>
#include <vector>

#include <c10/core/ScalarType.h>

namespace transformers {

/// "float32" and so on.
std::string python_name_of(at::ScalarType type);

/// The other way round. Throws Error for a name that is no type of a model, with those there are.
at::ScalarType type_called(std::string_view python_name);

/// These names.
std::vector<std::string> type_names();

}  // namespace transformers
