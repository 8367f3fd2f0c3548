// Cuts the lines of a file into tokens: `bench_tokenize_texts --tokenizer FILE --texts FILE --threads N`.

#include <fstream>
#include <string>
#include <vector>

#include "benchmarks/side.h"
#include "transformers/tokenizers/tokenizer.h"

namespace {

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

int main(int count, char** words) {
  bench::Arguments arguments(count, words);
  auto tokenizer = transformers::Tokenizer::from_file(arguments.text("--tokenizer", ""));
  tokenizer.no_truncation();
  tokenizer.no_padding();
  auto texts = read_lines(arguments.text("--texts", ""));
  transformers::EncodeBatchOptions options{.threads = static_cast<int>(arguments.number("--threads", 1))};

  bench::Stopwatch stopwatch;
  auto encodings = tokenizer.encode_batch(texts, options);
  double wall_seconds = stopwatch.wall_seconds(), cpu_seconds = stopwatch.cpu_seconds();

  int64_t num_bytes = 0;
  double num_tokens = 0, sum_of_ids = 0, sum_of_offsets = 0;
  for (const auto& text : texts) num_bytes += static_cast<int64_t>(text.size());
  for (const auto& encoding : encodings) {
    num_tokens += static_cast<double>(encoding.size());
    for (uint32_t id : encoding.ids) sum_of_ids += id;
    for (auto [begin, end] : encoding.offsets) sum_of_offsets += begin + end;
  }
  bench::report(num_bytes, wall_seconds, cpu_seconds, {num_tokens, sum_of_ids, sum_of_offsets});
}
