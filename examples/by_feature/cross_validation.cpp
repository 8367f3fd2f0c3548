// The image example with cross-validation: each fold of the training pictures is left out once, a network learns from
// the others, and the predictions of all networks for the test pictures are averaged. Look for `Subset`.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/cross_validation --quick
//
// Expect an accuracy of about 0.75 for each fold after this short run, and a little more for all of them together.

#include <accelerate/accelerate.h>

#include "examples/support/fashion_mnist.h"

using namespace examples;

constexpr int64_t kNumFolds = 3;

/// What a network predicts, and what is right.
struct Predictions {
  torch::Tensor scores;  // [n, classes]
  torch::Tensor labels;  // [n]

  double accuracy() const { return (scores.argmax(1) == labels).to(torch::kDouble).mean().item<double>(); }
};

/// The predictions for all batches, on every process, each sample once and in the order of the data set.
template <class Model, class Batches>
Predictions predict(accelerate::Accelerator& accelerator, Model& model, Batches& batches) {
  model->eval();
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> scores, all_labels;
  for (auto& [pixels, labels] : batches) {
    scores.push_back(accelerator.gather_for_metrics(model(pixels).softmax(1)));
    all_labels.push_back(accelerator.gather_for_metrics(labels));
  }
  return {torch::cat(scores), torch::cat(all_labels)};
}

int main(int argc, char** argv) {
  auto arguments = parse_arguments(argc, argv, "The image example with cross-validation.");
  accelerate::Accelerator accelerator;
  accelerate::set_seed(arguments.seed);

  auto train_images = read_fashion_mnist("train", arguments.num_samples);
  auto test_images = read_fashion_mnist("t10k", 10000);
  accelerate::TensorDataset pictures(train_images.pixels, train_images.labels);
  Predictions together;
  for (int64_t fold = 0; fold < kNumFolds; ++fold) {
    std::vector<int64_t> others, left_out;
    for (int64_t i = 0; i < arguments.num_samples; ++i) (i % kNumFolds == fold ? left_out : others).push_back(i);
    accelerate::DataLoader train_batches(accelerate::Subset(pictures, others),
                                         {.batch_size = arguments.batch_size, .shuffle = true});
    accelerate::DataLoader valid_batches(accelerate::Subset(pictures, left_out), {.batch_size = 256});
    accelerate::DataLoader test_batches(accelerate::TensorDataset(test_images.pixels, test_images.labels),
                                        {.batch_size = 256});

    ConvNet net;
    torch::optim::AdamW adamw(net->parameters(), arguments.learning_rate);
    auto [train, valid, test, model, optimizer] =
        accelerator.prepare(train_batches, valid_batches, test_batches, net, adamw);

    for (int64_t epoch = 0; epoch < arguments.num_epochs; ++epoch) {
      model->train();
      accelerate::ProgressBar progress_bar(train.size(), {.description = "epoch " + std::to_string(epoch)});
      for (auto& [pixels, labels] : train) {
        auto loss = torch::nn::functional::cross_entropy(model(pixels), labels);
        accelerator.backward(loss);
        optimizer.step();
        optimizer.zero_grad();
        progress_bar.update(1);
      }
    }

    auto validated = predict(accelerator, model, valid);
    accelerator.print("fold", fold, "accuracy", validated.accuracy(), "on", validated.labels.size(0), "pictures");
    auto tested = predict(accelerator, model, test);
    together.labels = tested.labels;
    together.scores = fold == 0 ? tested.scores : together.scores + tested.scores;
    accelerator.free_memory();  // the next fold prepares a model of its own
  }
  accelerator.print("all folds accuracy", together.accuracy(), "on", together.labels.size(0), "pictures");
  accelerator.end_training();
}
