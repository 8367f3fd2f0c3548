#include "transformers/tokenizers/post_processors/post_processor.h"

#include <optional>
#include <utility>

#include "accelerate/base/error.h"
#include "transformers/tokenizers/description.h"

namespace transformers::tokenizers {

using accelerate::fail;

namespace {

/// A place of a template: one of the texts, or special tokens.
struct Place {
  std::optional<size_t> text = {};  // 0 for A, 1 for B
  std::vector<uint32_t> ids = {};   // of the special tokens
  uint32_t type_id = 0;
  bool last_use = false;  // no later place takes the same text
};

using Template = std::vector<Place>;

void insert_specials(Encoding& encoding, size_t position, const Place& place) {
  for (uint32_t id : place.ids) encoding.insert_special(position++, id, place.type_id);
}

/// Appends to `encoding` and to its overflowing windows: a special token stands in every window.
void append_specials(Encoding& encoding, const Place& place) {
  insert_specials(encoding, encoding.size(), place);
  for (auto& window : encoding.overflowing) insert_specials(window, window.size(), place);
}

/// Puts what `front` has before `encoding` and its overflowing windows.
void prepend(Encoding& encoding, const Encoding& front) {
  for (size_t i = 0; i < front.size(); ++i) {
    encoding.insert_special(i, front.ids[i], front.type_ids[i]);
    for (auto& window : encoding.overflowing) window.insert_special(i, front.ids[i], front.type_ids[i]);
  }
}

class TemplateProcessor : public PostProcessor {
 public:
  TemplateProcessor(Template single, Template pair) : single_(std::move(single)), pair_(std::move(pair)) {}

  size_t added_tokens(bool is_pair) const override {
    size_t count = 0;
    for (const auto& place : is_pair ? pair_ : single_) count += place.ids.size();
    return count;
  }

  void process(std::vector<Encoding>& encodings, bool add_special_tokens) const override {
    std::vector<Encoding> results;
    Encoding front;  // special tokens before the first text
    for (const auto& place : encodings.size() == 2 ? pair_ : single_) {
      if (place.text) {
        auto& text = encodings[*place.text];
        text.set_type(place.type_id);
        results.push_back(place.last_use ? std::move(text) : text);
        if (results.size() == 1) prepend(results[0], front);
      } else if (add_special_tokens) {
        append_specials(results.empty() ? front : results.back(), place);
      }
    }
    if (results.empty()) results.push_back(std::move(front));
    encodings = std::move(results);
  }

 private:
  Template single_;
  Template pair_;
};

size_t read_text_name(const nlohmann::json& description, const nlohmann::json& piece, size_t num_texts) {
  auto name = field_or<std::string>(piece, "id", "");
  if (name == "A") return 0;
  if (name == "B" && num_texts == 2) return 1;
  fail_field(description, num_texts == 1 ? "single" : "pair",
             num_texts == 1 ? "a template of special tokens and the text A" : "a template of special tokens, A and B");
}

std::vector<uint32_t> read_ids(const nlohmann::json& description, const std::string& name) {
  const auto& special_tokens = object_field(description, "special_tokens");
  auto found = special_tokens.find(name);
  if (found == special_tokens.end() || !found->is_object() || !found->contains("ids")) {
    fail("TemplateProcessing: a template uses the special token '", name, "', which 'special_tokens' does not have");
  }
  std::vector<uint32_t> ids;
  for (const auto& id : list_field(*found, "ids")) {
    if (!holds<uint32_t>(id)) fail("TemplateProcessing: an id of the special token '", name, "' is ", id.dump());
    ids.push_back(id.get<uint32_t>());
  }
  return ids;
}

Template read_template(const nlohmann::json& description, const char* name, size_t num_texts) {
  Template places;
  for (const auto& piece : list_field(description, name)) {
    bool is_text = piece.contains("Sequence"), is_special = piece.contains("SpecialToken");
    if (is_text == is_special) fail_field(description, name, "a list of pieces 'Sequence' and 'SpecialToken'");
    const auto& content = object_field(piece, is_text ? "Sequence" : "SpecialToken");
    Place place{.type_id = field<uint32_t>(content, "type_id")};
    if (is_text) {
      place.text = read_text_name(description, content, num_texts);
    } else {
      place.ids = read_ids(description, field<std::string>(content, "id"));
    }
    places.push_back(std::move(place));
  }
  for (size_t text = 0; text < num_texts; ++text) {
    for (size_t i = places.size(); i-- > 0;) {
      if (places[i].text != text) continue;
      places[i].last_use = true;
      break;
    }
  }
  return places;
}

}  // namespace

std::unique_ptr<PostProcessor> read_template_processor(const nlohmann::json& description) {
  return std::make_unique<TemplateProcessor>(read_template(description, "single", 1),
                                             read_template(description, "pair", 2));
}

}  // namespace transformers::tokenizers
