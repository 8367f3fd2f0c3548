// The program behind `accelerate test`: proves an installation on as many processes as it is started on, a line for
// each property. The exit code is 1 when one of them does not hold on some rank. With --rounds N everything is done N
// times.

#include <accelerate/accelerate.h>
#include <accelerate/base/user_directories.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim.h>
#include <torch/types.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <string>

namespace {

using accelerate::Accelerator;
using torch::Tensor;

/// Runs checks on all ranks and prints what came of them on the main process.
class Report {
 public:
  explicit Report(Accelerator& accelerator) : accelerator_(accelerator) {}

  void check(const std::string& property, const std::function<bool()>& holds) {
    bool here = false;
    std::string reason;
    try {
      here = holds();
    } catch (const std::exception& error) {
      reason = std::string(": ") + error.what();
    }
    auto count = accelerator_.reduce(torch::tensor({here ? 1.0 : 0.0})).item<double>();
    bool everywhere = count == accelerator_.num_processes();
    failures_ += !everywhere;
    if (!here) std::cerr << "rank " << accelerator_.process_index() << " fails: " << property << reason << std::endl;
    if (accelerator_.is_main_process()) std::cout << (everywhere ? "pass  " : "FAIL  ") << property << std::endl;
  }

  int failures() const { return failures_; }

 private:
  Accelerator& accelerator_;
  int failures_ = 0;
};

/// Numbers that are the same on every rank and differ from row to row.
Tensor rows(int64_t count, int64_t columns) {
  return torch::sin(torch::arange(count * columns, torch::kFloat32)).reshape({count, columns});
}

torch::nn::Linear linear_of_ones(int64_t inputs) {
  torch::nn::Linear net(inputs, 1);
  torch::NoGradGuard no_grad;
  net->weight.fill_(1);
  net->bias.fill_(1);
  return net;
}

bool each_rank_is_itself(Accelerator& accelerator) {
  auto ranks = accelerator.gather(torch::tensor({accelerator.process_index()}));
  return torch::equal(ranks, torch::arange(accelerator.num_processes()));
}

bool collectives_agree(Accelerator& accelerator) {
  int64_t size = accelerator.num_processes(), rank = accelerator.process_index();
  auto sum = accelerator.reduce(torch::full({3}, static_cast<double>(rank + 1)), "sum");
  auto mean = accelerator.reduce(torch::full({3}, static_cast<double>(rank)), "mean");
  auto first = accelerate::broadcast(torch::full({2}, static_cast<double>(rank)));
  auto padded = accelerator.pad_across_processes(torch::ones({rank + 1}));
  return sum[0].item<double>() == size * (size + 1) / 2.0 && mean[0].item<double>() == (size - 1) / 2.0 &&
         first[0].item<double>() == 0 && padded.size(0) == size &&
         accelerator.gather_object(std::vector<std::string>{std::to_string(rank)}).size() == static_cast<size_t>(size);
}

/// With sizes that do not divide, and in an order that is shuffled.
bool every_sample_is_seen_once(Accelerator& accelerator) {
  constexpr int64_t kSamples = 37;
  auto numbers = torch::arange(kSamples);
  accelerate::DataLoader batches(accelerate::TensorDataset(numbers, numbers), {.batch_size = 4, .shuffle = true});
  auto loader = accelerator.prepare_data_loader(batches);
  std::vector<Tensor> seen;
  for (auto& [inputs, targets] : loader) seen.push_back(accelerator.gather_for_metrics(inputs));
  auto sorted = std::get<0>(torch::cat(seen).sort());
  return torch::equal(sorted, numbers);
}

/// A few steps on the shares of all ranks against the same steps on whole batches, done without the library.
bool training_equals_one_process(Accelerator& accelerator) {
  constexpr int64_t kBatchOfRank = 4, kSteps = 5, kInputs = 6;
  int64_t batch = kBatchOfRank * accelerator.num_processes();
  auto inputs = rows(batch * kSteps, kInputs), targets = inputs.sum(1, true) * 2 + 3;

  auto alone = linear_of_ones(kInputs);
  torch::optim::SGD alone_sgd(alone->parameters(), 0.05);
  for (int64_t step = 0; step < kSteps; ++step) {
    auto slice = [&](const Tensor& tensor) { return tensor.slice(0, step * batch, (step + 1) * batch); };
    alone_sgd.zero_grad();
    torch::mse_loss(alone->forward(slice(inputs)), slice(targets)).backward();
    alone_sgd.step();
  }

  auto net = linear_of_ones(kInputs);
  torch::optim::SGD sgd(net->parameters(), 0.05);
  accelerate::DataLoader batches(accelerate::TensorDataset(inputs, targets), {.batch_size = kBatchOfRank});
  auto [loader, model, optimizer] = accelerator.prepare(batches, net, sgd);
  for (auto& [x, y] : loader) {
    accelerator.backward(torch::mse_loss(model(x), y));
    optimizer.step();
    optimizer.zero_grad();
  }
  return torch::allclose(net->weight.cpu(), alone->weight, 1e-4, 1e-5) &&
         torch::allclose(net->bias.cpu(), alone->bias, 1e-4, 1e-5);
}

/// The model computes in bf16, hands out float32, and keeps float32 parameters.
bool computes_in_half_precision(Accelerator& accelerator) {
  auto net = linear_of_ones(16);
  torch::optim::SGD sgd(net->parameters(), 0.01);
  auto [model, optimizer] = accelerator.prepare(net, sgd);
  Tensor inner;
  {
    auto autocast = accelerator.autocast();
    inner = torch::matmul(rows(4, 16).to(accelerator.device()), net->weight.t());
  }
  auto outputs = model(rows(4, 16).to(accelerator.device()));
  accelerator.backward(outputs.mean());
  optimizer.step();
  return inner.scalar_type() == torch::kBFloat16 && outputs.scalar_type() == torch::kFloat32 &&
         net->weight.scalar_type() == torch::kFloat32 && torch::isfinite(net->weight).all().item<bool>();
}

/// Some steps, a checkpoint, some more, and the latter once again from the checkpoint.
bool goes_on_from_a_checkpoint(Accelerator& accelerator) {
  auto inputs = rows(48 * accelerator.num_processes(), 6), targets = inputs.sum(1, true);
  auto net = linear_of_ones(6);
  torch::optim::AdamW adamw(net->parameters(), 0.1);
  accelerate::DataLoader batches(accelerate::TensorDataset(inputs, targets), {.batch_size = 4, .shuffle = true});
  auto [loader, model, optimizer] = accelerator.prepare(batches, net, adamw);
  auto train = [&, &loader = loader, &model = model, &optimizer = optimizer](int64_t num_steps) {
    for (auto& [x, y] : loader) {
      accelerator.backward(torch::mse_loss(model(x), y));
      optimizer.step();
      optimizer.zero_grad();
      if (--num_steps == 0) break;
    }
    return net->weight.detach().clone();
  };

  std::vector<std::string> name = {"accelerate_test_" + std::to_string(getpid())};
  accelerate::broadcast_object_list(name);
  // Each machine has its own, even if they share their disks.
  const auto machine = std::to_string(accelerator.process_index() - accelerator.local_process_index());
  const auto directory = accelerate::temporary_directory().path / (name.front() + "_" + machine);
  train(3);
  accelerator.save_state(directory);
  accelerator.load_state(directory);
  auto expected = train(4);
  accelerator.load_state(directory);
  auto again = train(4);
  accelerator.wait_for_everyone();
  if (accelerator.is_local_main_process()) std::filesystem::remove_all(directory);
  return torch::equal(again, expected);
}

}  // namespace

