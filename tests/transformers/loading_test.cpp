// From a checkpoint into a model: where it lies, in which type, and what is told of what does not fit.

#include <doctest/doctest.h>

#include <torch/nn/modules/linear.h>

#include "accelerate/base/environment.h"
#include "accelerate/tensors/safetensors.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"
#include "transformers/architectures.h"
#include "transformers/auto_model.h"
#include "transformers/hub_cache.h"

namespace transformers {

namespace {

using accelerate::PatchEnvironment;
using accelerate::tests::TemporaryDirectory;
using doctest::Contains;

constexpr auto kSmallBert = R"("model_type": "bert", "vocab_size": 11, "hidden_size": 4, "num_hidden_layers": 1,
    "num_attention_heads": 2, "intermediate_size": 5, "max_position_embeddings": 8)";

/// The configuration of a small BERT with more keys.
std::string bert_with(const std::string& keys) { return std::string("{") + kSmallBert + ", " + keys + "}"; }

AutoModelForSequenceClassification new_bert(const std::string& keys = R"("hidden_act": "gelu")") {
  return AutoModelForSequenceClassification::from_config(PretrainedConfig::from_json(bert_with(keys), "config.json"));
}

AutoModelForSequenceClassification load_from(const TemporaryDirectory& directory, FromPretrainedOptions options = {}) {
  return AutoModelForSequenceClassification::from_pretrained(directory.path().string(), options);
}

at::ScalarType type_of_weights(const AutoModelForSequenceClassification& model) {
  return model->parameters().at(0).scalar_type();
}

/// Gives weights of a saved model other names.
void rename_weights(const TemporaryDirectory& directory, const std::string& part, const std::string& replacement) {
  auto file = directory.path() / "model.safetensors";
  auto weights = accelerate::tensors::load_safetensors(file);
  for (auto& [name, tensor] : weights) {
    if (auto place = name.find(part); place != name.npos) name.replace(place, part.size(), replacement);
  }
  accelerate::tensors::save_safetensors(weights, file);
}

template <class Action>
doctest::String message_of(Action action) {
  return accelerate::tests::failure_of(action).c_str();
}

/// A model with everything that is no Layer: a buffer, parameters of its own and of a module of torch.
class OddModel : public BaseModel {
 public:
  explicit OddModel(const PretrainedConfig& config)
      : BaseModel("OddModel", config, "odd"),
        attention_(linear("h.0.attn", 2, 2)),
        scale_(register_parameter("scale", torch::full({2}, 3.0))),
        steps_(register_buffer("steps", torch::tensor({5}))),
        torch_linear_(register_module("torch_linear", torch::nn::Linear(2, 2))) {}

  const at::Tensor& scale() const { return scale_; }
  at::Tensor& steps() { return steps_; }

 private:
  BaseModelOutput encode(const ModelInputs&) override { return {}; }

  Linear attention_;
  at::Tensor scale_, steps_;
  torch::nn::Linear torch_linear_;
};

}  // namespace

TEST_CASE("the type of a model is what the caller says, else its configuration, else what the files hold") {
  TemporaryDirectory directory;
  new_bert()->save_pretrained(directory.path());
  CHECK((type_of_weights(load_from(directory)) == at::kFloat));
  directory.write("config.json", bert_with(R"("dtype": "bfloat16", "torch_dtype": "float64")"));
  CHECK((type_of_weights(load_from(directory)) == at::kBFloat16));
  CHECK((type_of_weights(load_from(directory, {.dtype = at::kDouble})) == at::kDouble));
  directory.write("config.json", bert_with(R"("torch_dtype": "float16")"));
  auto half = load_from(directory);
  CHECK((type_of_weights(half) == at::kHalf));
  CHECK((type_of_weights(new_bert(R"("dtype": "bfloat16")")) == at::kBFloat16));

  half->to(at::kDouble);
  half->save_pretrained(directory.path());
  CHECK((type_of_weights(load_from(directory)) == at::kDouble));
  directory.write("config.json", bert_with(R"("dtype": null)"));
  CHECK((type_of_weights(load_from(directory)) == at::kDouble));
  directory.write("config.json", bert_with(R"("dtype": "int8")"));
  CHECK(message_of([&] { load_from(directory); }) ==
        Contains("\"dtype\" is \"int8\"; it must be float32, float64, float16"));
}

