#pragma once

// The content of a configuration file: the keys of Python's Accelerate, each optional.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "accelerate/base/error.h"

namespace accelerate::config {

/// An invalid configuration. Each line of the message names the position and the remedy.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// A value inside a section: null, a flag, a number, a text, or a list of texts.
using Value = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<std::string>>;

/// The keys below one of the `..._config` keys.
using Section = std::map<std::string, Value>;

/// A position in a file, counted from 1. Line 0 means that there is none.
struct Position {
  int line = 0;
  int column = 0;
};

/// The settings of a job. Keys that are not in the file are empty; the reader of the setting chooses the default.
struct LaunchConfig {
  std::optional<std::string> compute_environment = std::nullopt;  // LOCAL_MACHINE or AMAZON_SAGEMAKER
  std::optional<std::string> distributed_type = std::nullopt;     // NO, MULTI_CPU, MULTI_GPU, ...
  std::optional<std::string> mixed_precision = std::nullopt;      // no, fp16, bf16 or fp8
  std::optional<bool> use_cpu = std::nullopt;
  std::optional<bool> debug = std::nullopt;
  std::optional<int64_t> num_processes = std::nullopt;  // on all machines together
  std::optional<int64_t> machine_rank = std::nullopt;
  std::optional<int64_t> num_machines = std::nullopt;
  std::optional<std::string> gpu_ids = std::nullopt;  // "all" or "0,2"
  std::optional<std::string> main_process_ip = std::nullopt;
  std::optional<int64_t> main_process_port = std::nullopt;
  std::optional<std::string> rdzv_backend = std::nullopt;  // static, c10d, ...
  std::optional<bool> same_network = std::nullopt;
  std::optional<std::string> main_training_function = std::nullopt;
  std::optional<bool> enable_cpu_affinity = std::nullopt;
  Section fp8_config = {};
  Section deepspeed_config = {};
  Section fsdp_config = {};
  Section parallelism_config = {};
  Section megatron_lm_config = {};
  Section mpirun_config = {};                               // mpirun_hostfile
  std::optional<std::string> downcast_bf16 = std::nullopt;  // yes or no
  std::optional<std::string> tpu_name = std::nullopt;
  std::optional<std::string> tpu_zone = std::nullopt;
  std::optional<bool> tpu_use_cluster = std::nullopt;
  std::optional<bool> tpu_use_sudo = std::nullopt;
  std::optional<std::string> command_file = std::nullopt;
  std::optional<std::vector<std::string>> commands = std::nullopt;
  std::optional<std::vector<std::string>> tpu_vm = std::nullopt;
  std::optional<std::vector<std::string>> tpu_env = std::nullopt;
  Section dynamo_config = {};  // dynamo_backend, dynamo_mode, dynamo_use_fullgraph, ...

  std::filesystem::path file = {};                 // the source file; empty if created in memory
  std::map<std::string, Position> positions = {};  // of each given key; "dynamo_config.dynamo_mode" inside a section
  std::vector<std::string> upgrades = {};          // a sentence for each difference from an older version's format

  /// "file:line" of a key, for messages. Empty if the file does not contain it.
  std::string origin(const std::string& key) const;
};

/// The default configuration file: $HF_HOME/accelerate/default_config.yaml. HF_HOME defaults to
/// $XDG_CACHE_HOME/huggingface, and XDG_CACHE_HOME to ~/.cache. The file need not exist.
std::filesystem::path default_config_file();

/// Reads YAML, or JSON if the name ends in .json, and upgrades files of older versions. Throws ConfigError that
/// lists the first three mistakes, each with file:line:column and the remedy, and counts the others.
LaunchConfig read_launch_config(const std::filesystem::path& path);

}  // namespace accelerate::config
