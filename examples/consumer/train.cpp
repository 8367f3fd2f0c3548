// Fits a line on any number of processes, in a project of its own. It prints the loss of the last epoch:
//
//   final loss: 0.000
//
// To run it on two processes: accelerate launch --num_processes 2 build/train

#include <accelerate/accelerate.h>
#include <torch/torch.h>

#include <cstdio>

int main() {
  accelerate::Accelerator accelerator;
  accelerate::set_seed(0);

  auto inputs = torch::randn({256, 1});
  accelerate::DataLoader batches(accelerate::TensorDataset(inputs, 3 * inputs + 1), {.batch_size = 8, .shuffle = true});
  torch::nn::Linear line(1, 1);
  torch::optim::SGD sgd(line->parameters(), 0.1);
  auto [train, model, optimizer] = accelerator.prepare(batches, line, sgd);

  torch::Tensor loss;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (auto& [input, target] : train) {
      loss = torch::mse_loss(model(input), target);
      accelerator.backward(loss);
      optimizer.step();
      optimizer.zero_grad();
    }
  }
  loss = accelerator.gather(loss.detach()).mean();
  if (accelerator.is_main_process()) std::printf("final loss: %.3f\n", loss.item<double>());
  accelerator.end_training();
  return loss.item<double>() < 1e-3 ? 0 : 1;
}