TEST_CASE("labels are counted by id2label, else by num_labels") {
  CHECK(new_bert()->config().num_labels() == 2);
  auto three = new_bert(R"("num_labels": 3)");
  CHECK(three->named_parameters()["classifier.bias"].size(0) == 3);
  CHECK(new_bert(R"("num_labels": 3, "id2label": {"0": "a"})")->config().num_labels() == 1);
  auto config = three->config();
  config.set_num_labels(5);
  CHECK(config.num_labels() == 5);
  CHECK_FALSE(config.contains("num_labels"));
  CHECK(message_of([] { new_bert(R"("num_labels": 0)"); }) == Contains("\"num_labels\" is 0; it must be at least 1"));
}

TEST_CASE("a configuration nested without an end is refused") {
  auto nested = R"({"model_type": )" + std::string(100'000, '[');
  CHECK(message_of([&] { PretrainedConfig::from_json(nested, "x.json"); }) == Contains("x.json: its JSON is nested"));
}

TEST_CASE("weights of another shape are an error, or initialised anew where the caller says so") {
  TemporaryDirectory directory;
  new_bert()->save_pretrained(directory.path());
  auto message = message_of([&] { load_from(directory, {.num_labels = 3}); });
  CHECK(message == Contains("set ignore_mismatched_sizes"));
  CHECK(message == Contains("classifier.weight | MISMATCH   | checkpoint [2, 4], model [3, 4]"));

  LoadReport report;
  auto model = load_from(directory, {.num_labels = 3, .ignore_mismatched_sizes = true, .loading_info = &report});
  REQUIRE(report.mismatched.size() == 2);
  CHECK(report.mismatched[0].name == "classifier.bias");
  CHECK(report.mismatched[1].checkpoint == std::vector<int64_t>{2, 4});
  CHECK(report.mismatched[1].model == std::vector<int64_t>{3, 4});
  CHECK(torch::equal(model->named_parameters()["classifier.bias"], torch::zeros({3})));
}

TEST_CASE("what did not fit is told in a table, the layers of a name in one line") {
  LoadReport report{.missing = {"classifier.weight"},
                    .unexpected = {"layer.0.a", "layer.2.a", "layer.1.a", "cls.bias"},
                    .mismatched = {{.name = "words", .checkpoint = {3, 4}, .model = {5, 4}}}};
  CHECK(report.table() ==
        "Key               | Status    \n"
        "------------------+-----------\n"
        "cls.bias          | UNEXPECTED\n"
        "layer.{0, 1, 2}.a | UNEXPECTED\n"
        "classifier.weight | MISSING   \n"
        "words             | MISMATCH   | checkpoint [3, 4], model [5, 4]\n"
        "MISSING: not in the checkpoint, newly initialised; train the model before using it.\n"
        "UNEXPECTED: only in the checkpoint; expected for another head, but not for the same model.\n"
        "MISMATCH: with a different shape, newly initialised.\n");
}

TEST_CASE("weights fit by the names of older versions, and with the prefix of the base model alone") {
  TemporaryDirectory directory;
  auto model = new_bert();
  model->save_pretrained(directory.path());
  rename_weights(directory, "LayerNorm.weight", "LayerNorm.gamma");
  rename_weights(directory, "LayerNorm.bias", "LayerNorm.beta");
  LoadReport report;
  load_from(directory, {.loading_info = &report});
  CHECK(report.empty());

  auto base = AutoModel::from_pretrained(directory.path().string(), {.loading_info = &report});
  CHECK(report.missing.empty());
  CHECK(report.unexpected == std::vector<std::string>{"classifier.bias", "classifier.weight"});
  CHECK(torch::equal(base->parameters()[0], model->parameters()[0]));

  rename_weights(directory, "bert.embeddings", "teacher.embeddings");
  AutoModel::from_pretrained(directory.path().string(), {.loading_info = &report});
  CHECK(report.missing.size() == 5);  // those of the embeddings, which are another model's
}

TEST_CASE("a head that is tied to the table of words is stored under either name, or under both if they are equal") {
  constexpr auto kGpt = R"({"model_type": "gpt2", "vocab_size": 11, "n_embd": 4, "n_layer": 1, "n_head": 2,
                            "n_positions": 6})";
  TemporaryDirectory directory;
  auto made = AutoModelForCausalLM::from_config(PretrainedConfig::from_json(kGpt, "here"));
  made->save_pretrained(directory.path());
  const auto words = made->named_parameters()["transformer.wte.weight"].detach();
  LoadReport report;
  auto load = [&] {
    auto model = AutoModelForCausalLM::from_pretrained(directory.path().string(), {.loading_info = &report});
    return model->named_parameters()["transformer.wte.weight"];
  };
  rename_weights(directory, "transformer.wte", "lm_head");
  CHECK(torch::equal(load(), words));
  CHECK(report.empty());

  auto file = directory.path() / "model.safetensors";
  auto weights = accelerate::tensors::load_safetensors(file);
  weights.emplace_back("transformer.wte.weight", words);
  accelerate::tensors::save_safetensors(weights, file);
  CHECK(torch::equal(load(), words));
  CHECK(report.empty());

  weights.back().second = words + 1;
  accelerate::tensors::save_safetensors(weights, file);
  CHECK(message_of(load) == Contains("lm_head.weight and transformer.wte.weight differ"));
}

