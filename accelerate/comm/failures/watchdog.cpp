#include "accelerate/comm/failures/watchdog.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <iomanip>
#include <memory>
#include <sstream>
#include <vector>

#include "accelerate/base/thread_without_signals.h"
#include "accelerate/comm/failures/quiet_c10d.h"
#include "accelerate/comm/store.h"
#include "accelerate/process/signals.h"

namespace accelerate::comm {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kInterval = std::chrono::seconds(1);
constexpr size_t kShownAfterFailure = 10;

/// How long a rank with a failed collective waits for others to report the same. Ranks notice a loss together: the
/// broken connections of the first wake the rest.
constexpr auto kSettling = std::chrono::milliseconds(500);
/// How much longer the rank that hosts the store stays alive, for ranks that still query it.
constexpr auto kStoreLinger = std::chrono::milliseconds(350);
constexpr auto kPatienceWithStore = std::chrono::milliseconds(900);

constexpr int kReportRequest = SIGUSR2;
std::atomic<int64_t> num_reports_answered = 0;

/// Held while a heartbeat is sent. Locked at exit and never released: a thread that used the store while libtorch's
/// static objects are destroyed would crash.
std::timed_mutex& sending() {
  static auto* mutex = [] {
    std::atexit([] { (void)sending().try_lock_for(kInterval); });
    return new std::timed_mutex;
  }();
  return *mutex;
}

std::string beat_key(int rank) { return "beat/" + std::to_string(rank); }

/// What a rank with a failed collective asks the store.
struct Question {
  std::shared_ptr<const Topology> topology;
  std::vector<int> job_ranks;                       // by rank: its number in the job
  int rank = 0;                                     // that asks
  int64_t number = 0;                               // of the collective
  std::optional<Collective> shared = std::nullopt;  // the newest collective that all ranks are known to have begun
};

/// A live rank in the same collective fails as this one does, and reports it in the store. A rank without a report did
/// not take part.
std::string ask_store(c10d::Store& store, const Question& question) {
  QuietC10d quiet;
  const auto& [topology, job_ranks, rank, number, shared] = question;
  auto key = [number = number](const char* what, int other) {
    return what + std::to_string(number) + "/" + std::to_string(other);
  };
  store.set(key("failed/", rank), std::vector<uint8_t>{'x'});
  auto deadline = Clock::now() + kSettling;
  std::string missing;
  std::vector<int> present;
  for (int other = 0; other < static_cast<int>(job_ranks.size()); ++other) {
    if (wait_for_key(store, key("failed/", other), deadline)) {
      present.push_back(other);
      continue;
    }
    auto heartbeat = last_seen(Heartbeat::from_text(get_text(store, beat_key(other))), shared);
    missing += (missing.empty() ? "" : ", ") + std::to_string(job_ranks[other]) + " (" +
               describe(heartbeat, topology->card(job_ranks[other]), unix_milliseconds()) + ")";
  }
  store.set(key("knows/", rank), std::vector<uint8_t>{'x'});
  // If this process hosts the store, the store ends with it, and others would take that for the cause.
  for (int other : job_ranks[rank] == 0 ? present : std::vector<int>())
    wait_for_key(store, key("knows/", other), deadline + kStoreLinger);
  return missing.empty() ? "" : "these ranks did not take part: " + missing;
}

}  // namespace

void watch_for_report_requests() { process::count_signal(kReportRequest); }

int64_t unix_milliseconds() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Heartbeat Heartbeat::now(const FlightRecorder& recorder) {
  Heartbeat heartbeat{.unix_milliseconds = comm::unix_milliseconds()};
  if (auto newest = recorder.newest()) {
    heartbeat.collective = newest->number;
    heartbeat.doing = (newest->state == Collective::State::Running ? "in " : "after ") + describe(*newest);
  } else {
    heartbeat.doing = "before its first collective";
  }
  return heartbeat;
}

std::string Heartbeat::to_text() const {
  std::ostringstream text;
  text << unix_milliseconds << ' ' << collective << ' ' << doing;
  return text.str();
}

Heartbeat Heartbeat::from_text(const std::string& text) {
  std::istringstream stream(text);
  Heartbeat heartbeat;
  stream >> heartbeat.unix_milliseconds >> heartbeat.collective >> std::ws;
  std::getline(stream, heartbeat.doing);
  return heartbeat;
}

