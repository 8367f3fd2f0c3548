// Training a checkpoint: the steps themselves, loading it, reading its bytes alone, or everything from the start of the
// process to the end of the first step. It learns to classify texts, or with --language_model to foretell the next
// word.

#include <torch/torch.h>

#include "accelerate/accelerate.h"
#include "accelerate/base/file.h"
#include "accelerate/tensors/stored_tensor.h"
#include "benchmarks/side.h"
#include "transformers/transformers.h"

namespace {

constexpr int64_t kBatches = 4, kLoads = 5;
constexpr double kLearningRate = 3e-5;

/// What a rank learns from in a step, and how often.
struct Work {
  explicit Work(const bench::Arguments& arguments)
      : language_model(arguments.has("--language_model")),
        rows(arguments.number("--rows", 8)),
        length(arguments.number("--length", 32)),
        words(arguments.number("--words", 20011)),
        first_word(language_model ? 0 : 1000),
        warmup(arguments.number("--warmup", 3)),
        steps(arguments.number("--steps", 20)) {}

  bool language_model;
  int64_t rows, length, words;
  int64_t first_word;  // of a classifier's: ids below are special or unused
  int64_t warmup, steps;
};

/// The same on both sides, by a formula.
accelerate::Batch make_batch(int64_t index, const Work& work) {
  auto places = torch::arange(work.rows * work.length) + index * work.rows * work.length;
  auto ids = (places * 7919 % work.words + work.first_word).view({work.rows, work.length});
  return {{"input_ids", ids},
          {"attention_mask", torch::ones_like(ids)},
          {"labels", work.language_model ? ids : torch::arange(work.rows) % 2}};
}

auto load_classifier(const std::string& checkpoint) {
  transformers::LoadReport report;
  return transformers::AutoModelForSequenceClassification::from_pretrained(checkpoint,
                                                                           {.num_labels = 2, .loading_info = &report});
}

/// Trains and reports; with `from_start` the time is that of the whole process. `load` is called when ranks are
/// connected.
template <class Load>
void train(Load load, const Work& work, bool from_start) {
  accelerate::Accelerator accelerator({.cpu = true});
  accelerate::set_seed(0);
  auto net = load();
  torch::optim::AdamW adamw(net->parameters(), kLearningRate);
  auto [model, optimizer] = accelerator.prepare(net, adamw);
  model->train();
  std::vector<double> losses;
  bench::Stopwatch stopwatch;
  for (int64_t i = 0; i < work.warmup + work.steps; ++i) {
    if (i == work.warmup) {
      accelerator.wait_for_everyone();
      stopwatch = {};
    }
    auto loss = model(make_batch(i % kBatches, work)).loss;
    accelerator.backward(loss);
    optimizer.step();
    optimizer.zero_grad();
    losses.push_back(loss.template item<double>());
  }
  bench::report(work.steps * work.rows, from_start ? bench::process_age() : stopwatch.wall_seconds(),
                stopwatch.cpu_seconds(), losses);
  accelerator.end_training();
}

/// Only the first weights are looked at, or all.
void load_again_and_again(const std::string& checkpoint, bool use_all) {
  torch::manual_seed(0);
  bench::Stopwatch stopwatch;
  double sum = 0;
  for (int64_t i = 0; i < kLoads; ++i) {
    auto model = load_classifier(checkpoint);
    for (const auto& weights : model->parameters()) {
      sum += weights.sum().item<double>();
      if (!use_all) break;
    }
  }
  bench::report(kLoads, stopwatch.wall_seconds(), stopwatch.cpu_seconds(), {sum});
}

/// What any way of loading has to do at least: copies as many bytes from the system's cache into memory.
void read_again_and_again(const std::string& checkpoint) {
  bench::Stopwatch stopwatch;
  for (int64_t i = 0; i < kLoads; ++i) {
    auto file = accelerate::File::open(checkpoint + "/model.safetensors");
    auto bytes = torch::empty({static_cast<int64_t>(file.bytes())}, torch::kByte);
    accelerate::tensors::read_values(file, 0, bytes, "all");
  }
  bench::report(kLoads, stopwatch.wall_seconds(), stopwatch.cpu_seconds(), {});
}

}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments(argc, argv);
  auto checkpoint = arguments.text("--checkpoint", "");
  Work work(arguments);
  bool first_step = arguments.has("--first_step");
  if (first_step) work.warmup = 0, work.steps = 1;
  if (arguments.has("--bare")) {
    read_again_and_again(checkpoint);
  } else if (arguments.has("--load")) {
    load_again_and_again(checkpoint, arguments.has("--use_all"));
  } else if (work.language_model) {
    train([&] { return transformers::AutoModelForCausalLM::from_pretrained(checkpoint); }, work, first_step);
  } else {
    train([&] { return load_classifier(checkpoint); }, work, first_step);
  }
}
