// The commands about models, compared with the Python packages that they follow.

#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "accelerate/config/launch_config.h"
#include "accelerate/formats/safetensors/files.h"
#include "cli/model_tensors.h"
#include "cli/table.h"
#include "tests/cli/command_run.h"

using namespace accelerate;
using namespace accelerate::cli;
using accelerate::tests::Result;
using accelerate::tests::run;
using accelerate::tests::TemporaryDirectory;
using nlohmann::json;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

Result accelerate_with(std::vector<std::string> words) {
  words.insert(words.begin(), ACCELERATE_COMMAND);
  return run(words, {}, 120s);
}

void run_python(const char* script, const fs::path& directory) {
  REQUIRE_MESSAGE(fs::exists(ACCELERATE_ORACLE_PYTHON), ACCELERATE_ORACLE_PYTHON " is missing; make build sets it up");
  auto result = run({ACCELERATE_ORACLE_PYTHON, "-c", script, directory.string()}, {}, 120s);
  REQUIRE_MESSAGE(result.exit_code == 0, result.errors);
}

/// Models of all families that are known by their configuration, with Python's sizes, and a small one with weights in
/// one file and in shards, as Python's own writers make them.
constexpr const char* kMakeModels = R"(
import json, pathlib, sys, torch
from transformers import AutoConfig, AutoModel
from accelerate import init_empty_weights
from accelerate.utils import calculate_maximum_sizes
directory = pathlib.Path(sys.argv[1])
changes = {"albert": [{"num_hidden_layers": 2}, {"hidden_size": 48, "num_attention_heads": 4, "intermediate_size": 100,
                       "embedding_size": 20, "num_hidden_groups": 2, "inner_group_num": 3}],
           "bert": [{}, {"hidden_size": 48, "intermediate_size": 100, "num_hidden_layers": 3, "vocab_size": 77}],
           "roberta": [{}], "xlm-roberta": [{"num_hidden_layers": 2}], "camembert": [{"vocab_size": 32005}],
           "deberta-v2": [{"num_hidden_layers": 2},
                          {"hidden_size": 48, "num_attention_heads": 4, "num_hidden_layers": 2, "relative_attention": True,
                           "position_buckets": 8, "pos_att_type": ["p2c", "c2p"], "norm_rel_ebd": "layer_norm",
                           "conv_kernel_size": 3, "conv_groups": 2, "embedding_size": 20, "type_vocab_size": 2},
                          {"hidden_size": 48, "num_attention_heads": 4, "num_hidden_layers": 1, "relative_attention": True,
                           "share_att_key": True, "pos_att_type": "p2c|c2p", "position_biased_input": False,
                           "max_relative_positions": 40}],
           "distilbert": [{}, {"n_layers": 2, "dim": 60, "n_heads": 6}],
           "electra": [{}, {"embedding_size": 256, "num_hidden_layers": 1}],
           "gpt2": [{}, {"n_embd": 96, "n_inner": 200, "n_layer": 2}],
           "llama": [{}, {"num_key_value_heads": 8, "attention_bias": True, "mlp_bias": True}],
           "mistral": [{}],
           "modernbert": [{}, {"num_hidden_layers": 1, "norm_bias": True, "attention_bias": True, "mlp_bias": True},
                          {"num_hidden_layers": 2, "hidden_size": 48, "num_attention_heads": 4, "vocab_size": 77,
                           "pad_token_id": 0}],
           "mpnet": [{}, {"num_hidden_layers": 1, "relative_attention_num_buckets": 40}],
           "qwen2": [{}, {"num_hidden_layers": 2, "vocab_size": 1000}],
           "qwen3": [{}, {"num_hidden_layers": 2, "attention_bias": True, "head_dim": 32, "num_key_value_heads": 4}]}
for family, all_changes in changes.items():
    for number, change in enumerate(all_changes):
        config = AutoConfig.for_model(family, **change)
        with init_empty_weights():
            model = AutoModel.from_config(config, dtype=torch.float32)
        total, largest = calculate_maximum_sizes(model)
        folder = directory / f"{family}-{number}"
        config.save_pretrained(folder)
        (folder / "sizes.json").write_text(json.dumps([total, largest[0]]))
torch.manual_seed(0)
model = AutoModel.from_config(AutoConfig.for_model("bert", **changes["bert"][1]))
model.save_pretrained(directory / "one")
model.save_pretrained(directory / "shards", max_shard_size="60KB")
total, largest = calculate_maximum_sizes(model)
buffers = sum(b.numel() * b.element_size() for b in model.buffers())
(directory / "one" / "sizes.json").write_text(json.dumps([total - buffers, largest[0] - buffers]))
)";

constexpr const char* kReadModels = R"(
import pathlib, sys, torch
from transformers import AutoModel
directory = pathlib.Path(sys.argv[1])
expected = AutoModel.from_pretrained(directory / "one").state_dict()
for name in ("joined", "cut"):
    state = AutoModel.from_pretrained(directory / name).state_dict()
    assert state.keys() == expected.keys(), name
    for key in state:
        assert torch.equal(state[key], expected[key]), (name, key)
)";

