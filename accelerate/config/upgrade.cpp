#include "accelerate/config/document.h"

#include <algorithm>

#include "accelerate/config/scalar.h"

namespace accelerate::config {

namespace {

/// The index of a key, or the number of keys if it is missing.
size_t index_of(const DocumentNode& map, const std::string& name) {
  auto has_name = [&](const DocumentNode& key) { return key.kind == DocumentNode::Kind::Text && key.text == name; };
  return std::find_if(map.keys.begin(), map.keys.end(), has_name) - map.keys.begin();
}

bool has(const DocumentNode& map, const std::string& name) { return index_of(map, name) < map.keys.size(); }

void erase(DocumentNode& map, size_t index) {
  map.keys.erase(map.keys.begin() + index);
  map.items.erase(map.items.begin() + index);
}

/// Removes the key and returns its value.
DocumentNode take(DocumentNode& map, const std::string& name) {
  auto index = index_of(map, name);
  auto value = map.items[index];
  erase(map, index);
  return value;
}

void add(DocumentNode& map, const std::string& name, DocumentNode value) {
  map.keys.push_back({.kind = DocumentNode::Kind::Text, .position = value.position, .text = name});
  map.items.push_back(std::move(value));
}

/// Until 0.12 half precision was a flag.
void upgrade_fp16(DocumentNode& file, std::vector<std::string>& changes) {
  if (!has(file, "fp16")) return;
  auto value = take(file, "fp16");
  bool fp16 = as_flag(value).value_or(false);
  if (!has(file, "mixed_precision")) {
    add(file, "mixed_precision",
        {.kind = DocumentNode::Kind::Text, .position = value.position, .text = fp16 ? "fp16" : "no", .quoted = true});
  }
  changes.emplace_back("fp16 was replaced by mixed_precision");
}

/// Until 0.15 there was a single key for torch.compile.
void upgrade_dynamo_backend(DocumentNode& file, std::vector<std::string>& changes) {
  if (!has(file, "dynamo_backend")) return;
  auto value = take(file, "dynamo_backend");
  if (has(file, "dynamo_config")) take(file, "dynamo_config");
  if (value.text != "NO") {
    DocumentNode section{.kind = DocumentNode::Kind::Map, .position = value.position};
    add(section, "dynamo_backend", value);
    add(file, "dynamo_config", section);
  }
  changes.emplace_back("dynamo_backend was moved to dynamo_config");
}

/// Until 0.27 XLA was only used by TPUs.
void upgrade_tpu(DocumentNode& file, std::vector<std::string>& changes) {
  auto index = index_of(file, "distributed_type");
  if (index == file.keys.size() || file.items[index].text != "TPU") return;
  file.items[index].text = "XLA";
  changes.emplace_back("distributed_type TPU was renamed to XLA");
}

}  // namespace

std::vector<std::string> upgrade(DocumentNode& file) {
  std::vector<std::string> changes;
  upgrade_fp16(file, changes);
  upgrade_dynamo_backend(file, changes);
  upgrade_tpu(file, changes);
  for (const std::string name : {"ipex_config", "use_xpu"}) {
    if (!has(file, name)) continue;
    take(file, name);
    changes.push_back(name + " no longer has any effect");
  }
  return changes;
}

}  // namespace accelerate::config
