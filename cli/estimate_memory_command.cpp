#include "cli/commands.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "accelerate/base/byte_size.h"
#include "cli/command_line.h"
#include "cli/model_tensors.h"
#include "cli/table.h"

namespace accelerate::cli {

namespace {

/// A row of the table; bytes may be fractions in int4.
struct Estimate {
  std::string dtype;
  double largest_layer;
  double total;
  std::optional<double> training;  // with Adam and a batch of one; nullopt for integer types
};

Estimate estimate(const std::string& dtype, const ModelSize& float32) {
  static const std::map<std::string, double> kShrink = {{"float32", 1}, {"float16", 2}, {"int8", 4}, {"int4", 8}};
  double shrink = kShrink.at(dtype), total = float32.total_bytes;
  Estimate row{dtype, float32.largest_layer_bytes / shrink, total / shrink, std::nullopt};
  // Adam stores two numbers per weight. In float32, weights and gradients are added; in float16 the two numbers are the
  // peak.
  if (dtype == "float32") row.training = 4 * total;
  if (dtype == "float16") row.training = 2 * total;
  return row;
}

void print_json(const std::string& model, const std::vector<Estimate>& rows) {
  nlohmann::ordered_json json = {{"model", model}, {"estimates", nlohmann::ordered_json::array()}};
  for (const auto& row : rows) {
    nlohmann::ordered_json one = {
        {"dtype", row.dtype}, {"largest_layer_bytes", row.largest_layer}, {"total_bytes", row.total}};
    if (row.training) {
      one["training_bytes"] = *row.training;
    } else {
      one["training_bytes"] = nullptr;
    }
    json["estimates"].push_back(one);
  }
  std::cout << json.dump(2) << "\n";
}

void print_table(const std::string& model, const std::vector<Estimate>& estimates) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : estimates) {
    rows.push_back({row.dtype, format_bytes(row.largest_layer), format_bytes(row.total),
                    row.training ? format_bytes(*row.training) : "N/A"});
  }
  std::cout << draw_table("Memory to load `" + model + "`",
                          {"dtype", "Largest Layer", "Total Size", "Training using Adam"}, rows);
}

}  // namespace

int estimate_memory_command(const std::vector<std::string>& arguments) {
  std::string model, library;
  std::vector<std::string> dtypes = {"float32", "float16", "int8", "int4"};
  bool json = false, trust = false;
  CLI::App app("Estimates how much memory a model needs, from its files on this machine.",
               "accelerate estimate-memory");
  app.add_option("model_name", model,
                 "A directory, a safetensors file or a config.json; in a directory the weights take precedence");
  app.add_option("--dtypes", dtypes, "Types to estimate for, one or several")
      ->check(CLI::IsMember({"float32", "float16", "int8", "int4"}))
      ->delimiter(',');
  app.add_flag("--json", json, "Print JSON, with bytes");
  app.add_option("--library_name", library, "Accepted for compatibility with Python's command; the files contain it")
      ->check(CLI::IsMember({"timm", "transformers"}));
  app.add_flag("--trust_remote_code", trust, "Accepted for compatibility with Python's command; no code is ever run");
  if (!parse_arguments(app, arguments)) return 0;
  if (model.empty()) throw UsageError("no model is given; name a directory, a safetensors file or a config.json");

  auto size = measure(describe_model(model));
  std::vector<Estimate> rows;
  for (const auto& dtype : dtypes) rows.push_back(estimate(dtype, size));
  json ? print_json(model, rows) : print_table(model, rows);
  return 0;
}

}  // namespace accelerate::cli
