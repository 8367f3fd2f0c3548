// The ranks of machines_test.py. The first argument says what they do:
//
//   check            collectives whose results are known; rank 0 prints what connects the ranks
//   fit ZERO_STAGE   a training of known length; rank 0 prints what connects the ranks, the bits of the weights as one
//                    number, and their sum
//   train SECONDS    trains until something goes wrong, with SECONDS for each collective; rank 0 prints when it has
//                    begun
//   leave CODE       trains, until the last rank ends with CODE after a few steps
//   reduce BYTES N   N sums of so many bytes; rank 0 prints the seconds that they took

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>

#include "accelerate/accelerator.h"
#include "accelerate/operations.h"
#include "tests/support/torch.h"

namespace {

using accelerate::Accelerator;
using Clock = std::chrono::steady_clock;

void require(bool holds, const std::string& what) {
  if (!holds) accelerate::fail(what, " is wrong on rank ", accelerate::PartialState().process_index());
}

void check() {
  Accelerator accelerator;
  int64_t size = accelerator.num_processes(), rank = accelerator.process_index();
  torch::manual_seed(rank);
  for (int64_t count : {1, 7, 1000, 300'001}) {
    auto sum = accelerator.reduce(torch::arange(count, torch::kFloat) + rank, "sum");
    require(torch::equal(sum, torch::arange(count, torch::kFloat) * size + size * (size - 1) / 2), "a sum");
    auto any = accelerator.reduce(torch::randn({count}), "mean");
    require(torch::equal(any, accelerate::broadcast(any)), "a bit of a mean");
    auto from_last = accelerate::broadcast(torch::full({count}, rank), static_cast<int>(size - 1));
    require((from_last == size - 1).all().item<bool>(), "a broadcast");
    auto rows = accelerator.gather(torch::full({1, count}, rank));
    require(torch::equal(rows.select(1, 0), torch::arange(size)), "a gather");
    accelerator.wait_for_everyone();
  }
  accelerator.print("backend", accelerate::PartialState().backend());
}

void fit(int zero_stage) {
  Accelerator accelerator({.zero_stage = zero_stage});
  torch::manual_seed(0);
  torch::nn::Sequential net(torch::nn::Linear(64, 200), torch::nn::ReLU(), torch::nn::Linear(200, 1));
  torch::optim::AdamW adamw(net->parameters(), 1e-2);
  auto [model, optimizer] = accelerator.prepare(net, adamw);
  torch::manual_seed(1 + accelerator.process_index());
  for (int step = 0; step < 20; ++step) {
    accelerator.backward(model(torch::randn({8, 64})).square().mean());
    optimizer.step();
    optimizer.zero_grad();
  }
  auto weights = torch::cat({net->parameters()[0].detach().flatten(), net->parameters()[2].detach().flatten()});
  auto bits = (weights.view(torch::kInt).to(torch::kLong) * (torch::arange(weights.numel()) + 1)).sum().item<int64_t>();
  accelerator.print("backend", accelerate::PartialState().backend(), "bits", bits, "sum", weights.sum().item<float>());
}

/// Trains; after ten steps the last rank calls `leave`, if there is one.
void train(std::chrono::seconds timeout, const std::function<void()>& leave = {}) {
  Accelerator accelerator({.timeout = timeout});
  torch::nn::Linear net(64, 64);
  torch::optim::SGD sgd(net->parameters(), 0.01);
  auto [model, optimizer] = accelerator.prepare(net, sgd);
  for (int step = 0;; ++step) {
    accelerator.backward(model(torch::randn({8, 64})).square().mean());
    optimizer.step();
    optimizer.zero_grad();
    if (step == 3) accelerator.print("training");
    if (step == 10 && leave && accelerator.is_last_process()) leave();
  }
}

void reduce(int64_t bytes, int repeats) {
  Accelerator accelerator;
  auto tensor = torch::ones({bytes / 4});
  const auto& group = accelerate::PartialState().group();
  group.all_reduce(tensor);
  auto begin = Clock::now();
  for (int i = 0; i < repeats; ++i) group.all_reduce(tensor);
  accelerator.print("seconds", std::chrono::duration<double>(Clock::now() - begin).count());
}

}  // namespace

int main(int argc, char** argv) {
  std::string task = argc > 1 ? argv[1] : "";
  if (task == "check") check();
  if (task == "fit") fit(std::stoi(argv[2]));
  if (task == "train") train(std::chrono::seconds(std::stoi(argv[2])));
  if (task == "leave") train(std::chrono::seconds(60), [&] { std::exit(std::stoi(argv[2])); });
  if (task == "reduce") reduce(std::stoll(argv[2]), std::stoi(argv[3]));
}
