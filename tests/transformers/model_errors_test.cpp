#include <doctest/doctest.h>

#include "accelerate/base/error.h"
#include "accelerate/tensors/torch_file.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/torch.h"
#include "transformers/auto_model.h"

namespace transformers {

namespace {

namespace fs = std::filesystem;
using accelerate::tests::failure_of;

PretrainedConfig config(const std::string& json) { return PretrainedConfig::from_json(json, "config.json"); }

constexpr auto kGpt2 = R"({"model_type": "gpt2", "vocab_size": 11, "n_embd": 4, "n_layer": 1, "n_head": 2,
                           "n_positions": 6})";
constexpr auto kRoberta = R"({"model_type": "roberta", "vocab_size": 11, "hidden_size": 4, "num_hidden_layers": 1,
                              "num_attention_heads": 2, "intermediate_size": 5, "max_position_embeddings": 8})";

at::Tensor ids(int64_t batch, int64_t length) { return at::full({batch, length}, 3, at::kLong); }

bool mentions(const std::string& message, const std::string& part) { return message.find(part) != message.npos; }

}  // namespace

TEST_CASE("a decoder without a padding token classifies one text, and says what several need") {
  auto model = AutoModelForSequenceClassification::from_config(config(kGpt2));
  CHECK(model->forward(ModelInputs{.input_ids = ids(1, 5)}).logits.sizes() == at::IntArrayRef{1, 2});
  auto message = failure_of([&] { model->forward(ModelInputs{.input_ids = ids(2, 5)}); });
  CHECK(mentions(message, "pad_token_id"));
}

TEST_CASE("a text longer than the table of positions is refused") {
  auto gpt2 = AutoModel::from_config(config(kGpt2));
  CHECK(failure_of([&] { gpt2->forward(ModelInputs{.input_ids = ids(1, 6)}); }).empty());
  CHECK(mentions(failure_of([&] { gpt2->forward(ModelInputs{.input_ids = ids(1, 7)}); }), "7 tokens"));

  // The first two of RoBERTa's eight positions are no position of a token.
  auto roberta = AutoModel::from_config(config(kRoberta));
  CHECK(failure_of([&] { roberta->forward(ModelInputs{.input_ids = ids(1, 6)}); }).empty());
  CHECK(mentions(failure_of([&] { roberta->forward(ModelInputs{.input_ids = ids(1, 7)}); }), "6 positions"));
}

TEST_CASE("a configuration that makes no model is refused, with the key and what it can be") {
  auto refusal = [](const std::string& json) { return failure_of([&] { AutoModel::from_config(config(json)); }); };
  CHECK(mentions(refusal(R"({"model_type": "bert", "hidden_size": 7, "num_attention_heads": 2})"), "7"));
  CHECK(mentions(refusal(R"({"model_type": "llama", "num_attention_heads": 6, "hidden_size": 36,
                             "num_key_value_heads": 4})"),
                 "\"num_attention_heads\" is 6 and \"num_key_value_heads\" is 4"));
  CHECK(mentions(refusal(R"({"model_type": "llama", "rope_parameters": {"rope_type": "spiral"}})"),
                 "default, linear, dynamic, yarn, longrope or llama3"));
  CHECK(mentions(refusal(R"({"model_type": "llama", "rope_parameters": {"rope_type": "linear"}})"),
                 "\"rope_parameters.factor\" is missing"));
  CHECK(mentions(refusal(R"({"model_type": "llama", "hidden_size": 36, "num_attention_heads": 6,
                             "max_position_embeddings": 40, "rope_parameters": {"rope_type": "longrope",
                             "short_factor": [1, 2], "long_factor": [1, 2, 3]}})"),
                 "\"short_factor\" has 2 numbers, and \"head_dim\" is 6"));
  CHECK(mentions(refusal(R"({"model_type": "modernbert", "classifier_pooling": "max"})"), "cls or mean"));
  CHECK(mentions(refusal(R"({"model_type": "qwen2", "num_hidden_layers": 2, "layer_types": ["full_attention"]})"),
                 "layer_types"));
  CHECK(mentions(refusal(R"({"model_type": "modernbert", "global_attn_every_n_layers": 0})"), "it must be at least 1"));
  CHECK(mentions(refusal(R"({"model_type": "albert", "num_hidden_groups": 0})"), "\"num_hidden_groups\" is 0"));
  CHECK(mentions(refusal(R"({"model_type": "deberta-v2", "conv_kernel_size": 3, "conv_groups": 0})"), "conv_groups"));
  CHECK(mentions(refusal(R"({"model_type": "deberta-v2", "conv_kernel_size": 3, "conv_groups": 7})"),
                 "\"hidden_size\" is 1536 by default and \"conv_groups\" is 7"));
  CHECK(mentions(refusal(R"({"model_type": "t5"})"), "qwen2, qwen3, roberta, xlm-roberta"));
}

