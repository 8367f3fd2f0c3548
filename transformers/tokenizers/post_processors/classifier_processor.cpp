#include "transformers/tokenizers/post_processors/post_processor.h"

#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/post_processors/post_processor.h"

namespace transformers::tokenizers {

namespace {

/// Calls `body` with each encoding's place in the pair, and the encoding or one of its overflowing windows.
template <class Body>
void for_each_window(std::vector<Encoding>& encodings, const Body& body) {
  for (size_t i = 0; i < encodings.size(); ++i) {
    body(i, encodings[i]);
    for (auto& window : encodings[i].overflowing) body(i, window);
  }
}

class BertProcessor : public PostProcessor {
 public:
  BertProcessor(uint32_t cls, uint32_t sep) : cls_(cls), sep_(sep) {}

  size_t added_tokens(bool is_pair) const override { return is_pair ? 3 : 2; }

  void process(std::vector<Encoding>& encodings, bool add_special_tokens) const override {
    if (!add_special_tokens) return;
    for_each_window(encodings, [&](size_t place, Encoding& window) {
      if (place == 0) window.insert_special(0, cls_, 0);
      window.insert_special(window.size(), sep_, place == 0 ? 0 : 1);
    });
  }

 private:
  uint32_t cls_, sep_;
};

class RobertaProcessor : public PostProcessor {
 public:
  RobertaProcessor(uint32_t cls, uint32_t sep, OffsetTrimming trimming) : cls_(cls), sep_(sep), trimming_(trimming) {}

  size_t added_tokens(bool is_pair) const override { return is_pair ? 4 : 2; }

  void process(std::vector<Encoding>& encodings, bool add_special_tokens) const override {
    trimming_.apply(encodings);
    for (auto& encoding : encodings) encoding.set_type(0);
    if (!add_special_tokens) return;
    for_each_window(encodings, [&](size_t place, Encoding& window) {
      window.set_type(0);
      window.insert_special(0, place == 0 ? cls_ : sep_, 0);
      window.insert_special(window.size(), sep_, 0);
    });
  }

  bool needs_spaces() const override { return trimming_.trim_offsets; }

 private:
  uint32_t cls_, sep_;
  OffsetTrimming trimming_;
};

/// The id of a field like ["[SEP]", 102].
uint32_t read_token(const nlohmann::json& description, const char* name) {
  const auto& pair = list_field(description, name);
  if (pair.size() != 2 || !holds<std::string>(pair[0]) || !holds<uint32_t>(pair[1])) {
    fail_field(description, name, "a list of a token and its id");
  }
  return pair[1].get<uint32_t>();
}

}  // namespace

std::unique_ptr<PostProcessor> read_bert_processor(const nlohmann::json& description) {
  return std::make_unique<BertProcessor>(read_token(description, "cls"), read_token(description, "sep"));
}

std::unique_ptr<PostProcessor> read_roberta_processor(const nlohmann::json& description) {
  return std::make_unique<RobertaProcessor>(read_token(description, "cls"), read_token(description, "sep"),
                                            read_offset_trimming(description));
}

}  // namespace transformers::tokenizers
