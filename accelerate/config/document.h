#pragma once

// A configuration file as a tree of texts, lists and maps, each with its place in the file. What the texts mean is
// decided by whoever knows the key they belong to.

#include <cstddef>
#include <string>
#include <vector>

#include "accelerate/config/launch_config.h"

namespace accelerate::config {

/// A node of the tree. Only the members of its kind are filled.
struct DocumentNode {
  enum class Kind { Null, Text, List, Map };

  Kind kind = Kind::Null;
  Position position = {};
  std::string text = {};
  bool quoted = false;                   // then it is a text, also when it looks like a number or a flag
  std::vector<DocumentNode> keys = {};   // of a map, in the order of the file; a key may be there twice
  std::vector<DocumentNode> items = {};  // of a list; of a map the values, in the order of `keys`
};

/// What a text may have: far more than the few hundred bytes of a configuration.
constexpr size_t kMaxBytes = size_t{64} << 10;

/// How to read a text.
enum class Syntax { Yaml, Json };

/// Reads one document. Throws ConfigError as "source:line:column: reason" with the line itself below it when the text
/// is not of the syntax, is nested too deep, is far larger than a configuration, or asks for types by tags.
DocumentNode parse_document(const std::string& text, Syntax syntax, const std::string& source);

/// "source:line:column", or the source alone when there is no place.
std::string place(const std::string& source, const Position& position);

}  // namespace accelerate::config
