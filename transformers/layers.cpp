#include "transformers/layers.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>

namespace transformers {

void Layer::initialize(const std::string& parameter, double range) {
  auto value = named_parameters(/*recurse=*/false)[parameter];
  at::NoGradGuard no_grad;
  if (parameter == "bias") {
    value.zero_();
  } else {
    value.normal_(0, range);
  }
}

void Layer::draw_once() {
  at::NoGradGuard no_grad;
  for (auto& parameter : parameters(/*recurse=*/false)) parameter.uniform_();
}

LinearImpl::LinearImpl(int64_t inputs, int64_t outputs, bool with_bias)
    : weight(register_parameter("weight", at::empty({outputs, inputs}))) {
  if (with_bias) bias = register_parameter("bias", at::empty({outputs}));
}
at::Tensor LinearImpl::forward(const at::Tensor& x) const { return at::linear(x, weight, bias); }

Conv1DImpl::Conv1DImpl(int64_t inputs, int64_t outputs)
    : weight(register_parameter("weight", at::empty({inputs, outputs}))),
      bias(register_parameter("bias", at::empty({outputs}))) {}
at::Tensor Conv1DImpl::forward(const at::Tensor& x) const {
  auto shape = x.sizes().vec();
  shape.back() = weight.size(1);
  return at::addmm(bias, x.view({-1, x.size(-1)}), weight).view(shape);
}

void Conv1DImpl::draw_once() {
  at::NoGradGuard no_grad;
  weight.normal_();
}

EmbeddingImpl::EmbeddingImpl(int64_t count, int64_t size, std::optional<int64_t> padding_index)
    : weight(register_parameter("weight", at::empty({count, size}))), padding_index_(padding_index.value_or(-1)) {
  if (padding_index && *padding_index < 0) padding_index_ += count;
}
at::Tensor EmbeddingImpl::forward(const at::Tensor& ids) const { return at::embedding(weight, ids, padding_index_); }
void EmbeddingImpl::initialize(const std::string& parameter, double range) {
  Layer::initialize(parameter, range);
  at::NoGradGuard no_grad;
  if (padding_index_ >= 0) weight.select(0, padding_index_).zero_();
}

void EmbeddingImpl::draw_once() {
  at::NoGradGuard no_grad;
  weight.normal_();
}

LayerNormImpl::LayerNormImpl(int64_t size, double eps, bool with_bias)
    : weight(register_parameter("weight", at::empty({size}))), eps_(eps) {
  if (with_bias) bias = register_parameter("bias", at::empty({size}));
}
at::Tensor LayerNormImpl::forward(const at::Tensor& x) const {
  return at::layer_norm(x, weight.sizes(), weight, bias, eps_);
}
void LayerNormImpl::initialize(const std::string& parameter, double) {
  at::NoGradGuard no_grad;
  parameter == "bias" ? bias.zero_() : weight.fill_(1);
}

RMSNormImpl::RMSNormImpl(int64_t size, double eps)
    : weight(register_parameter("weight", at::empty({size}))), eps_(eps) {}
at::Tensor RMSNormImpl::forward(const at::Tensor& x) const {
  auto wide = x.to(at::kFloat);
  auto variance = wide.pow(2).mean(-1, /*keepdim=*/true);
  wide = wide * at::rsqrt(variance + eps_);
  return weight * wide.to(x.scalar_type());
}
void RMSNormImpl::initialize(const std::string&, double) {
  at::NoGradGuard no_grad;
  weight.fill_(1);
}

Linear Block::linear(std::string_view path, int64_t inputs, int64_t outputs, bool with_bias) {
  return block(path, std::make_shared<LinearImpl>(inputs, outputs, with_bias));
}
Conv1D Block::conv1d(std::string_view path, int64_t inputs, int64_t outputs) {
  return block(path, std::make_shared<Conv1DImpl>(inputs, outputs));
}
Embedding Block::embedding(std::string_view path, int64_t count, int64_t size, std::optional<int64_t> padding_index) {
  return block(path, std::make_shared<EmbeddingImpl>(count, size, padding_index));
}
LayerNorm Block::layer_norm(std::string_view path, int64_t size, double eps, bool with_bias) {
  return block(path, std::make_shared<LayerNormImpl>(size, eps, with_bias));
}
RMSNorm Block::rms_norm(std::string_view path, int64_t size, double eps) {
  return block(path, std::make_shared<RMSNormImpl>(size, eps));
}

at::Tensor Block::dropout(const at::Tensor& x, double probability) const {
  return at::dropout(x, probability, is_training());
}

void Block::add(std::string_view path, std::shared_ptr<torch::nn::Module> module) {
  torch::nn::Module* parent = this;
  for (auto dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    std::string name(path.substr(0, dot));
    auto children = parent->named_children();
    auto* child = children.find(name);
    parent = child ? child->get() : parent->register_module(name, std::make_shared<torch::nn::Module>(name)).get();
    path.remove_prefix(dot + 1);
  }
  parent->register_module(std::string(path), std::move(module));
}

void truncated_normal_(at::Tensor& parameter, double deviation, double cutoff) {
  auto limit = at::scalar_tensor(cutoff * deviation, parameter.options());
  parameter.normal_(0, deviation);
  while (true) {
    auto outside = parameter.abs() > limit;
    if (!outside.any().item<bool>()) return;
    // Draws all elements, even those that are kept, so that later random numbers are the same as in Python.
    parameter.copy_(at::where(outside, at::empty_like(parameter).normal_(0, deviation), parameter));
  }
}

}  // namespace transformers
