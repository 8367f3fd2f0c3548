#include "accelerate/launch/machine_link.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>
#include <utility>

#include "accelerate/base/exit_status.h"
#include "accelerate/launch/port.h"

namespace accelerate::launch {

namespace {

constexpr auto kPause = std::chrono::milliseconds(100);

bool failed(const Ending& ending) { return ending.exit_code != 0; }

/// "CODE RETRY MESSAGE", as launchers tell each other.
std::string text_of(const Ending& ending) {
  return std::to_string(ending.exit_code) + (ending.may_retry ? " 1 " : " 0 ") + ending.message;
}
Ending ending_of(std::istringstream& text) {
  Ending ending;
  text >> ending.exit_code >> ending.may_retry >> std::ws;
  std::getline(text, ending.message);
  return ending;
}

class MainMachineLink : public MachineLink {
 public:
  MainMachineLink(std::vector<LineSocket> others, int port)
      : others_(std::move(others)), port_(port), endings_(others_.size()) {}

  bool failed_elsewhere() override {
    look();
    return failed(of_others());
  }

  Decision settle(Ending mine, bool starts_left, SignalWatch& signals) override {
    if (failed(mine)) stop_others();
    for (look(); !all_ended(); look()) {
      int number = signals.wait(kPause);
      if (!asks_to_stop(number)) continue;
      if (failed(mine)) break;  // a second request, or one to end a job that fails anyway
      mine = stopped_by(number);
      stop_others();
    }
    auto others = of_others();
    bool may_retry = (mine.may_retry || !failed(mine)) && (others.may_retry || !failed(others));
    Decision decision{.ending = failed(mine) ? mine : others};
    decision.again = failed(decision.ending) && may_retry && starts_left;
    if (decision.again) decision.main_process_port = port_ != 0 ? port_ : free_port();
    auto job = decision.ending;
    if (failed(mine)) job.message = "machine 0: " + job.message;
    tell((decision.again ? "again " : "over ") + std::to_string(decision.main_process_port) + " " + text_of(job));
    std::fill(endings_.begin(), endings_.end(), std::nullopt);
    told_to_stop_ = false;
    return decision;
  }

 private:
  bool all_ended() const {
    return std::all_of(endings_.begin(), endings_.end(), [](const auto& ending) { return ending.has_value(); });
  }

  /// The first failure of another machine, which may be repeated if all of theirs may; or none.
  Ending of_others() const {
    Ending first;
    bool may_retry = true;
    for (size_t i = 0; i < endings_.size(); ++i) {
      if (!endings_[i] || !failed(*endings_[i])) continue;
      may_retry &= endings_[i]->may_retry;
      if (failed(first)) continue;
      first = *endings_[i];
      first.message = "machine " + std::to_string(i + 1) + ": " + first.message;
    }
    first.may_retry = failed(first) && may_retry;
    return first;
  }

  /// Takes what the others have told. One failure ends the attempt everywhere.
  void look() {
    for (size_t i = 0; i < others_.size(); ++i) {
      while (auto line = others_[i].receive()) {
        std::istringstream text(*line);
        endings_[i] = ending_of(text);
      }
      if (others_[i].gone() && !endings_[i]) endings_[i] = {.exit_code = 1, .message = "its launcher is gone"};
    }
    if (failed(of_others())) stop_others();
  }

  void stop_others() {
    if (!std::exchange(told_to_stop_, true)) tell("stop");
  }

  void tell(const std::string& line) const {
    for (const auto& other : others_) other.send(line);
  }

  std::vector<LineSocket> others_;
  int port_;
  std::vector<std::optional<Ending>> endings_;  // of machines 1, 2, ... in this attempt
  bool told_to_stop_ = false;
};

class OtherMachineLink : public MachineLink {
 public:
  explicit OtherMachineLink(LineSocket main_machine) : main_machine_(std::move(main_machine)) {}

  bool failed_elsewhere() override {
    look();
    return told_to_stop_ || decision_ || main_machine_.gone();
  }

  Decision settle(Ending mine, bool /*starts_left*/, SignalWatch& signals) override {
    main_machine_.send(text_of(mine));
    for (look(); !decision_ && !main_machine_.gone(); look()) {
      int number = signals.wait(kPause);
      if (asks_to_stop(number)) return {.ending = stopped_by(number)};
    }
    auto decision =
        decision_ ? *decision_ : Decision{.ending = {.exit_code = 1, .message = "machine 0: its launcher is gone"}};
    if (failed(mine)) decision.ending = mine;
    decision_.reset();
    told_to_stop_ = false;
    return decision;
  }

 private:
  void look() {
    while (auto line = main_machine_.receive()) {
      std::istringstream text(*line);
      std::string word;
      text >> word;
      if (word == "stop") told_to_stop_ = true;
      if (word != "again" && word != "over") continue;
      decision_.emplace().again = word == "again";
      text >> decision_->main_process_port;
      decision_->ending = ending_of(text);
    }
  }

  LineSocket main_machine_;
  std::optional<Decision> decision_;
  bool told_to_stop_ = false;
};

}  // namespace

Ending stopped_by(int signal_number) {
  return {.exit_code = 128 + signal_number, .message = "stopped by " + signal_name(signal_number)};
}

std::unique_ptr<MachineLink> link_as_main_machine(std::vector<LineSocket> others, int port) {
  return std::make_unique<MainMachineLink>(std::move(others), port);
}

std::unique_ptr<MachineLink> link_to_main_machine(LineSocket main_machine) {
  return std::make_unique<OtherMachineLink>(std::move(main_machine));
}

}  // namespace accelerate::launch
