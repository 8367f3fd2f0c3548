#include "accelerate/launch/settings/show_settings.h"

#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <string_view>

#include "accelerate/launch/settings/launch_options.h"

namespace accelerate::launch {

namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Decides whether the default of a flag affects the program.
class Relevance {
 public:
  Relevance(const Settings& settings, const ShowOptions& options)
      : settings_(settings),
        python_(is_python_program(options.program, settings.is_on("module"))),
        on_gpus_(options.gpus > 0 && !settings.is_on("cpu")),
        several_machines_(settings.integer("num_machines").value_or(1) > 1) {}

  bool concerns(const std::string& flag) const {
    if (is_one_of(flag, {"gpu_ids", "multi_gpu"})) return on_gpus_;
    if (is_one_of(flag, {"machine_rank", "main_process_ip", "same_network", "rdzv_backend", "rdzv_conf"})) {
      return several_machines_;
    }
    if (flag == "dynamo_backend" || flag.starts_with("use_")) return python_;
    if (flag.starts_with("dynamo_")) return python_ && settings_.text("dynamo_backend") != "no";
    if (flag.starts_with("fsdp_")) return settings_.is_on("use_fsdp");
    if (flag.starts_with("parallelism_config_")) return settings_.is_on("use_parallelism_config");
    return true;
  }

 private:
  const Settings& settings_;
  bool python_;
  bool on_gpus_;
  bool several_machines_;
};

/// The effective value. The number of processes has a default that is not in the table of flags.
Setting effective(const Settings& settings, const std::string& flag, int gpus) {
  auto setting = settings.at(flag);
  if (flag == "num_processes" && setting.origin.empty()) {
    setting = {std::to_string(usual_processes(settings.integer("num_machines").value_or(1), gpus)), "default"};
  }
  return setting;
}

std::string line_of(const std::string& flag, const Setting& setting) {
  auto line = flag + ": " + setting.value;
  line.resize(std::max<size_t>(line.size(), 48), ' ');
  return line + "  # " + setting.origin + "\n";
}

}  // namespace

std::string show_settings(const Settings& settings, const ShowOptions& options) {
  Relevance relevance(settings, options);
  std::ostringstream text;
  std::string heading;
  int num_left_out = 0;
  for (const auto& flag : launch_flags()) {
    auto setting = effective(settings, flag.name, options.gpus);
    if (setting.origin.empty() || flag.name == "show_config") continue;
    if (!options.all && !settings.is_given(flag.name) && !relevance.concerns(flag.name)) {
      ++num_left_out;
      continue;
    }
    if (!flag.group.empty() && flag.group != heading) text << "# " << (heading = flag.group) << '\n';
    text << line_of(flag.name, setting);
  }
  if (num_left_out > 0) {
    text << "# " << num_left_out << " defaults that have no effect here are omitted; --show_config=all prints them\n";
  }
  return text.str();
}

}  // namespace accelerate::launch