int main(int argc, char** argv) {
  bool repeats = argc == 3 && std::string(argv[1]) == "--rounds";
  int rounds = repeats ? std::stoi(argv[2]) : 1;
  Accelerator accelerator({.mixed_precision = accelerate::MixedPrecision::No});
  Accelerator half({.mixed_precision = accelerate::MixedPrecision::Bf16});
  Accelerator saving({.mixed_precision = accelerate::MixedPrecision::No,
                      .project_config = {.save_on_each_node = true}});  // a temporary directory is of one machine
  Report report(accelerator);
  auto processes = std::to_string(accelerator.num_processes());
  auto backend = accelerate::PartialState().backend();
  for (int round = 0; round < rounds; ++round) {
    report.check(
        "ranks: " + processes + " processes, each with its own rank" + (backend.empty() ? "" : ", backend " + backend),
        [&] { return each_rank_is_itself(accelerator); });
    report.check("collectives: gather, reduce, broadcast, pad, objects",
                 [&] { return collectives_agree(accelerator); });
    report.check("sharding: every sample is seen once", [&] { return every_sample_is_seen_once(accelerator); });
    report.check("training: the parameters of " + processes + " processes equal those of one",
                 [&] { return training_equals_one_process(accelerator); });
    report.check("mixed precision: bf16 inside, float32 outside", [&] { return computes_in_half_precision(half); });
    accelerator.free_memory();
    report.check("checkpoints: a run resumes where it was saved", [&] { return goes_on_from_a_checkpoint(saving); });
    saving.free_memory();
    half.free_memory();
  }
  accelerator.end_training();
  return report.failures() == 0 ? 0 : 1;
}
