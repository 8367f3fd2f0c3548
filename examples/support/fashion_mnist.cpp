#include "examples/support/fashion_mnist.h"

#include <zlib.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>

namespace examples {

namespace {

const std::string kDirectory = "/usr/share/datasets/fashion-mnist/";

/// The bytes of a compressed IDX file after its header of 4 bytes and one 4-byte size per dimension.
torch::Tensor read_idx(const std::string& name, std::vector<int64_t> sizes) {
  auto path = kDirectory + name;
  std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(path.c_str(), "rb"), &gzclose);
  if (!file)
    throw std::runtime_error("cannot read " + path + "; install the data with: apt-get install dataset-fashion-mnist");
  auto bytes = torch::empty(sizes, torch::kByte);
  gzseek(file.get(), static_cast<z_off_t>(4 + 4 * (sizes.size() > 1 ? 3 : 1)), SEEK_SET);
  auto count = static_cast<unsigned>(bytes.numel());
  if (gzread(file.get(), bytes.mutable_data_ptr(), count) != static_cast<int>(count)) {
    throw std::runtime_error(path + " has fewer than " + std::to_string(sizes[0]) + " items");
  }
  return bytes;
}

}  // namespace

Images read_fashion_mnist(const std::string& part, int64_t num_samples) {
  return {read_idx(part + "-images-idx3-ubyte.gz", {num_samples, 1, 28, 28}),
          read_idx(part + "-labels-idx1-ubyte.gz", {num_samples}).to(torch::kLong)};
}

ConvNetImpl::ConvNetImpl() {
  first = register_module("first", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 16, 3).padding(1)));
  second = register_module("second", torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 32, 3).padding(1)));
  hidden = register_module("hidden", torch::nn::Linear(32 * 7 * 7, 128));
  output = register_module("output", torch::nn::Linear(128, 10));
}

torch::Tensor ConvNetImpl::forward(const torch::Tensor& pixels) {
  auto x = pixels.to(torch::kFloat).div(255);
  x = torch::max_pool2d(first(x).relu(), 2);
  x = torch::max_pool2d(second(x).relu(), 2);
  return output(hidden(x.flatten(1)).relu());
}

Arguments parse_arguments(int argc, char** argv, const std::string& description, CheckpointArguments* checkpoints,
                          TrackingArguments* tracking) {
  Arguments arguments;
  bool quick = false;
  CLI::App app(description);
  app.add_option("--num_epochs", arguments.num_epochs, "Passes over the training data")->capture_default_str();
  app.add_option("--batch_size", arguments.batch_size, "Pictures in a batch of one process")->capture_default_str();
  app.add_option("--num_samples", arguments.num_samples, "How many of the 60,000 training pictures to use")
      ->capture_default_str()
      ->check(CLI::Range(1, 60000));
  app.add_option("--learning_rate", arguments.learning_rate, "Of AdamW")->capture_default_str();
  app.add_option("--seed", arguments.seed, "Of the weights and the shuffle")->capture_default_str();
  app.add_flag("--quick", quick, "One epoch on 12,000 pictures");
  if (checkpoints) checkpoints->add_to(app);
  if (tracking) tracking->add_to(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (quick) {
    arguments.num_epochs = 1;
    arguments.num_samples = std::min<int64_t>(arguments.num_samples, 12000);
  }
  return arguments;
}

}  // namespace examples