/// The names and bytes of all tensors of a model.
std::map<std::string, std::string> contents(const fs::path& path) {
  std::map<std::string, std::string> tensors;
  for (const auto& shard : formats::open_safetensors_model(path)) {
    std::ifstream file(shard.path, std::ios::binary);
    for (const auto& entry : shard.header.entries) {
      std::string bytes(entry.end - entry.begin, '\0');
      file.seekg(shard.data_begin + entry.begin);
      file.read(bytes.data(), bytes.size());
      tensors[entry.name + " " + entry.dtype] = bytes;
    }
  }
  return tensors;
}

}  // namespace

TEST_CASE("memory is estimated, and weights are joined and cut, as Python does it") {
  TemporaryDirectory directory;
  run_python(kMakeModels, directory.path());

  int families = 0;
  for (const auto& folder : fs::directory_iterator(directory.path())) {
    std::ifstream file(folder.path() / "sizes.json");
    if (!file) continue;
    auto sizes = json::parse(file);
    auto ours = measure(describe_model(folder.path()));
    CAPTURE(folder.path().filename().string());
    CHECK(ours.total_bytes == sizes[0]);
    CHECK(ours.largest_layer_bytes == sizes[1]);
    ++families;
  }
  CHECK(families == 29);

  auto one = (directory.path() / "one").string(), shards = (directory.path() / "shards").string();
  auto joined = (directory.path() / "joined").string(), cut = (directory.path() / "cut").string();
  CHECK(measure(describe_model(shards)).total_bytes == measure(describe_model(one)).total_bytes);
  CHECK(accelerate_with({"merge-weights", shards, joined}).exit_code == 0);
  CHECK_MESSAGE(directory.read("joined/model.safetensors") == directory.read("one/model.safetensors"),
                "joined shards are the file that Python writes, to the byte");

  auto result = accelerate_with({"merge-weights", one, cut, "--max-shard-size", "60KB"});
  CHECK_MESSAGE(result.exit_code == 0, result.errors);
  CHECK(fs::exists(fs::path(cut) / "model.safetensors.index.json"));
  CHECK(contents(cut) == contents(one));
  CHECK(formats::open_safetensors_model(cut).size() > 2);
  for (const auto& folder : {joined, cut}) fs::copy(fs::path(one) / "config.json", fs::path(folder) / "config.json");
  run_python(kReadModels, directory.path());

  accelerate_with({"merge-weights", one, cut, "--max_shard_size", "90KB"});
  accelerate_with({"merge-weights", one, joined, "--max_shard_size", "60KB"});
  CHECK_MESSAGE(contents(cut) == contents(one), "shards of another size take the place of the first");
  CHECK_MESSAGE(!fs::exists(fs::path(joined) / "model.safetensors"), "a file from before would be preferred to shards");

  auto beside = accelerate_with({"merge-weights", shards, shards, "--max_shard_size", "60KB"});
  CHECK(beside.exit_code == 2);
  CHECK(beside.errors.find("choose another directory") != std::string::npos);
  auto moved = accelerate_with({"merge-weights", cut, cut, "--remove_checkpoint_dir"});
  CHECK_MESSAGE(moved.exit_code == 0, moved.errors);
  CHECK_FALSE(fs::exists(fs::path(cut) / "model.safetensors.index.json"));
  CHECK(contents(cut) == contents(one));
}

TEST_CASE("the estimate is a table, or JSON with bytes") {
  TemporaryDirectory directory;
  auto config = directory.write(
      "config.json", R"({"model_type": "bert", "vocab_size": 28996, "hidden_size": 768, "intermediate_size": 3072,
                         "max_position_embeddings": 512, "num_hidden_layers": 12})");
  auto table = accelerate_with({"estimate-memory", config}).output;
  for (auto line : {"│ dtype │Largest Layer│Total Size│", "│float32│   86.47 MB  │413.18 MB │",
                    "│float16│   43.23 MB  │206.59 MB │", "│  int8 │   21.62 MB  │103.29 MB │",
                    "│  int4 │   10.81 MB  │ 51.65 MB │"}) {
    CHECK_MESSAGE(table.find(line) != std::string::npos, table);
  }
  auto estimates =
      json::parse(accelerate_with({"estimate-memory", config, "--json", "--dtypes", "float16", "int8"}).output);
  CHECK(estimates["estimates"].size() == 2);
  CHECK(estimates["estimates"][0]["total_bytes"] == 433249280 / 2);
  CHECK(estimates["estimates"][0]["training_bytes"] == 433249280.0 * 2);
  CHECK(estimates["estimates"][1]["training_bytes"].is_null());

  for (const auto& [text, message] : std::map<std::string, std::string>{
           {R"({"model_type": "perceiver"})", "model_type is 'perceiver'"},
           {R"({"model_type": "bert", "hidden_size": -1})", "hidden_size is -1; it must be a whole number"},
           {R"({"model_type": "bert"})", "has no hidden_size"},
           {R"({"model_type": null})", "model_type is ''"},
           {R"({"model_type": 7})", "model_type is 7; it must be a word"},
           {R"({"model_type": "bert", "vocab_size": 8, "hidden_size": 8, "intermediate_size": 8,
                "max_position_embeddings": 8, "num_hidden_layers": 900000000})",
            "num_hidden_layers is 900000000; no model has that many layers"},
           {"[]", "this is not the configuration of a model"},
           {"{", "this is not JSON"}}) {
    CHECK_THROWS_WITH_AS(describe_model(directory.write("config.json", text)), doctest::Contains(message.c_str()),
                         Error);
  }
}

