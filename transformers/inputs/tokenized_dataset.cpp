#include "transformers/inputs/tokenized_dataset.h"

#include <algorithm>
#include <bit>
#include <optional>

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include "accelerate/base/content_key.h"
#include "accelerate/base/cpu.h"
#include "accelerate/base/error.h"
#include "accelerate/base/file_lock.h"
#include "accelerate/base/log.h"
#include "accelerate/base/progress_bar.h"
#include "accelerate/base/user_directories.h"
#include "accelerate/tensors/safetensors.h"
#include "transformers/inputs/labels.h"
#include "transformers/inputs/token_cache_limit.h"

namespace transformers::inputs {

using accelerate::Batch;

namespace {

constexpr int64_t kFormat = 2;       // part of every file's name: raise it when the content changes
constexpr size_t kChunkRows = 1024;  // tokenised between two looks of the progress bar

std::filesystem::path cache_file(const text::TextDataset& texts, const AutoTokenizer& tokenizer,
                                 const TokenizedDatasetOptions& options) {
  if (!options.cache) return {};
  accelerate::ContentKey key;
  key.add(kFormat);
  key.add(tokenizer.fingerprint());
  key.add(options.max_length.value_or(-1));
  for (const auto& row : texts) {
    key.add(row.text);
    key.add(row.text_pair ? 1 : 0);
    key.add(row.text_pair.value_or(""));
    key.add(row.number ? std::bit_cast<int64_t>(*row.number) : row.label);
    key.add(row.number ? 1 : 0);
    key.add(static_cast<int64_t>(row.labels.size()));
    for (float label : row.labels) key.add(std::bit_cast<int32_t>(label));
  }
  const auto directory =
      options.cache_directory.empty() ? accelerate::cache_home() / "accelerate" / "tokenized" : options.cache_directory;
  return directory / (key.hex() + ".safetensors");
}

at::Tensor tensor_of(const std::vector<int32_t>& numbers) {
  return at::tensor(numbers, at::TensorOptions().dtype(at::kInt));
}

at::Tensor tensor_of(const std::vector<int64_t>& numbers) {
  return at::tensor(numbers, at::TensorOptions().dtype(at::kLong));
}

}  // namespace

TokenizedDataset::TokenizedDataset(const text::TextDataset& texts, const AutoTokenizer& tokenizer,
                                   const TokenizedDatasetOptions& options)
    : names_(tokenizer.model_input_names()) {
  if (texts.size() == 0) accelerate::fail("TokenizedDataset: the data set is empty");
  tokenizer.check_max_length(options.max_length);
  const auto path = cache_file(texts, tokenizer, options);
  if (path.empty()) {
    tokenize(texts, tokenizer, options);
    return;
  }

  // One of the processes that need the file writes it; the others wait for it.
  std::optional<accelerate::FileLock> turn;
  if (!std::filesystem::exists(path)) turn.emplace(path.string() + ".lock");
  from_cache_ = load(path, texts.size());
  if (from_cache_) {
    touch_token_file(path);
    return;
  }
  tokenize(texts, tokenizer, options);
  save(path);
  limit_token_files(path.parent_path(), options.cache_bytes, path);
}

bool TokenizedDataset::has_type_ids() const {
  return std::find(names_.begin(), names_.end(), "token_type_ids") != names_.end();
}

void TokenizedDataset::tokenize(const text::TextDataset& texts, const AutoTokenizer& tokenizer,
                                const TokenizedDatasetOptions& options) {
  const int num_threads = options.num_threads > 0 ? options.num_threads : accelerate::available_cores();
  accelerate::ProgressBar progress_bar(texts.size(),
                                       {.description = "tokenising", .disable = !options.progress_bar, .unit = "text"});
  std::vector<int32_t> ids, type_ids;
  std::vector<int64_t> ends;
  for (size_t begin = 0; begin < texts.size(); begin += kChunkRows) {
    const size_t end = std::min(texts.size(), begin + kChunkRows);
    const std::vector<text::LabelledText> chunk(texts.begin() + begin, texts.begin() + end);
    const auto encodings = tokenizer.encode(
        chunk, {.truncation = true, .max_length = options.max_length, .num_threads = num_threads, .first_text = begin});
    for (const auto& encoding : encodings) {
      ids.insert(ids.end(), encoding.ids.begin(), encoding.ids.end());
      type_ids.insert(type_ids.end(), encoding.type_ids.begin(), encoding.type_ids.end());
      ends.push_back(static_cast<int64_t>(ids.size()));
    }
    progress_bar.update(static_cast<int64_t>(end - begin));
  }
  ids_ = tensor_of(ids);
  type_ids_ = tensor_of(has_type_ids() ? type_ids : std::vector<int32_t>());
  ends_ = tensor_of(ends);
  labels_ = labels_of({texts.begin(), texts.end()});
}

Batch TokenizedDataset::get(size_t index) const {
  if (static_cast<int64_t>(index) >= size()) {
    accelerate::fail("TokenizedDataset: there is no row ", index, "; there are ", size());
  }
  const auto* ends = ends_.const_data_ptr<int64_t>();
  const int64_t begin = index == 0 ? 0 : ends[index - 1];
  const int64_t end = ends[index];
  Batch row;
  for (const auto& name : names_) {
    if (name == "input_ids") row[name] = ids_.slice(0, begin, end).to(at::kLong);
    if (name == "token_type_ids") row[name] = type_ids_.slice(0, begin, end).to(at::kLong);
    if (name == "attention_mask") row[name] = at::ones({end - begin}, at::kLong);
  }
  row["labels"] = labels_.select(0, static_cast<int64_t>(index));
  return row;
}

/// Whether the tensors of a cache file have valid types and sizes for `num_rows` rows.
bool TokenizedDataset::fits(size_t num_rows) const {
  auto is_list = [](const at::Tensor& tensor, at::ScalarType type) {
    return tensor.defined() && tensor.dim() == 1 && tensor.scalar_type() == type;
  };
  if (!is_list(ids_, at::kInt) || !is_list(type_ids_, at::kInt) || !is_list(ends_, at::kLong)) return false;
  if (!labels_.defined() || labels_.dim() < 1 || labels_.dim() > 2) return false;
  if (labels_.scalar_type() != at::kFloat && !is_list(labels_, at::kLong)) return false;
  if (type_ids_.numel() != (has_type_ids() ? ids_.numel() : 0)) return false;
  const auto count = static_cast<int64_t>(num_rows);
  if (ends_.numel() != count || labels_.size(0) != count) return false;
  const auto* ends = ends_.const_data_ptr<int64_t>();
  return ends[0] >= 0 && std::is_sorted(ends, ends + count) && ends[count - 1] == ids_.numel();
}

bool TokenizedDataset::load(const std::filesystem::path& path, size_t num_rows) {
  if (!std::filesystem::exists(path)) return false;
  try {
    for (auto& [name, tensor] : accelerate::tensors::load_safetensors(path)) {
      if (name == "input_ids") ids_ = tensor;
      if (name == "token_type_ids") type_ids_ = tensor;
      if (name == "ends") ends_ = tensor;
      if (name == "labels") labels_ = tensor;
    }
    if (!fits(num_rows))
      accelerate::fail(path.string(), ": this is not a cache file with the tokens of ", num_rows, " rows");
    return true;
  } catch (const accelerate::Error& error) {
    accelerate::get_logger("transformers.inputs").warning(std::string(error.what()) + "; tokenising again");
    return false;
  }
}

void TokenizedDataset::save(const std::filesystem::path& path) const {
  try {
    std::filesystem::create_directories(path.parent_path());
    accelerate::tensors::save_safetensors(
        {{"input_ids", ids_}, {"token_type_ids", type_ids_}, {"ends", ends_}, {"labels", labels_}}, path);
  } catch (const std::exception& error) {  // the run goes on without
    accelerate::get_logger("transformers.inputs").warning(std::string(error.what()) + "; the tokens are not cached");
  }
}

}  // namespace transformers::inputs
