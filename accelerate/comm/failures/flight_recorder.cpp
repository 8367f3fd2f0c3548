#include "accelerate/comm/failures/flight_recorder.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include <c10/core/ScalarType.h>

namespace accelerate::comm {

namespace {

using Clock = Collective::Clock;

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string report_line(const Collective& collective, Clock::time_point now) {
  std::ostringstream line;
  line << std::fixed << std::setprecision(3) << "  " << describe(collective);
  if (collective.bytes > 0) line << ", " << collective.bytes << " bytes";
  switch (collective.state) {
    case Collective::State::Running:
      line << ": began " << seconds(now - collective.begin) << " s ago and has not ended";
      break;
    case Collective::State::Failed:
      line << ": failed after " << seconds(collective.end - collective.begin) << " s";
      break;
    case Collective::State::Done:
      line << ": took " << seconds(collective.end - collective.begin) * 1000 << " ms, ended "
           << seconds(now - collective.end) << " s ago";
  }
  line << '\n';
  return line.str();
}

}  // namespace

std::string describe(const Collective& collective) {
  std::ostringstream text;
  text << collective.operation << " #" << collective.number;
  if (collective.dtype) {
    text << " (" << c10::toString(*collective.dtype) << " " << at::IntArrayRef(collective.sizes) << ")";
  }
  return text.str();
}

Collective& FlightRecorder::begin_next(std::string_view operation, bool by_all) {
  auto& slot = ring_[num_begun_ % kCapacity];
  slot.number = ++num_begun_;
  slot.operation = operation;
  slot.dtype.reset();
  slot.bytes = 0;
  slot.state = Collective::State::Running;
  slot.by_all = by_all;
  slot.begin = Clock::now();
  return slot;
}

int64_t FlightRecorder::begin(std::string_view operation, const at::Tensor& tensor, bool by_all) {
  std::lock_guard lock(mutex_);
  auto& slot = begin_next(operation, by_all);
  if (tensor.defined()) {
    slot.dtype = tensor.scalar_type();
    slot.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
    slot.bytes = static_cast<int64_t>(tensor.nbytes());
  }
  return slot.number;
}

int64_t FlightRecorder::begin(std::string_view operation, int64_t bytes, bool by_all) {
  std::lock_guard lock(mutex_);
  auto& slot = begin_next(operation, by_all);
  slot.bytes = bytes;
  return slot.number;
}

void FlightRecorder::end(int64_t number, Collective::State state) {
  std::lock_guard lock(mutex_);
  auto& slot = ring_[(number - 1) % kCapacity];
  if (slot.number != number) return;  // overwritten by a newer one
  slot.end = Clock::now();
  slot.state = state;
}

Collective FlightRecorder::find(int64_t number) const {
  std::lock_guard lock(mutex_);
  return ring_[(number - 1) % kCapacity];
}

std::vector<Collective> FlightRecorder::history() const {
  std::lock_guard lock(mutex_);
  std::vector<Collective> all;
  auto first = std::max<int64_t>(0, num_begun_ - static_cast<int64_t>(kCapacity));
  for (int64_t i = first; i < num_begun_; ++i) all.push_back(ring_[i % kCapacity]);
  return all;
}

std::optional<Collective> FlightRecorder::newest() const {
  std::lock_guard lock(mutex_);
  if (num_begun_ == 0) return std::nullopt;
  return ring_[(num_begun_ - 1) % kCapacity];
}

std::optional<Collective> FlightRecorder::newest_by_all() const {
  auto all = history();
  auto proves = [](const Collective& one) { return one.by_all && one.state == Collective::State::Done; };
  auto found = std::find_if(all.rbegin(), all.rend(), proves);
  return found == all.rend() ? std::nullopt : std::optional(*found);
}

std::string FlightRecorder::report(size_t most) const {
  auto now = Clock::now();
  auto collectives = history();
  collectives.erase(collectives.begin(), collectives.end() - std::min(most, collectives.size()));
  std::string text;
  for (const auto& collective : collectives) text += report_line(collective, now);
  return text;
}

}  // namespace accelerate::comm
