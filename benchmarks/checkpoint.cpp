// The state of a model and its AdamW, 500 MB together: saving it, saving it in the background, and loading it.

#include <fcntl.h>
#include <sys/syscall.h>
#include <torch/torch.h>
#include <unistd.h>

#include <fstream>

#include "accelerate/accelerate.h"
#include "benchmarks/side.h"

namespace {

constexpr int64_t kLayers = 10, kWidth = 2048;  // 168 MB of weights, and AdamW keeps two numbers for each
constexpr int64_t kTimes = 3;

bool waits_for_disk = true;

torch::nn::Sequential make_net() {
  torch::nn::Sequential net;
  for (int64_t i = 0; i < kLayers; ++i) {
    net->push_back(torch::nn::Linear(torch::nn::LinearOptions(kWidth, kWidth).bias(false)));
  }
  torch::NoGradGuard no_grad;
  for (auto& weights : net->parameters()) weights.zero_();
  return net;
}

/// Proves that both sides have the same weights.
double fingerprint(const torch::nn::Sequential& net) {
  double sum = 0;
  for (const auto& weights : net->parameters()) sum += weights[0].sum().item<double>();
  return sum;
}

/// One step, with the same gradients on both sides, so that there is something to save.
void step(const torch::nn::Sequential& net, accelerate::Optimizer& optimizer) {
  double number = 0;
  for (auto& weights : net->parameters()) weights.mutable_grad() = torch::full_like(weights, ++number);
  optimizer.step();
  optimizer.zero_grad();
}

/// What any way of saving has to do at least: writes as many bytes to a file.
void write_bytes(const torch::nn::Sequential& net, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  for (int copy = 0; copy < 3; ++copy) {
    for (const auto& weights : net->parameters()) {
      file.write(static_cast<const char*>(weights.const_data_ptr()), static_cast<std::streamsize>(weights.nbytes()));
    }
  }
}

}  // namespace

// The calls by which a save gets to the disk. The library finds these here before it finds those of the system.
extern "C" int fsync(int file) { return waits_for_disk ? static_cast<int>(syscall(SYS_fsync, file)) : 0; }
extern "C" int sync_file_range(int file, off64_t begin, off64_t bytes, unsigned int flags) {
  return waits_for_disk ? static_cast<int>(syscall(SYS_sync_file_range, file, begin, bytes, flags)) : 0;
}

int main(int argc, char** argv) {
  bench::Arguments arguments(argc, argv);
  auto directory = arguments.text("--directory", "");
  const bool load = arguments.has("--load"), in_background = arguments.has("--async"), bare = arguments.has("--bare");
  waits_for_disk = !arguments.has("--no-sync");
  const int64_t times = arguments.number("--times", kTimes);

  accelerate::Accelerator accelerator({.cpu = true});
  auto net = make_net();
  torch::optim::AdamW adamw(net->parameters(), torch::optim::AdamWOptions(1e-3));
  auto [model, optimizer] = accelerator.prepare(net, adamw);
  if (!load) step(net, optimizer);
  if (in_background && !arguments.has("--first")) {  // which has to find memory for its copies, the others do not
    accelerator.save_state(directory, {.async = true});
    accelerator.save_state(directory);  // waits for it
  }

  bench::Stopwatch stopwatch;
  for (int64_t i = 0; i < times; ++i) {
    if (load) {
      accelerator.load_state(directory);
    } else if (bare) {
      write_bytes(net, directory + ".bytes");
    } else {
      accelerator.save_state(directory, {.async = in_background});
    }
  }
  bench::report(times, stopwatch.wall_seconds(), stopwatch.cpu_seconds(), {fingerprint(net)});
  accelerator.end_training();
}
