// Several models and optimizers in one program: a generator learns to draw clothes that a discriminator takes for those
// of Fashion-MNIST. Each backward averages the gradients of the models that took part in its loss. Look for `prepare`
// and for the two calls of `backward`.
//
//   build/bin/accelerate launch --num_processes 2 build/bin/gan --quick
//
// Expect generated pictures whose mean brightness approaches that of the real ones, 0.286. A black picture has 0 and
// the untrained generator 0.5.

#include <accelerate/accelerate.h>

#include "examples/support/fashion_mnist.h"

using namespace examples;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kNoiseSize = 32;

nn::Sequential make_generator() {
  return nn::Sequential(nn::Linear(kNoiseSize, 128), nn::ReLU(), nn::Linear(128, 256), nn::ReLU(),
                        nn::Linear(256, 28 * 28), nn::Sigmoid());
}

/// One number per picture: positive means that it is taken for a real one.
nn::Sequential make_discriminator() {
  const auto slope = nn::LeakyReLUOptions().negative_slope(0.2);
  return nn::Sequential(nn::Linear(28 * 28, 128), nn::LeakyReLU(slope), nn::Linear(128, 1));
}

int main(int argc, char** argv) {
  auto arguments = parse_arguments(argc, argv, "Trains a generator against a discriminator on Fashion-MNIST.");
  accelerate::Accelerator accelerator;
  accelerate::set_seed(arguments.seed);

  auto images = read_fashion_mnist("train", arguments.num_samples);
  accelerate::DataLoader batches(accelerate::TensorDataset(images.pixels, images.labels),
                                 {.batch_size = arguments.batch_size, .shuffle = true});
  auto generator_net = make_generator();
  auto discriminator_net = make_discriminator();
  const auto options = torch::optim::AdamOptions(arguments.learning_rate).betas({0.5, 0.999});
  torch::optim::Adam generator_adam(generator_net->parameters(), options);
  torch::optim::Adam discriminator_adam(discriminator_net->parameters(), options);
  auto [train, generator, discriminator, generator_optimizer, discriminator_optimizer] =
      accelerator.prepare(batches, generator_net, discriminator_net, generator_adam, discriminator_adam);

  // The weights are the same on all processes, the noise must not be: otherwise each would draw the same pictures.
  accelerate::set_seed(arguments.seed, {.device_specific = true});
  auto draw = [&](int64_t num_pictures) {
    return generator(torch::randn({num_pictures, kNoiseSize}, accelerator.device()));
  };
  auto loss_of = [](const torch::Tensor& scores, double target) {
    return F::binary_cross_entropy_with_logits(scores, torch::full_like(scores, target));
  };

  for (int64_t epoch = 0; epoch < arguments.num_epochs; ++epoch) {
    accelerate::ProgressBar progress_bar(train.size(), {.description = "epoch " + std::to_string(epoch)});
    for (auto& [pixels, labels] : train) {
      auto real = pixels.to(torch::kFloat).div(255).flatten(1);
      auto fake = draw(real.size(0));

      // The discriminator's turn: `detach` keeps the generator out of this loss.
      auto discriminator_loss = loss_of(discriminator(real), 1) + loss_of(discriminator(fake.detach()), 0);
      accelerator.backward(discriminator_loss);
      discriminator_optimizer.step();
      discriminator_optimizer.zero_grad();

      // The generator's turn. Its loss reaches the discriminator's parameters too; those gradients are dropped.
      auto generator_loss = loss_of(discriminator(fake), 1);
      accelerator.backward(generator_loss);
      generator_optimizer.step();
      generator_optimizer.zero_grad();
      discriminator_optimizer.zero_grad();
      progress_bar.update(1);
    }
    progress_bar.close();

    torch::NoGradGuard no_grad;
    auto brightness = accelerator.reduce(draw(512).mean(), "mean").item<double>();
    accelerator.print("epoch", epoch, "brightness", brightness);
  }
  accelerator.end_training();
}
