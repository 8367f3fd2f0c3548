#include "transformers/architectures.h"

#include <map>
#include <ranges>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "transformers/models/families.h"

namespace transformers {

namespace {

using Table = std::map<std::string, Architecture>;

Table built_in() {
  Table table;
  for (const auto& architecture :
       {models::albert(), models::bert(), models::camembert(), models::deberta_v2(), models::distilbert(),
        models::electra(), models::gpt2(), models::llama(), models::mistral(), models::modernbert(), models::mpnet(),
        models::qwen2(), models::qwen3(), models::roberta(), models::xlm_roberta()}) {
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
  if (architecture.model_type.empty()) accelerate::fail("an architecture needs the model_type of config.json");
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
  accelerate::fail(model_type.empty() ? "there is no model_type" : "the model_type '" + model_type + "' is unknown",
                   "; there are ", accelerate::listed(std::views::keys(table())), ". register_architecture() adds one");
}

}  // namespace transformers
