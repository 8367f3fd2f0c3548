#include "transformers/tokenizers/pre_tokenizers/pre_tokenizer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "accelerate/base/error.h"
#include "transformers/tokenizers/description.h"
#include "transformers/tokenizers/pre_tokenizers/splits.h"

namespace transformers::tokenizers {

namespace {

enum class PrependScheme { First, Never, Always };

class Metaspace : public PreTokenizer {
 public:
  Metaspace(std::string replacement, PrependScheme scheme, bool split)
      : replacement_(std::move(replacement)), scheme_(scheme), split_(split) {}

  void pre_tokenize(Pieces& pieces) const override {
    std::string_view text = pieces.text.text();
    pieces.rewrite([&](Rewrite& rewrite, const Piece& piece) {
      if (needs_prefix(pieces, piece)) rewrite.insert_before(replacement_);
      for (size_t position = piece.begin; position < piece.end;) {
        size_t space = std::min<size_t>(text.find(' ', position), piece.end);
        rewrite.keep(space - position);
        if (space < piece.end) rewrite.replace(1, replacement_);
        position = space + 1;
      }
    });
    if (split_) split_words(pieces);
  }

 private:
  bool needs_prefix(const Pieces& pieces, const Piece& piece) const {
    if (scheme_ == PrependScheme::Never) return false;
    std::string_view text = pieces[piece];
    if (text.starts_with(' ') || text.starts_with(replacement_)) return false;
    return scheme_ == PrependScheme::Always || pieces.text.origin(piece.begin, piece.begin + 1).begin == 0;
  }

  void split_words(Pieces& pieces) const {
    std::string_view text = pieces.text.text();
    pieces.cut([&](const Piece& piece, const auto& add) {
      Splitter splitter(SplitBehavior::MergedWithNext, add);
      for (size_t position = piece.begin; position < piece.end;) {
        size_t found = std::min<size_t>(text.find(replacement_, position), piece.end);
        if (position < found) splitter.take(position, found, false);
        if (found < piece.end) splitter.take(found, found + replacement_.size(), true);
        position = found + replacement_.size();
      }
      splitter.finish();
    });
  }

  std::string replacement_;
  PrependScheme scheme_;
  bool split_;
};

PrependScheme read_scheme(const nlohmann::json& description) {
  auto name = optional_field<std::string>(description, "prepend_scheme").value_or("always");
  bool prepends = optional_field<bool>(description, "add_prefix_space").value_or(true);
  if (!prepends && name != "never") {
    accelerate::fail("Metaspace: add_prefix_space is false, but prepend_scheme is '", name, "'; it must be 'never'");
  }
  if (name == "first") return PrependScheme::First;
  if (name == "never") return PrependScheme::Never;
  if (name == "always") return PrependScheme::Always;
  fail_field(description, "prepend_scheme", "first, never or always");
}

}  // namespace

std::unique_ptr<PreTokenizer> read_metaspace(const nlohmann::json& description) {
  return std::make_unique<Metaspace>(character_field(description, "replacement"), read_scheme(description),
                                     optional_field<bool>(description, "split").value_or(true));
}

}  // namespace transformers::tokenizers
