#include "transformers/auto_model.h"

#include <c10/util/Exception.h>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "transformers/architectures.h"
#include "transformers/hub_cache.h"

namespace transformers {

namespace {

using accelerate::fail;

template <class M>
using Maker = std::function<std::shared_ptr<M>(const PretrainedConfig&)>;

const Architecture& architecture_of(const PretrainedConfig& config) {
  try {
    return find_architecture(config.model_type());
  } catch (const accelerate::Error& error) {
    fail(config.source(), ": ", error.what());
  }
}

template <class M>
std::shared_ptr<M> make(const PretrainedConfig& config, Maker<M> Architecture::* maker, const char* what) {
  const auto& architecture = architecture_of(config);
  if (!(architecture.*maker)) {
    fail(config.source(), ": models of type '", config.model_type(), "' have no class for ", what);
  }
  try {
    return (architecture.*maker)(config);
  } catch (const c10::Error& error) {
    fail(config.source(), ": no model can be created with these sizes; the largest is ", config.largest_number(), ". ",
         error.what_without_backtrace());
  }
}

void report(const LoadReport& loaded, const PretrainedModel& model, const std::string& checkpoint,
            const FromPretrainedOptions& options) {
  if (options.loading_info) {
    *options.loading_info = loaded;
  } else if (!loaded.empty()) {
    accelerate::get_logger("transformers")
        .warning(model.name() + " loaded from " + checkpoint + ", except:\n" + loaded.table());
  }
}

template <class M>
std::shared_ptr<M> load(const std::string& checkpoint, const FromPretrainedOptions& options,
                        Maker<M> Architecture::* maker, const char* what) {
  auto directory = find_checkpoint(checkpoint, options.revision);
  auto config = PretrainedConfig::from_pretrained(directory.string());
  if (options.num_labels) config.set_num_labels(*options.num_labels);
  if (options.problem_type) config.set("problem_type", *options.problem_type);
  auto model = make(config, maker, what);
  auto loaded = load_weights(*model, directory,
                             {.dtype = options.dtype, .ignore_mismatched_sizes = options.ignore_mismatched_sizes});
  report(loaded, *model, checkpoint, options);
  model->eval();
  return model;
}

template <class M>
std::shared_ptr<M> make_new(const PretrainedConfig& config, Maker<M> Architecture::* maker, const char* what) {
  auto model = make(config, maker, what);
  initialize_weights(*model);
  return model;
}

constexpr auto kHeadless = "a bare model", kClassification = "sequence classification",
               kCausalLM = "causal language modelling";

}  // namespace

AutoModel AutoModel::from_pretrained(const std::string& checkpoint, const FromPretrainedOptions& options) {
  return load(checkpoint, options, &Architecture::base, kHeadless);
}
AutoModel AutoModel::from_config(const PretrainedConfig& config) {
  return make_new(config, &Architecture::base, kHeadless);
}

AutoModelForSequenceClassification AutoModelForSequenceClassification::from_pretrained(
    const std::string& checkpoint, const FromPretrainedOptions& options) {
  return load(checkpoint, options, &Architecture::sequence_classification, kClassification);
}
AutoModelForSequenceClassification AutoModelForSequenceClassification::from_config(const PretrainedConfig& config) {
  return make_new(config, &Architecture::sequence_classification, kClassification);
}

AutoModelForCausalLM AutoModelForCausalLM::from_pretrained(const std::string& checkpoint,
                                                           const FromPretrainedOptions& options) {
  return load(checkpoint, options, &Architecture::causal_lm, kCausalLM);
}
AutoModelForCausalLM AutoModelForCausalLM::from_config(const PretrainedConfig& config) {
  return make_new(config, &Architecture::causal_lm, kCausalLM);
}

}  // namespace transformers
