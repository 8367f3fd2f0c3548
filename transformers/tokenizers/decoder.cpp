#include "transformers/tokenizers/decoder.h"

#include "transformers/tokenizers/byte_decoders.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/text_decoders.h"
#include "transformers/tokenizers/word_decoders.h"

namespace transformers::tokenizers {

namespace {

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
