// What `accelerate estimate-memory` says of a configuration, against the models that the library makes of it.

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "cli/model_tensors.h"
#include "tests/support/torch.h"
#include "tests/transformers/small_configurations.h"
#include "transformers/auto_model.h"

namespace transformers {

TEST_CASE("the memory of every architecture is estimated from its config.json, tensor by tensor") {
  std::set<std::string> seen;
  for (const auto& config : small_configurations()) {
    std::string family = config["model_type"];
    seen.insert(family);
    CAPTURE(family);
    std::map<std::string, uint64_t> estimated;
    for (const auto& tensor :
         accelerate::cli::describe_family(nlohmann::json::parse(config.dump()), "config.json").tensors) {
      estimated[tensor.name] = tensor.bytes;
    }
    const auto model = AutoModel::from_config(PretrainedConfig::from_json(config.dump(), "config.json"));
    for (const auto& item : model->named_parameters()) {
      CAPTURE(item.key());
      CHECK(estimated[item.key()] == item.value().nbytes());
      estimated.erase(item.key());
    }
    for (const auto& [name, bytes] : estimated) {  // buffers that only Python's models have
      CHECK_MESSAGE((name.ends_with("_ids") || name.ends_with("inv_freq")), name);
    }
  }
  for (const auto& name : built_in_architectures()) CHECK_MESSAGE(seen.contains(name), name);
}

}  // namespace transformers
