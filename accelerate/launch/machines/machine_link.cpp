#include "accelerate/launch/machines/machine_link.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>
#include <utility>

#include "accelerate/launch/machines/network.h"
#include "accelerate/process/exit_status.h"
#include "accelerate/process/root_cause.h"

namespace accelerate::launch {

namespace {

constexpr auto kPause = std::chrono::milliseconds(100);

bool failed(const Ending& ending) { return ending.exit_code != 0; }

int64_t now_in_milliseconds() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// The message between launchers: "CODE RETRY LOST_PEER TIME MESSAGE".
std::string text_of(const Ending& ending) {
  std::ostringstream text;
  text << ending.exit_code << ' ' << ending.may_retry << ' ' << ending.lost_peer << ' ' << ending.unix_milliseconds
       << ' ' << ending.message;
  return text.str();
}
Ending ending_of(std::istringstream& text) {
  Ending ending;
  text >> ending.exit_code >> ending.may_retry >> ending.lost_peer >> ending.unix_milliseconds >> std::ws;
  std::getline(text, ending.message);
  return ending;
}

Ending launcher_is_gone() {
  return {.exit_code = 1, .message = "its launcher has ended", .unix_milliseconds = now_in_milliseconds()};
}

class MainMachineLink : public MachineLink {
 public:
  MainMachineLink(std::vector<LineSocket> others, int port)
      : others_(std::move(others)), port_(port), endings_(others_.size() + 1) {}

  Elsewhere look_elsewhere() override {
    look();
    return state();
  }

  Decision settle(Ending mine, bool starts_left, process::SignalWatch& signals) override {
    endings_[0] = mine;
    stop_others();
    for (look(); !all_ended(); look()) {
      int number = signals.wait(kPause);
      if (!process::asks_to_stop(number)) continue;
      if (failed(*endings_[0])) break;  // a second request, or the job fails anyway
      endings_[0] = stopped_by(number);
      stop_others();
    }
    auto decision = decide(starts_left);
    std::fill(endings_.begin(), endings_.end(), std::nullopt);
    told_ = Elsewhere::Running;
    return decision;
  }

 private:
  bool has_failed(size_t machine) const { return endings_[machine] && failed(*endings_[machine]); }

  bool all_ended() const {
    return std::all_of(endings_.begin(), endings_.end(), [](const auto& ending) { return ending.has_value(); });
  }

  /// The state of the machines that have ended.
  Elsewhere state() const {
    auto state = Elsewhere::Running;
    for (size_t machine = 0; machine < endings_.size(); ++machine) {
      if (has_failed(machine)) {
        state = std::max(state, endings_[machine]->lost_peer ? Elsewhere::LostPeer : Elsewhere::Failed);
      }
    }
    return state;
  }

  /// The root-cause machine, if any has failed.
  std::optional<size_t> root_cause() const {
    std::vector<process::Failure> failures;
    for (size_t machine = 0; machine < endings_.size(); ++machine) {
      if (!has_failed(machine)) continue;
      failures.push_back({.victim = endings_[machine]->lost_peer,
                          .began = endings_[machine]->unix_milliseconds,
                          .order = static_cast<int>(machine)});
    }
    if (failures.empty()) return std::nullopt;
    return failures[process::root_cause(failures)].order;
  }

  /// Decides what all machines do next, and tells the others.
  Decision decide(bool starts_left) const {
    auto cause = root_cause();
    bool may_retry = true;
    for (size_t machine = 0; machine < endings_.size(); ++machine) {
      if (has_failed(machine)) may_retry &= endings_[machine]->may_retry;
    }
    Decision decision{.again = cause && may_retry && starts_left};
    if (decision.again) decision.main_process_port = port_ != 0 ? port_ : free_port();
    auto job = cause ? *endings_[*cause] : Ending{};
    for (size_t machine = 0; machine < endings_.size(); ++machine) {
      bool own = cause == machine;
      auto ending = job;
      if (cause && !own) ending.message = "machine " + std::to_string(*cause) + ": " + job.message;
      if (machine == 0) {
        decision.ending = ending;
      } else {
        others_[machine - 1].send((decision.again ? "again " : "over ") + std::to_string(decision.main_process_port) +
                                  (own ? " own " : " other ") + text_of(ending));
      }
    }
    return decision;
  }

  /// Reads messages from the others. One failure ends the attempt on all machines.
  void look() {
    for (size_t i = 0; i < others_.size(); ++i) {
      auto& ending = endings_[i + 1];
      while (auto line = others_[i].receive()) {
        std::istringstream text(*line);
        ending = ending_of(text);
      }
      if (others_[i].gone() && !ending) ending = launcher_is_gone();
    }
    stop_others();
  }

  /// Reports a failure to the others: "lost" while only victims have failed, then "stop".
  void stop_others() {
    auto state = this->state();
    if (state <= told_) return;
    told_ = state;
    for (const auto& other : others_) other.send(state == Elsewhere::Failed ? "stop" : "lost");
  }

  std::vector<LineSocket> others_;
  int port_;
  std::vector<std::optional<Ending>> endings_;  // of machines 0, 1, ... in this attempt
  Elsewhere told_ = Elsewhere::Running;
};

class OtherMachineLink : public MachineLink {
 public:
  explicit OtherMachineLink(LineSocket main_machine) : main_machine_(std::move(main_machine)) {}

  Elsewhere look_elsewhere() override {
    look();
    return decision_ || main_machine_.gone() ? Elsewhere::Failed : told_;
  }

  Decision settle(Ending mine, bool /*starts_left*/, process::SignalWatch& signals) override {
    main_machine_.send(text_of(mine));
    for (look(); !decision_ && !main_machine_.gone(); look()) {
      int number = signals.wait(kPause);
      if (process::asks_to_stop(number)) return {.ending = stopped_by(number)};
    }
    auto decision = decision_.value_or(Decision{});
    if (!decision_) {
      decision.ending = launcher_is_gone();
      decision.ending.message = "machine 0: " + decision.ending.message;
    }
    // The local ending has the full details.
    if (failed(mine) && (decision_ ? is_root_cause_ : !mine.lost_peer)) decision.ending = mine;
    decision_.reset();
    told_ = Elsewhere::Running;
    return decision;
  }

 private:
  void look() {
    while (auto line = main_machine_.receive()) {
      std::istringstream text(*line);
      std::string word;
      text >> word;
      if (word == "lost") told_ = std::max(told_, Elsewhere::LostPeer);
      if (word == "stop") told_ = Elsewhere::Failed;
      if (word != "again" && word != "over") continue;
      decision_.emplace().again = word == "again";
      text >> decision_->main_process_port >> word;
      is_root_cause_ = word == "own";
      decision_->ending = ending_of(text);
    }
  }

  LineSocket main_machine_;
  std::optional<Decision> decision_;
  bool is_root_cause_ = false;  // as decided by machine 0
  Elsewhere told_ = Elsewhere::Running;
};

}  // namespace

Ending stopped_by(int signal_number) {
  return {.exit_code = 128 + signal_number,
          .message = "stopped by " + process::signal_name(signal_number),
          .unix_milliseconds = now_in_milliseconds()};
}

std::unique_ptr<MachineLink> link_as_main_machine(std::vector<LineSocket> others, int port) {
  return std::make_unique<MainMachineLink>(std::move(others), port);
}

std::unique_ptr<MachineLink> link_to_main_machine(LineSocket main_machine) {
  return std::make_unique<OtherMachineLink>(std::move(main_machine));
}

}  // namespace accelerate::launch
