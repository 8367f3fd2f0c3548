#pragma once

// Interprets scalars of a configuration file by the rules of YAML 1.1, which Python reads and writes.

#include <optional>
#include <string>

#include "accelerate/config/document.h"

namespace accelerate::config {

/// `text` as an unquoted scalar.
DocumentNode plain_text(const std::string& text);

/// True for an empty text, ~ and null, all unquoted.
bool is_null(const DocumentNode& node);

/// yes, no, true, false, on or off, unquoted; nothing for anything else.
std::optional<bool> as_flag(const DocumentNode& node);

/// A decimal integer, unquoted; nothing for anything else.
std::optional<int64_t> as_integer(const DocumentNode& node);

/// The value that Python would read. Throws ConfigError, without a position, for a map or a list of anything but texts.
Value as_value(const DocumentNode& node);

/// Whether `text` must be quoted to be read as a text.
bool needs_quotes(const std::string& text);

}  // namespace accelerate::config
