#pragma once

// A table drawn with lines, its cells centred.

#include <string>
#include <vector>

namespace accelerate::cli {

/// The table as text that ends in a line break. All texts are ASCII; every row has as many cells as there are headers.
std::string draw_table(const std::string& title, const std::vector<std::string>& headers,
                       const std::vector<std::vector<std::string>>& rows);

}  // namespace accelerate::cli
