// Damaged configurations: for every value that a key of config.json can get, either the model works, or an Error names
// the file, the key, the value and the remedy, and little memory was taken.

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <set>

#include "accelerate/base/error.h"
#include "tests/support/torch.h"
#include "tests/transformers/small_configurations.h"
#include "transformers/auto_model.h"

namespace transformers {

namespace {

using nlohmann::json;

const std::string kPath = "/models/damaged/config.json";

/// Makes the model, and computes a loss and gradients for two texts, one of them padded.
void try_out(const json& config) {
  auto parsed = PretrainedConfig::from_json(config.dump(), kPath);
  torch::manual_seed(1);
  auto model = AutoModelForSequenceClassification::from_config(parsed);
  model->train();
  auto ids = at::full({2, 40}, 7, at::kLong);
  auto mask = at::ones({2, 40}, at::kLong);
  mask[1].slice(0, 30).zero_();
  auto labels = at::tensor({0, 1}, at::kLong);
  model->forward(ModelInputs{.input_ids = ids, .attention_mask = mask, .labels = labels}).loss.backward();
}

/// What is wrong with the way in which a configuration is refused; empty when nothing is, or when the model works.
std::string complaint_about(const json& config, const json::json_pointer& pointer, const json& value) {
  auto key = config[pointer.parent_pointer()].is_array() ? pointer.parent_pointer().back() : pointer.back();
  try {
    try_out(config);
    return "";
  } catch (const accelerate::Error& error) {
    std::string message = error.what();
    for (const char* start :
         {"a text of 40 tokens is longer", "the token 7 is outside", "a batch of 2 texts needs padding",
          "the label 1 is out of range", "the labels are of type Long"}) {
      if (message.starts_with(start)) return "";  // the model works, with other texts than these
    }
    auto lacks = [&](const std::string& part) { return message.find(part) == message.npos; };
    bool has_value = value.is_null() || !lacks(value.dump());  // null stands for a default, which is named instead
    if (!lacks(kPath) && !lacks(key) && has_value && !lacks(";")) return "";
    return "file, key, value or remedy is not named: " + message;
  } catch (const std::exception& error) {
    return std::string("another exception: ") + std::string(error.what()).substr(0, 300);
  }
}

std::vector<json> mutations_of(const json& value) {
  if (value.is_string()) return {"", "no such name", 3, json::array(), json::object(), true};
  if (value.is_boolean()) return {"yes", 7, json::array()};
  if (value.is_array()) return {"text", 5, {1, 2}, json::array({json::array()})};
  std::vector<json> numbers = {-1,
                               -2,
                               0,
                               1,
                               2,
                               5,
                               7,
                               1'000'000'000,
                               int64_t{1} << 40,
                               UINT64_MAX,
                               1e300,
                               "36",
                               json::array({36}),
                               json::object(),
                               true,
                               nullptr};
  numbers.push_back(value.is_number_integer() ? json(-value.get<int64_t>()) : json(-value.get<double>()));
  return numbers;
}

int64_t peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace

TEST_CASE("a damaged value in the config.json of any architecture is refused by name, or does no harm") {
  torch::set_num_threads(1);
  auto before = peak_megabytes();
  size_t tried = 0;
  std::set<std::string> seen;
  for (const auto& config : small_configurations()) {
    std::string family = config["model_type"];
    seen.insert(family);
    CAPTURE(family);
    REQUIRE_NOTHROW(try_out(config));
    const auto flat = config.flatten();
    for (const auto& [key, value] : flat.items()) {
      if (key == "/model_type") continue;
      const json::json_pointer pointer(key);
      for (const auto& mutation : mutations_of(value)) {
        auto damaged = config;
        damaged[pointer] = mutation;
        auto complaint = complaint_about(damaged, pointer, mutation);
        CAPTURE(key);
        CAPTURE(mutation.dump());
        CHECK(complaint == "");
        ++tried;
      }
    }
  }
  CHECK(tried > 3000);
  CHECK(peak_megabytes() - before < 500);
  for (const auto& name : built_in_architectures()) CHECK_MESSAGE(seen.contains(name), name);
}

TEST_CASE("sizes that are plausible one by one but exceed the memory are refused, with the largest") {
  json config = {{"model_type", "bert"},
                 {"hidden_size", 9'000},
                 {"intermediate_size", 60'000},
                 {"num_hidden_layers", 1'000},
                 {"num_attention_heads", 9}};
  CHECK(complaint_about(config, json::json_pointer("/intermediate_size"), 60'000) == "");
  config.update({{"hidden_size", 99'999'999}, {"intermediate_size", 100'000'000}});
  CHECK(complaint_about(config, json::json_pointer("/intermediate_size"), 100'000'000) == "");
}

}  // namespace transformers