TEST_CASE("checkpoints are found in the local cache by name and revision") {
  TemporaryDirectory cache;
  auto add = [&](const std::string& commit) {
    cache.write("hub/models--ada--small/snapshots/" + commit + "/config.json",
                bert_with(R"("commit": ")" + commit + "\""));
  };
  add("c1");
  add("c2");
  cache.write("hub/models--ada--small/refs/main", "c1");
  cache.write("hub/models--ada--small/refs/v2", "c2\n");
  PatchEnvironment patch{
      {"HF_HUB_CACHE", std::nullopt}, {"HUGGINGFACE_HUB_CACHE", std::nullopt}, {"HF_HOME", cache.path().string()}};
  CHECK(find_checkpoint("ada/small").filename() == "c1");
  CHECK(find_checkpoint("ada/small", "v2").filename() == "c2");
  CHECK(find_checkpoint("ada/small", "c2").filename() == "c2");
  CHECK(PretrainedConfig::from_pretrained("ada/small").get<std::string>("commit", "") == "c1");
  CHECK(PretrainedConfig::from_pretrained("ada/small", "v2").get<std::string>("commit", "") == "c2");
  CHECK(message_of([] { find_checkpoint("ada/small", ""); }) == Contains("'ada/small' has no revision ''"));
  CHECK(message_of([] { find_checkpoint("ada/small", "v3"); }) == Contains("'ada/small' has no revision 'v3' in"));
  CHECK(message_of([] { find_checkpoint("ada/large"); }) == Contains("download it first with the Hugging Face client"));

  auto hub = (cache.path() / "hub").string();
  for (const char* variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    PatchEnvironment named{{"HF_HOME", "/nowhere"}, {variable, hub}};
    CHECK(find_checkpoint("ada/small").filename() == "c1");
  }
  PatchEnvironment below_home{{"HOME", cache.path().string()}, {"HF_HUB_CACHE", "~/hub"}};
  CHECK(find_checkpoint("ada/small").filename() == "c1");
}

