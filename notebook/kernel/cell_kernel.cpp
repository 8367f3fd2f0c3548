#include "notebook/kernel/cell_kernel.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <xeus/xhelper.hpp>
#include <xeus/xinput.hpp>

#include "accelerate/base/version.h"
#include "notebook/cells/tokens.h"

namespace accelerate::notebook {

namespace {

constexpr int kNoInterrupts = -1;  // instead of the descriptor: interrupts stay pending

}  // namespace

CellKernel::CellKernel(std::vector<std::string> worker_command, int interrupts)
    : worker_(std::move(worker_command)), interrupts_(interrupts) {
  xeus::register_interpreter(this);
}

// The worker loads its headers while the notebook opens.
void CellKernel::configure_impl() { worker_.start(); }

void CellKernel::shutdown_request_impl() { worker_.stop(); }

bool CellKernel::take_interrupts() {
  bool any = false;
  signalfd_siginfo info{};
  while (read(interrupts_, &info, sizeof(info)) == sizeof(info)) any = true;
  return any;
}

WorkerEvents CellKernel::quiet() {
  return {.printed = [](const std::string&, const std::string&) {},
          .message = [](const json&) {},
          .interrupted = [this] { return take_interrupts(); }};
}

bool CellKernel::make_ready(const WorkerEvents& events) {
  if (!worker_.running()) {
    ready_ = false;
    worker_.start();
  }
  if (ready_) return true;
  auto starting = events;
  start_messages_.clear();
  starting.printed = [&](const std::string&, const std::string& text) { start_messages_ += text; };
  ready_ = worker_.wait_until_done(starting, kNoInterrupts).has_value();
  return ready_;
}

std::optional<CellKernel::json> CellKernel::ask(const json& request, const WorkerEvents& events) {
  worker_.send(request);
  return worker_.wait_until_done(events, interrupts_);
}

CellKernel::json CellKernel::failed(const std::string& name, const std::string& value,
                                    const std::vector<std::string>& traceback) {
  publish_execution_error(name, value, traceback);
  return xeus::create_error_reply(name, value, traceback);
}

void CellKernel::show(const json& message, int number, bool silent, bool allow_stdin) {
  auto type = message.value("type", "");
  if (type == "input") {
    json line;
    if (allow_stdin) line = xeus::blocking_input_request("", /*password=*/false);
    worker_.send({{"line", line}});
  } else if (silent) {
    return;
  } else if (type == "result") {
    publish_execution_result(number, message["data"], json::object());
  } else if (type == "display") {
    display_data(message["data"], json::object(), {{"display_id", message["id"]}});
  } else if (type == "update_display") {
    update_display_data(message["data"], json::object(), {{"display_id", message["id"]}});
  }
}

CellKernel::json CellKernel::execute_request_impl(int number, const std::string& code, bool silent,
                                                  bool /*store_history*/, json /*user_expressions*/, bool allow_stdin) {
  if (code.find_first_not_of(" \t\r\n") == std::string::npos) return xeus::create_successful_reply();
  take_interrupts();  // those that came when nothing ran
  WorkerEvents events = quiet();
  events.message = [&](const json& message) { show(message, number, silent, allow_stdin); };
  if (!silent)
    events.printed = [&](const std::string& stream, const std::string& text) { publish_stream(stream, text); };
  if (!make_ready(events)) {
    auto reason = "the interpreter " + worker_.end() +
                  "; after an update of the library, run `accelerate notebook install` again";
    return failed("KernelError", reason, {start_messages_, reason});
  }
  if (take_interrupts()) {
    std::string reason = "interrupted before the cell began";
    return failed("KeyboardInterrupt", reason, {"KeyboardInterrupt: " + reason});
  }

  auto answer = ask({{"type", "execute"}, {"code", code}, {"number", number}}, events);
  if (!answer) {
    bool interrupted = worker_.was_interrupted();
    std::string name = interrupted ? "KeyboardInterrupt" : "Crash";
    auto reason = interrupted ? std::string("the cell did not stop, so its process was ended")
                              : "the process of the cells " + worker_.end();
    reason += "; all definitions are lost, and the next cell starts in a new process";
    ready_ = false;
    worker_.start();
    return failed(name, reason, {name + ": " + reason});
  }
  if ((*answer)["status"] == "ok") return xeus::create_successful_reply();
  return failed((*answer)["ename"], (*answer)["evalue"], (*answer)["traceback"]);
}

CellKernel::json CellKernel::suggestions(const std::string& code, int cursor, bool whole_word) {
  auto byte = byte_of_character(code, static_cast<size_t>(cursor));
  auto none = json{{"begin", byte}, {"names", json::array()}};
  if (!make_ready(quiet())) return none;
  return ask({{"type", "suggest"}, {"code", code}, {"cursor", byte}, {"whole_word", whole_word}}, quiet())
      .value_or(none);
}

CellKernel::json CellKernel::complete_request_impl(const std::string& code, int cursor) {
  auto found = suggestions(code, cursor, /*whole_word=*/false);
  json matches = json::array(), types = json::array();
  auto begin = character_of_byte(code, found["begin"]);
  for (const auto& one : found["names"]) {
    matches.push_back(one["name"]);
    types.push_back({{"text", one["name"]}, {"type", one["kind"]}, {"start", begin}, {"end", cursor}});
  }
  return xeus::create_complete_reply(matches, static_cast<int>(begin), cursor,
                                     {{"_jupyter_types_experimental", types}});
}

CellKernel::json CellKernel::inspect_request_impl(const std::string& code, int cursor, int /*detail_level*/) {
  auto found = suggestions(code, cursor, /*whole_word=*/true);
  std::string text;
  for (const auto& one : found["names"]) {
    auto signature = one.value("signature", "");
    if (signature.empty()) continue;
    text += (text.empty() ? "" : "\n\n") + signature;
    auto documentation = one.value("documentation", "");
    if (!documentation.empty()) text += "\n\n" + documentation;
  }
  if (text.empty()) return xeus::create_inspect_reply(false);
  return xeus::create_inspect_reply(true, {{"text/plain", text}});
}

CellKernel::json CellKernel::is_complete_request_impl(const std::string& code) {
  if (is_balanced(code)) return xeus::create_is_complete_reply("complete", "");
  return xeus::create_is_complete_reply("incomplete", "  ");
}

CellKernel::json CellKernel::kernel_info_request_impl() {
  return xeus::create_info_reply("", "accelerate-cpp", kVersion, "c++", "20", "text/x-c++src", ".cpp", "cpp",
                                 "text/x-c++src", "", "C++20 with libtorch, accelerate and transformers");
}

}  // namespace accelerate::notebook
