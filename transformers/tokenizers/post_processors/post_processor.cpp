#include "transformers/tokenizers/post_processors/post_processor.h"

#include <algorithm>

#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/post_processors/post_processor.h"

namespace transformers::tokenizers {

namespace {

void trim(Encoding& encoding, bool add_prefix_space) {
  bool seen_text = false;
  for (size_t i = 0; i < encoding.size(); ++i) {
    if (encoding.special_tokens_mask[i] != 0) continue;
    auto [leading, trailing] = encoding.spaces[i];
    auto& [begin, end] = encoding.offsets[i];
    bool at_start = !seen_text || begin == 0;
    seen_text = true;
    if (at_start && add_prefix_space && leading == 1) leading = 0;
    begin = std::min(begin + leading, end);
    if (end >= trailing) end = std::max(end - trailing, begin);
  }
}

class ByteLevelProcessor : public PostProcessor {
 public:
  explicit ByteLevelProcessor(OffsetTrimming trimming) : trimming_(trimming) {}

  size_t added_tokens(bool) const override { return 0; }

  void process(std::vector<Encoding>& encodings, bool) const override { trimming_.apply(encodings); }

  bool needs_spaces() const override { return trimming_.trim_offsets; }

 private:
  OffsetTrimming trimming_;
};

class ProcessorSequence : public PostProcessor {
 public:
  explicit ProcessorSequence(std::vector<std::unique_ptr<PostProcessor>> processors)
      : processors_(std::move(processors)) {}

  size_t added_tokens(bool is_pair) const override {
    size_t count = 0;
    for (const auto& processor : processors_) count += processor->added_tokens(is_pair);
    return count;
  }

  void process(std::vector<Encoding>& encodings, bool add_special_tokens) const override {
    for (const auto& processor : processors_) processor->process(encodings, add_special_tokens);
  }

  bool needs_spaces() const override {
    return std::any_of(processors_.begin(), processors_.end(), [](const auto& one) { return one->needs_spaces(); });
  }

 private:
  std::vector<std::unique_ptr<PostProcessor>> processors_;
};

std::unique_ptr<PostProcessor> read_post_processors(const nlohmann::json& description) {
  std::vector<std::unique_ptr<PostProcessor>> processors;
  for (const auto& part : list_field(description, "processors")) processors.push_back(read_post_processor(part));
  return std::make_unique<ProcessorSequence>(std::move(processors));
}

}  // namespace

void OffsetTrimming::apply(std::vector<Encoding>& encodings) const {
  if (!trim_offsets) return;
  for (auto& encoding : encodings) {
    trim(encoding, add_prefix_space);
    for (auto& window : encoding.overflowing) trim(window, add_prefix_space);
  }
}

OffsetTrimming read_offset_trimming(const nlohmann::json& description) {
  return {field<bool>(description, "trim_offsets"), field<bool>(description, "add_prefix_space")};
}

std::unique_ptr<PostProcessor> read_post_processor(const nlohmann::json& description) {
  auto type = component_type(description, "post-processor");
  if (type == "BertProcessing") return read_bert_processor(description);
  if (type == "ByteLevel") return std::make_unique<ByteLevelProcessor>(read_offset_trimming(description));
  if (type == "RobertaProcessing") return read_roberta_processor(description);
  if (type == "Sequence") return read_post_processors(description);
  if (type == "TemplateProcessing") return read_template_processor(description);
  fail_unknown_type("post-processor", type,
                    {"BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing"});
}

}  // namespace transformers::tokenizers
