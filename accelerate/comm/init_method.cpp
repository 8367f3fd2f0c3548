// The init_method of torch.distributed: env://, tcp://host:port or file:///path.

#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "accelerate/base/error.h"
#include "accelerate/comm/process_environment.h"

namespace accelerate::comm {

namespace {

[[noreturn]] void refuse_init_method(const std::string& text, std::string_view reason) {
  fail("init_method is '", text, "': ", reason, "; it can be env://, tcp://host:port or file:///path/to/a/new/file, ",
       "and the last two may end in ?rank=0&world_size=2");
}

int number_in(const std::string& text, std::string_view name, std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 0) {
    refuse_init_method(text, std::string(name) + " is not a number");
  }
  return value;
}

/// Parses the query, the numbers after the question mark, and removes it from `rest`.
std::map<std::string, int, std::less<>> take_query(const std::string& text, std::string_view& rest) {
  std::map<std::string, int, std::less<>> numbers;
  const auto mark = rest.find('?');
  if (mark == std::string_view::npos) return numbers;
  auto query = rest.substr(mark + 1);
  rest = rest.substr(0, mark);
  while (!query.empty()) {
    const auto item = query.substr(0, query.find('&'));
    query = query.substr(std::min(query.size(), item.size() + 1));
    const auto name = item.substr(0, item.find('='));
    if (name != "rank" && name != "world_size") refuse_init_method(text, "'" + std::string(name) + "' is unknown");
    numbers[std::string(name)] = number_in(text, name, item.substr(std::min(item.size(), name.size() + 1)));
  }
  return numbers;
}

void set_rank(ProcessEnvironment& process, const std::string& text,
              const std::map<std::string, int, std::less<>>& numbers) {
  const auto given = [&](std::string_view name, int otherwise) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? otherwise : found->second;
  };
  if (numbers.empty() && !process.distributed) {
    fail("init_method is '", text, "', but this process has no rank from a launcher: add ?rank=0&world_size=2 to it, ",
         "with the rank of each process and their number, set RANK and WORLD_SIZE, or start it with accelerate launch");
  }
  if (!process.distributed) {  // without a launcher, all ranks are assumed to share this machine
    process.distributed = true;
    process.rank = process.local_rank = given("rank", -1);
    process.world_size = process.local_world_size = given("world_size", -1);
    process.run_id = "none";
    if (process.rank < 0 || process.world_size < 1 || process.rank >= process.world_size) {
      refuse_init_method(text, "without a launcher it must contain rank and world_size, with rank < world_size");
    }
  }
  if (given("rank", process.rank) != process.rank || given("world_size", process.world_size) != process.world_size) {
    refuse_init_method(
        text, "the launcher says rank " + std::to_string(process.rank) + " of " + std::to_string(process.world_size));
  }
}

}  // namespace

ProcessEnvironment with_init_method(ProcessEnvironment process, const std::string& init_method) {
  std::string_view rest = init_method;
  if (rest.empty() || rest == "env://") return process;
  const auto scheme_end = rest.find("://");
  const auto scheme = rest.substr(0, scheme_end);
  if (scheme_end == std::string_view::npos || (scheme != "tcp" && scheme != "file")) {
    refuse_init_method(init_method, "this is not a supported scheme");
  }
  rest = rest.substr(scheme_end + 3);
  set_rank(process, init_method, take_query(init_method, rest));
  if (scheme == "file") {
    if (rest.empty() || rest.front() != '/') refuse_init_method(init_method, "the path must begin with /");
    if (!process.one_machine()) refuse_init_method(init_method, "a file is for ranks of one machine; use tcp://");
    process.store_file = rest;
    process.store_fd.reset();
    process.agent_store = false;
    return process;
  }
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    refuse_init_method(init_method, "it must contain a host and a port");
  auto host = rest.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);  // IPv6
  const int port = number_in(init_method, "the port", rest.substr(colon + 1));
  if (port < 1 || port > 65535) refuse_init_method(init_method, "a port is a number from 1 to 65535");
  if (host == process.main_address && port == process.main_port) return process;  // the launcher's store
  process.main_address = host;
  process.main_port = port;
  process.store_fd.reset();
  process.agent_store = false;
  return process;
}

}  // namespace accelerate::comm
