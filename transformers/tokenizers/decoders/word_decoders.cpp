#include "transformers/tokenizers/decoders/decoder.h"

#include <algorithm>
#include <utility>

#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/text/replace_all.h"

namespace transformers::tokenizers {

namespace {

void clean_up(std::string& token) {
  remove_english_spaces(token);
  replace_all(token, " do not", " don't");
}

class WordPieceDecoder : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}

  std::vector<std::string> decode_chain(std::vector<std::string> tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) {
      auto& token = tokens[i];
      if (i > 0 && token.starts_with(prefix_)) {
        token.erase(0, prefix_.size());
      } else if (i > 0) {
        token.insert(token.begin(), ' ');
      }
      if (cleanup_) clean_up(token);
    }
    return tokens;
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class BpeDecoder : public Decoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}

  std::vector<std::string> decode_chain(std::vector<std::string> tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
    return tokens;
  }

 private:
  std::string suffix_;
};

class CtcDecoder : public Decoder {
 public:
  CtcDecoder(std::string pad_token, std::string word_delimiter_token, bool cleanup)
      : pad_token_(std::move(pad_token)), word_delimiter_token_(std::move(word_delimiter_token)), cleanup_(cleanup) {}

  std::vector<std::string> decode_chain(std::vector<std::string> tokens) const override {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (auto& token : tokens) {
      replace_all(token, pad_token_, "");
      if (!cleanup_) continue;
      clean_up(token);
      replace_all(token, word_delimiter_token_, " ");
    }
    std::erase(tokens, "");
    return tokens;
  }

 private:
  std::string pad_token_;
  std::string word_delimiter_token_;
  bool cleanup_;
};

class MetaspaceDecoder : public Decoder {
 public:
  MetaspaceDecoder(std::string replacement, bool prepended)
      : replacement_(std::move(replacement)), prepended_(prepended) {}

  std::vector<std::string> decode_chain(std::vector<std::string> tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) replace_all(tokens[i], replacement_, i == 0 && prepended_ ? "" : " ");
    return tokens;
  }

 private:
  std::string replacement_;
  bool prepended_;
};

}  // namespace

std::unique_ptr<Decoder> read_word_piece_decoder(const nlohmann::json& description) {
  return std::make_unique<WordPieceDecoder>(field<std::string>(description, "prefix"),
                                            field<bool>(description, "cleanup"));
}

std::unique_ptr<Decoder> read_bpe_decoder(const nlohmann::json& description) {
  return std::make_unique<BpeDecoder>(field<std::string>(description, "suffix"));
}

std::unique_ptr<Decoder> read_ctc_decoder(const nlohmann::json& description) {
  return std::make_unique<CtcDecoder>(field<std::string>(description, "pad_token"),
                                      field<std::string>(description, "word_delimiter_token"),
                                      field<bool>(description, "cleanup"));
}

std::unique_ptr<Decoder> read_metaspace_decoder(const nlohmann::json& description) {
  auto scheme = field_or<std::string>(description, "prepend_scheme", "always");
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    fail_field(description, "prepend_scheme", "always, first or never");
  }
  if (!field_or(description, "add_prefix_space", true) && scheme != "never") {
    fail_field(description, "add_prefix_space", "true, unless 'prepend_scheme' is never");
  }
  return std::make_unique<MetaspaceDecoder>(character_field(description, "replacement"), scheme != "never");
}

}  // namespace transformers::tokenizers
