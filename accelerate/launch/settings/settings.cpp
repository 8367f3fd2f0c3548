#include "accelerate/launch/settings/settings.h"

#include <algorithm>
#include <charconv>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/text.h"

namespace accelerate::launch {

namespace {

template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

constexpr const char* kDefault = "default";

bool in_file(const Setting& setting) { return setting.origin.find(':') != std::string::npos; }

/// The name of the setting as the user gave it: its flag, its variable, or its line in a file.
std::string name_of(const std::string& flag, const Setting& setting) {
  if (setting.origin.empty() || setting.origin == kDefault) return "--" + flag;
  return in_file(setting) ? setting.origin + ": " + flag : setting.origin;
}

std::string named(const LaunchFlag& flag, const Setting& setting) {
  return name_of(flag.name, setting) + " is '" + setting.value + "'";
}

bool is_choice(const LaunchFlag& flag, const std::string& value) {
  return std::find(flag.choices.begin(), flag.choices.end(), value) != flag.choices.end();
}

void check(const LaunchFlag& flag, const Setting& setting) {
  if (flag.name == "mixed_precision" && setting.value == "fp8") {
    fail(named(flag, setting), ", which needs Python libraries; it can be ", listed(flag.choices, " or "));
  }
  switch (flag.kind) {
    case FlagKind::Switch:
      if (is_choice(flag, setting.value)) break;
      try {
        parse_flag(setting.value);
      } catch (const Error&) {
        fail(named(flag, setting), "; it can be ", listed(flag.choices, ", "), flag.choices.empty() ? "" : ", ",
             "true or false");
      }
      break;
    case FlagKind::Integer:
      if (!parse_number<int>(setting.value)) fail(named(flag, setting), "; it must be a whole number");
      break;
    case FlagKind::Seconds:
      if (parse_number<double>(setting.value).value_or(-1) < 0) {
        fail(named(flag, setting), "; it must be a number of seconds, 0 or more");
      }
      break;
    case FlagKind::Text:
      if (!flag.choices.empty() && !is_choice(flag, setting.value)) {
        fail(named(flag, setting), "; it can be ", listed(flag.choices, " or "));
      }
  }
}

}  // namespace

Settings::Settings(const std::vector<SettingMap>& sources) {
  for (const auto& flag : launch_flags()) {
    for (const auto& source : sources) {
      auto found = source.find(flag.name);
      if (found != source.end()) settings_.insert(*found);  // keeps the first
    }
    if (!flag.fallback.empty()) settings_.insert({flag.name, {flag.fallback, kDefault}});
    if (is_given(flag.name)) check(flag, at(flag.name));
  }
}

const Setting& Settings::at(const std::string& name) const {
  static const Setting kNone;
  auto found = settings_.find(name);
  return found == settings_.end() ? kNone : found->second;
}

bool Settings::is_on(const std::string& name) const {
  return is_choice(*find_launch_flag(name), at(name).value) || parse_flag(at(name).value);
}

const std::string& Settings::text(const std::string& name) const { return at(name).value; }

std::optional<int> Settings::integer(const std::string& name) const { return parse_number<int>(at(name).value); }

double Settings::seconds(const std::string& name) const { return parse_number<double>(at(name).value).value_or(0); }

bool Settings::is_given(const std::string& name) const {
  const auto& origin = at(name).origin;
  return !origin.empty() && origin != kDefault;
}

bool Settings::is_from_file(const std::string& name) const { return in_file(at(name)); }

std::string Settings::given_as(const std::string& name) const { return name_of(name, at(name)); }

SettingMap settings_of_environment() {
  SettingMap settings;
  for (const auto& flag : launch_flags()) {
    auto value = environment_variable(flag.variable());
    if (!value || value->empty()) continue;
    // Launchers pass this variable to programs in uppercase, and such a program may be a launcher.
    settings[flag.name] = {flag.name == "dynamo_backend" ? lower_case(*value) : *value, flag.variable()};
  }
  return settings;
}

}  // namespace accelerate::launch
