#include "transformers/inputs/padding.h"

#include <algorithm>
#include <string_view>

#include <ATen/ops/full.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>

#include "accelerate/base/error.h"

namespace transformers::inputs {

using accelerate::Batch;
using accelerate::fail;

namespace {

/// The padding value of the tensor `name`; nullopt if it is not a sequence of tokens.
std::optional<int64_t> filling_of(std::string_view name, const PadToken& pad_token) {
  if (name == "input_ids") return pad_token.id;
  if (name == "token_type_ids") return pad_token.type_id;
  if (name == "attention_mask") return 0;
  if (name == "special_tokens_mask") return 1;
  return std::nullopt;
}

int64_t padded_length(const std::vector<Batch>& rows, const PadOptions& options) {
  int64_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.at("input_ids").size(0));
  if (options.padding == Padding::No) {
    for (const auto& row : rows) {
      if (row.at("input_ids").size(0) == longest) continue;
      fail("the texts have different numbers of tokens, ", longest, " and ", row.at("input_ids").size(0),
           " among them; use padding to put them into one batch");
    }
    return longest;
  }
  if (options.padding == Padding::MaxLength) {
    if (!options.max_length) fail("padding to max_length: max_length is not given, and the tokenizer has no default");
    longest = std::max(longest, *options.max_length);
  }
  const int64_t multiple = std::max<int64_t>(1, options.pad_to_multiple_of);
  return (longest + multiple - 1) / multiple * multiple;
}

/// Pads one input of all rows on one side and stacks them.
at::Tensor fill_up(const std::vector<at::Tensor>& rows, int64_t length, int64_t filling, tokenizers::Direction side) {
  const auto num_rows = static_cast<int64_t>(rows.size());
  auto batch = at::full({num_rows, length}, filling, at::kLong);
  auto* target = batch.mutable_data_ptr<int64_t>();
  for (const auto& row : rows) {
    auto tokens = row.to(at::kCPU, at::kLong).contiguous();
    const int64_t offset = side == tokenizers::Direction::Right ? 0 : length - tokens.numel();
    std::copy_n(tokens.const_data_ptr<int64_t>(), tokens.numel(), target + offset);
    target += length;
  }
  return batch;
}

std::vector<at::Tensor> column(const std::vector<Batch>& rows, std::string_view name) {
  std::vector<at::Tensor> tensors;
  for (const auto& row : rows) tensors.push_back(row.at(name));
  return tensors;
}

}  // namespace

Batch pad(const std::vector<Batch>& rows, const PadToken& pad_token, const PadOptions& options) {
  if (rows.empty()) fail("pad: there are no rows");
  const int64_t length = padded_length(rows, options);
  Batch batch;
  for (const auto& [name, first] : rows.front()) {
    auto tensors = column(rows, name);
    const auto filling = filling_of(name, pad_token);
    batch[name] = filling ? fill_up(tensors, length, *filling, pad_token.side) : at::stack(tensors);
  }
  if (!batch.contains("attention_mask")) {
    auto masks = column(rows, "input_ids");
    for (auto& mask : masks) mask = at::ones_like(mask);
    batch["attention_mask"] = fill_up(masks, length, 0, pad_token.side);
  }
  return batch;
}

}  // namespace transformers::inputs
