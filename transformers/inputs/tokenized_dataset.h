#pragma once

// A data set of token ids. Texts are tokenised once, by several threads, and cached on disk for the next run.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/tensors/batch.h"
#include "transformers/inputs/auto_tokenizer.h"
#include "transformers/text/text_dataset.h"

namespace transformers::inputs {

struct TokenizedDatasetOptions {
  std::optional<int64_t> max_length = std::nullopt;  // texts are truncated to it; nullopt: model_max_length
  int num_threads = 0;                               // 0: the number of cores
  bool cache = true;                                 // read the result from disk if it is there, else write it
  std::filesystem::path cache_directory = {};        // empty: accelerate/tokenized below XDG_CACHE_HOME or ~/.cache
  int64_t cache_bytes = 10'000'000'000;              // limit of all cache files; the least recently used are removed
  bool progress_bar = true;
};

/// Rows with input_ids, attention_mask, labels, and token_type_ids if the model has them. Use it in a DataLoader with
/// DataCollatorWithPadding. The name of the cache file is a hash of texts, tokenizer and options, so that a change of
/// any of them leads to a new file. If several processes need the file, one of them tokenises and the others wait for
/// it. Copies share their memory. Const calls are thread-safe.
class TokenizedDataset {
 public:
  /// Throws Error for an empty data set, for a text that is not UTF-8, and if max_length exceeds the positions of the
  /// model.
  TokenizedDataset(const text::TextDataset& texts, const AutoTokenizer& tokenizer,
                   const TokenizedDatasetOptions& options = {});

  int64_t size() const { return labels_.size(0); }

  /// The row as one-dimensional tensors. Its label is a scalar, or one-dimensional if a row has several.
  accelerate::Batch get(size_t index) const;

  /// Whether the tokens were found on disk.
  bool from_cache() const { return from_cache_; }

 private:
  void tokenize(const text::TextDataset& texts, const AutoTokenizer& tokenizer, const TokenizedDatasetOptions& options);
  bool has_type_ids() const;
  bool fits(size_t num_rows) const;
  bool load(const std::filesystem::path& path, size_t num_rows);
  void save(const std::filesystem::path& path) const;

  std::vector<std::string> names_;  // of the inputs, in their order
  at::Tensor ids_;                  // int32, the rows concatenated
  at::Tensor type_ids_;             // int32, or empty
  at::Tensor ends_;                 // int64, the end of each row in `ids_`
  at::Tensor labels_;               // int64 classes, or float32; [rows], or [rows, labels]
  bool from_cache_ = false;
};

}  // namespace transformers::inputs

namespace transformers {
using inputs::TokenizedDataset;
using inputs::TokenizedDatasetOptions;
}  // namespace transformers
