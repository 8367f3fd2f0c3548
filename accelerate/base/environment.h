#pragma once

// Reading the environment variables that users and launchers set, and changing them for the length of a scope.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate {

/// The variable's value, or nothing when it is not set.
std::optional<std::string> environment_variable(const std::string& name);

/// True for y, yes, t, true, on, 1; false for n, no, f, false, off, 0; in any case. Throws Error for another word.
bool parse_flag(std::string_view text);

/// The variable as a flag. Returns `fallback` when it is not set or empty; throws Error naming the variable when it is
/// neither true nor false.
bool environment_flag(const std::string& name, bool fallback = false);

/// `text`, the value of the variable `name`, as an integer. Throws Error naming both when it is not one.
int64_t parse_integer(const std::string& name, std::string_view text);

/// The first of the variables that is set and not empty, as an integer; nothing when none is. Throws Error naming the
/// variable and its value when that is not an integer.
std::optional<int64_t> environment_integer(std::initializer_list<const char*> names);

/// A variable and the value it is to have; without one it is to be unset.
struct EnvironmentVariable {
  std::string name;
  std::optional<std::string> value = std::nullopt;
};

/// Sets or unsets the variable for this process and those it starts. Not while other threads read the environment.
void set_environment_variable(const EnvironmentVariable& variable);

/// Sets variables (or unsets those without a value), and restores all of them when the scope ends, also by an
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
