#include "accelerate/launch/machines/machine_link.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>
#include <utility>

#include "accelerate/launch/machines/network.h"
#include "accelerate/process/root_cause.h"

namespace accelerate::launch {

namespace {

constexpr auto kPause = std::chrono::milliseconds(100);

bool failed(const Outcome& outcome) { return outcome.exit_code != 0; }

/// The message between launchers: "CODE RETRY LOST_PEER TIME MESSAGE".
std::string text_of(const Outcome& outcome) {
  std::ostringstream text;
  text << outcome.exit_code << ' ' << outcome.may_retry << ' ' << outcome.lost_peer << ' ' << outcome.unix_milliseconds
       << ' ' << outcome.message;
  return text.str();
}
Outcome outcome_of(std::istringstream& text) {
  Outcome outcome;
  text >> outcome.exit_code >> outcome.may_retry >> outcome.lost_peer >> outcome.unix_milliseconds >> std::ws;
  std::getline(text, outcome.message);
  return outcome;
}

Outcome launcher_is_gone() {
  return {.exit_code = 1, .message = "its launcher has ended", .unix_milliseconds = now_in_milliseconds()};
}

class MainMachineLink : public MachineLink {
 public:
  MainMachineLink(std::vector<LineSocket> others, int port)
      : others_(std::move(others)), port_(port), outcomes_(others_.size() + 1) {}

  RemoteState remote_state() override {
    look();
    return state();
  }

  Decision settle(Outcome mine, bool starts_left, process::SignalWatch& signals) override {
    outcomes_[0] = mine;
    stop_others();
    for (look(); !all_ended(); look()) {
      int number = signals.wait(kPause);
      if (!process::asks_to_stop(number)) continue;
      if (failed(*outcomes_[0])) break;  // a second request, or the job fails anyway
      outcomes_[0] = stopped_by_signal(number);
      stop_others();
    }
    auto decision = decide(starts_left);
    std::fill(outcomes_.begin(), outcomes_.end(), std::nullopt);
    told_ = RemoteState::Running;
    return decision;
  }

 private:
  bool has_failed(size_t machine) const { return outcomes_[machine] && failed(*outcomes_[machine]); }

  bool all_ended() const {
    return std::all_of(outcomes_.begin(), outcomes_.end(), [](const auto& outcome) { return outcome.has_value(); });
  }

  /// The state of the machines that have ended.
  RemoteState state() const {
    auto state = RemoteState::Running;
    for (size_t machine = 0; machine < outcomes_.size(); ++machine) {
      if (has_failed(machine)) {
        state = std::max(state, outcomes_[machine]->lost_peer ? RemoteState::LostPeer : RemoteState::Failed);
      }
    }
    return state;
  }

  /// The root-cause machine, if any has failed.
  std::optional<size_t> root_cause() const {
    std::vector<process::Failure> failures;
    for (size_t machine = 0; machine < outcomes_.size(); ++machine) {
      if (!has_failed(machine)) continue;
      failures.push_back({.victim = outcomes_[machine]->lost_peer,
                          .began = outcomes_[machine]->unix_milliseconds,
                          .order = static_cast<int>(machine)});
    }
    if (failures.empty()) return std::nullopt;
    return failures[process::root_cause(failures)].order;
  }

  /// Decides what all machines do next, and tells the others.
  Decision decide(bool starts_left) const {
    auto cause = root_cause();
    bool may_retry = true;
    for (size_t machine = 0; machine < outcomes_.size(); ++machine) {
      if (has_failed(machine)) may_retry &= outcomes_[machine]->may_retry;
    }
    bool all_reachable = std::none_of(others_.begin(), others_.end(), [](const auto& other) { return other.gone(); });
    Decision decision{.again = cause && may_retry && all_reachable && starts_left};
    if (decision.again) decision.main_process_port = port_ != 0 ? port_ : free_port();
    auto job = cause ? *outcomes_[*cause] : Outcome{};
    for (size_t machine = 0; machine < outcomes_.size(); ++machine) {
      bool own = cause == machine;
      auto outcome = job;
      if (cause && !own) outcome.message = "machine " + std::to_string(*cause) + ": " + job.message;
      if (machine == 0) {
        decision.outcome = outcome;
      } else {
        others_[machine - 1].send((decision.again ? "again " : "over ") + std::to_string(decision.main_process_port) +
                                  (own ? " own " : " other ") + text_of(outcome));
      }
    }
    return decision;
  }

  /// Reads messages from the others. One failure ends the attempt on all machines.
  void look() {
    for (size_t i = 0; i < others_.size(); ++i) {
      auto& outcome = outcomes_[i + 1];
      while (auto line = others_[i].receive()) {
        std::istringstream text(*line);
        outcome = outcome_of(text);
      }
      if (others_[i].gone() && !outcome) outcome = launcher_is_gone();
    }
    stop_others();
  }

  /// Reports a failure to the others: "lost" while only victims have failed, then "stop".
  void stop_others() {
    auto state = this->state();
    if (state <= told_) return;
    told_ = state;
    for (const auto& other : others_) other.send(state == RemoteState::Failed ? "stop" : "lost");
  }

  std::vector<LineSocket> others_;
  int port_;
  std::vector<std::optional<Outcome>> outcomes_;  // of machines 0, 1, ... in this attempt
  RemoteState told_ = RemoteState::Running;
};

class OtherMachineLink : public MachineLink {
 public:
  explicit OtherMachineLink(LineSocket main_machine) : main_machine_(std::move(main_machine)) {}

  RemoteState remote_state() override {
    look();
    return decision_ || main_machine_.gone() ? RemoteState::Failed : told_;
  }

  Decision settle(Outcome mine, bool /*starts_left*/, process::SignalWatch& signals) override {
    main_machine_.send(text_of(mine));
    for (look(); !decision_ && !main_machine_.gone(); look()) {
      int number = signals.wait(kPause);
      if (process::asks_to_stop(number)) return {.outcome = stopped_by_signal(number)};
    }
    auto decision = decision_.value_or(Decision{});
    if (!decision_) {
      decision.outcome = launcher_is_gone();
      decision.outcome.message = "machine 0: " + decision.outcome.message;
    }
    if (main_machine_.gone()) decision.again = false;
    // The local outcome has the full details.
    if (failed(mine) && (decision_ ? is_root_cause_ : !mine.lost_peer)) decision.outcome = mine;
    decision_.reset();
    told_ = RemoteState::Running;
    return decision;
  }

 private:
  void look() {
    while (auto line = main_machine_.receive()) {
      std::istringstream text(*line);
      std::string word;
      text >> word;
      if (word == "lost") told_ = std::max(told_, RemoteState::LostPeer);
      if (word == "stop") told_ = RemoteState::Failed;
      if (word != "again" && word != "over") continue;
      decision_.emplace().again = word == "again";
      text >> decision_->main_process_port >> word;
      is_root_cause_ = word == "own";
      decision_->outcome = outcome_of(text);
    }
  }

  LineSocket main_machine_;
  std::optional<Decision> decision_;
  bool is_root_cause_ = false;  // as decided by machine 0
  RemoteState told_ = RemoteState::Running;
};

}  // namespace

std::unique_ptr<MachineLink> link_as_main_machine(std::vector<LineSocket> others, int port) {
  return std::make_unique<MainMachineLink>(std::move(others), port);
}

std::unique_ptr<MachineLink> link_to_main_machine(LineSocket main_machine) {
  return std::make_unique<OtherMachineLink>(std::move(main_machine));
}

}  // namespace accelerate::launch
