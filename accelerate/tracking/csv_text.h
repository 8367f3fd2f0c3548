#pragma once

// Comma-separated values as RFC 4180 has them.

#include <string>
#include <string_view>
#include <vector>

namespace accelerate::tracking {

/// One record with its line end; fields with commas, quotes or line ends in quotes.
std::string csv_record(const std::vector<std::string>& fields);

/// The records of a text, each with its fields.
std::vector<std::vector<std::string>> parse_csv(std::string_view text);

}  // namespace accelerate::tracking
