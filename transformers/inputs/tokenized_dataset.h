#pragma once

// A data set of token ids: texts that were tokenised once, by several threads, and are kept on disk for the next run.

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
  std::optional<int64_t> max_length = std::nullopt;  // tokens that a text is cut off after; as many as the model takes
  int num_threads = 0;                               // 0: as many as there are cores
  bool cache = true;                                 // look on disk first, and keep the result there
  std::filesystem::path cache_directory = {};        // empty: accelerate/tokenized below XDG_CACHE_HOME or ~/.cache
  int64_t cache_bytes = 10'000'000'000;  // of the files of tokens together; what was not used for longest goes first
  bool progress_bar = true;
};

/// Rows with input_ids, attention_mask, where the model has them token_type_ids, and labels, for a DataLoader with
/// DataCollatorWithPadding. The file in the cache is named by the texts, the tokenizer and the options, so that a
/// change of any makes a new one. Of several processes that want it one tokenises, and the others wait for its file.
/// Copies share their memory; any number of threads may read.
class TokenizedDataset {
 public:
  /// Throws Error for an empty data set, for a text that is not UTF-8, and for a max_length beyond the positions of
  /// the checkpoint's model.
  TokenizedDataset(const text::TextDataset& texts, const AutoTokenizer& tokenizer,
                   const TokenizedDatasetOptions& options = {});

  int64_t size() const { return labels_.size(0); }

  /// The row as one-dimensional tensors, and its label as a number, or several in a row.
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
  at::Tensor ids_;                  // int32, the rows one after the other
  at::Tensor type_ids_;             // int32, or empty
  at::Tensor ends_;                 // int64, where each row ends
  at::Tensor labels_;               // int64, or float32 where they are numbers, [rows, labels] where there are several
  bool from_cache_ = false;
};

}  // namespace transformers::inputs

namespace transformers {
using inputs::TokenizedDataset;
using inputs::TokenizedDatasetOptions;
}  // namespace transformers
