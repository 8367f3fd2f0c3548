// Training a checkpoint: the steps themselves, loading it, reading its bytes alone, or everything from the start of the
// process to the end of the first step.

#include <torch/torch.h>

#include "accelerate/accelerate.h"
#include "accelerate/base/file.h"
#include "accelerate/tensors/stored_tensor.h"
#include "benchmarks/training_work.h"

namespace {

constexpr int64_t kBatches = 4, kLoads = 5;
constexpr double kLearningRate = 3e-5;

/// The same on both sides, by a formula.
accelerate::Batch make_batch(int64_t index, const bench::TrainingWork& work) {
  auto places = torch::arange(work.rows * work.length) + index * work.rows * work.length;
  auto ids = (places * 7919 % work.words + work.first_word).view({work.rows, work.length});
  return {{"input_ids", ids},
          {"attention_mask", torch::ones_like(ids)},
          {"labels", work.language_model ? ids : torch::arange(work.rows) % 2}};
}

/// Trains and reports; with `from_start` the time is that of the whole process. `load` is called when ranks are
/// connected.
template <class Load>
void train(Load load, const bench::TrainingWork& work, bool from_start) {
  accelerate::Accelerator accelerator({.gradient_accumulation_steps = work.accumulate, .cpu = true});
  accelerate::set_seed(0);
  auto net = load(work.checkpoint);
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
    auto accumulating = accelerator.accumulate(model);
    auto loss = model(make_batch(i % kBatches, work)).loss;
    accelerator.backward(loss);
    optimizer.step();
    optimizer.zero_grad();
    losses.push_back(loss.template item<double>());
  }
  bench::report(work.steps * work.rows, stopwatch.wall_seconds(), stopwatch.cpu_seconds(), losses,
                from_start ? bench::since_start() : nlohmann::json::object());
  accelerator.end_training();
}

/// Only the first weights are looked at, or all.
void load_again_and_again(const std::string& checkpoint, bool use_all) {
  torch::manual_seed(0);
  bench::Stopwatch stopwatch;
  double sum = 0;
  for (int64_t i = 0; i < kLoads; ++i) {
    auto model = bench::load_classifier(checkpoint);
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
  bench::TrainingWork work(arguments);
  bool first_step = arguments.has("--first_step");
  accelerate::PartialState state({.cpu = true});  // first, as in any program: it installs the memory pool
  if (first_step) work.warmup = 0, work.steps = 1;
  if (arguments.has("--bare")) {
    read_again_and_again(work.checkpoint);
  } else if (arguments.has("--load")) {
    load_again_and_again(work.checkpoint, arguments.has("--use_all"));
  } else if (work.language_model) {
    train(bench::load_language_model, work, first_step);
  } else {
    train(bench::load_classifier, work, first_step);
  }
}
