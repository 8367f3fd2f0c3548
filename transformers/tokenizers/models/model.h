#pragma once

// The model of a tokenizer: splits a pre-token into tokens of the vocabulary.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace transformers::tokenizers {

/// One token of a pre-token, and its bytes [begin, end) in the pre-token.
struct Token {
  uint32_t id = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// A vocabulary and an algorithm that splits text into its entries. Const calls are thread-safe.
class Model {
 public:
  virtual ~Model() = default;

  /// Appends the tokens of `piece`: the normalized text, in UTF-8, of one pre-token.
  virtual void tokenize(std::string_view piece, std::vector<Token>& tokens) const = 0;

  /// The id of a vocabulary entry.
  virtual std::optional<uint32_t> token_to_id(std::string_view token) const = 0;

  /// The entry with this id, or null. Owned by the model.
  virtual const std::string* id_to_token(uint32_t id) const = 0;

  /// Number of entries.
  virtual size_t vocab_size() const = 0;
};

/// Reads the "model" of a tokenizer.json. Throws Error for an unknown type; the message lists the known ones.
std::unique_ptr<Model> read_model(const nlohmann::json& description);

}  // namespace transformers::tokenizers
