#include "transformers/architectures.h"

#include <map>

#include "accelerate/base/error.h"
#include "transformers/models/bert.h"

namespace transformers {

namespace {

template <class M>
auto make() {
  return [](const PretrainedConfig& config) { return std::make_shared<M>(config); };
}

using Table = std::map<std::string, Architecture>;

Table built_in() {
  Table table;
  for (auto& architecture : std::vector<Architecture>{
           {.model_type = "bert",
            .base = make<BertModel>(),
            .sequence_classification = make<BertForSequenceClassification>()},
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

const Architecture& find_architecture(const std::string& model_type) {
  auto found = table().find(model_type);
  if (found != table().end()) return found->second;
  std::string names;
  for (const auto& [name, architecture] : table()) names += (names.empty() ? "" : ", ") + name;
  accelerate::fail(
      model_type.empty() ? "config.json has no model_type" : "the model_type '" + model_type + "' is not known",
      "; there are ", names, ". register_architecture() adds one");
}

}  // namespace transformers
