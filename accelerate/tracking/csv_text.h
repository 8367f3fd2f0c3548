#pragma once

// Comma-separated values (RFC 4180).

#include <string>
#include <string_view>
#include <vector>

namespace accelerate::tracking {

/// One record with its newline. Fields that contain commas, quotes or newlines are quoted.
std::string csv_record(const std::vector<std::string>& fields);

/// Splits a text into records and fields.
std::vector<std::vector<std::string>> parse_csv(std::string_view text);

}  // namespace accelerate::tracking
