// The process in which cells run. It has no threads of its own, so that a cell can fork ranks, and when a cell crashes
// only this process is lost. The kernel (kernel/) starts it and talks with it through two pipes:
//
//   accelerate-cells REQUESTS REPLIES compiler flags...

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <iostream>

#include <nlohmann/json.hpp>

#include "accelerate/base/progress_bar.h"
#include "notebook/protocol/frames.h"
#include "notebook/runtime/flush_output.h"
#include "notebook/runtime/messages.h"
#include "notebook/worker/interpreter.h"
#include "notebook/worker/interrupts.h"
#include "notebook/worker/run_cell.h"
#include "notebook/worker/standard_input.h"
#include "notebook/worker/suggestions.h"

namespace accelerate::notebook {

namespace {

using nlohmann::json;

/// The kernel's requests, and what goes back.
class Worker {
 public:
  Worker(int requests, int replies, const std::vector<std::string>& flags)
      : requests_(requests), replies_(replies), interpreter_(flags) {
    for (int pipe : {requests, replies}) fcntl(pipe, F_SETFD, FD_CLOEXEC);  // not for what !commands leave running
    send_to(replies);
    ask_for_standard_input([this] { return asked_line(); });
  }

  void serve() {
    reply({{"type", "done"}, {"status", "ok"}});
    while (auto request = requests_.wait()) {
      auto message = json::parse(*request);
      auto answer = message["type"] == "execute" ? execute(message) : suggest(message);
      answer["type"] = "done";
      reply(answer);
    }
  }

 private:
  json execute(const json& request) {
    auto answer = run_cell(interpreter_, request["code"], request["number"]);
    draw_open_bars();
    flush_output();
    return answer;
  }

  json suggest(const json& request) {
    return suggestions_at(interpreter_, request["code"].get<std::string>(), request["cursor"], request["whole_word"]);
  }

  std::optional<std::string> asked_line() {
    reply({{"type", "input"}});
    auto answer = requests_.wait();
    if (!answer) return std::nullopt;
    auto line = json::parse(*answer)["line"];
    if (!line.is_string()) return std::nullopt;
    return line.get<std::string>();
  }

  void reply(const json& message) {
    write_frame(replies_, message.dump(-1, ' ', false, json::error_handler_t::replace));
  }

  FrameReader requests_;
  int replies_;
  Interpreter interpreter_;
};

}  // namespace

}  // namespace accelerate::notebook

int main(int argc, char** argv) {
  using namespace accelerate::notebook;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  note_interrupts();
  if (argc < 3) {
    std::cerr << "the notebook's kernel starts accelerate-cells\n";
    return 2;
  }
  try {
    Worker(std::stoi(argv[1]), std::stoi(argv[2]), {argv + 3, argv + argc}).serve();
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    _exit(1);
  }
  _exit(0);  // destructors of what cells have made would run among those of libtorch, in no order
}
