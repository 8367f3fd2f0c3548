#pragma once

// A configuration file as a syntax tree of texts, lists and maps with their positions. The code that knows a key
// decides how to interpret its text.

#include <cstddef>
#include <string>
#include <vector>

#include "accelerate/config/launch_config.h"

namespace accelerate::config {

/// A node of the tree. Only the members of its kind are set.
struct DocumentNode {
  enum class Kind { Null, Text, List, Map };

  Kind kind = Kind::Null;
  Position position = {};
  std::string text = {};
  bool quoted = false;                   // always a text, even if it looks like a number or a flag
  std::vector<DocumentNode> keys = {};   // of a map, in file order; may contain duplicates
  std::vector<DocumentNode> items = {};  // of a list; for a map the values, in the order of `keys`
};

/// The size limit of a document. A configuration has a few hundred bytes.
constexpr size_t kMaxBytes = size_t{64} << 10;

/// The syntax of a text.
enum class Syntax { Yaml, Json };

/// Parses one document. Throws ConfigError "source:line:column: reason", followed by the line, if the text has syntax
/// errors, is nested too deeply, is too large, or uses a type tag other than !!str.
DocumentNode parse_document(const std::string& text, Syntax syntax, const std::string& source);

/// "source:line:column", or only the source if there is no position.
std::string place(const std::string& source, const Position& position);

/// Upgrades `file`, a map from an older version of Accelerate: renames and removes outdated keys. Returns a sentence
/// for each change.
std::vector<std::string> upgrade(DocumentNode& file);

}  // namespace accelerate::config
