#include "accelerate/config/launch_config.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "accelerate/base/user_directories.h"
#include "accelerate/config/assign.h"
#include "accelerate/config/document.h"
#include "accelerate/config/keys.h"
#include "accelerate/config/scalar.h"

namespace accelerate::config {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMistakesShown = 3;

std::string read_text(const fs::path& path) {
  std::error_code error;
  auto status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw ConfigError(path.string() + ": no such file; accelerate config --config_file " + path.string() +
                      " creates it");
  }
  if (fs::is_directory(status)) throw ConfigError(path.string() + ": this is a directory; name the file in it");
  std::ifstream file(path);
  if (!file) throw ConfigError(path.string() + ": cannot be read: " + std::strerror(errno));
  std::string text(kMaxBytes + 1, '\0');  // one byte more detects a file that is too long; some files are endless
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

/// Reads the keys of a document one by one and collects the mistakes, so that the user sees several at once.
class ConfigReader {
 public:
  explicit ConfigReader(const fs::path& path) : source_(path.string()) { config_.file = path; }

  LaunchConfig read(DocumentNode document) {
    if (is_null(document)) throw ConfigError(source_ + ": is empty; accelerate config creates one");
    if (document.kind != DocumentNode::Kind::Map) {
      throw ConfigError(place(source_, document.position) + ": a configuration consists of lines 'key: value'");
    }
    config_.upgrades = upgrade(document);
    for (size_t i = 0; i < document.keys.size(); ++i) read_key(document.keys[i], document.items[i]);
    check_required();
    throw_mistakes();
    return config_;
  }

 private:
  void read_key(const DocumentNode& name, DocumentNode value) {
    if (name.kind != DocumentNode::Kind::Text) return add_mistake(name.position, "a key must be a word");
    auto [first, is_new] = config_.positions.emplace(name.text, name.position);
    if (!is_new) {
      return add_mistake(name.position, "duplicate key '" + name.text + "'; it is already on line " +
                                            std::to_string(first->second.line));
    }
    const auto* key = find_key(name.text);
    if (key == nullptr) return add_mistake(name.position, unknown_key_message(name.text));
    // Python writes -1 if the number of processes is to be given at launch.
    if (key->name == "num_processes" && value.text == "-1") value = DocumentNode{.position = value.position};
    try {
      assign(config_, *key, value);
    } catch (const ValueError& error) {
      return add_mistake(error.position, error.what());
    }
    if (is_null(value)) config_.positions.erase(name.text);
    for (const auto& inner : value.keys) config_.positions[name.text + "." + inner.text] = inner.position;
  }

  void check_required() {
    if (config_.compute_environment == "AMAZON_SAGEMAKER") {
      throw ConfigError(source_ +
                        ": describes a job on Amazon SageMaker, which only Python's Accelerate can start; here " +
                        "compute_environment must be LOCAL_MACHINE");
    }
    bool given = config_.distributed_type || config_.positions.contains("distributed_type");
    if (!given) add_mistake({}, "has no distributed_type; add one, for example distributed_type: MULTI_CPU");
  }

  void add_mistake(const Position& position, const std::string& message) { mistakes_.push_back({position, message}); }

  void throw_mistakes() {
    if (mistakes_.empty()) return;
    std::sort(mistakes_.begin(), mistakes_.end(), [](const Mistake& left, const Mistake& right) {
      return std::tie(left.position.line, left.position.column) < std::tie(right.position.line, right.position.column);
    });
    std::string text;
    for (size_t i = 0; i < std::min(mistakes_.size(), kMistakesShown); ++i) {
      if (i > 0) text += '\n';
      text += place(source_, mistakes_[i].position) + ": " + mistakes_[i].message;
    }
    if (mistakes_.size() > kMistakesShown) {
      text += " (and " + std::to_string(mistakes_.size() - kMistakesShown) + " more mistakes)";
    }
    throw ConfigError(text);
  }

  struct Mistake {
    Position position;
    std::string message;
  };

  std::string source_;
  LaunchConfig config_;
  std::vector<Mistake> mistakes_;
};

}  // namespace

std::string LaunchConfig::origin(const std::string& key) const {
  auto found = positions.find(key);
  return found == positions.end() ? "" : file.string() + ":" + std::to_string(found->second.line);
}

fs::path default_config_file() { return huggingface_home() / "accelerate" / "default_config.yaml"; }

LaunchConfig read_launch_config(const fs::path& path) {
  auto syntax = path.extension() == ".json" ? Syntax::Json : Syntax::Yaml;
  return ConfigReader(path).read(parse_document(read_text(path), syntax, path.string()));
}

}  // namespace accelerate::config
