#include "accelerate/comm/heartbeat.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <sstream>

#include "accelerate/base/host_name.h"

namespace accelerate::comm {

int64_t unix_milliseconds() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Heartbeat Heartbeat::now(const FlightRecorder& recorder) {
  Heartbeat heartbeat{.pid = getpid(), .unix_milliseconds = comm::unix_milliseconds(), .host = host_name()};
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
  text << pid << ' ' << unix_milliseconds << ' ' << collective << ' ' << host << ' ' << doing;
  return text.str();
}

Heartbeat Heartbeat::from_text(const std::string& text) {
  std::istringstream stream(text);
  Heartbeat heartbeat;
  stream >> heartbeat.pid >> heartbeat.unix_milliseconds >> heartbeat.collective >> heartbeat.host >> std::ws;
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

std::string describe(const Heartbeat& heartbeat, int64_t now_unix_milliseconds) {
  // Clocks of two machines may differ by more than the age.
  double age = std::max<int64_t>(0, now_unix_milliseconds - heartbeat.unix_milliseconds) / 1000.0;
  std::ostringstream text;
  text << "pid " << heartbeat.pid << " on " << heartbeat.host << ", last seen " << std::fixed << std::setprecision(1)
       << age << " s ago " << heartbeat.doing;
  return text.str();
}

}  // namespace accelerate::comm
