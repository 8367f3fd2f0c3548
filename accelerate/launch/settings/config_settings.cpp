// Reads settings from a configuration file, by flag name.

#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "accelerate/launch/settings/settings.h"

namespace accelerate::launch {

namespace {

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(int64_t value) { return std::to_string(value); }
std::string text_of(const std::string& value) { return value; }

std::string text_of(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string text_of(const std::vector<std::string>& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

std::string text_of(std::monostate) { return ""; }

/// Why a kind of job is not supported here, although Python's launcher supports it. Empty if it is supported.
std::string why_not_started(const std::string& distributed_type) {
  if (distributed_type == "DEEPSPEED") return why_not_here("use_deepspeed");
  if (distributed_type == "MEGATRON_LM") return why_not_here("use_megatron_lm");
  if (distributed_type == "XLA") return why_not_here("tpu");
  return "";
}

class Reader {
 public:
  explicit Reader(const config::LaunchConfig& config) : config_(config) {}

  template <class T>
  void scalar(const std::string& key, const std::optional<T>& value, const std::string& flag = "") {
    if (value) settings_[flag.empty() ? key : flag] = {text_of(*value), config_.origin(key)};
  }

  /// The keys of a section are flags, with or without the section's prefix.
  void section(const std::string& key, const config::Section& section, const std::string& prefix) {
    for (const auto& [name, value] : section) {
      auto text = std::visit([](const auto& held) { return text_of(held); }, value);
      auto flag = name.starts_with(prefix) ? name : prefix + name;
      if (flag == "dynamo_backend") text = lower_case(text);  // uppercase in the file
      if (!text.empty()) settings_[flag] = {text, config_.origin(key + "." + name)};
    }
  }

  void set(const std::string& flag, const std::string& value, const std::string& key) {
    settings_[flag] = {value, config_.origin(key)};
  }

  SettingMap take() { return std::move(settings_); }

 private:
  const config::LaunchConfig& config_;
  SettingMap settings_;
};

}  // namespace

SettingMap settings_of_config(const config::LaunchConfig& config) {
  auto type = config.distributed_type.value_or("NO");
  if (auto reason = why_not_started(type); !reason.empty()) {
    fail(config.origin("distributed_type"), ": distributed_type ", type, " ", reason);
  }
  Reader reader(config);
  reader.scalar("mixed_precision", config.mixed_precision);
  reader.scalar("use_cpu", config.use_cpu, "cpu");
  reader.scalar("debug", config.debug);
  reader.scalar("num_processes", config.num_processes);
  reader.scalar("machine_rank", config.machine_rank);
  reader.scalar("num_machines", config.num_machines);
  reader.scalar("gpu_ids", config.gpu_ids);
  reader.scalar("main_process_ip", config.main_process_ip);
  reader.scalar("main_process_port", config.main_process_port);
  reader.scalar("rdzv_backend", config.rdzv_backend);
  reader.scalar("same_network", config.same_network);
  reader.scalar("enable_cpu_affinity", config.enable_cpu_affinity);
  reader.section("mpirun_config", config.mpirun_config, "mpirun_");
  reader.section("dynamo_config", config.dynamo_config, "dynamo_");
  reader.section("fsdp_config", config.fsdp_config, "fsdp_");
  reader.section("parallelism_config", config.parallelism_config, "parallelism_config_");
  if (type == "MULTI_GPU") reader.set("multi_gpu", "true", "distributed_type");
  if (type == "FSDP") reader.set("use_fsdp", "true", "distributed_type");
  if (!config.parallelism_config.empty()) reader.set("use_parallelism_config", "true", "parallelism_config");
  return reader.take();
}

}  // namespace accelerate::launch
