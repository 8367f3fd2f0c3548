#include "accelerate/config/write_config.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "accelerate/config/keys.h"

using namespace accelerate::config;

TEST_CASE("the published schema is the one of these keys") {
  std::ifstream file(ACCELERATE_SOURCE_DIR "/docs/config.schema.json");
  std::ostringstream published;
  published << file.rdbuf();
  CHECK_MESSAGE(published.str() == config_schema(),
                "write it again: accelerate config schema > docs/config.schema.json");
}

TEST_CASE("the schema has every key with its meaning, type and choices") {
  auto schema = nlohmann::json::parse(config_schema());
  CHECK(schema["properties"].size() == keys().size());
  for (const auto& key : keys()) CHECK(schema["properties"][key.name]["description"].get<std::string>().size() > 5);
  CHECK(schema["properties"]["main_process_port"]["maximum"] == 65535);
  CHECK(schema["properties"]["tpu_env"]["items"]["type"] == "string");
  CHECK(schema["properties"]["debug"]["type"][0] == "boolean");
}
