#include "transformers/tokenizers/decoders/decoder.h"

#include "transformers/tokenizers/decoders/decoder.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/text/pattern.h"

namespace transformers::tokenizers {

namespace {

class ReplaceDecoder : public Decoder {
 public:
  ReplaceDecoder(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  std::vector<std::string> decode_chain(std::vector<std::string> tokens) const override {
    for (auto& token : tokens) {
      std::string replaced;
      pattern_.for_each_match(token, [&](size_t begin, size_t end, bool is_match) {
        is_match ? replaced.append(content_) : replaced.append(token, begin, end - begin);
      });
      token = std::move(replaced);
    }
    return tokens;
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class StripDecoder : public Decoder {
 public:
  StripDecoder(std::string content, size_t start, size_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}

  std::vector<std::string> decode_chain(std::vector<std::string> tokens) const override {
    for (auto& token : tokens) {
      for (size_t i = 0; i < start_ && token.starts_with(content_); ++i) token.erase(0, content_.size());
      for (size_t i = 0; i < stop_ && token.ends_with(content_); ++i) token.resize(token.size() - content_.size());
    }
    return tokens;
  }

 private:
  std::string content_;
  size_t start_, stop_;
};

class FuseDecoder : public Decoder {
 public:
  std::vector<std::string> decode_chain(std::vector<std::string> tokens) const override {
    std::string text;
    for (const auto& token : tokens) text.append(token);
    return {std::move(text)};
  }
};

class DecoderSequence : public Decoder {
 public:
  explicit DecoderSequence(std::vector<std::unique_ptr<Decoder>> decoders) : decoders_(std::move(decoders)) {}

  std::vector<std::string> decode_chain(std::vector<std::string> tokens) const override {
    for (const auto& decoder : decoders_) tokens = decoder->decode_chain(std::move(tokens));
    return tokens;
  }

 private:
  std::vector<std::unique_ptr<Decoder>> decoders_;
};

std::unique_ptr<Decoder> read_decoders(const nlohmann::json& description) {
  std::vector<std::unique_ptr<Decoder>> decoders;
  for (const auto& part : list_field(description, "decoders")) decoders.push_back(read_decoder(part));
  return std::make_unique<DecoderSequence>(std::move(decoders));
}

}  // namespace

std::unique_ptr<Decoder> read_replace_decoder(const nlohmann::json& description) {
  return std::make_unique<ReplaceDecoder>(read_pattern(description), field<std::string>(description, "content"));
}

std::unique_ptr<Decoder> read_strip_decoder(const nlohmann::json& description) {
  return std::make_unique<StripDecoder>(character_field(description, "content"), field<size_t>(description, "start"),
                                        field<size_t>(description, "stop"));
}

std::unique_ptr<Decoder> make_fuse_decoder() { return std::make_unique<FuseDecoder>(); }

std::unique_ptr<Decoder> read_decoder(const nlohmann::json& description) {
  auto type = component_type(description, "decoder");
  if (type == "BPEDecoder") return read_bpe_decoder(description);
  if (type == "ByteFallback") return make_byte_fallback_decoder();
  if (type == "ByteLevel") return make_byte_level_decoder();
  if (type == "CTC") return read_ctc_decoder(description);
  if (type == "Fuse") return make_fuse_decoder();
  if (type == "Metaspace") return read_metaspace_decoder(description);
  if (type == "Replace") return read_replace_decoder(description);
  if (type == "Sequence") return read_decoders(description);
  if (type == "Strip") return read_strip_decoder(description);
  if (type == "WordPiece") return read_word_piece_decoder(description);
  fail_unknown_type("decoder", type,
                    {"BPEDecoder", "ByteFallback", "ByteLevel", "CTC", "Fuse", "Metaspace", "Replace", "Sequence",
                     "Strip", "WordPiece"});
}

}  // namespace transformers::tokenizers