TEST_CASE("rotations take the length that a class is made for where the configuration has none") {
  constexpr int64_t kLength = 2048;  // of Llama; dynamic rotations change beyond it
  auto hidden_state = [](const std::string& length) {
    torch::manual_seed(1);
    auto model = AutoModel::from_config(config(R"({"model_type": "llama", "vocab_size": 11, "hidden_size": 8,
        "intermediate_size": 5, "num_hidden_layers": 1, "num_attention_heads": 2, "initializer_range": 1,
        "rope_parameters": {"rope_type": "dynamic", "factor": 2})" +
                                               length + "}"));
    at::NoGradGuard no_grad;
    const auto ids = at::arange(kLength + 2).remainder(11).unsqueeze(0);
    return model->forward(ModelInputs{.input_ids = ids}).last_hidden_state;
  };
  const auto without_length = hidden_state("");
  CHECK(torch::equal(without_length, hidden_state(R"(, "max_position_embeddings": 2048)")));
  CHECK_FALSE(torch::equal(without_length, hidden_state(R"(, "max_position_embeddings": 2047)")));
}

TEST_CASE("weights that are missing, damaged or no weights are refused with the file's name") {
  using accelerate::tensors::TorchValue;
  accelerate::tests::TemporaryDirectory directory;
  directory.write("config.json", kGpt2);
  auto refusal = [&] { return failure_of([&] { AutoModel::from_pretrained(directory.path().string()); }); };
  auto bin = directory.path() / "pytorch_model.bin";
  CHECK(mentions(refusal(), "neither model.safetensors nor pytorch_model.bin"));

  accelerate::tensors::save_torch_file(TorchValue::list({at::ones({1})}), bin);
  CHECK(mentions(refusal(), "pytorch_model.bin: contains a list"));
  accelerate::tensors::save_torch_file(TorchValue::dict({{"wte.weight", at::ones({11, 4})}, {"epoch", 3}}), bin);
  CHECK(mentions(refusal(), "pytorch_model.bin: does not contain the weights of a model: a int"));
  directory.write("pytorch_model.bin", directory.read("pytorch_model.bin").substr(0, 200));
  CHECK(mentions(refusal(), "pytorch_model.bin: "));
  directory.write("pytorch_model.bin",
                  "\x80\x02"
                  "cos\nsystem\n.");
  CHECK(mentions(refusal(), "pytorch_model.bin: "));

  fs::remove(bin);
  directory.write("pytorch_model.bin.index.json", R"({"weight_map": {"wte.weight": "../evil.bin"}})");
  CHECK(mentions(refusal(), "the shard '../evil.bin' is not a bin file in this directory"));
  directory.write("pytorch_model.bin.index.json",
                  R"({"weight_map": {"wte.weight": "pytorch_model-00001-of-00002.bin"}})");
  CHECK(mentions(refusal(), "the shard pytorch_model-00001-of-00002.bin is missing"));
}

TEST_CASE("safetensors are taken when there is a pytorch_model.bin too") {
  accelerate::tests::TemporaryDirectory directory;
  auto model = AutoModel::from_config(config(kGpt2));
  model->save_pretrained(directory.path());
  directory.write("pytorch_model.bin", "not read");
  auto loaded = AutoModel::from_pretrained(directory.path().string());
  CHECK(torch::equal(loaded->parameters()[0], model->parameters()[0]));
}

TEST_CASE("a model without a form for the task says so") {
  auto message = failure_of([&] { AutoModelForCausalLM::from_config(config(R"({"model_type": "bert"})")); });
  CHECK(mentions(message, "causal language modelling"));
}

}  // namespace transformers