Heartbeat last_seen(Heartbeat heartbeat, const std::optional<Collective>& shared) {
  if (!shared || shared->number <= heartbeat.collective) return heartbeat;
  auto age = std::chrono::duration_cast<std::chrono::milliseconds>(Collective::Clock::now() - shared->end);
  heartbeat.unix_milliseconds = unix_milliseconds() - age.count();
  heartbeat.collective = shared->number;
  heartbeat.doing = "in " + describe(*shared);
  return heartbeat;
}

std::string describe(const Heartbeat& heartbeat, const RankCard& card, int64_t now_unix_milliseconds) {
  // Clocks of two machines may differ by more than the age.
  double age = std::max<int64_t>(0, now_unix_milliseconds - heartbeat.unix_milliseconds) / 1000.0;
  std::ostringstream text;
  text << "pid " << card.pid << " on " << card.host << ", last seen " << std::fixed << std::setprecision(1) << age
       << " s ago " << heartbeat.doing;
  return text.str();
}

Watchdog::Watchdog(c10::intrusive_ptr<c10d::Store> store, int rank, int size, const FlightRecorder& recorder,
                   WatchdogOptions options)
    : store_(std::move(store)),
      rank_(rank),
      size_(size),
      recorder_(recorder),
      names_(std::move(options.names)),
      topology_(std::move(options.topology)) {
  send_heartbeat();
  std::vector<std::string> all;
  for (int other = 0; other < size; ++other) all.push_back(beat_key(other));
  store_->wait(all);
  thread_ = thread_without_signals([this] { run(); });
}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ending_changed_.notify_one();
  thread_.join();
}

void Watchdog::send_heartbeat() {
  auto text = Heartbeat::now(recorder_).to_text();
  QuietC10d quiet;
  std::lock_guard lock(sending());
  store_->set(beat_key(rank_), std::vector<uint8_t>(text.begin(), text.end()));
}

void Watchdog::run() {
  auto main_process_runs = [pid = topology_->card(0).pid] { return kill(pid, 0) == 0; };
  const bool main_process_is_near = topology_->same_machine(job_rank(rank_), 0) && main_process_runs();
  bool store_answers = true;
  std::unique_lock lock(mutex_);
  while (!ending_changed_.wait_for(lock, kInterval, [&] { return ending_; })) {
    auto requests = process::num_signals(kReportRequest);
    if (num_reports_answered.exchange(requests) < requests) write_report(FlightRecorder::kCapacity);
    // A job may end on rank 0 first. libtorch prints a page of errors when it sends to a store that is gone.
    if (main_process_is_near && !main_process_runs()) store_answers = false;
    try {
      if (store_answers) send_heartbeat();
    } catch (const std::exception&) {
      store_answers = false;
    }
  }
}

void Watchdog::write_report() const { write_report(kShownAfterFailure); }

void Watchdog::write_report(size_t most) const {
  std::ostringstream text;
  text << "rank " << job_rank(rank_) << " of " << (names_.empty() ? "" : "a group of ") << size_
       << ": the last collectives, newest last:\n"
       << recorder_.report(most);
  auto block = text.str();
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, block.data(), block.size());
}

std::string Watchdog::store_is_silent(const char* how) const {
  std::string text = "these ranks did not take part: 0 (pid " + std::to_string(topology_->card(0).pid) + " on " +
                     topology_->card(0).host + ", which hosts the job's store, " + how;
  if (auto shared = recorder_.newest_by_all()) {
    std::ostringstream seen;
    auto age = std::chrono::duration<double>(Clock::now() - shared->end).count();
    seen << "; last seen " << std::fixed << std::setprecision(1) << age << " s ago in " << describe(*shared);
    text += seen.str();
  }
  return text + ")";
}

std::string Watchdog::missing_ranks(int64_t number) const {
  auto answer = std::make_shared<std::promise<std::string>>();
  Question question{
      .topology = topology_, .job_ranks = {}, .rank = rank_, .number = number, .shared = recorder_.newest_by_all()};
  for (int rank = 0; rank < size_; ++rank) question.job_ranks.push_back(job_rank(rank));
  auto ask = [answer, store = store_, question] {
    try {
      answer->set_value(ask_store(*store, question));
    } catch (...) {
      answer->set_exception(std::current_exception());
    }
  };
  auto found = answer->get_future();
  // In a detached thread: a store whose process is stopped would block the caller forever.
  thread_without_signals(ask).detach();
  if (found.wait_for(kPatienceWithStore) != std::future_status::ready) return store_is_silent("does not answer");
  try {
    return found.get();
  } catch (const std::exception&) {
    return store_is_silent("has ended");
  }
}

}  // namespace accelerate::comm
