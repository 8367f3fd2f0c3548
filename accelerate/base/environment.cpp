#include "accelerate/base/environment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"

namespace accelerate {

namespace {

std::optional<bool> flag_of(std::string_view text) {
  constexpr std::array<std::string_view, 6> kYes = {"y", "yes", "t", "true", "on", "1"};
  constexpr std::array<std::string_view, 6> kNo = {"n", "no", "f", "false", "off", "0"};
  auto lower = lower_case(std::string(text));
  if (std::find(kYes.begin(), kYes.end(), lower) != kYes.end()) return true;
  if (std::find(kNo.begin(), kNo.end(), lower) != kNo.end()) return false;
  return std::nullopt;
}

constexpr const char* kFlagWords = "it can be y, yes, t, true, on, 1 or n, no, f, false, off, 0";

}  // namespace

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

void set_environment_variable(const EnvironmentVariable& variable) {
  if (variable.value) {
    setenv(variable.name.c_str(), variable.value->c_str(), /*overwrite=*/1);
  } else {
    unsetenv(variable.name.c_str());
  }
}

bool parse_flag(std::string_view text) {
  auto flag = flag_of(text);
  if (!flag) fail("'", text, "' is neither true nor false; ", kFlagWords);
  return *flag;
}

bool environment_flag(const std::string& name, bool fallback) {
  auto value = environment_variable(name);
  if (!value || value->empty()) return fallback;
  auto flag = flag_of(*value);
  if (!flag) fail("environment variable ", name, " is '", *value, "'; ", kFlagWords);
  return *flag;
}

int64_t parse_integer(const std::string& name, std::string_view text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail("environment variable ", name, " is '", text, "', which is not a whole number");
  }
  return number;
}

std::optional<int64_t> environment_integer(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    auto value = environment_variable(name);
    if (value && !value->empty()) return parse_integer(name, *value);
  }
  return std::nullopt;
}

PatchEnvironment::PatchEnvironment(std::initializer_list<EnvironmentVariable> variables) {
  for (const auto& variable : variables) {
    previous_.push_back({variable.name, environment_variable(variable.name)});
    set_environment_variable(variable);
  }
}

PatchEnvironment::~PatchEnvironment() {
  // In reverse order, so that a variable named twice gets its first value back.
  std::for_each(previous_.rbegin(), previous_.rend(), set_environment_variable);
}

}  // namespace accelerate
