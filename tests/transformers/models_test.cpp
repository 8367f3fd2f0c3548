#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "accelerate/precision/autocast.h"
#include "accelerate/tensors/safetensors.h"
#include "tests/support/torch.h"
#include "transformers/auto_model.h"

namespace transformers {

namespace {

namespace fs = std::filesystem;

constexpr double kLearningRate = 0.05;

fs::path cases() { return fs::path(ACCELERATE_BINARY_DIR) / "tests/transformers/checkpoints"; }

/// What Python computed for one case.
struct Results {
  std::map<std::string, at::Tensor> tensors;
  accelerate::Batch inputs;
  std::vector<std::string> parameters;

  explicit Results(const fs::path& directory) {
    for (const auto& [name, tensor] : accelerate::tensors::load_safetensors(directory / "results.safetensors")) {
      if (name.starts_with("input.")) {
        inputs[name.substr(6)] = tensor;
      } else {
        tensors[name] = tensor;
      }
    }
    std::ifstream names(directory / "parameters.txt");
    for (std::string name; std::getline(names, name);) parameters.push_back(name);
  }
};

bool same_bits(const at::Tensor& ours, const at::Tensor& theirs) {
  return ours.defined() && ours.scalar_type() == theirs.scalar_type() && torch::equal(ours, theirs);
}

template <class Model>
void check_evaluation(Model& model, const Results& results) {
  auto outputs = model->forward(results.inputs);
  CHECK(same_bits(outputs.logits, results.tensors.at("logits")));
  CHECK(same_bits(outputs.loss, results.tensors.at("loss")));
  outputs.loss.backward();
  for (const auto& item : model->named_parameters()) {
    auto theirs = results.tensors.find("gradient." + item.key());
    CAPTURE(item.key());
    if (theirs == results.tensors.end()) {
      CHECK_FALSE(item.value().grad().defined());
    } else {
      CHECK(same_bits(item.value().grad(), theirs->second));
    }
  }
}

/// But for some roundings. DeBERTa's layers have inputs that the model uses elsewhere too, the embeddings and the table
/// of distances, whose gradients a recomputed layer adds up by itself first: in another order than the plain graph.
bool nearly_same(const at::Tensor& losses, const at::Tensor& expected) {
  const float rounding = expected.scalar_type() == at::kFloat ? std::numeric_limits<float>::epsilon()
                                                              : float{std::numeric_limits<at::BFloat16>::epsilon()};
  return losses.scalar_type() == expected.scalar_type() &&
         torch::allclose(losses, expected, /*rtol=*/8 * rounding, /*atol=*/0);
}

template <class Model>
std::vector<at::Tensor> train(Model& model, const Results& results) {
  model->train();
  torch::manual_seed(3);
  std::vector<at::Tensor> losses;
  for (int64_t step = 0; step < results.tensors.at("training_losses").size(0); ++step) {
    model->zero_grad();
    auto loss = model->forward(results.inputs).loss;
    loss.backward();
    losses.push_back(loss.detach());
    at::NoGradGuard no_grad;
    for (auto& parameter : model->parameters()) {
      if (parameter.grad().defined()) parameter.add_(parameter.grad(), -kLearningRate);
    }
  }
  return losses;
}

/// The model as Python loaded it: what its checkpoint lacks is drawn from the same random numbers.
template <class Auto>
Auto load(const fs::path& directory, LoadReport& report) {
  torch::manual_seed(2);
  return Auto::from_pretrained((directory / "checkpoint").string(), {.loading_info = &report});
}

template <class Auto>
void check_case(const fs::path& directory) {
  Results results(directory);
  LoadReport report;
  auto model = load<Auto>(directory, report);
  std::vector<std::string> names;
  for (const auto& item : model->named_parameters()) names.push_back(item.key());
  CHECK(names == results.parameters);
  CHECK(report.unexpected.empty());

  // check_saved.py goes on from here.
  auto name = directory.filename().string();
  model->save_pretrained(directory / "saved", {.max_shard_size = name.ends_with("sharded") ? 20'000u : 1'000'000'000u});

  check_evaluation(model, results);
  CHECK(same_bits(torch::stack(train(model, results)), results.tensors.at("training_losses")));

  auto recomputing = load<Auto>(directory, report);
  recomputing->gradient_checkpointing_enable();
  auto losses = torch::stack(train(recomputing, results));
  const auto& expected = results.tensors.at("training_losses");
  const bool same_order = name.find("deberta") == name.npos;
  CHECK_MESSAGE((same_order ? same_bits(losses, expected) : nearly_same(losses, expected)),
                "with gradient checkpointing");
}

/// The model without a head, of a checkpoint with one.
void check_base(const fs::path& directory) {
  Results results(directory);
  results.inputs.erase("labels");
  LoadReport report;
  auto model = load<AutoModel>(directory, report);
  at::NoGradGuard no_grad;
  CHECK(same_bits(model->forward(results.inputs).last_hidden_state, results.tensors.at("last_hidden_state")));
}

bool is_causal_lm(const fs::path& directory) { return directory.filename().string().ends_with("_causal_lm"); }

/// A model that is made from a configuration alone.
template <class Auto>
void check_new(const fs::path& directory) {
  Results results(directory);
  const auto config = PretrainedConfig::from_pretrained((directory / "checkpoint").string());
  torch::manual_seed(4);
  auto model = Auto::from_config(config);
  for (const auto& item : model->named_parameters()) {
    CAPTURE(item.key());
    CHECK(same_bits(item.value(), results.tensors.at("new." + item.key())));
  }
  // Python draws for a tied head too, and drops it.
  const bool is_tied = is_causal_lm(directory) && !results.tensors.contains("new.lm_head.weight");
  CHECK((same_bits(torch::rand(1), results.tensors.at("number_after_new")) || is_tied));
}

}  // namespace

TEST_CASE("every architecture computes the bits of Python's Transformers, with and without gradient checkpointing") {
  torch::set_num_threads(1);
  int count = 0;
  for (const auto& entry : fs::directory_iterator(cases())) {
    ++count;
    CAPTURE(entry.path().filename().string());
    if (is_causal_lm(entry.path())) {
      check_case<AutoModelForCausalLM>(entry.path());
    } else {
      check_case<AutoModelForSequenceClassification>(entry.path());
    }
  }
  CHECK(count >= 60);
}

TEST_CASE("every architecture computes in half precision") {
  for (const auto& entry : fs::directory_iterator(cases())) {
    if (is_causal_lm(entry.path())) continue;
    Results results(entry.path());
    LoadReport report;
    auto model = load<AutoModelForSequenceClassification>(entry.path(), report);
    if (model->parameters().front().scalar_type() != at::kFloat) continue;  // autocast is for models in float
    for (auto type : {at::kBFloat16, at::kHalf}) {
      CAPTURE(entry.path().filename().string());
      CAPTURE(std::string(at::toString(type)));
      at::NoGradGuard no_grad;
      accelerate::Autocast autocast(at::kCPU, type);
      auto logits = model->forward(results.inputs).logits.to(at::kDouble);
      auto exact = results.tensors.at("logits").to(at::kDouble);
      CHECK((logits - exact).abs().max().item<double>() <= 0.05 * (1 + exact.abs().max().item<double>()));
    }
  }
}

TEST_CASE("a new model has the weights that Python draws for it") {
  for (const auto& entry : fs::directory_iterator(cases())) {
    CAPTURE(entry.path().filename().string());
    if (is_causal_lm(entry.path())) {
      check_new<AutoModelForCausalLM>(entry.path());
    } else {
      check_new<AutoModelForSequenceClassification>(entry.path());
    }
  }
}

TEST_CASE("a model without a head loads from a checkpoint that has one") {
  torch::set_num_threads(1);
  for (const auto& entry : fs::directory_iterator(cases())) {
    CAPTURE(entry.path().filename().string());
    check_base(entry.path());
  }
}

}  // namespace transformers
