// The trainings of comm_hooks/make_reference.py, done here.

#include <doctest/doctest.h>

#include "accelerate/accelerate.h"
#include "tests/parity/recorded.h"
#include "tests/support/rank_test.h"
#include "tests/support/torch.h"

namespace accelerate::tests {
namespace {

constexpr int kSteps = 20;
constexpr int64_t kBatchSize = 8;
constexpr uint64_t kSeed = 1234;

torch::nn::Sequential make_model() {
  using namespace torch::nn;
  Sequential model;
  model->push_back(Linear(20, 48));
  model->push_back(Tanh());
  model->push_back(Linear(48, 48));
  model->push_back(Tanh());
  model->push_back(Linear(48, 48));
  model->push_back(Tanh());
  model->push_back(Linear(48, 10));
  return model;
}

CommHook hook_of(const std::string& name) {
  if (name == "fp16") return CommHook::Fp16;
  if (name == "bf16") return CommHook::Bf16;
  if (name == "power_sgd") return CommHook::PowerSGD;
  return name == "batched_power_sgd" ? CommHook::BatchedPowerSGD : CommHook::No;
}

PowerSGDOptions state_of(const json& state) {
  PowerSGDOptions options;
  options.matrix_approximation_rank = state.value("matrix_approximation_rank", options.matrix_approximation_rank);
  options.start_powerSGD_iter = state.value("start_powerSGD_iter", options.start_powerSGD_iter);
  options.min_compression_rate = state.value("min_compression_rate", options.min_compression_rate);
  options.use_error_feedback = state.value("use_error_feedback", options.use_error_feedback);
  options.warm_start = state.value("warm_start", options.warm_start);
  options.orthogonalization_epsilon = state.value("orthogonalization_epsilon", options.orthogonalization_epsilon);
  options.random_seed = state.value("random_seed", options.random_seed);
  options.batch_tensors_with_same_shape =
      state.value("batch_tensors_with_same_shape", options.batch_tensors_with_same_shape);
  return options;
}

json sums_of(const torch::nn::Module& model) {
  json parameters;
  for (const auto& item : model.named_parameters()) {
    auto values = item.value().detach().to(torch::kDouble);
    parameters[item.key()] = {{"sum", values.sum().item<double>()},
                              {"sum_of_squares", values.square().sum().item<double>()}};
  }
  return parameters;
}

std::pair<std::vector<double>, json> train(const json& options, std::optional<bool> gradient_as_bucket_view) {
  at::set_num_threads(1);  // as the reference: the order of sums depends on it
  Accelerator accelerator({.cpu = true,
                           .fused_optimizers = false,
                           .distributed_data_parallel = {.gradient_as_bucket_view = gradient_as_bucket_view,
                                                         .comm_hook = hook_of(options.at("comm_hook")),
                                                         .comm_wrapper = hook_of(options.at("comm_wrapper")),
                                                         .comm_state_option = state_of(options.at("state"))}});
  set_seed(kSeed);
  auto net = make_model();
  torch::optim::SGD sgd(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  auto [model, optimizer] = accelerator.prepare(net, sgd);
  const auto samples = kBatchSize * accelerator.num_processes();
  const auto first = kBatchSize * accelerator.process_index();
  std::vector<double> losses;
  for (int step = 0; step < kSteps; ++step) {
    auto inputs = (torch::arange(samples * 20) * 7919 % 1009 + step * 13).remainder(1009).to(torch::kFloat);
    auto mine = inputs.view({samples, 20}).narrow(0, first, kBatchSize) / 1009 - 0.5;
    auto labels = (torch::arange(samples) * 7 % 10).narrow(0, first, kBatchSize);
    auto loss = torch::cross_entropy_loss(model(mine), labels);
    accelerator.backward(loss);
    optimizer.step();
    optimizer.zero_grad();
    losses.push_back(loss.template item<double>());
  }
  return {losses, sums_of(*net)};
}

}  // namespace

TEST_CASE("training through a communication hook has the bits of the same in Python, over any transport") {
  const auto runs = recorded("comm_hooks").at("runs");
  run_ranks(2, [&](comm::Group& group) {
    for (const std::string backend : {"shm", "gloo"}) {
      CAPTURE(backend);
      comm::PartialState::reset();
      comm::PartialState state({.cpu = true, .backend = backend});
      for (const auto& [name, run] : runs.items()) {
        CAPTURE(name);
        for (bool view : {false, true}) {
          CAPTURE(view);
          auto [losses, parameters] = train(run.at("options"), view);
          CHECK(json(losses) == run.at("losses").at(group.rank()));
          CHECK(parameters == run.at("parameters"));
        }
      }
    }
  });
}

}  // namespace accelerate::tests
