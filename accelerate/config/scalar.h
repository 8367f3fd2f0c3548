#pragma once

// What a text in a configuration file means, by the rules of the YAML that Python reads and writes (1.1).

#include <optional>
#include <string>

#include "accelerate/config/document.h"

namespace accelerate::config {

/// `text` as it stands in a file without quotes.
DocumentNode plain_text(const std::string& text);

/// True for nothing, ~ and null, all unquoted.
bool is_null(const DocumentNode& node);

/// yes, no, true, false, on or off, unquoted; nothing for anything else.
std::optional<bool> as_flag(const DocumentNode& node);

/// A whole number in decimal digits, unquoted; nothing for anything else.
std::optional<int64_t> as_integer(const DocumentNode& node);

/// The value that Python would read. Throws ConfigError, without a place, for a map or a list of anything but texts.
Value as_value(const DocumentNode& node);

/// Whether `text` needs quotes to be read as a text.
bool needs_quotes(const std::string& text);

}  // namespace accelerate::config
