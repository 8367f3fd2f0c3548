#pragma once

// Messages that know which rank speaks. One line of standard error is one write, so that lines of ranks never mix.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace accelerate {

enum class LogLevel { Debug, Info, Warning, Error, Critical };

/// "debug", "INFO", "warning", "error" or "critical", in any case; throws Error for another word.
LogLevel parse_log_level(std::string_view name);

/// Throws Error when ACCELERATE_LOG_LEVEL is set to something that is no level; called where a program joins its job.
void check_log_level_variable();

/// Who speaks. Until a program joins a job it is rank 0 of 1, so logging works from the first line on; after it has
/// left one, the rank that it was there.
struct LogContext {
  int rank = 0;
  int local_rank = 0;
  int world_size = 1;
  std::function<void()> barrier = {};  // waits for all ranks; needed for messages in order
};

/// Sets the speaker for all loggers of this process; whoever learns the rank calls it.
void set_log_context(LogContext context);
LogContext log_context();

struct LogOptions {
  bool main_process_only = true;
  bool in_order = false;  // rank by rank; every rank must make the call, and main_process_only must be false
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

  /// A warning that this process gives only the first time.
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

/// A logger with the given level, or that of ACCELERATE_LOG_LEVEL, or Warning, also where the variable names no level:
/// loggers are made on the way out of a failure too, where nothing may be thrown.
Logger get_logger(std::string name, std::optional<LogLevel> level = std::nullopt);

/// The line a logger writes: "WARNING:name:message", with "[RANK 2] " before the message where there are several ranks.
std::string format_log_line(LogLevel level, std::string_view name, std::string_view message, const LogContext& context);

}  // namespace accelerate
