#include "accelerate/config/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace accelerate::config {

namespace {

constexpr size_t kMaxDepth = 16;  // a real one has depth 2
constexpr int kMaxNodes = 10000;  // aliases (*name) can expand a small file into a large tree

/// The line at `position` with a mark below its column. Empty for a position outside of the text.
std::string quote_line(const std::string& text, const Position& position) {
  size_t begin = 0;
  for (int line = 1; line < position.line && begin != std::string::npos; ++line) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos || begin >= text.size()) return "";
  auto line = text.substr(begin, std::min<size_t>(text.find('\n', begin) - begin, 200));
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::string indent;
  for (int column = 1; column < position.column && column <= line.size(); ++column) {
    indent += line[column - 1] == '\t' ? '\t' : ' ';
  }
  return "\n  " + line + "\n  " + indent + "^";
}

[[noreturn]] void refuse(const std::string& source, const std::string& text, const Position& position,
                         const std::string& reason) {
  throw ConfigError(place(source, position) + ": " + reason + quote_line(text, position));
}

Position position_at(const std::string& text, size_t byte) {
  auto end = text.begin() + std::min(byte, text.size());
  auto line_begin = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
  return {static_cast<int>(std::count(text.begin(), end, '\n')) + 1, static_cast<int>(end - line_begin) + 1};
}

void check_json(const std::string& text, const std::string& source) {
  try {
    [[maybe_unused]] auto parsed = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    std::string what = error.what();
    auto reason = what.find(": ");  // skips the exception's name and position, which our message has already
    refuse(source, text, position_at(text, error.byte > 0 ? error.byte - 1 : 0),
           "this is not JSON: " + (reason == std::string::npos ? what : what.substr(reason + 2)));
  }
}

int count_nodes(const DocumentNode& node) {
  int count = 1;
  for (const auto& key : node.keys) count += count_nodes(key);
  for (const auto& item : node.items) count += count_nodes(item);
  return count;
}

/// Builds the tree from the events of yaml-cpp.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& text, const std::string& source) : text_(text), source_(source) {}

  DocumentNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    DocumentNode node{.position = at(mark)};
    if (expects_value()) node.position = open_.back().node.keys.back().position;
    add(std::move(node), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(tag, mark);
    bool quoted = tag == "!" || tag == kTextTag;
    add({.kind = DocumentNode::Kind::Text, .position = at(mark), .text = value, .quoted = quoted}, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(source_, text_, at(mark), "this alias refers to a node that contains it");
    num_nodes_ += count_nodes(found->second) - 1;
    auto node = found->second;
    node.position = at(mark);
    add(std::move(node), 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, DocumentNode::Kind::List);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, DocumentNode::Kind::Map);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  static constexpr const char* kTextTag = "tag:yaml.org,2002:str";

  /// A list or map that is not complete yet.
  struct Open {
    DocumentNode node;
    YAML::anchor_t anchor;
  };

  static Position at(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

  bool expects_value() const {
    return !open_.empty() && open_.back().node.keys.size() > open_.back().node.items.size();
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, DocumentNode::Kind kind) {
    check_tag(tag, mark);
    if (open_.size() >= kMaxDepth) {
      refuse(source_, text_, at(mark), "nested too deeply for a configuration, which has two levels");
    }
    open_.push_back({{.kind = kind, .position = at(mark)}, anchor});
  }

  void close() {
    auto [node, anchor] = std::move(open_.back());
    open_.pop_back();
    add(std::move(node), anchor);
  }

  void add(DocumentNode node, YAML::anchor_t anchor) {
    if (++num_nodes_ > kMaxNodes) refuse(source_, text_, node.position, "too large for a configuration");
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
    } else {
      auto& parent = open_.back().node;
      bool is_key = parent.kind == DocumentNode::Kind::Map && !expects_value();
      (is_key ? parent.keys : parent.items).push_back(std::move(node));
    }
  }

  void check_tag(const std::string& tag, const YAML::Mark& mark) {
    if (tag.empty() || tag == "?" || tag == "!" || tag == kTextTag) return;
    refuse(source_, text_, at(mark), "the tag " + tag + " is not supported; write the plain value");
  }

  const std::string& text_;
  const std::string& source_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, DocumentNode> anchors_;
  DocumentNode root_;
  int num_nodes_ = 0;
};

}  // namespace

std::string place(const std::string& source, const Position& position) {
  if (position.line == 0) return source;
  return source + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
}

DocumentNode parse_document(const std::string& text, Syntax syntax, const std::string& source) {
  if (text.size() > kMaxBytes) {
    throw ConfigError(source + ": is larger than " + std::to_string(kMaxBytes) +
                      " bytes, so it is not a configuration file");
  }
  if (syntax == Syntax::Json) check_json(text, source);
  // JSON is a subset of YAML, and yaml-cpp gives the position of every value.
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    TreeBuilder builder(text, source);
    if (!parser.HandleNextDocument(builder)) return {};
    if (parser)
      throw ConfigError(source + ": contains more than one YAML document; a configuration is a single document");
    return builder.take_root();
  } catch (const YAML::Exception& error) {
    refuse(source, text, {error.mark.line + 1, error.mark.column + 1}, "this is not YAML: " + error.msg);
  }
}

}  // namespace accelerate::config
