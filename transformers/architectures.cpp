#include "transformers/architectures.h"

#include <map>
#include <ranges>

#include "accelerate/base/error.h"
#include "accelerate/base/listed.h"
#include "transformers/models/albert.h"
#include "transformers/models/bert.h"
#include "transformers/models/deberta_v2.h"
#include "transformers/models/distilbert.h"
#include "transformers/models/electra.h"
#include "transformers/models/gpt2.h"
#include "transformers/models/llama.h"
#include "transformers/models/mistral.h"
#include "transformers/models/modernbert.h"
#include "transformers/models/mpnet.h"
#include "transformers/models/qwen2.h"
#include "transformers/models/qwen3.h"
#include "transformers/models/roberta.h"

namespace transformers {

namespace {

template <class M, class... Arguments>
auto make(const Arguments&... arguments) {
  return [arguments...](const PretrainedConfig& config) { return std::make_shared<M>(config, arguments...); };
}

using Table = std::map<std::string, Architecture>;

Table built_in() {
  Table table;
  for (auto& architecture : std::vector<Architecture>{
           {.model_type = "albert",
            .base = make<AlbertModel>(),
            .sequence_classification = make<AlbertForSequenceClassification>()},
           {.model_type = "bert",
            .base = make<BertModel>(),
            .sequence_classification = make<BertForSequenceClassification>()},
           {.model_type = "camembert",
            .base = make<RobertaModel>(kCamembert),
            .sequence_classification = make<RobertaForSequenceClassification>(kCamembert)},
           {.model_type = "deberta-v2",
            .base = make<DebertaV2Model>(),
            .sequence_classification = make<DebertaV2ForSequenceClassification>()},
           {.model_type = "distilbert",
            .base = make<DistilBertModel>(),
            .sequence_classification = make<DistilBertForSequenceClassification>()},
           {.model_type = "electra",
            .base = make<ElectraModel>(),
            .sequence_classification = make<ElectraForSequenceClassification>()},
           {.model_type = "gpt2",
            .base = make<GPT2Model>(),
            .sequence_classification = make<GPT2ForSequenceClassification>(),
            .causal_lm = make<GPT2LMHeadModel>()},
           {.model_type = "llama",
            .base = make<LlamaModel>(),
            .sequence_classification = make<LlamaForSequenceClassification>(),
            .causal_lm = make<LlamaForCausalLM>()},
           {.model_type = "mistral",
            .base = make<MistralModel>(),
            .sequence_classification = make<MistralForSequenceClassification>(),
            .causal_lm = make<MistralForCausalLM>()},
           {.model_type = "modernbert",
            .base = make<ModernBertModel>(),
            .sequence_classification = make<ModernBertForSequenceClassification>()},
           {.model_type = "mpnet",
            .base = make<MPNetModel>(),
            .sequence_classification = make<MPNetForSequenceClassification>()},
           {.model_type = "qwen2",
            .base = make<Qwen2Model>(),
            .sequence_classification = make<Qwen2ForSequenceClassification>(),
            .causal_lm = make<Qwen2ForCausalLM>()},
           {.model_type = "qwen3",
            .base = make<Qwen3Model>(),
            .sequence_classification = make<Qwen3ForSequenceClassification>(),
            .causal_lm = make<Qwen3ForCausalLM>()},
           {.model_type = "roberta",
            .base = make<RobertaModel>(),
            .sequence_classification = make<RobertaForSequenceClassification>()},
           {.model_type = "xlm-roberta",
            .base = make<RobertaModel>(kXlmRoberta),
            .sequence_classification = make<RobertaForSequenceClassification>(kXlmRoberta)},
       }) {
    table[architecture.model_type] = architecture;
  }
  return table;
}

Table& table() {
  static Table table = built_in();
  return table;
}

}  // namespace

void register_architecture(Architecture architecture) {
  if (architecture.model_type.empty()) accelerate::fail("an architecture needs a model_type, which config.json names");
  auto name = architecture.model_type;
  table()[name] = std::move(architecture);
}

std::vector<std::string> architecture_names() {
  auto names = std::views::keys(table());
  return {names.begin(), names.end()};
}

const Architecture& find_architecture(const std::string& model_type) {
  auto found = table().find(model_type);
  if (found != table().end()) return found->second;
  accelerate::fail(model_type.empty() ? "there is no model_type" : "the model_type '" + model_type + "' is not known",
                   "; there are ", accelerate::listed(std::views::keys(table())), ". register_architecture() adds one");
}

}  // namespace transformers
