#include "added_model.h"  // the program on the page docs/adding_a_model.md

#include <doctest/doctest.h>

#include "accelerate/base/scope.h"
#include "tests/support/torch.h"
#include "transformers/auto_model.h"

namespace transformers {

TEST_CASE("a model that a program adds loads, trains and is saved like those of the library") {
  bag::add();
  auto directory = std::filesystem::temp_directory_path() / ("added_model_" + std::to_string(::getpid()));
  accelerate::ScopeExit clean_up([&] { std::filesystem::remove_all(directory); });
  auto config = PretrainedConfig::from_json(R"({"model_type": "bag", "vocab_size": 20, "hidden_size": 8})", "here");
  AutoModel::from_config(config)->save_pretrained(directory);

  LoadReport report;
  auto model = AutoModelForSequenceClassification::from_pretrained(directory.string(),
                                                                   {.num_labels = 3, .loading_info = &report});
  CHECK(report.missing == std::vector<std::string>{"classifier.bias", "classifier.weight"});
  CHECK(report.unexpected.empty());
  model->train();
  model->gradient_checkpointing_enable();
  ModelInputs inputs{.input_ids = torch::randint(20, {4, 5}), .labels = torch::tensor({0, 1, 2, 0})};
  auto loss = model->forward(inputs).loss;
  loss.backward();
  for (const auto& item : model->named_parameters()) {
    CAPTURE(item.key());
    CHECK(item.value().grad().defined());
  }

  model->eval();
  model->save_pretrained(directory);
  auto again = AutoModelForSequenceClassification::from_pretrained(directory.string(), {.loading_info = &report});
  CHECK(report.empty());
  CHECK(torch::equal(model->forward(inputs).logits, again->forward(inputs).logits));
}

}  // namespace transformers
