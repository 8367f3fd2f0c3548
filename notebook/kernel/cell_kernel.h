#pragma once

// The Jupyter kernel: forwards requests to the worker process, and output of the worker to the notebook.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <xeus/xinterpreter.hpp>

#include "notebook/kernel/worker_process.h"

namespace accelerate::notebook {

class CellKernel : public xeus::xinterpreter {
 public:
  /// `interrupts` is a signalfd(2) of SIGINT. SIGINT must be blocked in all threads of this process, because xeus does
  /// not survive it.
  CellKernel(std::vector<std::string> worker_command, int interrupts);

 private:
  using json = nlohmann::json;

  void configure_impl() override;
  json execute_request_impl(int number, const std::string& code, bool silent, bool store_history, json user_expressions,
                            bool allow_stdin) override;
  json complete_request_impl(const std::string& code, int cursor) override;
  json inspect_request_impl(const std::string& code, int cursor, int detail_level) override;
  json is_complete_request_impl(const std::string& code) override;
  json kernel_info_request_impl() override;
  void shutdown_request_impl() override;

  /// The answer of the worker; nullopt if it has died.
  std::optional<json> ask(const json& request, const WorkerEvents& events);
  /// Whether the worker is ready for requests. Restarts it after a crash.
  bool make_ready(const WorkerEvents& events);
  json suggestions(const std::string& code, int cursor, bool whole_word);
  json failed(const std::string& name, const std::string& value, const std::vector<std::string>& traceback);
  WorkerEvents quiet();
  void show(const json& message, int number, bool silent, bool allow_stdin);
  bool take_interrupts();

  WorkerProcess worker_;
  int interrupts_;
  bool ready_ = false;
  std::string start_messages_;
};

}  // namespace accelerate::notebook
