#include "notebook/runtime/messages.h"

#include <iostream>

#include <nlohmann/json.hpp>

#include "notebook/protocol/frames.h"
#include "notebook/runtime/flush_output.h"

namespace accelerate::notebook {

int running_line = 0;

namespace {

int notebook_pipe = -1;

void send(const nlohmann::json& message) {
  flush_output();
  if (notebook_pipe < 0) {
    std::cout << message["data"].value("text/plain", "") << std::endl;
    return;
  }
  write_frame(notebook_pipe, message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

void send_to(int pipe) { notebook_pipe = pipe; }

void send_result(const MimeBundle& bundle) { send({{"type", "result"}, {"data", bundle}}); }

void send_display(const MimeBundle& bundle, const std::string& id, bool update) {
  send({{"type", update ? "update_display" : "display"}, {"data", bundle}, {"id", id}});
}

}  // namespace accelerate::notebook