TEST_CASE("indices of shards that lead elsewhere or nowhere are refused") {
  TemporaryDirectory directory;
  for (const auto& [name, message] :
       std::map<std::string, std::string>{{"../model-1.safetensors", "is not a safetensors file in this directory"},
                                          {"/etc/passwd", "is not a safetensors file in this directory"},
                                          {"a b.safetensors", "is not a safetensors file in this directory"},
                                          {".safetensors", "is not a safetensors file in this directory"},
                                          {"model-1.safetensors", "the shard model-1.safetensors is missing"}}) {
    directory.write("model.safetensors.index.json", json{{"weight_map", {{"a", name}}}}.dump());
    CHECK_THROWS_WITH_AS(formats::open_safetensors_model(directory.path()), doctest::Contains(message.c_str()), Error);
  }
  directory.write("model.safetensors.index.json", "{}");
  CHECK_THROWS_WITH_AS(formats::open_safetensors_model(directory.path()), doctest::Contains("not the index"), Error);
}

TEST_CASE("a shard that lacks tensors of its index is refused, and what it has beyond is named") {
  TemporaryDirectory directory;
  const auto shards = (directory.path() / "shards").string(), joined = (directory.path() / "joined").string();
  const std::string header =
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  const uint64_t header_bytes = header.size();
  const std::string length(reinterpret_cast<const char*>(&header_bytes), sizeof(header_bytes));
  directory.write("shards/model-1.safetensors", length + header + "xy");
  auto merge_with_index_of = [&](const std::vector<std::string>& names) {
    json map;
    for (const auto& name : names) map[name] = "model-1.safetensors";
    directory.write("shards/model.safetensors.index.json", json{{"weight_map", map}}.dump());
    return accelerate_with({"merge-weights", shards, joined});
  };
  auto says = [](const Result& result, const std::string& text) {
    return result.errors.find(text) != std::string::npos;
  };

  auto result = merge_with_index_of({"a", "b", "c", "d"});
  CHECK(result.exit_code != 0);
  CHECK_MESSAGE(says(result, "model-1.safetensors: lacks tensors that the index lists for it: c, d"), result.errors);
  CHECK_FALSE(fs::exists(joined));
  result = merge_with_index_of({"b"});
  CHECK(result.exit_code == 0);
  CHECK_MESSAGE(says(result, "model-1.safetensors: contains tensors that the index does not list: a"), result.errors);
  CHECK(contents(joined).size() == 2);
}

TEST_CASE("a configuration of FSDP 1 becomes one of FSDP 2") {
  TemporaryDirectory directory;
  auto file = directory.write("one.yaml", R"(distributed_type: FSDP
fsdp_config:
  fsdp_sharding_strategy: SHARD_GRAD_OP
  fsdp_backward_prefetch: BACKWARD_PRE
  fsdp_forward_prefetch: true
  fsdp_use_orig_params: true
  fsdp_sync_module_states: true
  fsdp_offload_params: true
  fsdp_state_dict_type: SHARDED_STATE_DICT
num_processes: 2
)");
  auto output = (directory.path() / "two.yaml").string();
  auto result = accelerate_with({"to-fsdp2", "--config_file", file, "--output_file", output});
  CHECK(result.exit_code == 0);
  CHECK(result.errors.find("fsdp_use_orig_params has no counterpart in FSDP 2; omitted") != std::string::npos);
  auto section = config::read_launch_config(output).fsdp_config;
  CHECK(section.size() == 4);
  CHECK(std::get<bool>(section.at("fsdp_reshard_after_forward")) == false);
  CHECK(std::get<bool>(section.at("fsdp_offload_params")) == true);
  CHECK(std::get<int64_t>(section.at("fsdp_version")) == 2);
  CHECK(accelerate_with({"to-fsdp2", "--config_file", output, "--overwrite"}).output.find("nothing was written") !=
        std::string::npos);
  CHECK(accelerate_with({"to-fsdp2", "--config_file", file, "--output_file", output}).exit_code == 2);
}

TEST_CASE("a table is as wide as its title") {
  CHECK(draw_table("a long title", {"a", "b"}, {{"1", "22"}}) ==
        "┌──────────────┐\n│ a long title │\n├─┬────────────┤\n│a│     b      │\n├─┼────────────┤\n│1│     22     │\n"
        "└─┴────────────┘\n");
}
