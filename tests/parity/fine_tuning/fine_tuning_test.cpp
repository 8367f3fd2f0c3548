// The fine-tuning of fine_tuning/make_reference.py, here.

#include <doctest/doctest.h>

#include "accelerate/accelerator.h"
#include "accelerate/operations.h"
#include "tests/parity/recorded.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"
#include "transformers/transformers.h"

namespace accelerate::tests {
namespace {

constexpr int64_t kSteps = 20;
constexpr int64_t kBatchSize = 8;
constexpr double kLearningRate = 3e-5;
constexpr uint64_t kSeed = 42;
const std::string kAssets = std::string(ACCELERATE_SOURCE_DIR) + "/.assets";

std::vector<double> fine_tune(bool fused) {
  at::set_num_threads(1);  // as the reference: the order of sums depends on it
  const auto checkpoint = kAssets + "/minilm";
  Accelerator accelerator({.cpu = true, .fused_optimizers = fused});
  set_seed(kSeed);
  auto tokenizer = transformers::AutoTokenizer::from_pretrained(checkpoint);
  transformers::LoadReport report;
  auto net = transformers::AutoModelForSequenceClassification::from_pretrained(
      checkpoint, {.num_labels = 2, .loading_info = &report});
  torch::optim::AdamW adamw(net->parameters(), torch::optim::AdamWOptions(kLearningRate));
  transformers::TextDataset texts(kAssets + "/demo/rotten_tomatoes_train.tsv",
                                  {.max_rows = kSteps * kBatchSize * accelerator.num_processes()});
  DataLoader batches(
      transformers::TokenizedDataset(texts, tokenizer, {.cache = false, .progress_bar = false}),
      {.batch_size = kBatchSize, .shuffle = true, .collate = transformers::DataCollatorWithPadding(tokenizer)});
  auto [model, optimizer, loader] = accelerator.prepare(net, adamw, batches);
  auto scheduler =
      transformers::get_scheduler("linear", optimizer, {.num_warmup_steps = 0, .num_training_steps = kSteps});
  set_seed(kSeed, {.device_specific = true});
  model->train();
  std::vector<double> losses;
  for (auto& batch : loader) {
    auto loss = model(batch).loss;
    accelerator.backward(loss);
    optimizer.step();
    scheduler.step();
    optimizer.zero_grad();
    losses.push_back(loss.template item<double>());
  }
  return losses;
}

}  // namespace

TEST_CASE("a fine-tuning of real weights has the losses of the same one in Python to the bit, on 1 and 2 ranks") {
  const auto world_sizes = recorded("fine_tuning").at("world_sizes");
  for (const auto& [world_size, ranks] : world_sizes.items()) {
    CAPTURE(world_size);
    run_ranks(std::stoi(world_size), [&](comm::Group& group) {
      for (const auto& [optimizer, losses] : ranks.at(group.rank()).items()) {
        CAPTURE(optimizer);
        CHECK(json(fine_tune(optimizer == "fused")) == losses);
      }
    });
  }
}

}  // namespace accelerate::tests
