// The products of matrices that a training step of a checkpoint consists of, and nothing else: the least time that a
// step can take. Arguments are those of fine_tuning.cpp. Each rank computes its own; they begin together, so that they
// share the machine as ranks of a training do.

#include <torch/torch.h>

#include "accelerate/accelerate.h"
#include "benchmarks/training_work.h"
#include "transformers/layers.h"

namespace {

/// y = x W, and the gradients of both x and W. All memory is there before.
class LinearProducts {
 public:
  /// `weight` is [inputs, outputs], a view where the layer keeps it the other way round; so is its gradient then.
  LinearProducts(at::Tensor weight, int64_t vectors)
      : weight_(std::move(weight)),
        weight_gradient_(torch::empty_like(weight_)),
        x_(torch::rand({vectors, weight_.size(0)})),
        x_gradient_(torch::empty_like(x_)),
        y_(torch::rand({vectors, weight_.size(1)})) {}

  void forward() { at::mm_out(y_, x_, weight_); }
  void backward() {
    at::mm_out(x_gradient_, y_, weight_.t());
    at::mm_out(weight_gradient_, x_.t(), y_);
  }

 private:
  at::Tensor weight_, weight_gradient_, x_, x_gradient_, y_;
};

/// The products of attention in one layer: scores = q kᵀ, context = scores v, and the gradients of all.
class AttentionProducts {
 public:
  AttentionProducts(int64_t heads, int64_t length, int64_t head_size)
      : scores_(torch::rand({heads, length, length})),
        q_(torch::rand({heads, length, head_size})),
        k_(torch::rand_like(q_)),
        v_(torch::rand_like(q_)),
        result_(torch::empty_like(q_)) {}

  void forward() {
    at::bmm_out(scores_, q_, k_.transpose(1, 2));
    at::bmm_out(result_, scores_, v_);
  }
  void backward() {
    at::bmm_out(scores_, v_, q_.transpose(1, 2));                   // of the scores
    for (int i = 0; i < 3; ++i) at::bmm_out(result_, scores_, v_);  // of q, k and v, which are as large
  }

 private:
  at::Tensor scores_, q_, k_, v_, result_;
};

/// The layers that classify see one vector of each text, all others every token.
int64_t vectors_of(const std::string& layer, const bench::TrainingWork& work) {
  const bool once = layer.find("pooler") != std::string::npos || layer.find("classifier") != std::string::npos;
  return once ? work.rows : work.rows * work.length;
}

std::vector<LinearProducts> linear_products(const torch::nn::Module& model, const bench::TrainingWork& work) {
  std::vector<LinearProducts> products;
  for (const auto& item : model.named_modules()) {
    if (const auto* linear = item.value()->as<transformers::LinearImpl>()) {
      products.emplace_back(linear->weight.detach().t(), vectors_of(item.key(), work));
    } else if (const auto* conv1d = item.value()->as<transformers::Conv1DImpl>()) {
      products.emplace_back(conv1d->weight.detach(), vectors_of(item.key(), work));
    }
  }
  return products;
}

std::vector<AttentionProducts> attention_products(const transformers::PretrainedConfig& config,
                                                  const bench::TrainingWork& work) {
  auto size = [&](const char* name, const char* name_of_gpt) {
    return config.get<int64_t>(name, config.get<int64_t>(name_of_gpt, 1));
  };
  const int64_t heads = size("num_attention_heads", "n_head"), width = size("hidden_size", "n_embd");
  std::vector<AttentionProducts> products;
  for (int64_t i = 0; i < size("num_hidden_layers", "n_layer"); ++i) {
    products.emplace_back(work.rows * heads, work.length, width / heads);
  }
  return products;
}

template <class Model>
void measure(Model model, const bench::TrainingWork& work) {
  accelerate::PartialState state({.cpu = true});
  torch::NoGradGuard no_grad;
  auto layers = linear_products(*model, work);
  auto attentions = attention_products(model->config(), work);
  bench::Stopwatch stopwatch;
  for (int64_t i = 0; i < work.warmup + work.steps; ++i) {
    if (i == work.warmup) {
      state.wait_for_everyone();
      stopwatch = {};
    }
    for (auto& layer : layers) layer.forward();
    for (auto& attention : attentions) attention.forward();
    for (auto& layer : layers) layer.backward();
    for (auto& attention : attentions) attention.backward();
  }
  bench::report(work.steps * work.rows, stopwatch.wall_seconds(), stopwatch.cpu_seconds(), {});
}

}  // namespace

int main(int argc, char** argv) {
  bench::TrainingWork work(bench::Arguments(argc, argv));
  if (work.language_model) {
    measure(bench::load_language_model(work.checkpoint), work);
  } else {
    measure(bench::load_classifier(work.checkpoint), work);
  }
}