TEST_CASE("what a model cannot compute with is told with the value and the limit") {
  auto model = new_bert();
  auto ids = torch::full({2, 3}, 7);
  auto loss = [&](const at::Tensor& labels) { model->forward(ModelInputs{.input_ids = ids, .labels = labels}); };
  CHECK(message_of([&] { loss(torch::tensor({0, 2})); }) == Contains("the label 2 is out of range: the model has 2"));
  CHECK(message_of([&] { model->forward(ModelInputs{.input_ids = ids + 4}); }) ==
        Contains("the token 11 is outside the model's vocabulary of 11"));
  accelerate::Batch batch;
  batch["input_ids"] = ids;
  batch["pixels"] = ids;
  CHECK(message_of([&] { model->forward(batch); }) == Contains("a model does not take 'pixels'; it takes input_ids"));
}

TEST_CASE("the kind of problem decides on the loss") {
  TemporaryDirectory directory;
  new_bert()->save_pretrained(directory.path());
  ModelInputs inputs{.input_ids = torch::full({2, 3}, 7), .labels = torch::tensor({{0.0f, 1.0f}, {1.0f, 1.0f}})};
  auto model = load_from(directory, {.problem_type = "regression"});
  auto [loss, logits] = model->forward(inputs);
  CHECK(torch::equal(loss, torch::mse_loss(logits, inputs.labels)));
  auto several = load_from(directory, {.problem_type = "multi_label_classification"})->forward(inputs);
  CHECK(torch::equal(several.loss, torch::binary_cross_entropy_with_logits(several.logits, inputs.labels)));
  for (const char* type : {"regression", "multi_label_classification"}) {
    auto model_of_type = load_from(directory, {.problem_type = type});
    ModelInputs one_for_each_text{.input_ids = inputs.input_ids, .labels = torch::tensor({0.0f, 1.0f})};
    CHECK(message_of([&] { model_of_type->forward(one_for_each_text); }) ==
          Contains("the labels are [2] and the logits [2, 2]"));
  }
  auto unknown = load_from(directory, {.problem_type = "ranking"});
  CHECK(message_of([&] { unknown->forward(inputs); }) ==
        Contains("\"problem_type\" is \"ranking\"; it must be regression"));
}

TEST_CASE("buffers and parameters that no layer holds are saved and loaded, and keep what they were made with") {
  register_architecture(
      {.model_type = "odd", .base = [](const PretrainedConfig& config) { return std::make_shared<OddModel>(config); }});
  TemporaryDirectory directory;
  auto config = PretrainedConfig::from_json(R"({"model_type": "odd", "dtype": "bfloat16"})", "here");
  auto made = AutoModel::from_config(config);
  auto& odd = dynamic_cast<OddModel&>(*made);
  CHECK(torch::equal(odd.scale(), torch::full({2}, 3.0, at::kBFloat16)));
  odd.steps().fill_(9);
  odd.save_pretrained(directory.path());

  LoadReport report;
  auto load = [&] { return AutoModel::from_pretrained(directory.path().string(), {.loading_info = &report}); };
  auto loaded = load();
  CHECK(report.empty());
  CHECK(dynamic_cast<OddModel&>(*loaded).steps().item<int64_t>() == 9);
  CHECK(torch::equal(loaded->named_parameters()["h.0.attn.bias"], made->named_parameters()["h.0.attn.bias"]));

  rename_weights(directory, "scale", "other");
  rename_weights(directory, "steps", "others");
  loaded = load();
  CHECK(report.missing == std::vector<std::string>{"scale", "steps"});
  CHECK(torch::equal(dynamic_cast<OddModel&>(*loaded).scale(), torch::full({2}, 3.0, at::kBFloat16)));
  CHECK(dynamic_cast<OddModel&>(*loaded).steps().item<int64_t>() == 5);
}

}  // namespace transformers
