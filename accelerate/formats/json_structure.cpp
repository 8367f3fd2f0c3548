#include "accelerate/formats/json_structure.h"

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "accelerate/base/error.h"

namespace accelerate::formats {

namespace {

using Json = nlohmann::json;

/// Checks only the structure. A parser callback could do the same, but makes the parser quadratic for an object of many
/// objects.
class StructureCheck : public nlohmann::json_sax<Json> {
 public:
  explicit StructureCheck(const std::string& source) : source_(source) {}

  bool start_object(size_t) override {
    keys_.emplace_back();
    return enter();
  }
  bool key(std::string& name) override {
    if (!keys_.back().insert(name).second) fail(source_, ": its JSON has the key '", name, "' twice in one object");
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    return leave();
  }
  bool start_array(size_t) override { return enter(); }
  bool end_array() override { return leave(); }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(Json::number_integer_t) override { return true; }
  bool number_unsigned(Json::number_unsigned_t) override { return true; }
  bool number_float(Json::number_float_t, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool enter() {
    constexpr int kMaxDepth = 16;
    if (++depth_ > kMaxDepth) fail(source_, ": its JSON is nested more than ", kMaxDepth, " deep");
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  const std::string& source_;
  std::vector<std::unordered_set<std::string>> keys_;  // of the enclosing objects
  int depth_ = 0;
};

}  // namespace

void check_json_structure(std::string_view text, const std::string& source) {
  // The parser ignores a byte order mark and treats a zero byte as the end.
  if (text.starts_with("\xef\xbb\xbf")) fail(source, ": its JSON begins with a byte order mark");
  if (text.find('\0') != text.npos) fail(source, ": its JSON contains a zero byte");
  StructureCheck check(source);
  Json::sax_parse(text, &check);
}

void check_json_depth(std::string_view text, const std::string& source) {
  constexpr int kMaxDepth = 64;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quoted) {
      if (letter == '\\') ++i;  // skips the escaped character
      quoted = letter != '"';
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == '[' || letter == '{') {
      if (++depth > kMaxDepth) fail(source, ": its JSON is nested more than ", kMaxDepth, " deep");
    } else if (letter == ']' || letter == '}') {
      --depth;
    }
  }
}

}  // namespace accelerate::formats
