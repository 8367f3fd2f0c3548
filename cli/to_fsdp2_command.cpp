#include "cli/commands.h"

#include <filesystem>
#include <iostream>
#include <map>

#include "accelerate/config/write_config.h"
#include "cli/command_line.h"

namespace accelerate::cli {

namespace {

namespace fs = std::filesystem;
using config::Section;
using config::Value;

/// Whether the second version frees the gathered weights after the forward pass, for what the first called a strategy.
const std::map<std::string, bool> kReshards = {{"FULL_SHARD", true},
                                               {"SHARD_GRAD_OP", false},
                                               {"HYBRID_SHARD", true},
                                               {"HYBRID_SHARD_ZERO2", false},
                                               {"NO_SHARD", false}};

/// What became of a key that the second version does not have; empty for one that it has.
std::string fate_of(const std::string& key) {
  if (key == "fsdp_forward_prefetch") return "does not exist yet in FSDP 2";
  for (auto gone : {"fsdp_backward_prefetch", "fsdp_sync_module_states", "fsdp_use_orig_params"}) {
    if (key == gone) return "has no counterpart in FSDP 2";
  }
  return "";
}

Value reshards(const Value& strategy, const std::string& source) {
  if (std::holds_alternative<bool>(strategy)) return strategy;
  const auto* name = std::get_if<std::string>(&strategy);
  auto found = name == nullptr ? kReshards.end() : kReshards.find(*name);
  if (found == kReshards.end()) {
    throw config::ConfigError(source +
                              ": the sharding strategy of fsdp_config is none of FULL_SHARD, SHARD_GRAD_OP, "
                              "HYBRID_SHARD, HYBRID_SHARD_ZERO2 and NO_SHARD");
  }
  return found->second;
}

Section converted(const Section& old, const std::string& source) {
  Section section;
  for (const auto& [key, value] : old) {
    if (auto fate = fate_of(key); !fate.empty()) {
      std::cerr << "accelerate to-fsdp2: " << key << " " << fate << "; omitted\n";
    } else if (key == "fsdp_sharding_strategy" || key == "fsdp_reshard_after_forward") {
      section["fsdp_reshard_after_forward"] = reshards(value, source);
    } else {
      section[key] = value;
    }
  }
  section["fsdp_version"] = int64_t{2};
  return section;
}

bool is_second_version(const Section& section) {
  auto version = section.find("fsdp_version");
  return version != section.end() && version->second == Value(int64_t{2});
}

}  // namespace

int to_fsdp2_command(const std::vector<std::string>& arguments) {
  std::string config_file, output_file;
  bool overwrite = false;
  CLI::App app("Converts a configuration from FSDP 1 to FSDP 2.", "accelerate to-fsdp2");
  app.add_option("--config_file", config_file, "The configuration to read")->option_text("FILE");
  app.add_option("--output_file", output_file, "The file to write")->option_text("FILE");
  app.add_flag("--overwrite", overwrite, "Replace the output file, or without one the configuration itself");
  if (!parse_arguments(app, arguments)) return 0;
  if (config_file.empty()) throw UsageError("no configuration is given; use --config_file");
  if (output_file.empty() && !overwrite) throw UsageError("no output file is given; use --output_file, or --overwrite");
  if (output_file.empty()) output_file = config_file;
  if (!overwrite && fs::exists(output_file)) throw UsageError(output_file + " already exists; add --overwrite");

  auto config = config::read_launch_config(config_file);
  if (config.fsdp_config.empty())
    throw UsageError(config_file + ": has no fsdp_config, so there is nothing to convert");
  if (is_second_version(config.fsdp_config)) {
    std::cout << config_file << ": is already for FSDP 2; nothing was written\n";
    return 0;
  }
  config.fsdp_config = converted(config.fsdp_config, config_file);
  config::write_launch_config(config, output_file);
  std::cout << "Configuration written to " << output_file << "\n";
  return 0;
}

}  // namespace accelerate::cli
