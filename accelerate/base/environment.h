#pragma once

// Reads environment variables that users and launchers set, and changes them for the duration of a scope.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate {

/// The value of the variable, or nothing if it is not set.
std::optional<std::string> environment_variable(const std::string& name);

/// True for y, yes, t, true, on, 1; false for n, no, f, false, off, 0; case-insensitive. Throws Error for other words.
bool parse_flag(std::string_view text);

/// The variable as a flag. Returns `fallback` if it is unset or empty. Throws Error naming the variable if it is
/// neither true nor false.
bool environment_flag(const std::string& name, bool fallback = false);

/// Parses `text`, the value of the variable `name`, as an integer. Throws Error naming both if it is not one.
int64_t parse_integer(const std::string& name, std::string_view text);

/// The first of the variables that is set and not empty, as an integer; nothing if there is no such variable. Throws
/// Error naming the variable and its value if it is not an integer.
std::optional<int64_t> environment_integer(std::initializer_list<const char*> names);

/// A variable and its new value. Without a value it is unset.
struct EnvironmentVariable {
  std::string name;
  std::optional<std::string> value = std::nullopt;
};

/// Sets or unsets the variable for this process and its children. Not thread-safe: no other thread may read the
/// environment.
void set_environment_variable(const EnvironmentVariable& variable);

/// Sets variables (or unsets those without a value), and restores all of them at the end of the scope, also after an
/// exception.
///
///   PatchEnvironment patch{{"ACCELERATE_DEBUG_MODE", "1"}, {"RANK", std::nullopt}};
class [[nodiscard]] PatchEnvironment {
 public:
  PatchEnvironment(std::initializer_list<EnvironmentVariable> variables);
  PatchEnvironment(const PatchEnvironment&) = delete;
  PatchEnvironment& operator=(const PatchEnvironment&) = delete;
  ~PatchEnvironment();

 private:
  std::vector<EnvironmentVariable> previous_;
};

}  // namespace accelerate
