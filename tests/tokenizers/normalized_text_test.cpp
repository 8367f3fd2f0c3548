// Where the bytes of a changed text come from.

#include "transformers/tokenizers/text/normalized_text.h"

#include <doctest/doctest.h>

#include "transformers/tokenizers/normalizers/bert_normalizer.h"
#include "transformers/tokenizers/normalizers/character_changes.h"

using namespace transformers::tokenizers;

TEST_CASE("a text without changes is the original, with the places of whole characters") {
  NormalizedText text("aé", 10);
  CHECK(text.text() == "aé");
  CHECK(text.origin(0, 1) == Span{10, 11});
  CHECK(text.origin(1, 2) == Span{11, 13});
  CHECK(text.origin(2, 3) == Span{11, 13});
}

TEST_CASE("removed and replaced characters move what follows") {
  NormalizedText text("a-bc");
  Rewrite rewrite(text);
  rewrite.keep(1);
  rewrite.remove(1);
  rewrite.replace(1, "BBB");
  rewrite.finish();
  CHECK(text.text() == "aBBBc");
  CHECK(text.origin(0, 1) == Span{0, 1});
  CHECK(text.origin(1, 2) == Span{2, 3});
  CHECK(text.origin(3, 5) == Span{2, 4});
}

TEST_CASE("an inserted text comes from the character before it, or from none at the start") {
  NormalizedText text("ab");
  Rewrite rewrite(text);
  rewrite.insert("<");
  rewrite.keep(1);
  rewrite.insert("+");
  rewrite.finish();
  CHECK(text.text() == "<a+b");
  CHECK(text.origin(0, 1) == Span{0, 0});
  CHECK(text.origin(2, 3) == Span{0, 1});
  CHECK(text.origin(3, 4) == Span{1, 2});
}

TEST_CASE("changes one after the other keep the way back to the original") {
  NormalizedText text("  E\u0301x ");
  strip(text, true, true);
  normalize_form(text, NormalizationForm::Nfc);
  to_lower_case(text);
  prepend(text, "_");
  CHECK(text.text() == "_\u00E9x");
  CHECK(text.origin(0, 1) == Span{2, 3});
  CHECK(text.origin(1, 3) == Span{2, 3});
  CHECK(text.origin(3, 4) == Span{5, 6});
}

TEST_CASE("parts of one original are put together with their places") {
  NormalizedText text, first("AB", 0), second("CD", 5);
  to_lower_case(second);
  text.append(first);
  text.append(second);
  CHECK(text.text() == "ABcd");
  CHECK(text.origin(1, 2) == Span{1, 2});
  CHECK(text.origin(2, 4) == Span{5, 7});
}

TEST_CASE("BERT's normalizer cleans, separates ideographs, strips accents and lowers the case") {
  NormalizedText with_zero(std::string_view("x\0Ü\u4E2D", 7));
  BertNormalizer(BertNormalizerOptions{}).normalize(with_zero);
  CHECK(with_zero.text() == "xu \u4E2D ");
  CHECK(with_zero.origin(1, 2) == Span{2, 4});
  CHECK(with_zero.origin(2, 3) == Span{4, 7});
}
