// Gradient checkpointing within what surrounds a model in training: several ranks, autocasting, hooks.

#include "transformers/gradient_checkpoint.h"

#include <doctest/doctest.h>

#include <ATen/autocast_mode.h>

#include "accelerate/parallel/replicas.h"
#include "accelerate/precision/autocast.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"
#include "transformers/auto_model.h"

namespace transformers {

namespace {

constexpr auto kSharedLayers = R"({"model_type": "albert", "vocab_size": 11, "embedding_size": 4, "hidden_size": 8,
    "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 6, "max_position_embeddings": 8,
    "hidden_dropout_prob": 0.1})";
constexpr auto kOwnLayers = R"({"model_type": "bert", "vocab_size": 11, "hidden_size": 8, "num_hidden_layers": 3,
    "num_attention_heads": 2, "intermediate_size": 6, "max_position_embeddings": 8})";

AutoModelForSequenceClassification model_in_training(const char* json, bool recompute) {
  torch::manual_seed(1);
  auto model = AutoModelForSequenceClassification::from_config(PretrainedConfig::from_json(json, "here"));
  model->train();
  model->gradient_checkpointing_enable(recompute);
  return model;
}

at::Tensor loss_of(AutoModelForSequenceClassification& model, int seed) {
  torch::manual_seed(seed);
  auto ids = torch::randint(11, {4, 5});
  return model->forward(ModelInputs{.input_ids = ids, .labels = torch::tensor({0, 1, 1, 0})}).loss;
}

void check_gradients(const AutoModelForSequenceClassification& found,
                     const AutoModelForSequenceClassification& expected) {
  auto all = expected->named_parameters();
  for (const auto& item : found->named_parameters()) {
    CAPTURE(item.key());
    auto gradient = all[item.key()].grad();
    REQUIRE(item.value().grad().defined() == gradient.defined());
    if (gradient.defined()) CHECK(torch::equal(item.value().grad(), gradient));
  }
}

}  // namespace

TEST_CASE("ranks average the same gradients with gradient checkpointing as without, also where layers share weights") {
  accelerate::tests::run_ranks(2, [](accelerate::comm::Group& group) {
    for (const auto* json : {kSharedLayers, kOwnLayers}) {
      for (bool search : {false, true}) {
        CAPTURE(json);
        CAPTURE(search);
        auto trained = [&](bool recompute) {
          auto model = model_in_training(json, recompute);
          accelerate::Replicas replicas(accelerate::parallel::parameters_of(*model), {}, group,
                                        {.find_unused_parameters = search});
          for (int step = 0; step < 3; ++step) {  // buckets are rebuilt after the first
            model->zero_grad();
            auto loss = loss_of(model, 2 * step + group.rank());
            replicas.arm(loss);
            loss.backward();
            replicas.after_backward();
          }
          return model;
        };
        check_gradients(trained(true), trained(false));
      }
    }
  });
}

TEST_CASE("what gradient checkpointing computes again has the precision of the first time") {
  auto trained = [](bool recompute) {
    auto model = model_in_training(kOwnLayers, recompute);
    at::Tensor loss;
    {
      accelerate::Autocast autocast(at::kCPU, at::kBFloat16);
      loss = loss_of(model, 3);
    }
    loss.backward();
    return model;
  };
  check_gradients(trained(true), trained(false));
  CHECK_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
}

TEST_CASE("with gradient checkpointing a parameter's hook sees its whole gradient, once") {
  auto model = model_in_training(kSharedLayers, /*recompute=*/true);
  auto weight = model->named_parameters()["albert.encoder.albert_layer_groups.0.albert_layers.0.ffn.weight"];
  std::vector<at::Tensor> seen;
  weight.register_hook([&](const at::Tensor& gradient) {
    seen.push_back(gradient.clone());
    return gradient * 2;
  });
  loss_of(model, 3).backward();
  REQUIRE(seen.size() == 1);
  CHECK(torch::equal(weight.grad(), seen[0] * 2));
}

TEST_CASE("gradient checkpointing reaches the layers above embeddings that are frozen") {
  auto trained = [](bool recompute) {
    auto model = model_in_training(kOwnLayers, recompute);
    for (auto& item : model->named_parameters()) {
      if (item.key().find("embeddings") != item.key().npos) item.value().requires_grad_(false);
    }
    loss_of(model, 3).backward();
    return model;
  };
  check_gradients(trained(true), trained(false));
}

}  // namespace transformers
