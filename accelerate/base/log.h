#pragma once

// Logging with ranks. Each line is one write to standard error, so lines of different ranks never mix.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace accelerate {

enum class LogLevel { Debug, Info, Warning, Error, Critical };

/// Parses "debug", "INFO", "warning", "error" or "critical", case-insensitive. Throws Error for other words.
LogLevel parse_log_level(std::string_view name);

/// Throws Error if ACCELERATE_LOG_LEVEL is not a level. Called when a program joins its job.
void check_log_level_variable();

/// The rank that logs. Before a program joins a job it is rank 0 of 1, so logging always works. After leaving a job it
/// keeps its rank.
struct LogContext {
  int rank = 0;
  int local_rank = 0;
  int world_size = 1;
  std::function<void()> barrier = {};  // over all ranks; needed for in_order
};

/// Sets the context of all loggers of this process. Called by the code that learns the rank.
void set_log_context(LogContext context);
LogContext log_context();

struct LogOptions {
  bool main_process_only = true;
  bool in_order = false;  // rank by rank; all ranks must make the call, and main_process_only must be false
};

/// A named source of messages. A message below the logger's level costs a comparison.
class Logger {
 public:
  Logger(std::string name, LogLevel level) : name_(std::move(name)), level_(level) {}

  void debug(std::string_view message, LogOptions options = {}) const { log(LogLevel::Debug, message, options); }
  void info(std::string_view message, LogOptions options = {}) const { log(LogLevel::Info, message, options); }
  void warning(std::string_view message, LogOptions options = {}) const { log(LogLevel::Warning, message, options); }
  void error(std::string_view message, LogOptions options = {}) const { log(LogLevel::Error, message, options); }
  void critical(std::string_view message, LogOptions options = {}) const { log(LogLevel::Critical, message, options); }

  /// A warning that is logged once per process.
  void warning_once(std::string_view message, LogOptions options = {}) const;

  void log(LogLevel level, std::string_view message, LogOptions options = {}) const;

  bool is_enabled_for(LogLevel level) const { return level >= level_; }
  LogLevel level() const { return level_; }
  void set_level(LogLevel level) { level_ = level; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  LogLevel level_;
};

/// A logger with the given level. The default is ACCELERATE_LOG_LEVEL, or Warning if that is unset or invalid: loggers
/// are also created during error handling, where nothing may throw.
Logger get_logger(std::string name, std::optional<LogLevel> level = std::nullopt);

/// The line that a logger writes: "WARNING:name:message", with "[RANK 2] " before the message if there are several
/// ranks.
std::string format_log_line(LogLevel level, std::string_view name, std::string_view message, const LogContext& context);

}  // namespace accelerate
