// Fine-tuning a checkpoint: the steps themselves, loading it, or everything from the start of the process to the end of
// the first step.

#include <torch/torch.h>

#include "accelerate/accelerate.h"
#include "benchmarks/side.h"
#include "transformers/transformers.h"

namespace {

constexpr int64_t kBatchSize = 8, kLength = 32, kBatches = 4, kSteps = 20, kWarmup = 3, kLoads = 5;
constexpr double kLearningRate = 3e-5;
constexpr int64_t kFirstWord = 1000;  // ids below are special or unused

/// The same on both sides, by a formula.
accelerate::Batch make_batch(int64_t index) {
  auto places = torch::arange(kBatchSize * kLength) + index * kBatchSize * kLength;
  return {{"input_ids", (places * 7919 % 20011 + kFirstWord).view({kBatchSize, kLength})},
          {"attention_mask", torch::ones({kBatchSize, kLength}, torch::kLong)},
          {"labels", torch::arange(kBatchSize) % 2}};
}

auto load(const std::string& checkpoint) {
  transformers::LoadReport report;
  return transformers::AutoModelForSequenceClassification::from_pretrained(checkpoint,
                                                                           {.num_labels = 2, .loading_info = &report});
}

/// Seconds since the kernel started this process.
double process_age() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  for (int i = 3; i < 22; ++i) fields >> field;
  double ticks = 0;
  fields >> ticks;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec + now.tv_nsec * 1e-9 - ticks / sysconf(_SC_CLK_TCK);
}

/// Trains for `steps` after `warmup`, and reports; with `from_start` the time is that of the whole process.
void train(const std::string& checkpoint, int64_t warmup, int64_t steps, bool from_start) {
  accelerate::Accelerator accelerator({.cpu = true});
  accelerate::set_seed(0);
  auto net = load(checkpoint);
  torch::optim::AdamW adamw(net->parameters(), kLearningRate);
  auto [model, optimizer] = accelerator.prepare(net, adamw);
  model->train();
  std::vector<double> losses;
  bench::Stopwatch stopwatch;
  for (int64_t i = 0; i < warmup + steps; ++i) {
    if (i == warmup) {
      accelerator.wait_for_everyone();
      stopwatch = {};
    }
    auto loss = model(make_batch(i % kBatches)).loss;
    accelerator.backward(loss);
    optimizer.step();
    optimizer.zero_grad();
    losses.push_back(loss.item<double>());
  }
  bench::report(steps * kBatchSize, from_start ? process_age() : stopwatch.wall_seconds(), stopwatch.cpu_seconds(),
                losses);
  accelerator.end_training();
}

void load_again_and_again(const std::string& checkpoint) {
  torch::manual_seed(0);
  bench::Stopwatch stopwatch;
  double sum = 0;
  for (int64_t i = 0; i < kLoads; ++i) sum += load(checkpoint)->parameters().front().sum().item<double>();
  bench::report(kLoads, stopwatch.wall_seconds(), stopwatch.cpu_seconds(), {sum});
}

}  // namespace

int main(int argc, char** argv) {
  bench::Arguments arguments(argc, argv);
  auto checkpoint = arguments.text("--checkpoint", "");
  if (arguments.has("--load")) {
    load_again_and_again(checkpoint);
  } else if (arguments.has("--first_step")) {
    train(checkpoint, 0, 1, /*from_start=*/true);
  } else {
    train(checkpoint, kWarmup, kSteps, /*from_start=*/false);
  }
}
