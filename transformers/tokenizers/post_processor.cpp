#include "transformers/tokenizers/post_processor.h"

#include <algorithm>

#include "transformers/tokenizers/classifier_processor.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/offset_trimming.h"
#include "transformers/tokenizers/template_processor.h"

namespace transformers::tokenizers {

namespace {

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
