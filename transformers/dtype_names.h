#pragma once

// The names of dtypes in config.json.

#include <string>
#include <string_view>
#include <vector>

#include <c10/core/ScalarType.h>

namespace transformers {

/// The name of `type` in Python, such as "float32".
std::string python_name_of(at::ScalarType type);

/// The inverse of python_name_of. Throws Error for an unknown name; the message lists the known ones.
at::ScalarType type_called(std::string_view python_name);

/// All names that type_called() accepts.
std::vector<std::string> type_names();

}  // namespace transformers
