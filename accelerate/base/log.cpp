#include "accelerate/base/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <set>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/text.h"

namespace accelerate {

namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
constexpr const char* kLevelChoice = "debug, info, warning, error or critical";
constexpr const char* kLevelVariable = "ACCELERATE_LOG_LEVEL";

std::optional<LogLevel> find_level(std::string_view name) {
  auto found = std::find(kLevelNames.begin(), kLevelNames.end(), upper_case(std::string(name)));
  if (found == kLevelNames.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kLevelNames.begin());
}

/// State shared by all loggers. Never destroyed, so that static objects can log in their destructors.
struct Shared {
  std::mutex mutex;
  LogContext context;
  std::set<std::string> said_once;
};

Shared& shared() {
  static auto* instance = new Shared;
  return *instance;
}

}  // namespace

LogLevel parse_log_level(std::string_view name) {
  auto level = find_level(name);
  if (!level) fail("log level '", name, "' is unknown; it can be ", kLevelChoice);
  return *level;
}

void check_log_level_variable() {
  auto wanted = environment_variable(kLevelVariable).value_or("");
  if (!wanted.empty() && !find_level(wanted)) fail(kLevelVariable, " is '", wanted, "'; it can be ", kLevelChoice);
}

void set_log_context(LogContext context) {
  std::lock_guard lock(shared().mutex);
  shared().context = std::move(context);
}

LogContext log_context() {
  std::lock_guard lock(shared().mutex);
  return shared().context;
}

std::string format_log_line(LogLevel level, std::string_view name, std::string_view message,
                            const LogContext& context) {
  std::string line(kLevelNames[static_cast<size_t>(level)]);
  line.append(":").append(name).append(":");
  if (context.world_size > 1) line += "[RANK " + std::to_string(context.rank) + "] ";
  line.append(message).append("\n");
  return line;
}

void Logger::log(LogLevel level, std::string_view message, LogOptions options) const {
  if (!is_enabled_for(level)) return;
  auto context = log_context();
  auto say = [&] { write_all(STDERR_FILENO, format_log_line(level, name_, message, context)); };
  if (options.main_process_only) {
    if (context.rank == 0) say();
  } else if (options.in_order && context.barrier) {
    for (int speaker = 0; speaker < context.world_size; ++speaker) {
      if (speaker == context.rank) say();
      context.barrier();
    }
  } else {
    say();
  }
}

void Logger::warning_once(std::string_view message, LogOptions options) const {
  {
    std::lock_guard lock(shared().mutex);
    if (!shared().said_once.insert(name_ + ":" + std::string(message)).second) return;
  }
  warning(message, options);
}

Logger get_logger(std::string name, std::optional<LogLevel> level) {
  if (!level) level = find_level(environment_variable(kLevelVariable).value_or(""));
  return Logger(std::move(name), level.value_or(LogLevel::Warning));
}

}  // namespace accelerate
