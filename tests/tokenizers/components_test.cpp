// Each normalizer and pre-tokenizer, and each kind of added token, compared with the `tokenizers` package.
// ACCELERATE_TEST_FULL takes texts with every code point.

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/tokenizers/parity/oracle_stream.h"
#include "transformers/tokenizers/tokenizer.h"

using namespace transformers;

TEST_CASE("every normalizer, pre-tokenizer and kind of added token cuts as the reference implementation does") {
  const std::string num_texts = std::getenv("ACCELERATE_TEST_FULL") != nullptr ? "4000 every" : "400";
  tests::OracleStream oracle(ACCELERATE_ORACLE_PYTHON " " ACCELERATE_SOURCE_DIR "/tests/tokenizers/components.py " +
                             num_texts);
  for (std::string name; !(name = oracle.text()).empty();) {
    CAPTURE(name);
    auto tokenizer = Tokenizer::from_json(oracle.text());
    int differences = 0;
    for (size_t left = oracle.number(); left > 0; --left) {
      std::string text = oracle.text();
      Encoding theirs = oracle.encoding(), ours = tokenizer.encode(text);
      bool equal = ours.ids == theirs.ids && ours.offsets == theirs.offsets && ours.word_ids == theirs.word_ids;
      if (equal) continue;
      CAPTURE(text);
      if (++differences <= 2) CHECK_MESSAGE(equal, "another result");
    }
    CHECK(differences == 0);
  }
  CHECK(oracle.close() == 0);
}
